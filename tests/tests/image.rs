//! Images: the Dockerfile of this repository and that of the documentation, run without a container
//! engine, and what platforms are told.
#![cfg(target_os = "linux")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use millrace_tests::{
    case::root,
    docs::{blocks, text},
    local::binary,
};

/// The smallest app, as a bundle.
fn bundle(folder: &Path) -> PathBuf {
    fs::write(folder.join("millrace.yaml"), "name: small\n").unwrap();
    let output = Command::new(binary()).args(["build", "--target", "local"]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    folder.join("dist/small.bundle")
}

/// Runs the script with the command of this build, or with the static one that
/// `MILLRACE_IMAGE_BINARY` names.
fn check(dockerfile: &Path) -> String {
    let mut command = Command::new(root().join("scripts/check-image"));
    command.arg("--dockerfile").arg(dockerfile);
    match env::var_os("MILLRACE_IMAGE_BINARY") {
        Some(binary) => command.arg(binary),
        None => command.arg("--dynamic").arg(binary()),
    };
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    print!("{}", text(&output));
    text(&output)
}

/// Whether this process may change its root.
fn is_root() -> bool {
    let is_root = fs::read_to_string("/proc/self/status").unwrap().lines().any(|line| line.starts_with("Uid:\t0\t"));
    if !is_root {
        println!("NOT RUN: an image needs root");
    }
    is_root
}

fn page() -> String {
    fs::read_to_string(root().join("docs/containers.md")).unwrap()
}

fn block(kind: &str, contains: &str) -> String {
    let found = blocks(&page()).into_iter().find(|(of, body)| of == kind && body.contains(contains));
    found.unwrap_or_else(|| panic!("docs/containers.md has no such block: {kind}, {contains}")).1
}

#[test]
fn the_image_of_this_repository_does_what_an_image_has_to() {
    if !is_root() {
        return;
    }
    let said = check(&root().join("Dockerfile"));
    for expected in ["the user is 65532:65532", r#"the health check says {"status":"ok"}"#, "answered after SIGTERM", "the exit code is 0"]
    {
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn the_image_of_an_app_does_too() {
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Dockerfile");
    fs::write(&file, block("dockerfile", "FROM scratch")).unwrap();
    let said = check(&file);
    assert!(said.contains("it serves: `image` with 2 tools"), "{said}");
}

#[test]
fn what_a_new_app_keeps_out_of_git_is_kept_out_of_its_image() {
    let ignored = block("text", "node_modules");
    // What git leaves out in every folder has `**/` before it there.
    let ignored: Vec<&str> = ignored.lines().map(|line| line.trim_end_matches('/').trim_start_matches("**/")).collect();
    let of_git = fs::read_to_string(root().join("adapters/local/template/gitignore")).unwrap();
    let wanted: Vec<&str> = of_git.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).chain([".git"]).collect();
    for name in wanted.iter().map(|line| line.trim_end_matches('/')) {
        assert!(ignored.contains(&name), "docs/containers.md: `.dockerignore` lacks `{name}`");
    }
    for secret in [".env", ".env.*", ".dev.vars", ".dev.vars.*"] {
        assert!(wanted.contains(&secret), "{secret}");
    }
}

#[test]
fn both_dockerfiles_end_alike() {
    let ours = fs::read_to_string(root().join("Dockerfile")).unwrap();
    let theirs = block("dockerfile", "FROM scratch");
    let lines = |text: &str| -> Vec<String> {
        let kept =
            |line: &&str| ["ENV", "USER", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT"].iter().any(|name| line.starts_with(name));
        text.lines().filter(kept).map(str::to_owned).collect()
    };
    assert_eq!(lines(&ours), lines(&theirs));
    assert_eq!(lines(&ours).len(), 6);
}

/// What the platforms' files tell the server, by the Python that has parsers for them.
const READ: &str = r#"
import json, sys, yaml
try:
    import tomllib
except ImportError:
    from pip._vendor import tomli as tomllib
text, kind = sys.stdin.read(), sys.argv[1]
if kind == "toml":
    file = tomllib.loads(text)
    checks = [check["headers"]["Host"] for check in file["http_service"]["checks"]]
    found = {"args": file["experimental"]["cmd"], "env": file["env"], "hosts": checks, "wait": int(file["kill_timeout"][:-1]) - int(file["env"]["MILLRACE_GRACE"])}
else:
    file = yaml.safe_load(text)
    pod = file["spec"]["template"]["spec"]
    own = pod["containers"][0]
    variables = {one["name"]: one["value"] for one in own["env"] if "value" in one}
    probes = [own[name]["httpGet"] for name in own if name.endswith("Probe") and "httpGet" in own[name]]
    pause = own.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    hosts = [field["value"] for probe in probes for field in probe["httpHeaders"]]
    found = {"args": own["args"], "env": variables, "hosts": hosts,
             "wait": pod.get("terminationGracePeriodSeconds", 10) - pause - int(variables["MILLRACE_GRACE"])}
print(json.dumps(found))
"#;

#[test]
fn what_the_platforms_tell_the_server_is_understood() {
    use std::io::Write as _;

    let folder = tempfile::tempdir().unwrap();
    let bundle = bundle(folder.path());
    let tools = PathBuf::from(env::var_os("MILLRACE_TEST_TOOLS").expect("MILLRACE_TEST_TOOLS; see CONTRIBUTING.md"));
    // cfn-lint, which sam brings, needs PyYAML.
    let python = tools.join("lambda/bin/python");
    for (kind, contains) in [("yaml", "kind: Deployment"), ("yaml", "serving.knative.dev"), ("toml", "[http_service]")] {
        let mut reader = Command::new(&python);
        let mut reader =
            reader.args(["-c", READ, kind]).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
        reader.stdin.take().unwrap().write_all(block(kind, contains).as_bytes()).unwrap();
        let output = reader.wait_with_output().unwrap();
        assert!(output.status.success(), "{contains}: {}", text(&output));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        // The platform waits longer than the server takes to end, with the two seconds that its
        // isolates have beyond the calls.
        assert!(found["wait"].as_i64().unwrap() >= 2, "{contains}: {found}");
        assert!(found["hosts"].as_array().unwrap().iter().all(|host| host == "localhost"), "{contains}: {found}");
        let arguments = found["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        let arguments: Vec<&str> = arguments.map(|word| if word.ends_with(".bundle") { bundle.to_str().unwrap() } else { word }).collect();
        let mut command = Command::new(binary());
        command.args(&arguments).env_clear().current_dir(folder.path());
        for (name, value) in found["env"].as_object().unwrap() {
            command.env(name, value.as_str().unwrap());
        }
        // Its arguments are read before the port, which cannot be used.
        let taken = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
        command.env("PORT", taken.local_addr().unwrap().port().to_string());
        let said = text(&command.output().unwrap());
        assert!(said.contains("is in use") || said.contains("`/tls/tls.crt` cannot be read"), "{contains}: {said}");
    }
}
