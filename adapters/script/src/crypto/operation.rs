//! What is computed, what it takes, and why nothing comes of it.

use millrace_core::Json;

/// The most iterations of PBKDF2: a Worker computes no more.
const MAX_ITERATIONS: u64 = 100_000;
/// The longest key that is derived by PBKDF2, in bytes. Each block of it takes all iterations.
const MAX_DERIVED_BYTES: u64 = 1024;
/// The longest modulus of RSA, in bits.
pub(super) const MAX_MODULUS_BITS: usize = 4096;
/// The longest key of RSA as PKCS #8, with some room: one of 4096 bits has 2,375 bytes. What is
/// longer is not even read.
const MAX_RSA_KEY_BYTES: usize = 3072;
/// What a block of a derived key has, at the least.
const BLOCK_BYTES: u64 = 20;

/// What is computed.
pub(crate) struct Operation {
    pub(super) name: String,
    pub(super) members: Json,
    /// The key, the data, and what else the operation takes.
    pub(super) parts: Vec<Vec<u8>>,
}

/// What comes of it: a value, and bytes.
pub(crate) type Computed = (Json, Option<Vec<u8>>);

/// Why nothing comes of it: the name of a `DOMException`, and what is to be said beside it. Nothing
/// of a key is in it.
pub(crate) struct Failed {
    pub(super) name: &'static str,
    pub(super) reason: Option<String>,
}

pub(super) const OPERATION: Failed = Failed { name: "OperationError", reason: None };
pub(super) const DATA: Failed = Failed { name: "DataError", reason: None };

pub(super) fn not_supported(reason: impl Into<String>) -> Failed {
    Failed { name: "NotSupportedError", reason: Some(reason.into()) }
}

impl Operation {
    /// Reads what the prelude asks for.
    pub(crate) fn read(asked: &Json, tail: &[u8]) -> Option<Self> {
        let name = asked["operation"].as_str()?.to_owned();
        let mut rest = tail;
        let mut parts = Vec::new();
        for length in asked["lengths"].as_array()? {
            let (part, after) = rest.split_at_checked(usize::try_from(length.as_u64()?).ok()?)?;
            parts.push(part.to_vec());
            rest = after;
        }
        Some(Self { name, members: asked.clone(), parts })
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.members[name].as_str().unwrap_or_default()
    }

    pub(super) fn number(&self, name: &str) -> u64 {
        self.members[name].as_u64().unwrap_or_default()
    }

    pub(super) fn part(&self, index: usize) -> &[u8] {
        self.parts.get(index).map_or(&[], Vec::as_slice)
    }

    /// The units of fuel that it takes: about what it takes of the time, the same on every host.
    pub(crate) fn units(&self) -> u64 {
        let bytes: u64 = self.parts.iter().map(|part| part.len() as u64).sum();
        // What the caller gives beside the key is hashed once for each block of what is derived.
        let blocks = match self.text("name") {
            "HKDF" | "PBKDF2" => self.number("bytes").div_ceil(BLOCK_BYTES).max(1),
            _ => 1,
        };
        self.arithmetic().saturating_add((2 * bytes).saturating_mul(blocks))
    }

    /// The units that do not depend on how much data there is.
    fn arithmetic(&self) -> u64 {
        // What a script says of its key is not believed.
        let is_public = match self.name.as_str() {
            "verify" | "encrypt" => true,
            "import" | "export" => self.text("type") == "public",
            _ => false,
        };
        let of_curve = |units: u64| if self.text("curve") == "P-384" { 4 * units } else { units };
        match (self.name.as_str(), self.text("name")) {
            ("generate", "RSASSA-PKCS1-v1_5" | "RSA-PSS" | "RSA-OAEP") => match self.number("modulusLength") {
                0..=2048 => 20_000_000,
                2049..=3072 => 60_000_000,
                _ => 150_000_000,
            },
            (_, "RSASSA-PKCS1-v1_5" | "RSA-PSS" | "RSA-OAEP") => {
                // What is written of a private key is as long as four and a half moduli, and twice
                // the length takes eight times the work.
                let is_jwk = self.text("format") == "jwk";
                let length = if is_jwk { 2_400 } else { self.part(0).len().min(MAX_RSA_KEY_BYTES) as u64 };
                if is_public { 20_000 + length * 100 } else { 2_000 + length.pow(3) / 4_500 }
            }
            (_, "ECDSA" | "ECDH") => of_curve(40_000),
            (_, "Ed25519") => 15_000,
            (_, "PBKDF2") => {
                let (block, units) = if matches!(self.text("hash"), "SHA-1" | "SHA-256") { (20, 60) } else { (48, 100) };
                self.number("iterations").min(MAX_ITERATIONS) * self.number("bytes").min(MAX_DERIVED_BYTES).div_ceil(block).max(1) * units
            }
            _ => 2_000,
        }
    }

    pub(super) fn check(&self) -> Result<(), Failed> {
        if self.number("iterations") > MAX_ITERATIONS {
            return Err(not_supported(format!("`PBKDF2` with more than {MAX_ITERATIONS} iterations is not supported")));
        }
        if self.text("name") == "PBKDF2" && self.number("bytes") > MAX_DERIVED_BYTES {
            return Err(not_supported(format!("`PBKDF2` derives at most {MAX_DERIVED_BYTES} bytes")));
        }
        if matches!(self.text("name"), "RSASSA-PKCS1-v1_5" | "RSA-PSS" | "RSA-OAEP") && self.part(0).len() > MAX_RSA_KEY_BYTES {
            return Err(DATA);
        }
        Ok(())
    }
}

/// What a modulus may have.
pub(super) fn check_modulus(bits: usize) -> Result<(), Failed> {
    if (1024..=MAX_MODULUS_BITS).contains(&bits) {
        return Ok(());
    }
    Err(not_supported(format!("an RSA key with a modulus of {bits} bits is not supported; 1024 to {MAX_MODULUS_BITS} are")))
}
