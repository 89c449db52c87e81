//! How a password is proven.
//!
//! `mysql_native_password` and `caching_sha2_password` send a digest of the password and of what
//! the server made up for this connection. The other methods send the password, so that they need
//! TLS.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_authentication_methods.html>

use sha1::Sha1;
use sha2::{Digest, Sha256};

pub(super) const NATIVE: &str = "mysql_native_password";
pub(super) const CACHING_SHA2: &str = "caching_sha2_password";
pub(super) const SHA256: &str = "sha256_password";
pub(super) const CLEAR: &str = "mysql_clear_password";

/// What proves a password by the method; nothing for an empty one.
pub(super) fn proof(is_caching_sha2: bool, password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    if is_caching_sha2 { caching_sha2(password, nonce) } else { native(password, nonce) }
}

/// SHA1(password) ⊕ SHA1(nonce, SHA1(SHA1(password)))
fn native(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let once = Sha1::digest(password);
    let mask = Sha1::new().chain_update(nonce).chain_update(Sha1::digest(once)).finalize();
    xor(&once, &mask)
}

/// SHA256(password) ⊕ SHA256(SHA256(SHA256(password)), nonce)
fn caching_sha2(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let once = Sha256::digest(password);
    let mask = Sha256::new().chain_update(Sha256::digest(once)).chain_update(nonce).finalize();
    xor(&once, &mask)
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

#[cfg(test)]
mod tests {
    use millrace_core::hex;

    use super::*;

    /// The vectors of go-sql-driver/mysql and of mysql_common.
    #[test]
    fn proofs_are_those_of_other_clients() {
        let nonce = [10, 47, 74, 111, 75, 73, 34, 48, 88, 76, 114, 74, 37, 13, 3, 80, 82, 2, 23, 21];
        for (password, expected) in [
            ("secret", "f490e76f66d9d86665ce54d98c78d0acfe2fb0b08b423da807144873d30b312c"),
            ("secret2", "abc3934a012cf342e876071c8ee202de51785b430258a7a0138bc79c4d800bc6"),
        ] {
            assert_eq!(hex::encode(&proof(true, password.as_bytes(), &nonce)), expected);
        }
        let (password, nonce) = (b"G!ider27", b"NR3HP:qIYa_9=db?Sd{`");
        assert_eq!(hex::encode(&proof(false, password, nonce)), "09cff8855e9e705340ff2270d8fb9fadba906b70");
        assert_eq!(hex::encode(&proof(true, password, nonce)), "4f97bbfd202401c42a69deaae53bda077ed7578563c1a80eb816c82119b68d2e");
        assert_eq!((proof(true, b"", nonce), proof(false, b"", nonce)), (vec![], vec![]));
    }
}
