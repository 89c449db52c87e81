//! What an isolate keeps between calls.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    string::String,
};
use core::cell::RefCell;

use sha2::{Digest as _, Sha256};

use crate::pipeline::{
    call::names::Names, call::secrets::AppSecrets, isolate::audit_log::AuditLog, isolate::connections::Connections,
    isolate::deployment::Deployment, isolate::epochs::Epochs, isolate::gates::Gates, isolate::pings::Pings, isolate::schemas::Schemas,
    isolate::window::Counts, stages::validate::Patterns,
};
use crate::{
    ErrorKind,
    app::{App, ScriptRef, Tool},
    ports::Ports,
};

/// An app and ports, with what is kept between calls: the index of the tools, open connections,
/// compiled patterns, the calls that run or wait.
pub struct Pipeline {
    pub(in crate::pipeline) app: Rc<App>,
    pub(in crate::pipeline) ports: Ports,
    pub(in crate::pipeline) names: Names,
    pub(in crate::pipeline) deployment: Rc<Deployment>,
    pub(in crate::pipeline) connections: Connections,
    /// Of each adapter, and of the store of counters and records.
    pub(in crate::pipeline) pings: Pings<ErrorKind>,
    /// The codes of the faults.
    pub(in crate::pipeline) tool_pings: Pings<String>,
    pub(in crate::pipeline) patterns: Patterns,
    pub(in crate::pipeline) schemas: Schemas,
    pub(in crate::pipeline) secrets: Rc<AppSecrets>,
    pub(in crate::pipeline) gates: Gates,
    pub(in crate::pipeline) counts: Counts,
    pub(in crate::pipeline) epochs: Rc<Epochs>,
    pub(in crate::pipeline) audit_log: AuditLog,
    /// Codes of failures that stand in scripts.
    pub(in crate::pipeline) written_codes: RefCell<BTreeSet<String>>,
    /// The SHA-256 of scripts whose results are cached, by their numbers.
    programs: RefCell<BTreeMap<u32, [u8; 32]>>,
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
        let (pings, tool_pings) = (Pings::new(app.adapters.len() + 1), Pings::new(app.tools.len()));
        let secrets = Rc::new(AppSecrets::new(Rc::clone(&app), Rc::clone(&deployment)));
        let audit_log = AuditLog::new(&ports);
        let (patterns, counts, epochs, written_codes) = (Patterns::default(), Counts::default(), Rc::default(), RefCell::default());
        Self {
            app,
            ports,
            names,
            deployment,
            connections,
            pings,
            tool_pings,
            patterns,
            schemas,
            secrets,
            gates,
            counts,
            epochs,
            audit_log,
            written_codes,
            programs: RefCell::default(),
        }
    }

    /// The SHA-256 of a script's program, made once.
    pub(in crate::pipeline) fn program_digest(&self, script: &ScriptRef) -> Option<[u8; 32]> {
        if let Some(digest) = self.programs.borrow().get(&script.script) {
            return Some(*digest);
        }
        let program = &self.app.scripts.get(script.script as usize)?.program;
        let digest: [u8; 32] = Sha256::digest(program.as_bytes()).into();
        self.programs.borrow_mut().insert(script.script, digest);
        Some(digest)
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
