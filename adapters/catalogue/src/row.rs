//! What is known of a connector.

use millrace_languages::Language;

/// A connector.
#[derive(Debug)]
pub struct Connector {
    /// Its name, as `connector:` of an adapter has it.
    pub name: &'static str,
    /// The language of its commands.
    pub language: Language,
    /// Its own options, sorted, beyond those of every connector.
    pub options: &'static [&'static str],
    /// Those of its options that name certificates to trust, which a Worker cannot.
    pub trust_options: &'static [&'static str],
    /// The schemes of the URLs that its connection string may be.
    pub schemes: &'static [&'static str],
    /// Further schemes that name its kind of server and that it does not speak.
    pub foreign_schemes: &'static [&'static str],
    /// Where it runs.
    pub hosts: &'static [Host],
    /// The part of the Worker's runtime that it is in; `None` for one that every runtime has.
    pub worker_part: Option<WorkerPart>,
    /// How its connection string names what is bound to a Worker.
    pub binding: Option<Binding>,
    /// Whether its connection string names a file of the machine.
    pub is_file: bool,
    /// How many values its server takes in one statement, where that is less than the language's
    /// servers take.
    pub max_values: Option<u32>,
    /// Whether it keeps the records of calls, which `idempotency` of a statement needs.
    pub keeps_call_records: bool,
    /// How it carries out the `transaction` of a tool; `None` where it has none.
    pub transactions: Option<Transactions>,
    /// Whether it sets what an adapter's `session` says, for one call.
    pub sets_session: bool,
    /// The value of OpenTelemetry's attribute `db.system.name`; empty for what is not a database.
    pub system: &'static str,
}

/// How a connector carries out several statements, all or none of which take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transactions {
    /// One after the other: a step can take values of the results of earlier ones.
    Stepwise,
    /// All at once: the result of a step is not known before the end.
    Batch,
}

/// A kind of host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// A machine, AWS Lambda among them: it has files and sockets.
    Native,
    /// A Cloudflare Worker.
    Worker,
}

/// A part that the Worker's runtime is made with or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerPart {
    /// The dialer of sockets, every driver that needs it, and what belongs to one of them.
    Databases,
}

/// How a connection string names what is bound to a Worker: `d1:DB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// What is bound.
    pub kind: BindingKind,
    /// What stands before the binding's name, its colon included.
    pub prefix: &'static str,
}

/// What is bound to a Worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingKind {
    /// A database of D1.
    D1,
    /// A Hyperdrive.
    Hyperdrive,
}

/// What stands before the name of a Hyperdrive.
pub(crate) const HYPERDRIVE: &str = "hyperdrive:";

/// Why connector `mysql` takes no Hyperdrive, and what to do, in messages.
pub const NO_HYPERDRIVE: &str = "Cloudflare's Hyperdrive does not prepare statements of MySQL, and connector `mysql` sends no others; name the \
                                 database itself, `mysql://user:password@host/database`, which a Worker connects to over a socket";

/// Whether a connection string names a Hyperdrive, whatever connector it is for.
#[must_use]
pub fn names_hyperdrive(connection_string: &str) -> bool {
    let start = connection_string.trim_start().get(..HYPERDRIVE.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(HYPERDRIVE))
}

impl Connector {
    /// Whether a connection string begins with one of the connector's schemes, or with one of those
    /// that it does not speak; the scheme as it stands in the catalogue.
    #[must_use]
    pub fn scheme_of(&self, connection_string: &str) -> Option<&'static str> {
        let text = connection_string.trim_start();
        let begins = |scheme: &&str| {
            let written = text.split_at_checked(scheme.len());
            written.is_some_and(|(written, rest)| rest.starts_with("://") && written.eq_ignore_ascii_case(scheme))
        };
        self.schemes.iter().chain(self.foreign_schemes).copied().find(begins)
    }

    /// The name of the binding in a connection string; `None` where it names a server. `Err` has
    /// what stands there and is not a name.
    pub fn binding_in<'a>(&self, connection_string: &'a str) -> Option<Result<&'a str, &'a str>> {
        let prefix = self.binding?.prefix;
        let text = connection_string.trim();
        let name = text.get(..prefix.len()).filter(|start| start.eq_ignore_ascii_case(prefix)).map(|_| &text[prefix.len()..])?;
        // `d1://…` names a server.
        if name.starts_with("//") && self.schemes.iter().any(|scheme| prefix.strip_suffix(':') == Some(*scheme)) {
            return None;
        }
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        Some(if is_name { Ok(name) } else { Err(name) })
    }

    /// Whether another connector takes the same statements.
    #[must_use]
    pub fn speaks_like(&self, other: &Self) -> bool {
        self.language == other.language
    }

    /// Whether a host can have it.
    #[must_use]
    pub fn runs_on(&self, host: Host) -> bool {
        self.hosts.contains(&host)
    }
}
