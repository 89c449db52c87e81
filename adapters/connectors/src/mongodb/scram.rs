//! [SCRAM](https://www.rfc-editor.org/rfc/rfc5802): each side proves that it knows the password,
//! and nobody sends it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use millrace_core::hex;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

/// The fewest rounds that are accepted: less would make a password easy to guess for whoever
/// listens.
const MIN_ROUNDS: u32 = 4_096;
/// The most: a server cannot let a caller count for ever.
const MAX_ROUNDS: u32 = 100_000;

/// How both sides prove it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mechanism {
    ScramSha256,
    ScramSha1,
}

impl Mechanism {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::ScramSha1 => "SCRAM-SHA-1",
        }
    }

    fn mac(self, key: &[u8], text: &[u8]) -> Vec<u8> {
        match self {
            Self::ScramSha256 => Keyed::<Hmac<Sha256>>::mac(key, text),
            Self::ScramSha1 => Keyed::<Hmac<Sha1>>::mac(key, text),
        }
    }

    fn hash(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::ScramSha256 => Sha256::digest(bytes).to_vec(),
            Self::ScramSha1 => Sha1::digest(bytes).to_vec(),
        }
    }

    /// PBKDF2 of one block.
    fn salted(self, password: &[u8], salt: &[u8], rounds: u32) -> Vec<u8> {
        match self {
            Self::ScramSha256 => Keyed::<Hmac<Sha256>>::salted(password, salt, rounds),
            Self::ScramSha1 => Keyed::<Hmac<Sha1>>::salted(password, salt, rounds),
        }
    }

    /// The password as it is salted.
    fn prepared(self, user: &str, password: &str) -> Vec<u8> {
        match self {
            // What SASLprep forbids is taken as it is, as other drivers do.
            Self::ScramSha256 => stringprep::saslprep(password).map_or_else(|_| password.into(), |text| text.into_owned()).into_bytes(),
            Self::ScramSha1 => hex::encode(&md5::Md5::digest(format!("{user}:mongo:{password}"))).into_bytes(),
        }
    }
}

/// The two functions for one kind of hash.
struct Keyed<M>(std::marker::PhantomData<M>);

macro_rules! keyed {
    ($hash:ty) => {
        impl Keyed<Hmac<$hash>> {
            fn keyed(key: &[u8]) -> Option<Hmac<$hash>> {
                // A key of any length is one.
                Hmac::<$hash>::new_from_slice(key).ok()
            }

            fn mac(key: &[u8], text: &[u8]) -> Vec<u8> {
                Self::keyed(key).map(|mac| mac.chain_update(text).finalize().into_bytes().to_vec()).unwrap_or_default()
            }

            fn salted(password: &[u8], salt: &[u8], rounds: u32) -> Vec<u8> {
                let Some(keyed) = Self::keyed(password) else { return Vec::new() };
                let mut last = keyed.clone().chain_update(salt).chain_update([0, 0, 0, 1]).finalize().into_bytes();
                let mut salted = last.to_vec();
                for _ in 1..rounds {
                    last = keyed.clone().chain_update(last).finalize().into_bytes();
                    salted.iter_mut().zip(last).for_each(|(byte, other)| *byte ^= other);
                }
                salted
            }
        }
    };
}

keyed!(Sha1);
keyed!(Sha256);

/// What a password makes with the salt and the rounds of one server. It takes thousands of rounds,
/// so that it is kept.
#[derive(Clone)]
pub(super) struct SaltedPassword {
    mechanism: Mechanism,
    salt: Vec<u8>,
    rounds: u32,
    bytes: Vec<u8>,
}

/// A login that has begun.
pub(super) struct Scram {
    mechanism: Mechanism,
    nonce: String,
    bare: String,
}

/// What the server has to send to be who it should be.
pub(super) struct Proven(Vec<u8>);

impl Scram {
    /// `random` is 24 bytes that nobody can guess.
    pub(super) fn new(mechanism: Mechanism, user: &str, random: &[u8]) -> Self {
        let nonce = STANDARD.encode(random);
        let bare = format!("n={},r={nonce}", user.replace('=', "=3D").replace(',', "=2C"));
        Self { mechanism, nonce, bare }
    }

    /// The first message.
    pub(super) fn first(&self) -> Vec<u8> {
        format!("n,,{}", self.bare).into_bytes()
    }

    /// The second message, from what the server said to the first. `kept` is what an earlier login
    /// left.
    ///
    /// # Errors
    /// What is wrong with the server's message.
    pub(super) fn last(
        &self,
        user: &str,
        password: &str,
        server: &[u8],
        kept: &mut Option<SaltedPassword>,
    ) -> Result<(Vec<u8>, Proven), &'static str> {
        let server = std::str::from_utf8(server).map_err(|_| "it is not text")?;
        let mut parts = server.split(',');
        let mut part = |name: &str| parts.next().and_then(|part| part.strip_prefix(name)).ok_or("a part is missing");
        let (nonce, salt, rounds) = (part("r=")?, part("s=")?, part("i=")?);
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err("it answers another login");
        }
        let salt = STANDARD.decode(salt).map_err(|_| "its salt is not base64")?;
        let rounds = rounds.parse::<u32>().ok().filter(|rounds| (MIN_ROUNDS..=MAX_ROUNDS).contains(rounds));
        let rounds = rounds.ok_or("it asks for too few rounds or too many")?;
        let mechanism = self.mechanism;
        let salted = match kept {
            Some(kept) if kept.mechanism == mechanism && kept.salt == salt && kept.rounds == rounds => kept.clone(),
            _ => {
                let bytes = mechanism.salted(&mechanism.prepared(user, password), &salt, rounds);
                kept.insert(SaltedPassword { mechanism, salt, rounds, bytes }).clone()
            }
        };
        let client = mechanism.mac(&salted.bytes, b"Client Key");
        let without_proof = format!("c=biws,r={nonce}");
        let signed = format!("{},{server},{without_proof}", self.bare);
        let signature = mechanism.mac(&mechanism.hash(&client), signed.as_bytes());
        let proof: Vec<u8> = client.iter().zip(signature).map(|(byte, other)| byte ^ other).collect();
        let expected = mechanism.mac(&mechanism.mac(&salted.bytes, b"Server Key"), signed.as_bytes());
        Ok((format!("{without_proof},p={}", STANDARD.encode(proof)).into_bytes(), Proven(expected)))
    }
}

impl Proven {
    /// Whether the server's last message proves that it knows the password.
    pub(super) fn is_by(&self, server: &[u8]) -> bool {
        let signature = std::str::from_utf8(server).ok().and_then(|text| text.strip_prefix("v="));
        let signature = signature.and_then(|text| STANDARD.decode(text.split(',').next().unwrap_or_default()).ok());
        !self.0.is_empty() && signature.is_some_and(|signature| signature == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A login with a nonce that is text already.
    fn login(mechanism: Mechanism, nonce: &str) -> Scram {
        Scram { mechanism, nonce: nonce.to_owned(), bare: format!("n=user,r={nonce}") }
    }

    #[test]
    fn the_examples_of_the_specifications_come_out() {
        // RFC 7677, section 3.
        let scram = login(Mechanism::ScramSha256, "rOprNGfwEbeRWgbNEkqO");
        assert_eq!(scram.first(), b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let server = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let mut kept = None;
        let (last, proven) = scram.last("user", "pencil", server.as_bytes(), &mut kept).unwrap();
        let expected = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        assert_eq!(String::from_utf8(last).unwrap(), expected);
        assert!(proven.is_by(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="));
        assert!(!proven.is_by(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G5=") && !proven.is_by(b"v=") && !proven.is_by(b""));
        // What was kept gives the same, and is not taken for another salt.
        let (again, _) = scram.last("user", "pencil", server.as_bytes(), &mut kept).unwrap();
        assert_eq!(again, expected.as_bytes());
        // MongoDB's specification of authentication, SCRAM-SHA-1.
        let scram = login(Mechanism::ScramSha1, "fyko+d2lbbFgONRv9qkxdawL");
        let server = "r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000";
        let (last, proven) = scram.last("user", "pencil", server.as_bytes(), &mut kept).unwrap();
        let expected = "c=biws,r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,p=MC2T8BvbmWRckDw8oWl5IVghwCY=";
        assert_eq!(String::from_utf8(last).unwrap(), expected);
        assert!(proven.is_by(b"v=UMWeI25JD1yNYZRMpZ4VHvhZ9e0="));
    }

    #[test]
    fn what_the_server_says_is_looked_at() {
        let scram = login(Mechanism::ScramSha256, "abc");
        for (server, expected) in [
            ("", "a part is missing"),
            ("e=other-error", "a part is missing"),
            ("r=abc,s=AA==,i=4096", "answers another login"),
            ("r=xbcd,s=AA==,i=4096", "answers another login"),
            ("r=abcd,s=%,i=4096", "salt is not base64"),
            ("r=abcd,s=AA==,i=1", "too few rounds"),
            ("r=abcd,s=AA==,i=4294967295", "or too many"),
        ] {
            let error = scram.last("user", "pencil", server.as_bytes(), &mut None).err().unwrap();
            assert!(error.contains(expected), "{server}: {error}");
        }
        assert_eq!(Scram::new(Mechanism::ScramSha256, "a=b,c", &[0; 3]).first(), b"n,,n=a=3Db=2Cc,r=AAAA");
    }
}
