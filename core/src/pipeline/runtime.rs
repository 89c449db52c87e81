//! What an isolate keeps between calls.

use alloc::{collections::BTreeSet, rc::Rc, string::String};
use core::cell::RefCell;

use super::{
    connections::Connections, deployment::Deployment, epochs::Epochs, gates::Gates, names::Names, schemas::Schemas, secrets::AppSecrets,
    validate::Patterns, window::Counts,
};
use crate::{
    app::{App, Tool},
    ports::Ports,
};

/// An app and ports, with what is kept between calls: the index of the tools, open connections, compiled patterns, the calls that run or wait.
pub struct Pipeline {
    pub(super) app: Rc<App>,
    pub(super) ports: Ports,
    pub(super) names: Names,
    pub(super) deployment: Rc<Deployment>,
    pub(super) connections: Connections,
    pub(super) patterns: Patterns,
    pub(super) schemas: Schemas,
    pub(super) secrets: Rc<AppSecrets>,
    pub(super) gates: Gates,
    pub(super) counts: Counts,
    pub(super) epochs: Rc<Epochs>,
    /// Codes of failures that stand in scripts.
    pub(super) written_codes: RefCell<BTreeSet<String>>,
}

impl Pipeline {
    /// Makes a pipeline. Opens nothing.
    #[must_use]
    pub fn new(app: Rc<App>, ports: Ports) -> Self {
        let names = Names::of(&app.tools);
        let schemas = Schemas::of(app.tools.len());
        let gates = Gates::of(app.tools.len());
        let deployment = Rc::new(Deployment::new(&app, &ports));
        let connections = Connections::new(Rc::clone(&app), &ports, Rc::clone(&deployment));
        let secrets = Rc::new(AppSecrets::new(Rc::clone(&app), Rc::clone(&deployment)));
        let (patterns, counts, epochs, written_codes) = (Patterns::default(), Counts::default(), Rc::default(), RefCell::default());
        Self { app, ports, names, deployment, connections, patterns, schemas, secrets, gates, counts, epochs, written_codes }
    }

    /// The app.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.app
    }

    /// The tool of a name, and its place in [`App::tools`].
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<(usize, &Tool)> {
        self.names.find(&self.app.tools, name)
    }

    /// The ports.
    #[must_use]
    pub fn ports(&self) -> &Ports {
        &self.ports
    }
}
