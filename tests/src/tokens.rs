//! Issuers of tokens on this machine, good ones and broken ones, and tokens of theirs.
//!
//! A case has a token where a header field says `Mint SIGNER HEADER PAYLOAD`: the field becomes
//! `Bearer` with the token. Header and payload are JSON as it is written, so they may be wrong. In
//! the payload, `@now+60` is a time, `@good` the address of that issuer, and `@usual` the members
//! of a good token.

use std::{
    cell::Cell,
    collections::BTreeMap,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    hmac,
    rand::SystemRandom,
    rsa,
    signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
        EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256,
        RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
    },
};
use serde_json::{Value, json};

use crate::scripted::{Reply, Scripted};

/// The key of HMAC that issuer and app share.
pub const SECRET: &str = "a-shared-secret-of-at-least-64-bytes-for-all-three-kinds-of-HMAC-0123456789";

/// A pair of keys of each kind.
pub struct Issuer {
    rsa: RsaKeyPair,
    p256: Vec<u8>,
    other_p256: Vec<u8>,
    p384: Vec<u8>,
    ed: Ed25519KeyPair,
    random: SystemRandom,
}

/// The issuer of this process; its keys are others in the next one, apart from the RSA key, which
/// takes long to make.
///
/// # Panics
/// Where no keys can be made.
#[must_use]
pub fn issuer() -> &'static Issuer {
    static ISSUER: OnceLock<Issuer> = OnceLock::new();
    ISSUER.get_or_init(|| {
        let random = SystemRandom::new();
        let ec = |algorithm| EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap_or_else(|_| panic!("no key")).as_ref().to_vec();
        let ed = Ed25519KeyPair::generate_pkcs8(&random).unwrap_or_else(|_| panic!("no key"));
        Issuer {
            rsa: RsaKeyPair::from_pkcs8(include_bytes!("../data/issuer-rsa.pk8")).unwrap_or_else(|error| panic!("{error}")),
            p256: ec(&ECDSA_P256_SHA256_FIXED_SIGNING),
            other_p256: ec(&ECDSA_P256_SHA256_FIXED_SIGNING),
            p384: ec(&ECDSA_P384_SHA384_FIXED_SIGNING),
            ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).unwrap_or_else(|error| panic!("{error}")),
            random,
        }
    })
}

fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Issuer {
    fn ec(&self, algorithm: &'static EcdsaSigningAlgorithm, key: &[u8]) -> EcdsaKeyPair {
        EcdsaKeyPair::from_pkcs8(algorithm, key, &self.random).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The public key of this name as a JWK, without `kid`: `rsa`, `p256`, `other`, `p384`, `ed`.
    ///
    /// # Panics
    /// Where there is no such key.
    #[must_use]
    pub fn jwk(&self, name: &str) -> Value {
        let ec = |algorithm, key: &[u8], curve: &str| {
            let pair = self.ec(algorithm, key);
            let point = &pair.public_key().as_ref()[1..];
            let (x, y) = point.split_at(point.len() / 2);
            json!({ "kty": "EC", "crv": curve, "x": text(x), "y": text(y) })
        };
        match name {
            "rsa" => {
                let key: rsa::PublicKeyComponents<Vec<u8>> = self.rsa.public().into();
                json!({ "kty": "RSA", "n": text(&key.n), "e": text(&key.e) })
            }
            "p256" => ec(&ECDSA_P256_SHA256_FIXED_SIGNING, &self.p256, "P-256"),
            "other" => ec(&ECDSA_P256_SHA256_FIXED_SIGNING, &self.other_p256, "P-256"),
            "p384" => ec(&ECDSA_P384_SHA384_FIXED_SIGNING, &self.p384, "P-384"),
            "ed" => json!({ "kty": "OKP", "crv": "Ed25519", "x": text(self.ed.public_key().as_ref()) }),
            other => panic!("the key `{other}` does not exist"),
        }
    }

    /// The same with more members.
    #[must_use]
    pub fn jwk_with(&self, name: &str, more: Value) -> Value {
        let mut key = self.jwk(name);
        if let (Some(key), Value::Object(more)) = (key.as_object_mut(), more) {
            key.extend(more);
        }
        key
    }

    /// Signs a text: `RS256` and so on by the algorithm's own key; `ES256-other` by a key that
    /// nobody publishes but some; `ES256-der` in DER; `HS256` by [`SECRET`]; `HS256-public` by the
    /// RSA key's public part; `none` not at all; `X-broken` spoils the last byte.
    ///
    /// # Panics
    /// Where there is no such signer.
    #[must_use]
    pub fn sign(&self, signer: &str, message: &str) -> Vec<u8> {
        if let Some(signer) = signer.strip_suffix("-broken") {
            let mut signature = self.sign(signer, message);
            if let Some(last) = signature.last_mut() {
                *last ^= 1;
            }
            return signature;
        }
        let message = message.as_bytes();
        let rsa = |encoding: &'static dyn RsaEncoding| {
            let mut signature = vec![0; self.rsa.public().modulus_len()];
            self.rsa.sign(encoding, &self.random, message, &mut signature).unwrap_or_else(|_| panic!("no signature"));
            signature
        };
        let ec = |algorithm, key: &[u8]| {
            self.ec(algorithm, key).sign(&self.random, message).unwrap_or_else(|_| panic!("no signature")).as_ref().to_vec()
        };
        let mac = |algorithm, key: &[u8]| hmac::sign(&hmac::Key::new(algorithm, key), message).as_ref().to_vec();
        match signer {
            "RS256" => rsa(&RSA_PKCS1_SHA256),
            "RS384" => rsa(&RSA_PKCS1_SHA384),
            "RS512" => rsa(&RSA_PKCS1_SHA512),
            "PS256" => rsa(&RSA_PSS_SHA256),
            "PS384" => rsa(&RSA_PSS_SHA384),
            "PS512" => rsa(&RSA_PSS_SHA512),
            "ES256" => ec(&ECDSA_P256_SHA256_FIXED_SIGNING, &self.p256),
            "ES256-other" => ec(&ECDSA_P256_SHA256_FIXED_SIGNING, &self.other_p256),
            "ES256-der" => ec(&ECDSA_P256_SHA256_ASN1_SIGNING, &self.p256),
            "ES384" => ec(&ECDSA_P384_SHA384_FIXED_SIGNING, &self.p384),
            "EdDSA" => self.ed.sign(message).as_ref().to_vec(),
            "HS256" => mac(hmac::HMAC_SHA256, SECRET.as_bytes()),
            "HS384" => mac(hmac::HMAC_SHA384, SECRET.as_bytes()),
            "HS512" => mac(hmac::HMAC_SHA512, SECRET.as_bytes()),
            "HS256-public" => mac(hmac::HMAC_SHA256, self.jwk("rsa").to_string().as_bytes()),
            "none" => Vec::new(),
            other => panic!("the signer `{other}` does not exist"),
        }
    }

    /// A token with these texts as header and payload.
    #[must_use]
    pub fn token(&self, signer: &str, header: &str, payload: &str) -> String {
        let signed = format!("{}.{}", text(header.as_bytes()), text(payload.as_bytes()));
        format!("{signed}.{}", text(&self.sign(signer, &signed)))
    }
}

/// The issuers that answer over HTTP, and how often which path was asked for.
pub struct Issuers {
    server: Scripted,
    asked: Mutex<BTreeMap<String, usize>>,
}

/// The server of this process.
#[must_use]
pub fn issuers() -> &'static Issuers {
    static ISSUERS: OnceLock<Issuers> = OnceLock::new();
    ISSUERS.get_or_init(|| Issuers {
        server: Scripted::start(|_, request| {
            let path = request.line.split(' ').nth(1).unwrap_or_default().to_owned();
            issuers().answer(&path)
        }),
        asked: Mutex::default(),
    })
}

thread_local! {
    /// Issuers that change are others for each reading of a group.
    static GENERATION: Cell<usize> = const { Cell::new(0) };
}

impl Issuers {
    /// `http://127.0.0.1:PORT`
    #[must_use]
    pub fn base(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// How often a path was asked for.
    #[must_use]
    pub fn asked(&self, path: &str) -> usize {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied().unwrap_or(0)
    }

    fn answer(&self, path: &str) -> Reply {
        let times = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let times = asked.entry(path.to_owned()).or_default();
            *times += 1;
            *times
        };
        let base = self.base();
        let json = |value: Value| Reply::Whole(200, "application/json", value.to_string());
        let metadata =
            |issuer: &str, keys: &str| json(json!({ "issuer": format!("{base}/{issuer}"), "jwks_uri": format!("{base}/{keys}") }));
        let to = |location: &str| {
            Reply::Raw(Box::leak(
                format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                    .into_bytes()
                    .into_boxed_slice(),
            ))
        };
        match path {
            "/good/.well-known/openid-configuration" => metadata("good", "good/jwks"),
            "/slash/.well-known/openid-configuration" => metadata("slash/", "good/jwks"),
            "/.well-known/oauth-authorization-server/oauth" => metadata("oauth", "good/jwks"),
            "/liar/.well-known/openid-configuration" => metadata("good", "good/jwks"),
            "/plain/.well-known/openid-configuration" => {
                json(json!({ "issuer": format!("{base}/plain"), "jwks_uri": "http://192.0.2.1/jwks" }))
            }
            "/keyless/.well-known/openid-configuration" => json(json!({ "issuer": format!("{base}/keyless") })),
            "/page/.well-known/openid-configuration" => Reply::Whole(200, "text/html", "<!doctype html><p>Sign in".to_owned()),
            "/good/jwks" => json(good()),
            "/moved/jwks" => to("/good/jwks"),
            "/round/jwks" => to("/round/jwks"),
            "/elsewhere/jwks" => to(&format!("{}/good/jwks", base.replace("127.0.0.1", "localhost"))),
            "/huge/jwks" => json(json!({ "keys": [], "filler": "x".repeat(300 << 10) })),
            "/many/jwks" => json(json!({ "keys": vec![issuer().jwk("p256"); 101] })),
            "/html/jwks" => Reply::Whole(200, "text/html", "<html>Not now</html>".to_owned()),
            "/list/jwks" => json(json!([issuer().jwk("p256")])),
            "/empty/jwks" => json(json!({ "keys": [] })),
            "/broken/jwks" => Reply::Broken(good().to_string(), 40),
            "/slow/jwks" => Reply::Silence,
            "/busy/jwks" => Reply::Whole(503, "text/plain", "later".to_owned()),
            _ if path.starts_with("/rotated-") => {
                let (name, id) = if times % 2 == 1 { ("p384", "old") } else { ("p256", "new") };
                json(json!({ "keys": [issuer().jwk_with(name, json!({ "kid": id }))] }))
            }
            _ => Reply::Whole(404, "text/plain", "nothing".to_owned()),
        }
    }
}

/// A key set with everything that key sets have been seen with.
#[must_use]
pub fn good() -> Value {
    let issuer = issuer();
    let key = |name: &str, more: Value| issuer.jwk_with(name, more);
    json!({ "keys": [
        { "kty": "AKP", "alg": "ML-DSA-44", "kid": "future", "pub": "AAAA" },
        { "kty": "OKP", "crv": "Ed448", "kid": "ed448", "x": "AAAA" },
        { "kty": "EC", "crv": "secp256k1", "kid": "bitcoin", "x": "AAAA", "y": "AAAA" },
        { "kty": "oct", "kid": "shared", "k": text(SECRET.as_bytes()) },
        { "kty": "RSA", "kid": "small", "n": text(&[0xff; 128]), "e": "AQAB" },
        "not a key",
        key("rsa", json!({ "kid": "encryption", "use": "enc", "alg": "RSA-OAEP" })),
        key("p256", json!({ "kid": "signing-only", "key_ops": ["sign"] })),
        key("other", json!({ "kid": "private", "d": text(&[7; 32]) })),
        key("rsa", json!({ "kid": "rsa", "use": "sig" })),
        key("rsa", json!({ "kid": "only-rs256", "use": "sig", "alg": "RS256", "x5t": "abc", "x5c": ["MIIB"] })),
        key("p256", json!({ "kid": "ec", "alg": "ES256", "key_ops": ["verify"] })),
        key("other", json!({ "kid": "twin" })),
        key("p256", json!({ "kid": "twin" })),
        key("p384", json!({ "kid": "ec384" })),
        key("ed", json!({ "kid": "ed", "alg": "Ed25519" })),
    ]})
}

/// Variables of a group whose app has issuers: where each one is, and the secret. Issuers that
/// change begin anew.
#[must_use]
pub fn variables() -> Vec<(String, String)> {
    static GENERATIONS: AtomicUsize = AtomicUsize::new(1);
    GENERATION.set(GENERATIONS.fetch_add(1, Relaxed));
    let set = [
        ("ISSUERS", issuers().base()),
        ("ROTATED", format!("{}/rotated-{}/jwks", issuers().base(), GENERATION.get())),
        ("JWT_SECRET", SECRET.to_owned()),
    ];
    set.map(|(name, value)| (name.to_owned(), value)).into()
}

/// A header field of a case: `Mint SIGNER HEADER PAYLOAD` becomes a bearer token; every other one
/// stays.
///
/// # Panics
/// Where there is no such signer.
#[must_use]
pub fn minted(value: &str) -> String {
    let Some(rest) = value.strip_prefix("Mint ") else { return value.to_owned() };
    let mut parts = rest.splitn(3, ' ');
    let mut part = || parts.next().unwrap_or_else(|| panic!("`{value}` has a part too few"));
    let (signer, header, payload) = (part(), part(), part());
    format!("Bearer {}", issuer().token(signer, header, &filled(payload)))
}

/// A payload with its places filled in.
#[must_use]
pub fn filled(payload: &str) -> String {
    let base = issuers().base();
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let text = payload.replace("@usual", r#""iss":"@good","aud":"api","sub":"ada","exp":@now+86400"#);
    let text = text.replace("@base", &base).replace("@good", &format!("{base}/good"));
    let mut filled = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("@now") {
        let is_shift = |(at, character): (usize, char)| if at == 0 { "+-".contains(character) } else { character.is_ascii_digit() };
        let end = after.char_indices().find(|place| !is_shift(*place)).map_or(after.len(), |(at, _)| at);
        let shift: i64 = after[..end].parse().unwrap_or(0);
        filled += &format!("{before}{}", now_s as i64 + shift);
        rest = &after[end..];
    }
    filled + rest
}
