//! Where a native host reads secrets: the variable `MILLRACE_SECRETS`.
//!
//! | value | the secret `NAME` is |
//! |---|---|
//! | not set, empty, `env` | the variable `NAME` |
//! | `files:FOLDER` | the text of the file `FOLDER/NAME`, as Docker and Kubernetes have them |
//! | `secrets-manager:PREFIX` | `PREFIX` and `NAME` in AWS Secrets Manager |
//! | `parameter-store:PREFIX` | `PREFIX` and `NAME` in the Parameter Store of AWS Systems Manager |

use std::{collections::BTreeSet, fs, io, path::PathBuf, rc::Rc};

use millrace_aws::{AwsSecrets, SecretService};
use millrace_core::{
    Error, ErrorKind, Result,
    app::App,
    ports::{Clock, Env, LocalFuture, SecretStore},
    secret::Secret,
};

use crate::{clock::SystemClock, env::Variables, http_client::NativeHttpClient, isolate};

/// The variable that names the store.
pub const VARIABLE: &str = "MILLRACE_SECRETS";
/// How long all secrets may take that are looked for at the start.
const TIMEOUT_MS: u64 = 5_000;
/// The longest secret in a file, in bytes.
const LONGEST_BYTES: u64 = 64 << 10;

/// The store that was asked for, settings checked.
#[derive(Clone, Debug, Default)]
pub enum SecretsChoice {
    /// The deployment's variables.
    #[default]
    Variables,
    /// Files in a folder, named as the secrets are.
    Files(PathBuf),
    /// A service of AWS.
    Aws(AwsSecrets),
}

impl SecretsChoice {
    /// Reads `MILLRACE_SECRETS`, and what the store that it names needs beside it.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): the variable has no known form, or one that its
    /// store needs is missing.
    pub fn of(env: &dyn Env) -> Result<Self> {
        let Some(value) = env.var(VARIABLE) else { return Ok(Self::Variables) };
        let text = value.expose().trim();
        let choice = match text.split_once(':') {
            None if matches!(text, "" | "env") => Ok(Self::Variables),
            Some(("files", folder)) if !folder.is_empty() => Ok(Self::Files(folder.into())),
            Some(("secrets-manager", prefix)) => AwsSecrets::of(SecretService::SecretsManager, prefix, env).map(Self::Aws),
            Some(("parameter-store", prefix)) => AwsSecrets::of(SecretService::ParameterStore, prefix, env).map(Self::Aws),
            _ => {
                let forms = "use `env`, `files:FOLDER`, `secrets-manager:PREFIX` or `parameter-store:PREFIX`";
                Err(Error::new(ErrorKind::Configuration, forms))
            }
        };
        choice.map_err(|error| Error::new(error.kind, format!("the variable `{VARIABLE}` does not work: {}", error.message)))
    }

    /// The store of one isolate; reads nothing yet. `None` where variables are the secrets. `base`
    /// is the folder that a relative folder of files is below.
    #[must_use]
    pub fn open(&self, base: &std::path::Path, clock: Rc<dyn Clock>) -> Option<Rc<dyn SecretStore>> {
        match self {
            Self::Variables => None,
            Self::Files(folder) => Some(Rc::new(Files(base.join(folder)))),
            // A client of its own: what scripts fetch does not take its connections.
            Self::Aws(secrets) => Some(secrets.open(Rc::new(NativeHttpClient::new(clock.clone())), clock)),
        }
    }
}

/// The lines of [`App::missing`] for a process on this machine, secrets included. `base` as in
/// [`SecretsChoice::open`].
///
/// # Errors
/// The operating system gives no thread.
pub fn missing(app: &App, variables: &Variables, base: &std::path::Path) -> io::Result<Vec<String>> {
    let choice = SecretsChoice::of(variables).unwrap_or_default();
    let names = app.secret_names();
    let known = match choice {
        SecretsChoice::Variables => None,
        _ if names.is_empty() => None,
        choice => isolate::run(|| async {
            let clock: Rc<dyn Clock> = Rc::new(SystemClock);
            let deadline_ms = clock.now_ms().saturating_add(TIMEOUT_MS);
            let store = choice.open(base, clock)?;
            let mut known = BTreeSet::new();
            for name in names {
                if let Ok(Some(_)) = store.read(name, deadline_ms).await {
                    known.insert(name);
                }
            }
            Some(known)
        })?,
    };
    let has_value = |name: &str| known.as_ref().map_or_else(|| variables.var(name).is_some(), |known| known.contains(name));
    Ok(app.missing(variables, Some(&has_value)))
}

/// The store where the variables of the process are wrong: every secret is refused for the same
/// reason.
pub(crate) struct Refusing(pub(crate) Error);

impl SecretStore for Refusing {
    fn read<'a>(&'a self, _name: &'a str, _deadline_ms: u64) -> LocalFuture<'a, Result<Option<Secret<String>>>> {
        Box::pin(async move { Err(self.0.clone()) })
    }
}

/// Files in a folder.
struct Files(PathBuf);

impl SecretStore for Files {
    fn read<'a>(&'a self, name: &'a str, _deadline_ms: u64) -> LocalFuture<'a, Result<Option<Secret<String>>>> {
        Box::pin(async move {
            // The bundler lets no name pass that could lead out of the folder.
            let path = self.0.join(name);
            let failed = |why: String| Error::new(ErrorKind::Configuration, format!("the file of the secret `{name}` {why}"));
            let length = match fs::metadata(&path) {
                Ok(found) => found.len(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(failed(format!("cannot be read: {error}"))),
            };
            if length > LONGEST_BYTES {
                return Err(failed(format!("has more than {LONGEST_BYTES} bytes")));
            }
            let bytes = fs::read(&path).map_err(|error| failed(format!("cannot be read: {error}")))?;
            let text = String::from_utf8(bytes).map_err(|_| failed("is not text in UTF-8".to_owned()))?;
            // Editors and `echo` end a file with a line feed, which is not part of the secret.
            let text = text.strip_suffix('\n').map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text));
            Ok(Some(Secret::new(text.to_owned())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Variables;

    fn choice(variables: &[(&str, &str)]) -> Result<SecretsChoice> {
        SecretsChoice::of(&variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect::<Variables>())
    }

    #[test]
    fn the_variable_chooses() {
        let aws = [("AWS_REGION", "eu-central-1"), ("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "hunter2")];
        for variables in [&[][..], &[(VARIABLE, "")], &[(VARIABLE, " env ")]] {
            assert!(matches!(choice(variables), Ok(SecretsChoice::Variables)), "{variables:?}");
        }
        assert!(matches!(choice(&[(VARIABLE, "files:/run/secrets")]), Ok(SecretsChoice::Files(folder)) if folder.ends_with("secrets")));
        for store in ["secrets-manager:shop/prod/", "secrets-manager:", "parameter-store:/shop/"] {
            let chosen = choice(&[&[(VARIABLE, store)][..], &aws].concat()).unwrap();
            assert!(matches!(chosen, SecretsChoice::Aws(_)) && !format!("{chosen:?}").contains("hunter2"), "{store}");
        }
        let wrong = [
            ("vault", "does not work: use `env`, `files:FOLDER`"),
            ("files:", "does not work: use `env`, `files:FOLDER`"),
            ("secrets-manager:shop", "AWS Secrets Manager needs the variable `AWS_REGION`"),
            ("parameter-store:a b", "the prefix of the secrets' names has characters"),
        ];
        for (value, expected) in wrong {
            let error = choice(&[(VARIABLE, value)]).unwrap_err();
            assert!(error.message.contains(expected), "{value}: {}", error.message);
        }
    }

    #[test]
    fn a_file_is_a_secret() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let read =
            |name: &str| runtime.block_on(Files(folder.path().to_owned()).read(name, 0)).map(|text| text.map(|text| text.expose().clone()));
        fs::write(folder.path().join("A"), "hunter2\n").unwrap();
        fs::write(folder.path().join("B"), " two\r\nlines \r\n").unwrap();
        fs::write(folder.path().join("C"), [0xff]).unwrap();
        fs::write(folder.path().join("D"), vec![b'x'; LONGEST_BYTES as usize + 1]).unwrap();
        fs::create_dir(folder.path().join("E")).unwrap();
        assert_eq!(read("A").unwrap().as_deref(), Some("hunter2"));
        assert_eq!(read("B").unwrap().as_deref(), Some(" two\r\nlines "));
        assert_eq!(read("Z").unwrap(), None);
        assert_eq!(read("C").unwrap_err().message, "the file of the secret `C` is not text in UTF-8");
        assert_eq!(read("D").unwrap_err().message, "the file of the secret `D` has more than 65536 bytes");
        assert!(read("E").unwrap_err().message.starts_with("the file of the secret `E` cannot be read"));
    }
}
