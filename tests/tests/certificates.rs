//! Certificates that tests make, and a server's side of TLS.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{ServerConfig, pki_types::PrivatePkcs8KeyDer};

/// A certificate for a name, its key, and the authority that signed it, all PEM.
pub(crate) fn certified(name: &str) -> [String; 3] {
    let (certificate, key, authority) = signed(name);
    [certificate.pem(), key.serialize_pem(), authority]
}

/// A server with a certificate for a name, and the authority that signed it, as PEM.
pub(crate) fn serving(name: &str) -> (Arc<ServerConfig>, String) {
    let (certificate, key, authority) = signed(name);
    let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    (Arc::new(tls.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key).unwrap()), authority)
}

fn signed(name: &str) -> (rcgen::Certificate, KeyPair, String) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    (certificate, key, authority.pem())
}
