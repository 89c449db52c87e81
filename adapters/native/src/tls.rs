//! The client side of TLS, by rustls with ring.
//!
//! Trusted are the certificates of the operating system (or of `SSL_CERT_FILE`), as for HTTP,
//! unless a connection brings its own.

use std::{
    cell::OnceCell,
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Roots, Tls, Verify},
};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use rustls_platform_verifier::Verifier;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{TlsConnector, client::TlsStream};

/// Does the handshakes of one isolate.
pub(crate) struct Connector {
    base: PathBuf,
    provider: OnceCell<Arc<CryptoProvider>>,
    /// Whom the system trusts: reading that takes a millisecond or two, so it is kept.
    system: OnceCell<Arc<dyn ServerCertVerifier>>,
}

impl Connector {
    /// `base` is the folder that a relative path of a file with certificates is below. Reads
    /// nothing yet.
    pub(crate) const fn new(base: PathBuf) -> Self {
        Self { base, provider: OnceCell::new(), system: OnceCell::new() }
    }

    /// Does one handshake.
    ///
    /// # Errors
    /// As `ByteStream::start_tls`.
    pub(crate) async fn connect<S: AsyncRead + AsyncWrite + Unpin>(&self, stream: S, tls: &Tls) -> Result<TlsStream<S>> {
        let host = &tls.server_name;
        let name = ServerName::try_from(host.clone())
            .map_err(|_| wrong("the host cannot be the name of a TLS server").at(&format!("`{host}`")))?;
        let provider = self.provider.get_or_init(|| Arc::new(rustls::crypto::ring::default_provider())).clone();
        let verifier = self.verifier(tls, &provider)?;
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(|error| unusable(&error))?;
        let config = config.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(|error| refused(host, &error))
    }

    fn verifier(&self, tls: &Tls, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>> {
        if tls.verify == Verify::Nothing {
            return Ok(Arc::new(AnyCertificate(provider.signature_verification_algorithms)));
        }
        let verifier = match &tls.roots {
            Roots::Host => self.system(provider)?,
            Roots::Pem(text) => only(text.as_bytes(), provider)
                .ok_or_else(|| wrong("the root certificates of a connection are not PEM, or contain no certificate"))?,
            Roots::File(path) => {
                let bytes = fs::read(self.base.join(Path::new(path))).map_err(|error| {
                    wrong(format!("the file of root certificates `{path}` cannot be read")).with_source(error.to_string())
                })?;
                only(&bytes, provider).ok_or_else(|| wrong(format!("the file of root certificates `{path}` is not PEM, or has none")))?
            }
        };
        Ok(if tls.verify == Verify::Chain { any_name(verifier) } else { verifier })
    }

    fn system(&self, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>> {
        if let Some(verifier) = self.system.get() {
            return Ok(verifier.clone());
        }
        let verifier = system_verifier(provider)?;
        Ok(self.system.get_or_init(|| verifier).clone())
    }
}

/// Trusts whom the operating system trusts, or the file in `SSL_CERT_FILE` names.
pub(crate) fn system_verifier(provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>> {
    Ok(Arc::new(Verifier::new(provider.clone()).map_err(|error| unusable(&error))?))
}

/// Trusts what these certificates signed, and nothing else. `None` where there are none.
fn only(pem: &[u8], provider: &Arc<CryptoProvider>) -> Option<Arc<dyn ServerCertVerifier>> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        roots.add(certificate.ok()?).ok()?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build().ok()?;
    Some(verifier)
}

/// The operator must fix it.
fn wrong(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Configuration, message)
}

pub(crate) fn unusable(error: &rustls::Error) -> Error {
    let error = error.to_string();
    wrong(format!("TLS cannot be used on this machine{}", remedy(&error))).with_source(error)
}

/// What to do about an error, as the end of a message.
pub(crate) fn remedy(error: &str) -> &'static str {
    // The words of `rustls-platform-verifier`; a test has them.
    if error.contains("No CA certificates") {
        ": it has no CA certificates; install them, or name a file of them by SSL_CERT_FILE"
    } else {
        ""
    }
}

fn refused(host: &str, error: &io::Error) -> Error {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    let (kind, message) = match cause {
        Some(rustls::Error::InvalidCertificate(_)) => {
            (ErrorKind::Denied, "the certificate of the server is not trusted; set the certificate that signed it, or check the host name")
        }
        Some(_) => (ErrorKind::Unavailable, "the server and this host have no TLS version or cipher in common"),
        None => (ErrorKind::Unavailable, "the server aborted the TLS handshake"),
    };
    Error::new(kind, message).with_source(error.to_string()).at(&format!("`{host}`"))
}

/// Judges a certificate at a time.
pub(crate) type VerifyAt<'a> = &'a dyn Fn(UnixTime) -> Result<ServerCertVerified, rustls::Error>;

/// Judges certificates by what another verifier says of them, and takes the rest from that one.
pub(crate) struct Judge<F> {
    pub(crate) verifier: Arc<dyn ServerCertVerifier>,
    /// Gets the other verifier, with the certificate, and the time.
    pub(crate) judge: F,
}

impl<F> fmt::Debug for Judge<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge").field("verifier", &self.verifier).finish_non_exhaustive()
    }
}

impl<F> ServerCertVerifier for Judge<F>
where
    F: Fn(VerifyAt<'_>, UnixTime) -> Result<ServerCertVerified, rustls::Error> + Send + Sync,
{
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verify = |time| self.verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, time);
        (self.judge)(&verify, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

/// Trusts as another verifier does, whatever name is in the certificate.
fn any_name(verifier: Arc<dyn ServerCertVerifier>) -> Arc<dyn ServerCertVerifier> {
    // The name is looked at last: everything else holds when it is what fails.
    let judge = |verify: VerifyAt<'_>, now| match verify(now) {
        Err(rustls::Error::InvalidCertificate(CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. })) => {
            Ok(ServerCertVerified::assertion())
        }
        outcome => outcome,
    };
    Arc::new(Judge { verifier, judge })
}

/// Trusts everybody, as long as it is one and the same for the whole handshake.
#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
