//! What may be said on the command line.

use std::{net::IpAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use millrace_core::app::App;

use crate::clients::Client;

/// Turns a folder of YAML files and small scripts into an MCP server.
#[derive(Parser)]
#[command(version, about, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// What is logged on standard error: error, warn, info, debug, trace, or target=level with
    /// commas between
    #[arg(long, global = true, env = "MILLRACE_LOG", value_name = "LEVEL", hide_env_values = true)]
    pub(crate) log: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make a new app that runs at once
    New(New),
    /// Make a new app from the configuration of another server, or from an API
    Import(Import),
    /// Find every mistake of an app
    Check(Check),
    /// Compare two states of an app, and say what breaks its callers: exit code 0 if nothing does,
    /// 1 if something does, 2 if they cannot be compared
    Diff(Diff),
    /// Serve an app on this machine, and again after every change
    Dev(Dev),
    /// Call one tool through the real pipeline
    Call(Call),
    /// Run the tests of an app, the files NAME.test.yaml: exit code 0 if none fails, 1 if one does,
    /// 2 if there are none
    Test(Test),
    /// Compile an app into one bundle
    Build(Build),
    /// Serve a bundle
    Serve(Serve),
    /// Serve an app to the client that starts this command, on standard input and output
    Run(Run),
    /// Connect an MCP client to an app: print its configuration, or write it
    Connect(Connect),
    /// Ask a server whether it is well: exit code 0 if it is, 1 if not
    Health(Health),
    /// Look at any MCP server as a client does, and say what is wrong: exit code 0 if it is
    /// healthy, 1 if not, 2 if nobody answers
    Doctor(Doctor),
    /// Write the schemas with which an editor checks the app's files
    Schema(Schema),
    /// Tell an editor what is wrong, and complete what is typed: a language server on standard
    /// input and output, which the editor starts
    Lsp(Lsp),
    /// Write millrace.d.ts, the types of an app's scripts
    Types(Types),
    /// Show the stages of a tool's call, and where each setting comes from
    Explain(Explain),
    /// Print the rights that the app's statements need in its databases, as GRANT statements, or
    /// for Redis as ACL rules
    Grants(Grants),
    /// Find audit entries that were changed, dropped, moved or added
    Audit(Audit),
    /// Make the runtimes that a published command brings along: `scripts/release` packs them
    #[cfg(feature = "checkout")]
    #[command(hide = true)]
    Runtimes(Runtimes),
    /// One isolate of `dev` or `serve`
    #[cfg(unix)]
    #[command(hide = true)]
    Isolate(Isolate),
}

#[derive(Args)]
pub(crate) struct New {
    /// The folder to make; its last part is the app's name
    pub(crate) name: PathBuf,
    /// Write tools for the tables of this database: sqlite:FILE, or a postgres://, mysql:// or
    /// libsql:// URL; or for the operations of the API that openapi:SPEC describes
    #[arg(long, value_name = "DATABASE|openapi:SPEC")]
    pub(crate) from: Option<String>,
    /// The tables and views to write tools for, with commas between; may be repeated. Without it,
    /// the first 20, tables before views
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "from")]
    pub(crate) tables: Vec<String>,
    /// Columns that no statement, presenter or description has, as COLUMN or TABLE.COLUMN, with
    /// commas between; may be repeated
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "from")]
    pub(crate) hide: Vec<String>,
    /// The operations of the API, by operationId, by the tool's name, or as "GET /path", with
    /// commas between; may be repeated. Without it and --tag, the first 20
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "from")]
    pub(crate) only: Vec<String>,
    /// The operations of the API with one of these tags, with commas between; may be repeated
    #[arg(long = "tag", value_name = "TAGS", value_delimiter = ',', requires = "from")]
    pub(crate) tags: Vec<String>,
    /// Write tools that create and update rows, or send requests that write, too; without it, the
    /// app only reads
    #[arg(long, requires = "from")]
    pub(crate) write: bool,
}

#[derive(Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    pub(crate) source: ImportSource,
}

/// What an app is made of.
#[derive(Subcommand)]
pub(crate) enum ImportSource {
    /// Make an app of a configuration of MCP Toolbox for Databases
    Toolbox(ImportToolbox),
    /// Write tools for the operations of an API, as its OpenAPI specification describes them
    Openapi(ImportOpenapi),
}

#[derive(Args)]
pub(crate) struct ImportToolbox {
    /// The configuration: tools.yaml
    pub(crate) file: PathBuf,
    /// The folder to make; its last part is the app's name. Without it, the name of the file
    pub(crate) name: Option<PathBuf>,
    /// Write tools whose template parameters can be any text, too: whoever calls them can run any
    /// SQL
    #[arg(long)]
    pub(crate) textual: bool,
}

#[derive(Args)]
pub(crate) struct ImportOpenapi {
    /// The specification: a file or a URL, OpenAPI 3.0 or 3.1 as JSON or YAML
    pub(crate) spec: String,
    /// The app's folder, which may be there already. Without it, the current folder where that is
    /// an app, else a new one with the name of the file
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// The operations, by operationId, by the name in the list, or as "GET /path", with commas
    /// between; may be repeated
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// The operations with one of these tags, with commas between; may be repeated
    #[arg(long = "tag", value_name = "TAGS", value_delimiter = ',')]
    pub(crate) tags: Vec<String>,
    /// Only operations that change nothing: GET and HEAD
    #[arg(long)]
    pub(crate) read_only: bool,
    /// All operations but those that are deprecated
    #[arg(long, conflicts_with_all = ["only", "tags"])]
    pub(crate) all: bool,
    /// The adapter's name; without it, one of the title
    #[arg(long, value_name = "NAME")]
    pub(crate) adapter: Option<String>,
    /// The number of one of the servers of the specification, or the URL of another; without it,
    /// the first
    #[arg(long, value_name = "NUMBER|URL")]
    pub(crate) server: Option<String>,
    /// The value of a variable in the server's URL; may be repeated
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub(crate) variables: Vec<String>,
}

#[derive(Args)]
pub(crate) struct Check {
    /// The app's folder
    #[arg(default_value = ".")]
    pub(crate) app: PathBuf,
    /// Ask every database whether it answers, whether it takes the statements, whether they return
    /// what millrace.lock says, and whether one reads a whole large table, too
    #[arg(long)]
    pub(crate) connect: bool,
    /// Print how the databases run the statements: which tables they read whole, and which by an
    /// index
    #[arg(long, requires = "connect")]
    pub(crate) plans: bool,
    /// A table with more rows than this is large
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000, requires = "connect")]
    pub(crate) scan_rows: u64,
    /// Write what the statements return, as their databases describe it, to millrace.lock
    #[arg(long, requires = "connect")]
    pub(crate) lock: bool,
    /// Take what callers rely on as it is now, and write it to millrace.lock; from then on, what
    /// breaks callers is a mistake
    #[arg(long, conflicts_with = "target")]
    pub(crate) accept: bool,
    /// Compare what callers rely on with what this server offers, such as
    /// `https://notes.example.com/mcp`, by its lists; what breaks its callers is a mistake
    #[arg(long, value_name = "URL")]
    pub(crate) against: Option<String>,
    #[command(flatten)]
    pub(crate) access: ServerAccess,
    /// The OpenAPI specification of an adapter's API, a file or a URL: what the tools use must
    /// still be in it, and no narrower. The adapter's name may be left out where the app has one
    /// API; may be repeated
    #[arg(long = "spec", value_name = "[ADAPTER=]SPEC")]
    pub(crate) specs: Vec<String>,
    /// Where the app will run; without it, this machine. For a Worker, the app's configuration of
    /// wrangler is looked at, too
    #[arg(long, value_enum, conflicts_with = "connect")]
    pub(crate) target: Option<Target>,
    /// worker: the environment of wrangler's file, or "" for its top level; without it,
    /// CLOUDFLARE_ENV, or all of them
    #[arg(long, value_name = "NAME", requires = "target")]
    pub(crate) env: Option<String>,
    /// Warn only of what this client does not take; may be repeated. Without it, those of `clients`
    /// in millrace.yaml, or all
    #[arg(long = "client", value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(millrace_bundler::clients::names()))]
    pub(crate) clients: Vec<String>,
    /// Print how long the list of the tools and the answers of each tool can be, as with a `budget`
    /// in millrace.yaml, and how large the scripts are
    #[arg(long)]
    pub(crate) sizes: bool,
    /// Print every metric, and what each of its labels can be
    #[arg(long)]
    pub(crate) metrics: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Diff {
    /// What callers have now: an app's folder, a bundle, or a millrace.lock
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// What they will have, likewise
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Dev {
    /// The app's folder
    #[arg(default_value = ".")]
    pub(crate) app: PathBuf,
    /// Whom to take callers for that send no credentials, as the claims of a token; on this machine
    /// only, nothing is verified
    #[arg(long = "as", value_name = "JSON", conflicts_with = "stdio")]
    pub(crate) caller: Option<String>,
    #[command(flatten)]
    pub(crate) host: Host,
}

/// Where to listen, and with how many isolates.
#[derive(Args)]
pub(crate) struct Host {
    /// The port; 0 is any free one. Without it, the app's `server.port`
    #[arg(long, env = "PORT")]
    pub(crate) port: Option<u16>,
    /// The address to listen on. Anything but a loopback address lets other machines in
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// A public name that `Host` may have besides `server.hosts`, where a proxy passes it on; may
    /// be repeated
    #[arg(long = "allow-host", value_name = "NAME")]
    pub(crate) allow_hosts: Vec<String>,
    /// The certificate to speak TLS with, and those above it, as PEM; it is read again when it
    /// changes
    #[arg(long, env = "MILLRACE_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate, as PEM
    #[arg(long, env = "MILLRACE_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// How many isolates (processes with an endpoint each); without it, one for each processor
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) isolates: Option<u16>,
    /// Serve one client on standard input and output instead of listening
    #[arg(long, conflicts_with_all = ["host", "allow_hosts", "isolates"])]
    pub(crate) stdio: bool,
    #[command(flatten)]
    pub(crate) isolate: IsolateOptions,
}

impl Host {
    /// Lets the names of the command line in, besides the app's own.
    pub(crate) fn add_names(&self, app: &mut App) {
        app.server.hosts.extend(self.allow_hosts.iter().map(|name| name.to_ascii_lowercase()));
    }
}

/// What an isolate is, and what it and its calls may have.
#[derive(Args)]
pub(crate) struct IsolateOptions {
    /// How much memory an isolate may have, in MB; without it, a share of three quarters of the
    /// machine's, 1024 at the most
    #[arg(long, env = "MILLRACE_ISOLATE_MEMORY", value_name = "MB", value_parser = clap::value_parser!(u64).range(128..=1 << 20))]
    pub(crate) isolate_memory: Option<u64>,
    /// Run isolates as threads of this process, which nothing watches or limits; on Windows they
    /// always are
    #[arg(long)]
    pub(crate) threads: bool,
    /// How long calls in flight may take when the server is told to end, in seconds
    #[arg(long, env = "MILLRACE_GRACE", value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(..=3600))]
    pub(crate) grace: u64,
}

/// What the process of an isolate is told on its command line; the rest comes over its standard
/// input.
#[cfg(unix)]
#[derive(Args)]
pub(crate) struct Isolate {
    #[arg(long)]
    pub(crate) index: u16,
    #[arg(long)]
    pub(crate) isolates: u16,
    /// In MB
    #[arg(long)]
    pub(crate) memory: u64,
    /// In seconds
    #[arg(long)]
    pub(crate) grace: u64,
    /// Whether it takes the place of one that has ended
    #[arg(long)]
    pub(crate) again: bool,
}

#[derive(Args)]
pub(crate) struct Call {
    /// The tool
    pub(crate) tool: String,
    /// Its inputs: name=value, or name:=JSON
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) inputs: Vec<String>,
    /// The app's folder
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    pub(crate) app: PathBuf,
    /// Who calls: the claims of a token as JSON, which nobody verifies, whatever the tool's `auth`
    /// is; or a key of `auth.policy.keys` by its name, the key itself comes from the environment
    #[arg(long = "as", value_name = "CLAIMS|KEY")]
    pub(crate) caller: Option<String>,
    /// A header field of the request, such as "X-API-Key: …"; may be repeated
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// The answer to what the tool asks: accept, decline or cancel, for all questions; or
    /// KEY:=JSON, for one; may be repeated. Without it, the question is asked on the terminal
    #[arg(long = "answer", value_name = "ANSWER")]
    pub(crate) answers: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Test {
    /// The app's folder
    #[arg(default_value = ".")]
    pub(crate) app: PathBuf,
    /// Run only tests whose name, file or tool has this text, or the one at this place,
    /// `FILE:LINE:COLUMN`; may be repeated
    #[arg(long = "filter", value_name = "TEXT")]
    pub(crate) filters: Vec<String>,
    /// Print the tests, and run none
    #[arg(long, conflicts_with_all = ["watch", "update", "url"])]
    pub(crate) list: bool,
    /// Run them again after every change of the app's files
    #[arg(long)]
    pub(crate) watch: bool,
    /// Say which error codes, rules and entries of the middleware ran in no test
    #[arg(long, conflicts_with = "url")]
    pub(crate) coverage: bool,
    /// Make the calls that a program asks for on standard input, one a line as JSON, and answer
    /// each with a line: what `testTool` of the npm package starts
    #[arg(long, conflicts_with_all = ["filters", "watch", "coverage", "update", "reporter", "url"])]
    pub(crate) calls: bool,
    /// Write the snapshots anew; without it, only those that are missing, and with CI=1 none
    #[arg(long)]
    pub(crate) update: bool,
    /// What is printed: for people, or in the format of a program
    #[arg(long, value_enum, default_value = "pretty")]
    pub(crate) reporter: Reporter,
    /// Let tests use the database or API of this adapter as it is: what they write stays. They see
    /// the variables of the process and of .env then; may be repeated
    #[arg(long = "database", value_name = "ADAPTER")]
    pub(crate) databases: Vec<String>,
    /// Send the calls to a server that runs already, such as `wrangler dev`, by the URL of its
    /// endpoint; tests that say what is in its databases, what time it is, … are skipped
    #[arg(long, value_name = "URL", conflicts_with = "databases")]
    pub(crate) url: Option<String>,
    /// Call tools that may write there, too
    #[arg(long, requires = "url")]
    pub(crate) writes: bool,
}

/// What is printed of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reporter {
    /// The files, what failed and why
    Pretty,
    /// XML, as CI servers read it
    Junit,
    /// The Test Anything Protocol
    Tap,
    /// JSON
    Json,
}

#[derive(Args)]
pub(crate) struct Build {
    /// The app's folder
    #[arg(default_value = ".")]
    pub(crate) app: PathBuf,
    /// Where the app will run
    #[arg(long, value_enum)]
    pub(crate) target: Target,
    /// The folder to write to
    #[arg(long, default_value = "dist", value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The processor of the Lambda function
    #[arg(long, value_enum, env = "MILLRACE_ARCH", default_value = "x86_64")]
    pub(crate) arch: Architecture,
    /// worker: the environment of wrangler's file, or "" for its top level; without it,
    /// CLOUDFLARE_ENV, or all of them
    #[arg(long, value_name = "NAME")]
    pub(crate) env: Option<String>,
    /// mcpb: the program to pack, for the system that the desktop bundle is for; without it, this
    /// one
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) binary: Option<PathBuf>,
    /// mcpb: who made the app; without it, `author` of package.json
    #[arg(long, value_name = "NAME")]
    pub(crate) author: Option<String>,
    /// mcpb and registry: what the app is for; without it, `description` of package.json, or the
    /// app's instructions
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// registry: the name, such as io.github.ada/notes; without it, `mcpName` of package.json
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// registry: the address where the app is served
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// registry: a desktop bundle, and where it can be downloaded; may be repeated
    #[arg(long = "package", value_name = "FILE=URL")]
    pub(crate) packages: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where a bundle runs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    /// `millrace serve`
    Local,
    /// Cloudflare Workers
    Worker,
    /// AWS Lambda
    Lambda,
    /// A desktop bundle (.mcpb), which clients on a desktop install
    Mcpb,
    /// server.json for the MCP registry
    Registry,
}

/// A processor that Lambda has.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Architecture {
    /// Intel and AMD, 64 bits
    #[value(name = "x86_64")]
    X86,
    /// Graviton
    #[value(name = "arm64")]
    Arm,
}

impl Architecture {
    /// Lambda's word.
    pub(crate) fn of_lambda(self) -> &'static str {
        match self {
            Self::X86 => "x86_64",
            Self::Arm => "arm64",
        }
    }

    /// Rust's word.
    #[cfg(feature = "checkout")]
    pub(crate) fn of_rust(self) -> &'static str {
        match self {
            Self::X86 => "x86_64",
            Self::Arm => "aarch64",
        }
    }
}

/// Where runtimes are written.
#[cfg(feature = "checkout")]
#[derive(Args)]
pub(crate) struct Runtimes {
    /// The folder to write to
    pub(crate) out: PathBuf,
    /// The processors of Lambda functions; without `--worker`, both
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) arch: Vec<Architecture>,
    /// The Worker's runtimes, by the names of their folders, instead of all
    #[arg(long, value_delimiter = ',', value_name = "PARTS")]
    pub(crate) worker: Vec<String>,
}

#[derive(Args)]
pub(crate) struct Serve {
    /// The bundle; relative paths of databases start at its folder
    pub(crate) bundle: PathBuf,
    /// The folder at which relative paths of databases start instead, where the bundle's cannot be
    /// written
    #[arg(long, env = "MILLRACE_DATA", value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// A folder of the user's for databases, instead of `--data`: created, and filled with those
    /// that came beside the bundle. Desktop bundles use it
    #[arg(long, value_name = "DIR")]
    pub(crate) user_data: Option<PathBuf>,
    /// Also serve the page of `dev` at `/`, to everybody who reaches the server, without what only
    /// `dev` shows
    #[arg(long, conflicts_with = "stdio")]
    pub(crate) page: bool,
    /// Serve nothing where a variable or a secret that the app needs has no value: exit code 78
    #[arg(long)]
    pub(crate) require_env: bool,
    #[command(flatten)]
    pub(crate) host: Host,
}

#[derive(Args)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) command: AuditCommand,
}

/// What is done with audit entries.
#[derive(Subcommand)]
pub(crate) enum AuditCommand {
    /// Find entries that were changed, dropped, moved or added: exit code 0 if all are as they were
    /// written, 1 if not, 2 if they cannot be read. The key is in MILLRACE_AUDIT_KEY
    Verify(AuditVerify),
}

#[derive(Args)]
pub(crate) struct AuditVerify {
    /// Logs as lines of JSON, in the order in which they were written; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// An adapter of the app: its tables of audits are read, too
    #[arg(long, value_name = "NAME")]
    pub(crate) adapter: Option<String>,
    /// The app's folder
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    pub(crate) app: PathBuf,
    /// Take a chain without a recorded end as a finding
    #[arg(long)]
    pub(crate) closed: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Connect {
    /// The client; without it, all of them are listed
    #[arg(value_enum)]
    pub(crate) client: Option<Client>,
    /// The app's folder; without it and `--url`, the current one
    pub(crate) app: Option<PathBuf>,
    /// The address of an app that is served, such as `https://notes.example.com/mcp`; without it,
    /// the client starts the app
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// What the client calls the server; without it, the app's name
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The environment variable that holds the key which the client sends; the key itself is never
    /// written
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) key: Option<String>,
    /// The header field of the key: X-API-Key, or Authorization for `Bearer`
    #[arg(long, value_name = "FIELD")]
    pub(crate) key_header: Option<String>,
    /// Have the client start the npm package with npx instead of this program
    #[arg(long, conflicts_with = "url")]
    pub(crate) npx: bool,
    /// Write to the client's configuration file; what else is in it stays as it is
    #[arg(long)]
    pub(crate) write: bool,
    /// Use the file of a project, in the current folder, instead of the user's
    #[arg(long, conflicts_with = "file")]
    pub(crate) project: bool,
    /// Use another file
    #[arg(long)]
    pub(crate) file: Option<PathBuf>,
    /// Replace another server of that name
    #[arg(long, requires = "write")]
    pub(crate) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Health {
    /// What to ask: a server, whose `/livez` is asked, or such as http://127.0.0.1:8080/readyz;
    /// without it, `/livez` on this machine, at the port and with the TLS that PORT and
    /// MILLRACE_TLS_CERT say
    pub(crate) url: Option<String>,
    /// How long to wait for the answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=300))]
    pub(crate) timeout: u64,
}

#[derive(Args)]
pub(crate) struct Doctor {
    /// The URL of the server's endpoint, such as `https://notes.example.com/mcp`
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) access: ServerAccess,
    /// The tool to call, and its inputs as JSON. Without it, a tool that says that it reads only
    /// and needs no input
    #[arg(long, num_args = 2, value_names = ["TOOL", "JSON"])]
    pub(crate) call: Vec<String>,
    /// Call no tool
    #[arg(long, conflicts_with = "call")]
    pub(crate) no_call: bool,
    /// The origin of a web page of yours that must be able to call the server
    #[arg(long, value_name = "URL")]
    pub(crate) origin: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How a server is asked.
#[derive(Args)]
pub(crate) struct ServerAccess {
    /// The token to send as `Authorization: Bearer`: itself, env:NAME for a variable, or @FILE
    #[arg(long, env = "MILLRACE_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// A header field with a key, such as "X-API-Key: env:NOTES_KEY"; the value as for `--token`;
    /// may be repeated
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// How long to wait for each answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=300))]
    pub(crate) timeout: u64,
}

#[derive(Args)]
pub(crate) struct Run {
    /// The app's folder; everything relative in the app starts there
    #[arg(default_value = ".")]
    pub(crate) app: PathBuf,
    /// Serve nothing where a variable or a secret that the app needs has no value: exit code 78
    #[arg(long)]
    pub(crate) require_env: bool,
    #[command(flatten)]
    pub(crate) isolate: IsolateOptions,
}

#[derive(Args)]
pub(crate) struct Schema {
    /// The app's folder
    #[arg(default_value = ".")]
    pub(crate) app: PathBuf,
    /// The folder to write to; without it, `.millrace` in the app's folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Lsp {
    /// No effect: standard input and output are used with and without it; many editors add it
    #[arg(long, hide = true)]
    pub(crate) stdio: bool,
}

#[derive(Args)]
pub(crate) struct Types {
    /// The app's folder
    #[arg(default_value = ".")]
    pub(crate) app: PathBuf,
    /// The file to write; without it, `millrace.d.ts` in the app's folder
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Grants {
    /// The app's folder
    #[arg(default_value = ".")]
    pub(crate) app: PathBuf,
    /// Only the rights of this adapter; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) adapter: Vec<String>,
    /// Who gets the rights: a role, or for MySQL an account, such as app@localhost. Without it, the
    /// user that a connection string has written out, or else `app`
    #[arg(long, value_name = "NAME")]
    pub(crate) role: Option<String>,
    /// Ask the databases which tables columns are of, and for sequences, schemas and functions that
    /// need rights, too
    #[arg(long)]
    pub(crate) connect: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Explain {
    /// The tool
    pub(crate) tool: String,
    /// The app's folder
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    pub(crate) app: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
