//! Keys: [RFC 7517](https://www.rfc-editor.org/rfc/rfc7517), [RFC 7518, section
//! 6](https://www.rfc-editor.org/rfc/rfc7518#section-6), [RFC
//! 8037](https://www.rfc-editor.org/rfc/rfc8037).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use millrace_core::{Json, app::TokenAlgorithm, ports::Claims};

use crate::{compact::shown, strict_json};

/// The longest key set, in bytes.
pub(crate) const LONGEST_SET: usize = 256 << 10;
/// The most keys of a set.
const MOST_KEYS: usize = 100;
/// The sizes of an RSA key, in bits.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;
/// What only the owner of a key has: of RSA, of curves (`d`), and of symmetric keys (`k`).
const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// The numbers of a key.
#[derive(Clone, PartialEq, Eq)]
pub enum Material {
    /// An RSA key. Neither number begins with a zero byte.
    Rsa {
        /// `n`
        modulus: Vec<u8>,
        /// `e`
        exponent: Vec<u8>,
    },
    /// A point on P-256, `x` and `y` one after the other.
    P256([u8; 64]),
    /// A point on P-384, `x` and `y` one after the other.
    P384([u8; 96]),
    /// A key of Ed25519.
    Ed25519([u8; 32]),
    /// A key of HMAC.
    Secret(Vec<u8>),
}

impl Material {
    /// Whether an algorithm can have such a key.
    #[must_use]
    pub const fn fits(&self, algorithm: TokenAlgorithm) -> bool {
        use TokenAlgorithm::{EdDsa, Es256, Es384, Hs256, Hs384, Hs512, Ps256, Ps384, Ps512, Rs256, Rs384, Rs512};
        match algorithm {
            Rs256 | Rs384 | Rs512 | Ps256 | Ps384 | Ps512 => matches!(self, Self::Rsa { .. }),
            Es256 => matches!(self, Self::P256(_)),
            Es384 => matches!(self, Self::P384(_)),
            EdDsa => matches!(self, Self::Ed25519(_)),
            Hs256 | Hs384 | Hs512 => matches!(self, Self::Secret(_)),
        }
    }

    /// How long a signature of this key is, in bytes.
    pub(crate) fn signature_bytes(&self, algorithm: TokenAlgorithm) -> usize {
        match self {
            Self::Rsa { modulus, .. } => modulus.len(),
            Self::P256(_) | Self::Ed25519(_) => 64,
            Self::P384(_) => 96,
            Self::Secret(_) => secret_bytes(algorithm),
        }
    }

    /// The key as WebCrypto takes it: a JWK with its numbers and nothing else.
    #[must_use]
    pub fn to_jwk(&self) -> String {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let point = |curve: &str, point: &[u8]| {
            let (x, y) = point.split_at(point.len() / 2);
            format!(r#"{{"kty":"EC","crv":"{curve}","x":"{}","y":"{}"}}"#, text(x), text(y))
        };
        match self {
            Self::Rsa { modulus, exponent } => format!(r#"{{"kty":"RSA","n":"{}","e":"{}"}}"#, text(modulus), text(exponent)),
            Self::P256(bytes) => point("P-256", bytes),
            Self::P384(bytes) => point("P-384", bytes),
            Self::Ed25519(x) => format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{}"}}"#, text(x)),
            Self::Secret(bytes) => format!(r#"{{"kty":"oct","k":"{}"}}"#, text(bytes)),
        }
    }
}

impl std::fmt::Debug for Material {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Rsa { .. } => "RSA",
            Self::P256(_) => "P-256",
            Self::P384(_) => "P-384",
            Self::Ed25519(_) => "Ed25519",
            Self::Secret(_) => "[secret]",
        })
    }
}

/// The length of a digest of HMAC in bytes, which a key must have at least: RFC 7518, section 3.2.
#[must_use]
pub const fn secret_bytes(algorithm: TokenAlgorithm) -> usize {
    match algorithm {
        TokenAlgorithm::Hs512 => 64,
        TokenAlgorithm::Hs384 => 48,
        _ => 32,
    }
}

/// A key that verifies signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// `kid`
    pub(crate) id: Option<String>,
    /// `alg`: the only algorithm that it may be used with.
    pub(crate) algorithm: Option<TokenAlgorithm>,
    /// Its numbers.
    pub(crate) material: Material,
}

impl Key {
    /// Reads a public key.
    ///
    /// # Errors
    /// Why it cannot verify a token, as a clause about the key.
    pub fn parse(key: &Json) -> Result<Self, String> {
        let Json::Object(members) = key else { return Err("is not an object".to_owned()) };
        if let Some(name) = PRIVATE.into_iter().find(|name| members.contains_key(*name)) {
            return Err(format!("has the private member `{name}`: whoever can read it can sign tokens"));
        }
        let text = |name: &str| match members.get(name) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(format!("is wrong: `{name}` is not a string")),
        };
        let id = text("kid")?.map(str::to_owned);
        if let Some(purpose) = text("use")?.filter(|purpose| *purpose != "sig") {
            return Err(format!("is not for signatures: its `use` is `{}`", shown(purpose)));
        }
        match members.get("key_ops") {
            None => {}
            Some(Json::Array(all)) if all.iter().any(|one| one == "verify") => {}
            Some(_) => return Err("is not for verifying: its `key_ops` does not have `verify`".to_owned()),
        }
        let material = material(members)?;
        let algorithm = match text("alg")? {
            None => None,
            Some(name) => match TokenAlgorithm::of_name(name).filter(|algorithm| material.fits(*algorithm)) {
                Some(algorithm) => Some(algorithm),
                None => return Err(format!("has the `alg` `{}`, which is not supported, or not with such a key", shown(name))),
            },
        };
        Ok(Self { id, algorithm, material })
    }

    /// `kid`
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Its numbers.
    #[must_use]
    pub const fn material(&self) -> &Material {
        &self.material
    }

    /// Whether tokens that are signed by this algorithm may be verified with the key.
    #[must_use]
    pub fn fits(&self, algorithm: TokenAlgorithm) -> bool {
        self.material.fits(algorithm) && self.algorithm.is_none_or(|only| only == algorithm)
    }
}

fn material(members: &Claims) -> Result<Material, String> {
    let text = |name: &str| members.get(name).and_then(Json::as_str).ok_or_else(|| format!("has no `{name}`, or one that is not a string"));
    // Some issuers pad.
    let number = |name: &str| {
        let bytes =
            URL_SAFE_NO_PAD.decode(text(name)?.trim_end_matches('=')).map_err(|_| format!("is wrong: `{name}` is not base64url"))?;
        Ok::<_, String>(bytes)
    };
    fn joined<const N: usize>(x: &[u8], y: &[u8]) -> Result<[u8; N], String> {
        if x.len() != y.len() {
            return Err("is wrong: its point has a wrong length".to_owned());
        }
        [x, y].concat().try_into().map_err(|_| "is wrong: its point has a wrong length".to_owned())
    }
    match (text("kty")?, members.get("crv").and_then(Json::as_str)) {
        ("RSA", _) => {
            let plain = |name| number(name).map(|bytes| bytes.into_iter().skip_while(|byte| *byte == 0).collect::<Vec<u8>>());
            let (modulus, exponent) = (plain("n")?, plain("e")?);
            let bits = modulus.first().map_or(0, |first| modulus.len() * 8 - first.leading_zeros() as usize);
            if !RSA_BITS.contains(&bits) {
                return Err(format!("is an RSA key of {bits} bits; it must have {} to {}", RSA_BITS.start(), RSA_BITS.end()));
            }
            if ![&[1, 0, 1][..], &[3]].contains(&exponent.as_slice()) || modulus.last().is_some_and(|last| last % 2 == 0) {
                return Err("is an RSA key with numbers that nobody uses: `e` must be 65537 or 3, and `n` odd".to_owned());
            }
            Ok(Material::Rsa { modulus, exponent })
        }
        ("EC", Some("P-256")) => joined(&number("x")?, &number("y")?).map(Material::P256),
        ("EC", Some("P-384")) => joined(&number("x")?, &number("y")?).map(Material::P384),
        ("OKP", Some("Ed25519")) => {
            let x = number("x")?.try_into().map_err(|_| "is wrong: `x` has a wrong length".to_owned())?;
            Ok(Material::Ed25519(x))
        }
        ("EC" | "OKP", curve) => Err(format!("is on the curve `{}`, which is not supported", shown(curve.unwrap_or("?")))),
        (kind, _) => Err(format!("is of the type `{}`, which is not supported", shown(kind))),
    }
}

/// A set of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySet {
    keys: Vec<Key>,
    /// The keys that cannot be used: `kid`, and why.
    passed_over: Vec<(Option<String>, String)>,
}

impl KeySet {
    /// Reads a key set. Keys that cannot be used are passed over: issuers publish some for other
    /// purposes.
    ///
    /// # Errors
    /// The text is no key set, or one that is too large; a clause about it, which shows nothing of
    /// it.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        if text.len() > LONGEST_SET {
            return Err(format!("is longer than {LONGEST_SET} bytes"));
        }
        if text.trim_ascii_start().starts_with(b"<") {
            return Err("is HTML or XML, not a key set".to_owned());
        }
        let members = strict_json::object(text)?;
        let Some(Json::Array(all)) = members.get("keys") else { return Err("is not a key set: it has no list `keys`".to_owned()) };
        if all.len() > MOST_KEYS {
            return Err(format!("has {} keys; the most are {MOST_KEYS}", all.len()));
        }
        let mut set = Self::default();
        for key in all {
            match Key::parse(key) {
                Ok(key) => set.keys.push(key),
                Err(why) => set.passed_over.push((key.get("kid").and_then(Json::as_str).map(str::to_owned), why)),
            }
        }
        Ok(set)
    }

    /// A set with one key of HMAC.
    pub(crate) fn of_secret(secret: &[u8]) -> Self {
        let key = Key { id: None, algorithm: None, material: Material::Secret(secret.to_vec()) };
        Self { keys: vec![key], passed_over: Vec::new() }
    }

    /// The keys that a token may have been signed with: those of its `kid`, or where no key has
    /// that, the fitting keys without one. Without a `kid`, all that fit.
    pub(crate) fn candidates(&self, algorithm: TokenAlgorithm, id: Option<&str>) -> Vec<&Key> {
        let is_known = id.is_some() && self.keys.iter().any(|key| key.id.as_deref() == id);
        let is_meant = |key: &&Key| id.is_none() || key.id.as_deref() == id.filter(|_| is_known);
        self.keys.iter().filter(is_meant).filter(|key| key.fits(algorithm)).collect()
    }

    /// What to say of a token that no key fits.
    pub(crate) fn without(&self, algorithm: TokenAlgorithm, id: Option<&str>) -> String {
        let mut reason = match id {
            Some(id) => format!("the issuer has no key `{}` for {}", shown(id), algorithm.as_str()),
            None => format!("the issuer has no key for {}", algorithm.as_str()),
        };
        let why = self.passed_over.iter().find(|(passed, _)| id.is_none() || passed.as_deref() == id);
        if let Some((_, why)) = why {
            reason.push_str(&format!("; one that it publishes {}", shown(why)));
        }
        reason
    }

    /// The keys that can be used.
    #[must_use]
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }
}
