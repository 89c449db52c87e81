//! App folders, commands and servers of the tests.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex,
        mpsc::{Receiver, channel},
    },
    thread,
    time::Duration,
};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// What ends a test that would hang; nothing waits for it otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// An app folder that is gone at the end of the test.
pub(crate) struct App {
    folder: TempDir,
}

/// A small app with a database tool, made from its seed at the first use.
pub(crate) fn app() -> App {
    let app = App { folder: tempfile::tempdir().unwrap() };
    app.write("millrace.yaml", "name: small\nversion: 1.2.3\nserver: { port: 1, body_limit: 1kb }\n");
    app.write("app/adapters/main.yaml", "connector: sqlite\nconnection_string: main.db\noptions: { seed: ./main.sql }\n");
    app.write(
        "app/adapters/main.sql",
        "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);\nINSERT INTO item VALUES (1, 'O''Neil'), (2, 'two');\n",
    );
    app.write("app/tools/get-item/config.yaml", GET_ITEM);
    app
}

pub(crate) const GET_ITEM: &str = "description: Get one item.\nuse: main\nstatement: SELECT id, name FROM item WHERE id = {{ inputs.id }}\n\
                                   inputs:\n  id: { type: int, min: 1, examples: [1] }\n  note: { type: json, optional: true }\n";

impl App {
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Puts a new file in the place of the old one, as many editors save.
    pub(crate) fn exchange(&self, path: &str, text: &str) {
        self.write("exchange.tmp", text);
        std::fs::rename(self.path().join("exchange.tmp"), self.path().join(path)).unwrap();
    }
}

/// What a command said.
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl CommandOutput {
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millrace"));
    command.env_remove("PORT").env_remove("MILLRACE_LOG").env_remove("MILLRACE_API_KEY").stdin(Stdio::null());
    command
}

/// Runs a command in a folder to its end.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> CommandOutput {
    let output = binary().current_dir(folder).args(arguments).output().unwrap();
    CommandOutput {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A server process; it is killed at the end of the test.
pub(crate) struct ServerProcess {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    /// What it printed until it was ready.
    pub(crate) said: String,
    errors: Mutex<Receiver<String>>,
}

impl ServerProcess {
    /// Starts `dev` or `serve` on a free port.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::of(binary().current_dir(folder).args(arguments).args(["--port", "0"]))
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let errors = lines(BufReader::new(child.stderr.take().unwrap()));
        let out = lines(BufReader::new(child.stdout.take().unwrap()));
        let mut said = String::new();
        while let Ok(line) = out.recv_timeout(PATIENCE) {
            let is_last = line.starts_with("  curl ") || line.contains("tools at http") || line.contains("tool at http");
            said.push_str(&line);
            said.push('\n');
            if is_last {
                break;
            }
        }
        let url = said.split("://").nth(1).unwrap_or_else(|| panic!("{said}{:?}", errors.try_iter().collect::<Vec<_>>()));
        let address = url.split('/').next().unwrap().parse().unwrap();
        Self { child, address, said, errors: Mutex::new(errors) }
    }

    /// Waits until standard error has a line with this text, and gives all lines up to it.
    pub(crate) fn wait_for(&self, text: &str) -> String {
        let mut seen = String::new();
        let errors = self.errors.lock().unwrap();
        while let Ok(line) = errors.recv_timeout(PATIENCE) {
            seen.push_str(&line);
            seen.push('\n');
            if line.contains(text) {
                return seen;
            }
        }
        panic!("`{text}` was never said: {seen}");
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    }

    /// The text of a tool's answer.
    pub(crate) fn call(&self, tool: &str, inputs: &Json) -> String {
        call(&mut self.connect(), tool, inputs)
    }

    /// Sends one POST with one more line in its head, or none, on a connection of its own.
    pub(crate) fn post_with(&self, body: &str, field: &str) -> (u16, String) {
        let mut socket = self.connect();
        let fields = format!("Host: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json\r\n{field}");
        write!(socket, "POST /mcp HTTP/1.1\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        answer(&mut socket)
    }

    /// Tells the process to end, and gives its exit code.
    #[cfg(unix)]
    pub(crate) fn terminate(&mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn lines(reader: impl std::io::BufRead + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || reader.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    receiver
}

/// Sends one POST, and reads the status and the body of the answer.
pub(crate) fn post(socket: &mut TcpStream, body: &str) -> (u16, String) {
    write!(
        socket,
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    answer(socket)
}

/// The text of a tool's answer, over a connection that stays open.
pub(crate) fn call(socket: &mut TcpStream, tool: &str, inputs: &Json) -> String {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": inputs } });
    let (status, body) = post(socket, &message.to_string());
    let answer: Json = serde_json::from_str(&body).unwrap();
    assert_eq!(status, 200, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Reads one response with a `content-length`.
pub(crate) fn answer(socket: &mut TcpStream) -> (u16, String) {
    let mut reader = BufReader::new(socket);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "the connection ended in the head: {head}");
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), String::from_utf8(body).unwrap())
}

/// Where a path of a test is.
pub(crate) fn inside(folder: &Path, path: &str) -> PathBuf {
    folder.join(path)
}
