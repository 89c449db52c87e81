//! The server side of TLS, by rustls with ring: one certificate, which can be exchanged while
//! connections come in.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    InconsistentKeys, ServerConfig,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use tokio_rustls::TlsAcceptor;

/// What a server says in the handshake that it speaks.
const PROTOCOL: &[u8] = b"http/1.1";

/// Does the handshakes of a server, with TLS 1.2 and 1.3. A copy is the same server: it has the
/// same certificate.
#[derive(Clone)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
    current: Arc<Current>,
}

/// A certificate that cannot be used, or its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnusableCertificate {
    /// There is no certificate in what should have one.
    NoCertificate,
    /// There is no private key in what should have one.
    NoKey,
    /// The private key is encrypted with a password.
    EncryptedKey,
    /// The private key is another certificate's.
    OtherKey,
    /// Anything else about the certificate, in the words of the library.
    Certificate(String),
    /// Anything else about the key, in the words of the library.
    Key(String),
}

impl ServerTls {
    /// A server with a certificate and what stands above it, first its own, and its private key.
    /// Both are PEM.
    ///
    /// # Errors
    /// They cannot be used, or not together.
    pub fn new(certificate: &[u8], key: &[u8]) -> Result<Self, UnusableCertificate> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let first = certified(certificate, key, &provider)?;
        let current = Arc::new(Current { provider: provider.clone(), certificate: RwLock::new(first) });
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| UnusableCertificate::Certificate(error.to_string()))?;
        let mut config = config.with_no_client_auth().with_cert_resolver(current.clone());
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Self { config: Arc::new(config), current })
    }

    /// Has handshakes from now on done with another certificate. Connections that are open stay so.
    ///
    /// # Errors
    /// They cannot be used, or not together: the certificate before stays.
    pub fn replace(&self, certificate: &[u8], key: &[u8]) -> Result<(), UnusableCertificate> {
        let next = certified(certificate, key, &self.current.provider)?;
        *self.current.certificate.write().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(())
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.config.clone().into()
    }
}

fn certified(certificate: &[u8], key: &[u8], provider: &CryptoProvider) -> Result<Arc<CertifiedKey>, UnusableCertificate> {
    use UnusableCertificate::{Certificate, EncryptedKey, Key, NoCertificate, NoKey, OtherKey};
    let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| Certificate(error.to_string()))?;
    if chain.is_empty() {
        return Err(NoCertificate);
    }
    let found = PrivateKeyDer::pem_slice_iter(key).next();
    let is_encrypted = || String::from_utf8_lossy(key).contains("ENCRYPTED");
    let key = match found {
        Some(Ok(key)) => key,
        _ if is_encrypted() => return Err(EncryptedKey),
        Some(Err(error)) => return Err(Key(error.to_string())),
        None => return Err(NoKey),
    };
    let key =
        provider.key_provider.load_private_key(key).map_err(|error| if is_encrypted() { EncryptedKey } else { Key(error.to_string()) })?;
    let certified = CertifiedKey::new(chain, key);
    match certified.keys_match() {
        // What does not say which key it is would fail in each handshake, and says so there.
        Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(Arc::new(certified)),
        Err(rustls::Error::InconsistentKeys(_)) => Err(OtherKey),
        Err(error) => Err(Certificate(error.to_string())),
    }
}

/// The certificate that handshakes are done with.
struct Current {
    provider: Arc<CryptoProvider>,
    certificate: RwLock<Arc<CertifiedKey>>,
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.certificate.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl fmt::Debug for Current {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Current")
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertifiedKey as Made, generate_simple_self_signed};

    use super::*;

    fn made() -> (String, String) {
        let Made { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        (cert.pem(), signing_key.serialize_pem())
    }

    #[test]
    fn what_cannot_be_used_says_which_of_both_and_why() {
        use UnusableCertificate::{EncryptedKey, NoCertificate, NoKey, OtherKey};
        let ((certificate, key), (_, other)) = (made(), made());
        let failure = |certificate: &str, key: &str| ServerTls::new(certificate.as_bytes(), key.as_bytes()).err();
        assert_eq!(failure(&certificate, &key), None);
        assert_eq!(failure(&format!("{key}{certificate}"), &format!("{certificate}{key}")), None);
        assert_eq!(failure("", &key), Some(NoCertificate));
        assert_eq!(failure(&key, &key), Some(NoCertificate));
        assert_eq!(failure(&certificate, &certificate), Some(NoKey));
        assert_eq!(failure(&certificate, &other), Some(OtherKey));
        assert_eq!(failure(&certificate, &key.replace("PRIVATE", "ENCRYPTED PRIVATE")), Some(EncryptedKey));
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(matches!(failure(broken, &key), Some(UnusableCertificate::Certificate(_))));
        let broken = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        assert!(matches!(failure(&certificate, broken), Some(UnusableCertificate::Key(_))));
    }

    #[test]
    fn a_certificate_that_cannot_be_used_leaves_the_one_before() {
        let ((certificate, key), (next, next_key)) = (made(), made());
        let server = ServerTls::new(certificate.as_bytes(), key.as_bytes()).unwrap();
        let current = || server.current.certificate.read().unwrap().cert[0].clone();
        let first = current();
        assert_eq!(server.replace(next.as_bytes(), key.as_bytes()), Err(UnusableCertificate::OtherKey));
        assert_eq!(current(), first);
        server.replace(next.as_bytes(), next_key.as_bytes()).unwrap();
        assert_ne!(current(), first);
    }
}
