//! By crates in Rust.

use std::convert::Infallible;

use aes::{
    Aes128, Aes192, Aes256,
    cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _, StreamCipher as _, block_padding::Pkcs7},
};
use aes_gcm::{AesGcm, aead::AeadInOut as _};
use aes_kw::AesKw;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::{Signer as _, Verifier as _};
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use millrace_core::{Json, ports::ScriptHost};
use rsa::{
    BoxedUint, Oaep, Pkcs1v15Sign, Pss,
    pkcs8::{DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _},
    rand_core::{TryCryptoRng, TryRng},
    traits::{PrivateKeyParts as _, PublicKeyParts as _},
};
use serde_json::{Map, json};
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq as _;

use super::operation::{Computed, DATA, Failed, MAX_MODULUS_BITS, OPERATION, Operation, check_modulus, not_supported};

/// What stands before the 32 bytes of a private key of Ed25519 in PKCS #8, and of a public one in
/// SPKI.
const ED25519_PKCS8: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
const ED25519_SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];
/// More than any modulus leaves room for.
const MAX_SALT_BYTES: u64 = 1024;

/// The host's random numbers.
struct Random<'a>(&'a dyn ScriptHost);

impl TryRng for Random<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.0.random(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.0.random(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, into: &mut [u8]) -> Result<(), Infallible> {
        self.0.random(into);
        Ok(())
    }
}

impl TryCryptoRng for Random<'_> {}

/// Runs the same for the hash that is named.
macro_rules! hashed {
    ($operation:expr, $hash:ident => $work:expr) => {
        match $operation.text("hash") {
            "SHA-1" => {
                type $hash = Sha1;
                $work
            }
            "SHA-256" => {
                type $hash = Sha256;
                $work
            }
            "SHA-384" => {
                type $hash = Sha384;
                $work
            }
            "SHA-512" => {
                type $hash = Sha512;
                $work
            }
            _ => Err(OPERATION),
        }
    };
}

/// Runs the same for the cipher that a key's length names.
macro_rules! ciphered {
    ($key:expr, $cipher:ident => $work:expr) => {
        match $key.len() {
            16 => {
                type $cipher = Aes128;
                $work
            }
            24 => {
                type $cipher = Aes192;
                $work
            }
            32 => {
                type $cipher = Aes256;
                $work
            }
            _ => Err(OPERATION),
        }
    };
}

/// Runs the same for the curve that is named.
macro_rules! curved {
    ($operation:expr, $curve:ident => $work:expr) => {
        match $operation.text("curve") {
            "P-256" => {
                use p256 as $curve;
                $work
            }
            "P-384" => {
                use p384 as $curve;
                $work
            }
            _ => Err(OPERATION),
        }
    };
}

fn operation<E>(_: E) -> Failed {
    OPERATION
}

fn data<E>(_: E) -> Failed {
    DATA
}

fn bytes(made: impl Into<Vec<u8>>) -> Computed {
    (Json::Null, Some(made.into()))
}

/// Computes an operation.
pub(super) fn compute(asked: &Operation, host: &dyn ScriptHost) -> Result<Computed, Failed> {
    let mut random = Random(host);
    match asked.name.as_str() {
        "import" => import(asked),
        "export" => export(asked).map(|jwk| (json!({"jwk": jwk}), None)),
        "generate" => generate(asked, &mut random),
        "sign" => sign(asked, &mut random).map(bytes),
        "verify" => verify(asked).map(|is_signed| (json!({"isSigned": is_signed}), None)),
        "encrypt" => encrypt(asked, &mut random).map(bytes),
        "decrypt" => decrypt(asked, &mut random).map(bytes),
        "wrap" => wrap(asked).map(bytes),
        "unwrap" => unwrap(asked).map(bytes),
        "derive" => derive(asked).map(bytes),
        _ => Err(OPERATION),
    }
}

// keys

/// A member of a JSON Web Key.
fn member(asked: &Operation, name: &str) -> Result<Vec<u8>, Failed> {
    let text = asked.members["jwk"][name].as_str().ok_or(DATA)?;
    URL_SAFE_NO_PAD.decode(text).map_err(data)
}

fn integer(asked: &Operation, name: &str) -> Result<BoxedUint, Failed> {
    let bytes = member(asked, name)?;
    if bytes.len() > MAX_MODULUS_BITS / 8 {
        return Err(DATA);
    }
    let bits = u32::try_from(bytes.len().max(1) * 8).map_err(data)?;
    BoxedUint::from_be_slice(&bytes, bits).map_err(data)
}

fn shown(bytes: &[u8]) -> Json {
    Json::from(URL_SAFE_NO_PAD.encode(bytes))
}

fn of_rsa(key: &rsa::PublicKey, bytes: Vec<u8>) -> Result<Computed, Failed> {
    let bits = key.n().bit_width_vartime() as usize;
    check_modulus(bits)?;
    Ok((json!({"modulusLength": bits, "publicExponent": key.e_bytes()}), Some(bytes)))
}

fn import_rsa(asked: &Operation) -> Result<Computed, Failed> {
    let key = asked.part(0);
    if asked.text("type") == "public" {
        let key = match asked.text("format") {
            "jwk" => rsa::PublicKey::new(integer(asked, "n")?, integer(asked, "e")?).map_err(data)?,
            _ => rsa::PublicKey::from_public_key_der(key).map_err(data)?,
        };
        let written = key.to_public_key_der().map_err(data)?.into_vec();
        return of_rsa(&key, written);
    }
    let key = match asked.text("format") {
        "jwk" => {
            let primes = vec![integer(asked, "p")?, integer(asked, "q")?];
            for name in ["dp", "dq", "qi"] {
                member(asked, name)?;
            }
            rsa::PrivateKey::from_components(integer(asked, "n")?, integer(asked, "e")?, integer(asked, "d")?, primes).map_err(data)?
        }
        _ => rsa::PrivateKey::from_pkcs8_der(key).map_err(data)?,
    };
    let written = key.to_pkcs8_der().map_err(data)?.as_bytes().to_vec();
    of_rsa(key.as_public_key(), written)
}

fn import(asked: &Operation) -> Result<Computed, Failed> {
    let key = asked.part(0);
    let (is_public, is_jwk) = (asked.text("type") == "public", asked.text("format") == "jwk");
    match asked.text("name") {
        "Ed25519" => {
            let secret = match (is_public, is_jwk) {
                (true, _) => None,
                (false, true) => Some(member(asked, "d")?),
                // What some write behind it is the public key.
                (false, false) => Some(ed25519_dalek::SigningKey::from_pkcs8_der(key).map_err(data)?.to_bytes().to_vec()),
            };
            let Some(secret) = secret else {
                let raw = if is_jwk { member(asked, "x")? } else { key.strip_prefix(&ED25519_SPKI).ok_or(DATA)?.to_vec() };
                let raw: [u8; 32] = raw.try_into().map_err(data)?;
                return Ok(bytes([&ED25519_SPKI[..], &raw].concat()));
            };
            let secret: [u8; 32] = secret.try_into().map_err(data)?;
            if is_jwk && member(asked, "x")? != ed25519_dalek::SigningKey::from_bytes(&secret).verifying_key().as_bytes() {
                return Err(DATA);
            }
            Ok(bytes([&ED25519_PKCS8[..], &secret].concat()))
        }
        "ECDSA" | "ECDH" => curved!(asked, curve => {
            // Each number has all bytes of its field.
            let size = if asked.text("curve") == "P-384" { 48 } else { 32 };
            let number = |name: &str| member(asked, name).and_then(|bytes| if bytes.len() == size { Ok(bytes) } else { Err(DATA) });
            let public = if is_jwk {
                let point = [&[4][..], &number("x")?, &number("y")?].concat();
                Some(curve::PublicKey::from_sec1_bytes(&point).map_err(data)?)
            } else if is_public {
                Some(curve::PublicKey::from_public_key_der(key).map_err(data)?)
            } else {
                None
            };
            if let (true, Some(public)) = (is_public, &public) {
                return Ok(bytes(public.to_public_key_der().map_err(data)?.into_vec()));
            }
            let secret = if is_jwk { curve::SecretKey::from_slice(&number("d")?) } else { Ok(curve::SecretKey::from_pkcs8_der(key).map_err(data)?) };
            let secret = secret.map_err(data)?;
            if public.is_some_and(|public| public != secret.public_key()) {
                return Err(DATA);
            }
            Ok(bytes(secret.to_pkcs8_der().map_err(data)?.as_bytes()))
        }),
        _ => import_rsa(asked),
    }
}

fn export(asked: &Operation) -> Result<Json, Failed> {
    let key = asked.part(0);
    let is_public = asked.text("type") == "public";
    let mut jwk = Map::new();
    let mut add = |name: &str, value: Json| drop(jwk.insert(name.to_owned(), value));
    match asked.text("name") {
        "Ed25519" => {
            add("kty", Json::from("OKP"));
            add("crv", Json::from("Ed25519"));
            if is_public {
                add("x", shown(key.strip_prefix(&ED25519_SPKI).ok_or(OPERATION)?));
            } else {
                let secret = signing_key(key)?;
                add("x", shown(secret.verifying_key().as_bytes()));
                add("d", shown(&secret.to_bytes()));
            }
        }
        "ECDSA" | "ECDH" => curved!(asked, curve => {
            let secret = if is_public { None } else { Some(curve::SecretKey::from_pkcs8_der(key).map_err(operation)?) };
            let public = match &secret {
                Some(secret) => secret.public_key(),
                None => curve::PublicKey::from_public_key_der(key).map_err(operation)?,
            };
            let point = public.to_sec1_bytes();
            let half = (point.len() - 1) / 2;
            add("kty", Json::from("EC"));
            add("crv", Json::from(asked.text("curve")));
            add("x", shown(&point[1..=half]));
            add("y", shown(&point[1 + half..]));
            if let Some(secret) = secret {
                add("d", shown(&secret.to_bytes()));
            }
            Ok(())
        })?,
        _ => {
            add("kty", Json::from("RSA"));
            let secret = if is_public { None } else { Some(rsa::PrivateKey::from_pkcs8_der(key).map_err(operation)?) };
            let public = match &secret {
                Some(secret) => secret.to_public_key(),
                None => rsa::PublicKey::from_public_key_der(key).map_err(operation)?,
            };
            add("n", shown(&public.n_bytes()));
            add("e", shown(&public.e_bytes()));
            if let Some(secret) = secret {
                let number = |number: &BoxedUint| shown(&number.to_be_bytes_trimmed_vartime());
                let [p, q] = secret.primes() else { return Err(OPERATION) };
                add("d", number(secret.d()));
                add("p", number(p.as_ref()));
                add("q", number(q.as_ref()));
                add("dp", number(secret.dp().ok_or(OPERATION)?));
                add("dq", number(secret.dq().ok_or(OPERATION)?));
                add("qi", number(&secret.crt_coefficient().ok_or(OPERATION)?));
            }
        }
    }
    Ok(Json::Object(jwk))
}

/// A new pair: the private key, then the public one. The value says where it begins.
fn generate(asked: &Operation, random: &mut Random<'_>) -> Result<Computed, Failed> {
    let pair = |private: &[u8], public: &[u8]| Ok((json!({"private": private.len()}), Some([private, public].concat())));
    match asked.text("name") {
        "Ed25519" => {
            let mut secret = [0; 32];
            random.0.random(&mut secret);
            let public = ed25519_dalek::SigningKey::from_bytes(&secret).verifying_key();
            pair(&[&ED25519_PKCS8[..], &secret].concat(), &[&ED25519_SPKI[..], public.as_bytes()].concat())
        }
        "ECDSA" | "ECDH" => curved!(asked, curve => {
            use rsa::Generate as _;
            let secret = curve::SecretKey::try_generate_from_rng(random).map_err(operation)?;
            let public = secret.public_key().to_public_key_der().map_err(operation)?;
            pair(secret.to_pkcs8_der().map_err(operation)?.as_bytes(), public.as_bytes())
        }),
        _ => {
            let bits = usize::try_from(asked.number("modulusLength")).map_err(operation)?;
            check_modulus(bits)?;
            let secret = rsa::PrivateKey::new(random, bits).map_err(operation)?;
            let public = secret.as_public_key().to_public_key_der().map_err(operation)?;
            pair(secret.to_pkcs8_der().map_err(operation)?.as_bytes(), public.as_bytes())
        }
    }
}

fn signing_key(key: &[u8]) -> Result<ed25519_dalek::SigningKey, Failed> {
    let secret: [u8; 32] = key.strip_prefix(&ED25519_PKCS8).and_then(|secret| secret.try_into().ok()).ok_or(OPERATION)?;
    Ok(ed25519_dalek::SigningKey::from_bytes(&secret))
}

fn private_key(asked: &Operation) -> Result<rsa::PrivateKey, Failed> {
    let key = rsa::PrivateKey::from_pkcs8_der(asked.part(0)).map_err(operation)?;
    check_modulus(key.n().bit_width_vartime() as usize)?;
    Ok(key)
}

fn public_key(asked: &Operation) -> Result<rsa::PublicKey, Failed> {
    let key = rsa::PublicKey::from_public_key_der(asked.part(0)).map_err(operation)?;
    check_modulus(key.n().bit_width_vartime() as usize)?;
    Ok(key)
}

// signatures

fn salt_length(asked: &Operation) -> Result<usize, Failed> {
    let length = asked.number("saltLength");
    if length > MAX_SALT_BYTES { Err(OPERATION) } else { usize::try_from(length).map_err(operation) }
}

/// A hash as the number that a curve signs: one that is shorter than the curve's numbers has zeros
/// before it.
fn widened(hash: &[u8], length: usize) -> Vec<u8> {
    let mut wide = vec![0; length.saturating_sub(hash.len())];
    wide.extend_from_slice(hash);
    wide
}

fn field_bytes(asked: &Operation) -> usize {
    if asked.text("curve") == "P-384" { 48 } else { 32 }
}

fn sign(asked: &Operation, random: &mut Random<'_>) -> Result<Vec<u8>, Failed> {
    let (key, message) = (asked.part(0), asked.part(1));
    match asked.text("name") {
        "HMAC" => hashed!(asked, D => {
            let mut mac = Hmac::<D>::new_from_slice(key).map_err(operation)?;
            mac.update(message);
            Ok(mac.finalize().into_bytes().to_vec())
        }),
        "Ed25519" => Ok(signing_key(key)?.sign(message).to_bytes().to_vec()),
        "ECDSA" => {
            let hash = widened(&hashed!(asked, D => Ok(D::digest(message).to_vec()))?, field_bytes(asked));
            curved!(asked, curve => {
                use curve::ecdsa::signature::hazmat::PrehashSigner as _;
                let key = curve::ecdsa::SigningKey::from_pkcs8_der(key).map_err(operation)?;
                let signature: curve::ecdsa::Signature = key.sign_prehash(&hash).map_err(operation)?;
                Ok(signature.to_bytes().to_vec())
            })
        }
        "RSA-PSS" => {
            let (key, length) = (private_key(asked)?, salt_length(asked)?);
            hashed!(asked, D => key.sign_with_rng(random, Pss::<D>::new_with_salt(length), &D::digest(message)).map_err(operation))
        }
        "RSASSA-PKCS1-v1_5" => {
            let key = private_key(asked)?;
            hashed!(asked, D => key.sign_with_rng(random, Pkcs1v15Sign::new::<D>(), &D::digest(message)).map_err(operation))
        }
        _ => Err(OPERATION),
    }
}

fn verify(asked: &Operation) -> Result<bool, Failed> {
    let (key, message, signature) = (asked.part(0), asked.part(1), asked.part(2));
    match asked.text("name") {
        "HMAC" => hashed!(asked, D => {
            let mut mac = Hmac::<D>::new_from_slice(key).map_err(operation)?;
            mac.update(message);
            Ok(mac.verify_slice(signature).is_ok())
        }),
        "Ed25519" => {
            let raw: [u8; 32] = key.strip_prefix(&ED25519_SPKI).and_then(|raw| raw.try_into().ok()).ok_or(OPERATION)?;
            let (Ok(key), Ok(signature)) = (ed25519_dalek::VerifyingKey::from_bytes(&raw), ed25519_dalek::Signature::from_slice(signature))
            else {
                return Ok(false);
            };
            Ok(key.verify(message, &signature).is_ok())
        }
        "ECDSA" => {
            let hash = widened(&hashed!(asked, D => Ok(D::digest(message).to_vec()))?, field_bytes(asked));
            curved!(asked, curve => {
                use curve::ecdsa::signature::hazmat::PrehashVerifier as _;
                let key = curve::PublicKey::from_public_key_der(key).map_err(operation)?;
                let Ok(signature) = curve::ecdsa::Signature::from_slice(signature) else { return Ok(false) };
                Ok(curve::ecdsa::VerifyingKey::from(key).verify_prehash(&hash, &signature).is_ok())
            })
        }
        "RSA-PSS" => {
            let (key, length) = (public_key(asked)?, salt_length(asked)?);
            hashed!(asked, D => Ok(key.verify(Pss::<D>::new_with_salt(length), &D::digest(message), signature).is_ok()))
        }
        "RSASSA-PKCS1-v1_5" => {
            let key = public_key(asked)?;
            hashed!(asked, D => Ok(key.verify(Pkcs1v15Sign::new::<D>(), &D::digest(message), signature).is_ok()))
        }
        _ => Err(OPERATION),
    }
}

// ciphers

/// Encrypts in place, or decrypts: GCM does both alike. Gives the tag of what is encrypted.
fn gcm(key: &[u8], iv: &[u8], additional: &[u8], content: &mut [u8]) -> Result<Vec<u8>, Failed> {
    use aes::cipher::{
        array::Array,
        consts::{U12, U16},
    };
    ciphered!(key, Cipher => match iv.len() {
        12 => {
            let nonce = Array::<u8, U12>::try_from(iv).map_err(operation)?;
            let cipher = AesGcm::<Cipher, U12>::new_from_slice(key).map_err(operation)?;
            cipher.encrypt_inout_detached(&nonce, additional, content.into()).map(|tag| tag.to_vec()).map_err(operation)
        }
        16 => {
            let nonce = Array::<u8, U16>::try_from(iv).map_err(operation)?;
            let cipher = AesGcm::<Cipher, U16>::new_from_slice(key).map_err(operation)?;
            cipher.encrypt_inout_detached(&nonce, additional, content.into()).map(|tag| tag.to_vec()).map_err(operation)
        }
        _ => Err(not_supported("`iv` of `AES-GCM` must have 12 or 16 bytes")),
    })
}

fn tag_bytes(asked: &Operation) -> usize {
    usize::try_from(asked.number("tagLength") / 8).unwrap_or_default().clamp(12, 16)
}

fn counted(asked: &Operation) -> Result<Vec<u8>, Failed> {
    let (key, counter) = (asked.part(0), asked.part(2));
    let mut content = asked.part(1).to_vec();
    macro_rules! applied {
        ($counter:ident) => {
            ciphered!(key, Cipher => {
                let mut cipher = ctr::$counter::<Cipher>::new_from_slices(key, counter).map_err(operation)?;
                cipher.try_apply_keystream(&mut content).map_err(operation)
            })?
        };
    }
    match asked.number("counterLength") {
        32 => applied!(Ctr32BE),
        64 => applied!(Ctr64BE),
        _ => applied!(Ctr128BE),
    }
    Ok(content)
}

fn encrypt(asked: &Operation, random: &mut Random<'_>) -> Result<Vec<u8>, Failed> {
    let (key, content) = (asked.part(0), asked.part(1));
    match asked.text("name") {
        "AES-GCM" => {
            let mut made = content.to_vec();
            let tag = gcm(key, asked.part(2), asked.part(3), &mut made)?;
            made.extend_from_slice(&tag[..tag_bytes(asked)]);
            Ok(made)
        }
        "AES-CBC" => ciphered!(key, Cipher => {
            let cipher = cbc::Encryptor::<Cipher>::new_from_slices(key, asked.part(2)).map_err(operation)?;
            Ok(cipher.encrypt_padded_vec::<Pkcs7>(content))
        }),
        "AES-CTR" => counted(asked),
        "RSA-OAEP" => {
            let key = public_key(asked)?;
            hashed!(asked, D => key.encrypt(random, Oaep::<D>::new_with_label(asked.part(2)), content).map_err(operation))
        }
        _ => Err(OPERATION),
    }
}

fn decrypt(asked: &Operation, random: &mut Random<'_>) -> Result<Vec<u8>, Failed> {
    let (key, content) = (asked.part(0), asked.part(1));
    match asked.text("name") {
        "AES-GCM" => {
            let (iv, additional) = (asked.part(2), asked.part(3));
            let (content, tag) =
                content.len().checked_sub(tag_bytes(asked)).and_then(|at| content.split_at_checked(at)).ok_or(OPERATION)?;
            let mut made = content.to_vec();
            gcm(key, iv, additional, &mut made)?;
            // The tag may be a part of the whole one, so it is computed, and compared here.
            let whole = gcm(key, iv, additional, &mut made.clone())?;
            if bool::from(whole[..tag.len()].ct_eq(tag)) { Ok(made) } else { Err(OPERATION) }
        }
        "AES-CBC" => ciphered!(key, Cipher => {
            let cipher = cbc::Decryptor::<Cipher>::new_from_slices(key, asked.part(2)).map_err(operation)?;
            cipher.decrypt_padded_vec::<Pkcs7>(content).map_err(operation)
        }),
        "AES-CTR" => counted(asked),
        "RSA-OAEP" => {
            let key = private_key(asked)?;
            hashed!(asked, D => key.decrypt_blinded(random, Oaep::<D>::new_with_label(asked.part(2)), content).map_err(operation))
        }
        _ => Err(OPERATION),
    }
}

fn wrap(asked: &Operation) -> Result<Vec<u8>, Failed> {
    let (key, content) = (asked.part(0), asked.part(1));
    ciphered!(key, Cipher => {
        let mut made = vec![0; content.len() + 8];
        AesKw::<Cipher>::new_from_slice(key).map_err(operation)?.wrap_key(content, &mut made).map_err(operation)?;
        Ok(made)
    })
}

fn unwrap(asked: &Operation) -> Result<Vec<u8>, Failed> {
    let (key, content) = (asked.part(0), asked.part(1));
    ciphered!(key, Cipher => {
        let mut made = vec![0; content.len().saturating_sub(8)];
        AesKw::<Cipher>::new_from_slice(key).map_err(operation)?.unwrap_key(content, &mut made).map_err(operation)?;
        Ok(made)
    })
}

fn derive(asked: &Operation) -> Result<Vec<u8>, Failed> {
    let (key, salt, info) = (asked.part(0), asked.part(1), asked.part(2));
    match asked.text("name") {
        "ECDH" => curved!(asked, curve => {
            let secret = curve::SecretKey::from_pkcs8_der(key).map_err(operation)?;
            let public = curve::PublicKey::from_public_key_der(salt).map_err(operation)?;
            Ok(secret.diffie_hellman(&public).raw_secret_bytes().to_vec())
        }),
        "HKDF" => hashed!(asked, D => {
            // The longest is 255 times the hash.
            let length = usize::try_from(asked.number("bytes")).ok().filter(|length| *length <= 255 * 64).ok_or(OPERATION)?;
            let mut made = vec![0; length];
            Hkdf::<D>::new(Some(salt), key).expand(info, &mut made).map_err(operation)?;
            Ok(made)
        }),
        _ => hashed!(asked, D => {
            let mut made = vec![0; usize::try_from(asked.number("bytes")).map_err(operation)?];
            pbkdf2::pbkdf2_hmac::<D>(key, salt, u32::try_from(asked.number("iterations")).map_err(operation)?, &mut made);
            Ok(made)
        }),
    }
}
