//! Where the database file of an adapter is, as far as the build can know.

use std::path::{Component, Path, PathBuf};

use millrace_core::{
    app::{Access, Adapter, App, EnvPart, EnvTemplate, Tool},
    ports::Env,
};

/// What is known of the file of an adapter before it runs.
pub(super) enum AdapterFile {
    /// In memory, or of another connector.
    Elsewhere,
    /// A variable decides that is not set now.
    Unknown(String),
    /// Absolute.
    Fixed(PathBuf),
    /// Relative to the app's folder.
    Beside(PathBuf),
}

/// The files of the app's adapters, with the adapter and its index: one for each adapter, or for
/// each of its `databases`.
pub(super) fn all<'a>(app: &'a App, env: &'a dyn Env) -> impl Iterator<Item = (usize, &'a Adapter, AdapterFile)> {
    app.adapters.iter().enumerate().flat_map(move |(index, adapter)| {
        let places = adapter.connection_strings();
        places.into_iter().map(move |connection_string| (index, adapter, place(adapter, &connection_string, env)))
    })
}

fn place(adapter: &Adapter, connection_string: &EnvTemplate, env: &dyn Env) -> AdapterFile {
    if !crate::app::is_file(adapter) {
        return AdapterFile::Elsewhere;
    }
    let mut text = String::new();
    for part in &connection_string.0 {
        match part {
            EnvPart::Text(part) => text += part,
            EnvPart::Env(name) => match env.var(name) {
                Some(value) => text += value.expose(),
                None => return AdapterFile::Unknown(name.clone()),
            },
            EnvPart::Secret(secret) => return AdapterFile::Unknown(secret.name.clone()),
            EnvPart::Caller(source) => return AdapterFile::Unknown(source.to_string()),
        }
    }
    let text = ["sqlite://", "sqlite:", "file://localhost", "file://", "file:"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme))
        .unwrap_or(&text);
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    match path {
        ":memory:" => AdapterFile::Elsewhere,
        _ if query.contains("mode=memory") => AdapterFile::Elsewhere,
        path if Path::new(path).is_absolute() => AdapterFile::Fixed(path.into()),
        path => AdapterFile::Beside(Path::new(path).components().filter(|part| *part != Component::CurDir).collect()),
    }
}

/// Whether the driver creates the file where there is none.
pub(super) fn creates(adapter: &Adapter) -> bool {
    let of_option = adapter.options.iter().any(|(name, _)| name == "create");
    let of_uri = adapter.connection_string.0.iter().any(|part| matches!(part, EnvPart::Text(text) if text.contains("mode=rwc")));
    of_option || of_uri
}

/// Whether a tool writes through the adapter, as far as its statement says.
pub(super) fn writes(app: &App, adapter: usize) -> bool {
    let writes =
        |tool: &Tool| tool.execute.adapter().is_some_and(|used| used as usize == adapter) && tool.execute.access() == Some(Access::Write);
    app.tools.iter().any(writes)
}
