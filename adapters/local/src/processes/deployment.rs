//! What is served, as a file in memory: the supervisor writes it once, every isolate reads it, also
//! one that is started hours later.
//!
//! The bundle on disk may be another by then. The variables are in it, too, so the file has no name
//! that others could open.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Write as _},
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::FileExt as _,
    },
};

use millrace_core::{
    app::App,
    platform_caller::{Authorizer, PlatformCaller},
};
use millrace_native::{env::Variables, lines::Client};
use serde::{Deserialize, Serialize};

use crate::{
    app,
    certificate::CertificatePem,
    endpoint_and_page::Page,
    output::{CommandError, CommandResult},
    page::Setting,
    serving::ServedApp,
};

/// How requests come.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Channel {
    /// Over HTTP.
    Http {
        /// Whether `Host` must be the loopback or a name that is listed.
        checks_host: bool,
    },
    /// As lines of one client, which are passed on.
    Lines {
        /// What calls see as header fields.
        headers: Vec<(String, String)>,
        /// Whether the app may be replaced.
        lists_change: bool,
    },
}

impl Channel {
    /// Lines of this client.
    pub(super) fn lines(client: &Client) -> Self {
        let headers = client.headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self::Lines { headers, lists_change: client.lists_change }
    }
}

/// Everything but the bundle.
#[derive(Serialize, Deserialize)]
struct Head {
    base: Vec<u8>,
    page: Page,
    settings: Vec<Setting>,
    channel: Channel,
    variables: Vec<(String, String)>,
    /// What `dev --as` says of who sends no credentials.
    caller: Option<serde_json::Map<String, serde_json::Value>>,
}

/// Bytes before the first part: its length.
const LENGTH: usize = 8;

/// Writes a deployment.
///
/// # Errors
/// The app cannot be encoded, or there is no memory for it.
pub(super) fn write(served: &ServedApp, channel: &Channel) -> CommandResult<File> {
    let ServedApp { app, base, variables, page, settings, caller, .. } = served;
    let variables = variables.iter().map(|(name, value)| (name.to_owned(), value.expose().clone())).collect();
    let base = base.as_os_str().as_bytes().to_vec();
    let caller = caller.as_ref().map(|caller| caller.claims.clone());
    let head = Head { base, page: *page, settings: settings.to_vec(), channel: channel.clone(), variables, caller };
    let head = serde_json::to_vec(&head).map_err(CommandError::wrong)?;
    let bundle = app.to_bundle().map_err(CommandError::wrong)?;
    let mut file = memory_file("millrace-app").map_err(unable)?;
    let written =
        file.write_all(&(head.len() as u64).to_le_bytes()).and_then(|()| file.write_all(&head)).and_then(|()| file.write_all(&bundle));
    written.map_err(unable)?;
    Ok(file)
}

/// Reads a deployment; gives how requests come, too.
///
/// # Errors
/// It is none, or its variables are wrong.
pub(super) fn read(file: &File) -> CommandResult<(ServedApp, Channel)> {
    let (head, bundle) = read_parts(file, "deployment")?;
    let Head { base, page, settings, channel, variables, caller } = serde_json::from_slice(&head).map_err(CommandError::wrong)?;
    let app = App::from_bundle(&bundle).map_err(CommandError::wrong)?;
    let variables: Variables = variables.into_iter().collect();
    let (cache, telemetry) = (app::cache(&variables)?, app::telemetry(&app, &variables)?);
    let base = OsString::from_vec(base).into();
    let caller = caller.map(|claims| PlatformCaller { authorizer: Authorizer::Development, claims });
    Ok((ServedApp { app: app.into(), base, variables, cache, telemetry, page, settings: settings.into(), caller }, channel))
}

/// Writes a certificate and its key.
///
/// # Errors
/// There is no memory for them.
pub(super) fn write_certificate(pem: &CertificatePem) -> io::Result<File> {
    let mut file = memory_file("millrace-certificate")?;
    file.write_all(&(pem.certificate.len() as u64).to_le_bytes())?;
    file.write_all(&pem.certificate)?;
    file.write_all(&pem.key)?;
    Ok(file)
}

/// Reads what [`write_certificate`] wrote.
///
/// # Errors
/// It is something else.
pub(super) fn read_certificate(file: &File) -> CommandResult<CertificatePem> {
    let (certificate, key) = read_parts(file, "certificate")?;
    Ok(CertificatePem { certificate, key })
}

/// A file's part whose length it begins with, and the rest.
fn read_parts(file: &File, what: &str) -> CommandResult<(Vec<u8>, Vec<u8>)> {
    let damaged = || CommandError::Wrong(format!("the {what} is damaged"));
    let length = file.metadata().map_err(CommandError::wrong)?.len();
    let mut bytes = vec![0; usize::try_from(length).map_err(CommandError::wrong)?];
    // Several isolates have the file open: its position is nobody's.
    file.read_exact_at(&mut bytes, 0).map_err(CommandError::wrong)?;
    let (length, rest) = bytes.split_first_chunk::<LENGTH>().ok_or_else(damaged)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(CommandError::wrong)?;
    let (first, rest) = rest.split_at_checked(length).ok_or_else(damaged)?;
    Ok((first.to_vec(), rest.to_vec()))
}

/// An empty file that has no name; in memory where the system can.
///
/// # Errors
/// There is no room, or no file descriptor.
pub(super) fn memory_file(name: &str) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    let file = File::from(rustix::fs::memfd_create(name, rustix::fs::MemfdFlags::CLOEXEC)?);
    #[cfg(not(target_os = "linux"))]
    let file = {
        let _ = name;
        tempfile::tempfile()?
    };
    Ok(file)
}

/// The failure of a supervisor that cannot start isolates.
pub(super) fn unable(error: impl std::fmt::Display) -> CommandError {
    CommandError::Wrong(format!(
        "isolates cannot be started as processes: {error}; `--threads` runs them as threads, which nothing supervises"
    ))
}
