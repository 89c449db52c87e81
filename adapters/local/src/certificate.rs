//! The certificate that `dev` and `serve` do TLS with: two files, read at the start and again when
//! they change.
//!
//! They are looked at every second, by their bytes: that also finds a changed symbolic link, as
//! Kubernetes exchanges secrets, and works on every file system.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use millrace_native::server_tls::{ServerTls, UnusableCertificate};
use sha2::{Digest as _, Sha256};

use crate::{
    cli::Host,
    output::{CommandError, CommandResult, note},
};

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The longest file, in bytes.
const LONGEST: u64 = 1 << 20;

/// The two files.
#[derive(Clone, Debug)]
pub(crate) struct CertificateFiles {
    certificate: PathBuf,
    key: PathBuf,
}

/// What is in them, as PEM.
#[derive(PartialEq, Eq)]
pub(crate) struct CertificatePem {
    pub(crate) certificate: Vec<u8>,
    pub(crate) key: Vec<u8>,
}

impl CertificateFiles {
    /// What the command line names.
    pub(crate) fn of(host: &Host) -> Option<Self> {
        // One without the other is wrong usage.
        let (certificate, key) = host.tls_cert.clone().zip(host.tls_key.clone())?;
        Some(Self { certificate, key })
    }

    /// Reads both at the start, and warns where others can read the key.
    ///
    /// # Errors
    /// One cannot be read; they cannot be used, or not together.
    pub(crate) fn open(&self) -> CommandResult<(CertificatePem, ServerTls)> {
        let pem = self.read().map_err(CommandError::Wrong)?;
        let tls = ServerTls::new(&pem.certificate, &pem.key).map_err(|failure| CommandError::Wrong(self.explain(&failure)))?;
        if is_open_to_others(&self.key) {
            note(format_args!(
                "warning: other users of this machine can read the private key `{0}`; run `chmod 600 {0}`",
                self.key.display()
            ));
        }
        Ok((pem, tls))
    }

    /// Has `replace` called with each new content that can be used, from a thread of its own. One
    /// that cannot be used is logged once, and changes nothing.
    ///
    /// # Errors
    /// There is no thread.
    pub(crate) fn watch(
        self,
        served: CertificatePem,
        replace: impl Fn(&CertificatePem) -> Result<(), String> + Send + 'static,
    ) -> CommandResult {
        let body = move || {
            let mut served = fingerprint(&Ok(served));
            // What was seen at the last look, and whether it was said to be unusable.
            let mut seen = (served, false);
            loop {
                thread::sleep(LOOK);
                let read = self.read();
                let now = fingerprint(&read);
                if now == served {
                    seen = (served, false);
                    continue;
                }
                let outcome = read.and_then(|pem| {
                    ServerTls::new(&pem.certificate, &pem.key).map_err(|failure| self.explain(&failure))?;
                    replace(&pem)
                });
                match outcome {
                    Ok(()) => {
                        tracing::info!(file = %self.certificate.display(), "the certificate has changed; new connections get the new one");
                        (served, seen) = (now, (now, false));
                    }
                    // Two files do not change at once: it counts only where it stays.
                    Err(_) if now != seen.0 => seen = (now, false),
                    Err(failure) if !seen.1 => {
                        seen.1 = true;
                        tracing::error!("the changed certificate is not used, and the one before stays: {failure}");
                    }
                    Err(_) => {}
                }
            }
        };
        let thread = thread::Builder::new().name("certificate".to_owned());
        thread.spawn(body).map(drop).map_err(CommandError::wrong)
    }

    fn read(&self) -> Result<CertificatePem, String> {
        let (certificate, key) = (read(&self.certificate, "certificate", "--tls-cert")?, read(&self.key, "private key", "--tls-key")?);
        Ok(CertificatePem { certificate, key })
    }

    fn explain(&self, failure: &UnusableCertificate) -> String {
        let (certificate, key) = (self.certificate.display(), self.key.display());
        match failure {
            UnusableCertificate::NoCertificate => {
                format!("`{certificate}` has no certificate in PEM; `--tls-cert` needs the server's own first, then those above it")
            }
            UnusableCertificate::NoKey => format!("`{key}` has no private key in PEM; `--tls-key` needs the key of `{certificate}`"),
            UnusableCertificate::EncryptedKey => {
                format!("the private key `{key}` is encrypted with a password; decrypt it with `openssl pkey -in {key} -out FILE`")
            }
            UnusableCertificate::OtherKey => {
                format!("the private key `{key}` does not belong to the first certificate in `{certificate}`; name the files of one pair")
            }
            UnusableCertificate::Certificate(why) => format!("the certificate `{certificate}` cannot be used: {why}"),
            UnusableCertificate::Key(why) => {
                format!("the private key `{key}` cannot be used: {why}; RSA, ECDSA (P-256, P-384) and Ed25519 can be")
            }
        }
    }
}

fn read(path: &Path, what: &str, option: &str) -> Result<Vec<u8>, String> {
    let shown = path.display();
    let wrong = |error: io::Error| format!("the {what} `{shown}` cannot be read: {error}; see `{option}`");
    let file = File::open(path).map_err(wrong)?;
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(wrong)?;
    if bytes.len() as u64 > LONGEST {
        return Err(format!("the {what} `{shown}` is longer than 1 MiB; see `{option}`"));
    }
    Ok(bytes)
}

/// Tells one content, or one failure to read it, from another.
fn fingerprint(read: &Result<CertificatePem, String>) -> [u8; 32] {
    let mut hash = Sha256::new();
    match read {
        Ok(CertificatePem { certificate, key }) => {
            hash.update((certificate.len() as u64).to_le_bytes());
            hash.update(certificate);
            hash.update(key);
        }
        Err(why) => hash.update(why),
    }
    hash.finalize().into()
}

/// Whether everybody on this machine may read a file.
#[cfg(unix)]
fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // A group may have been made for it, as it is for volumes of Kubernetes.
    std::fs::metadata(path).is_ok_and(|data| data.mode() & 0o004 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> bool {
    false
}
