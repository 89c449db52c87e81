//! A built Worker in workerd itself, without wrangler in front: what its start costs, and what
//! happens when a client goes away, which wrangler's own proxies do not pass on.

use std::{
    fmt::Write as _,
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use millrace_core::Json;
use serde_json::json;

use crate::{case::Exchange, local::send, worker::installed};

/// How long it may take to serve.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running workerd; ends with the value.
pub struct Workerd {
    child: Child,
    log: PathBuf,
    /// Where it listens.
    pub port: u16,
}

/// What a Worker finds around it.
#[derive(Clone, Copy, Default)]
pub struct Surroundings<'a> {
    /// Variables.
    pub variables: &'a [(&'a str, &'a str)],
    /// Hyperdrives: the binding, and the port of the database behind it on 127.0.0.1.
    pub hyperdrives: &'a [(&'a str, u16)],
    /// The password of `postgres`, who logs in through them into the database `postgres`.
    pub password: &'a str,
    /// Who is trusted to sign the certificates of servers, as PEM; nobody else is.
    pub authority: Option<&'a str>,
    /// Where the points of its dataset of Analytics Engine go: a port of 127.0.0.1.
    pub dataset: Option<u16>,
}

impl Workerd {
    /// Serves a folder that `millrace build --target worker` made, with variables, and waits for
    /// its first answer. It has no bindings. Gives what it said where it ends instead.
    ///
    /// # Errors
    /// The Worker does not start.
    ///
    /// # Panics
    /// As [`start_with`](Self::start_with).
    pub fn start(folder: &Path, variables: &[(&str, &str)]) -> Result<Self, String> {
        Self::start_with(folder, &Surroundings { variables, ..Surroundings::default() })
    }

    /// The same, with more than variables.
    ///
    /// # Errors
    /// The Worker does not start.
    ///
    /// # Panics
    /// Where there is no workerd, the folder holds no Worker, or nothing happens.
    pub fn start_with(folder: &Path, surroundings: &Surroundings<'_>) -> Result<Self, String> {
        let config = folder.join("workerd.capnp");
        fs::write(&config, describe(folder, surroundings)).unwrap_or_else(|error| panic!("{error}"));
        let log = folder.join("workerd.log");
        let file = fs::File::create(&log).unwrap_or_else(|error| panic!("{error}"));
        let too = file.try_clone().unwrap_or_else(|error| panic!("{error}"));
        let mut command = Command::new(binary());
        command.args(["serve", "workerd.capnp", "--verbose"]).args(["--control-fd=1"]).current_dir(folder);
        // Without it, workerd has no such datasets.
        command.args(surroundings.dataset.map(|_| "--experimental"));
        let child = command.stdin(Stdio::null()).stdout(file).stderr(too).spawn().unwrap_or_else(|error| panic!("workerd: {error}"));
        let mut server = Self { child, log, port: 0 };
        let started = Instant::now();
        // It says on the control descriptor which port it got, and says so before it has started
        // the Worker.
        while server.port == 0 || !answers(server.port) {
            if server.child.try_wait().is_ok_and(|ended| ended.is_some()) {
                return Err(server.log());
            }
            assert!(started.elapsed() < PATIENCE, "workerd does not come up:\n{}", server.log());
            crate::wait::moment();
            let log = server.log();
            let port = log.lines().find(|line| line.contains("\"event\":\"listen\"")).and_then(|line| {
                let event: serde_json::Value = serde_json::from_str(line).ok()?;
                u16::try_from(event.get("port")?.as_u64()?).ok()
            });
            server.port = port.unwrap_or(0);
        }
        Ok(server)
    }

    /// The CPU time of its first thread, which compiles and runs the Worker, in milliseconds. What
    /// V8 improves meanwhile, other threads do.
    ///
    /// # Panics
    /// Where the system does not tell it.
    #[must_use]
    pub fn cpu_ms(&self) -> f64 {
        let text = fs::read_to_string(format!("/proc/{}/schedstat", self.child.id())).unwrap_or_else(|error| panic!("{error}"));
        let spent_ns: Option<f64> = text.split(' ').next().and_then(|number| number.parse().ok());
        spent_ns.unwrap_or_else(|| panic!("{text}")) / 1e6
    }

    /// Sends one request on a connection of its own.
    #[must_use]
    pub fn send(&self, request: &Exchange) -> String {
        send(self.port, request)
    }

    /// Calls a tool; the `result` of the answer.
    ///
    /// # Panics
    /// Where it is no answer.
    #[must_use]
    pub fn call(&self, tool: &str, arguments: &Json) -> Json {
        let answer = self.send(&Exchange::call(tool, arguments));
        let (_, body) = answer.split_once("\n\n").unwrap_or_else(|| panic!("{tool}: {answer}\n{}", self.log()));
        let body: Json = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}\n{}", self.log()));
        body["result"].clone()
    }

    /// The text of a tool that succeeds.
    ///
    /// # Panics
    /// Where it fails.
    pub fn text(&self, tool: &str, arguments: &Json) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}\n{}", self.log());
        result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {result}")).to_owned()
    }

    /// The code and the message of a tool that fails.
    ///
    /// # Panics
    /// Where it succeeds.
    #[must_use]
    pub fn failure(&self, tool: &str) -> (String, String) {
        self.failure_with(tool, &json!({}))
    }

    /// The same with arguments.
    ///
    /// # Panics
    /// Where it succeeds.
    #[must_use]
    pub fn failure_with(&self, tool: &str, arguments: &Json) -> (String, String) {
        let result = self.call(tool, arguments);
        let error = &result["_meta"]["millrace/error"];
        let text = |name: &str| error[name].as_str().unwrap_or_else(|| panic!("{tool}: {result}")).to_owned();
        (text("code"), text("message"))
    }

    /// What it wrote so far.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Workerd {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill().and_then(|()| self.child.wait()));
    }
}

/// Whether a request gets an answer.
fn answers(port: u16) -> bool {
    let Ok(mut connection) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let sent = connection.write_all(b"GET /nothing HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
    sent.is_ok() && connection.read(&mut [0; 12]).is_ok_and(|length| length > 0)
}

fn binary() -> PathBuf {
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "64" };
    installed(&format!("@cloudflare/workerd-linux-{architecture}/bin/workerd"))
}

/// The configuration. Schema: <https://github.com/cloudflare/workerd/blob/main/src/workerd/server/workerd.capnp>.
fn describe(folder: &Path, surroundings: &Surroundings<'_>) -> String {
    let mut modules = String::new();
    // The first one is the entry; an empty Worker has no other.
    let named =
        ["entry.mjs", "state.mjs", "app.bin", "runtime/index.js", "runtime/index_bg.wasm", "runtime/engine.mjs", "runtime/engine.wasm"]
            .map(PathBuf::from);
    for file in named.into_iter().filter(|file| folder.join(file).is_file()).chain(snippets(folder)) {
        let name = file.display();
        let kind = match file.extension().and_then(|extension| extension.to_str()) {
            Some("wasm") => "wasm",
            Some("bin") => "data",
            _ => "esModule",
        };
        let _ = writeln!(modules, "    (name = \"{name}\", {kind} = embed \"{name}\"),");
    }
    let Surroundings { variables, hyperdrives, password, authority, dataset } = surroundings;
    let mut bindings: String = variables.iter().map(|(name, value)| format!("(name = \"{name}\", text = {value:?}), ")).collect();
    let mut services = String::new();
    for (name, port) in *hyperdrives {
        let _ = write!(
            bindings,
            "(name = \"{name}\", hyperdrive = (designator = \"behind {name}\", database = \"postgres\", user = \"postgres\", \
             password = \"{password}\", scheme = \"postgresql\")), "
        );
        let _ = writeln!(services, "    (name = \"behind {name}\", external = (address = \"127.0.0.1:{port}\", tcp = ())),");
    }
    if let Some(port) = dataset {
        bindings += "(name = \"MILLRACE_METRICS\", analyticsEngine = \"behind the dataset\"), ";
        let _ = writeln!(services, "    (name = \"behind the dataset\", external = (address = \"127.0.0.1:{port}\", http = ())),");
    }
    let tls = match authority {
        Some(pem) => {
            fs::write(folder.join("authority.pem"), pem).unwrap_or_else(|error| panic!("{error}"));
            ", tlsOptions = (trustedCertificates = [embed \"authority.pem\"])"
        }
        None => "",
    };
    format!(
        r#"using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["public", "private", "local"]{tls})),
{services}  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [
{modules}  ],
  compatibilityDate = "2026-11-01",
  compatibilityFlags = ["enable_request_signal"],
  bindings = [{bindings}],
);
"#
    )
}

/// The JavaScript that crates bring along, wherever it lies.
fn snippets(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.join("runtime/snippets")];
    while let Some(next) = folders.pop() {
        for path in fs::read_dir(next).into_iter().flatten().flatten().map(|entry| entry.path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => found.extend(path.strip_prefix(folder).map(Path::to_path_buf)),
            }
        }
    }
    found.sort();
    found
}
