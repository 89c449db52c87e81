//! `serve` and `dev` with TLS: certificates in files, and what happens when they change.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    sync::Arc,
};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::support::{App, CommandOutput, ServerProcess, app, binary, run};

type Secured = StreamOwned<ClientConnection, TcpStream>;

const BUNDLE: &str = "dist/small.bundle";

fn built() -> App {
    let app = app();
    assert_eq!(run(app.path(), &["build", "--target", "local"]).code, Some(0));
    app
}

/// Writes a new certificate for this machine and its key into a folder, and gives whom a client has
/// to trust.
fn certificate(folder: &Path) -> RootCertStore {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("tls.crt"), cert.pem()).unwrap();
    fs::write(folder.join("tls.key"), signing_key.serialize_pem()).unwrap();
    fs::set_permissions(folder.join("tls.key"), fs::Permissions::from_mode(0o600)).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    roots
}

fn connect(served: &ServerProcess, roots: &RootCertStore) -> Secured {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots.clone()).with_no_client_auth();
    let session = ClientConnection::new(Arc::new(config), "127.0.0.1".try_into().unwrap()).unwrap();
    StreamOwned::new(session, served.connect())
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get-item","arguments":{"id":1}}}"#;

/// Calls a tool with more header fields, and gives the response.
fn ask(stream: &mut Secured, fields: &str) -> std::io::Result<String> {
    let port = stream.sock.peer_addr()?.port();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         {fields}Content-Length: {}\r\n\r\n{CALL}",
        CALL.len()
    )?;
    let mut text = String::new();
    let mut bytes = [0; 4096];
    while !text.contains("\r\n\r\n") || !text.ends_with('}') {
        let count = stream.read(&mut bytes)?;
        if count == 0 {
            break;
        }
        text.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
    Ok(text)
}

fn is_answer(text: &str) -> bool {
    text.starts_with("HTTP/1.1 200 ") && text.contains("O'Neil")
}

const OPTIONS: [&str; 4] = ["--tls-cert", "tls/tls.crt", "--tls-key", "tls/tls.key"];

#[test]
fn a_certificate_makes_it_https_in_processes_and_in_threads() {
    let app = built();
    let roots = certificate(&app.path().join("tls"));
    for host in [&["serve", BUNDLE, "--isolates", "2"][..], &["serve", BUNDLE, "--threads"], &["dev"]] {
        let mut served = ServerProcess::start(app.path(), &[host, &OPTIONS].concat());
        assert!(served.said.contains(&format!("https://{}/mcp", served.address)), "{}", served.said);
        let mut stream = connect(&served, &roots);
        let text = ask(&mut stream, "").unwrap();
        assert!(is_answer(&text), "{text}");
        // A page of this server has an origin with `https`, and no other.
        let origin = |scheme: &str| format!("Origin: {scheme}://{}\r\n", served.address);
        assert!(is_answer(&ask(&mut stream, &origin("https")).unwrap()));
        let refused = ask(&mut stream, &origin("http")).unwrap();
        assert!(refused.starts_with("HTTP/1.1 403 "), "{refused}");
        assert_eq!(served.terminate(), Some(0));
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    }
    // Another client, which knows nothing of ours; and the variables.
    let served = ServerProcess::of(
        binary()
            .current_dir(app.path())
            .args(["serve", BUNDLE, "--port", "0"])
            .envs([("MILLRACE_TLS_CERT", OPTIONS[1]), ("MILLRACE_TLS_KEY", OPTIONS[3])]),
    );
    for version in ["--tlsv1.3", "--tls-max=1.2"] {
        let url = format!("https://{}/livez", served.address);
        let words = version.split('=').collect::<Vec<_>>();
        let output = std::process::Command::new("curl")
            .args(["-sS", "--noproxy", "*", "--cacert", "tls/tls.crt", &url])
            .args(words)
            .current_dir(app.path())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), r#"{"status":"ok"}"#, "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Puts a folder in the place of another as Kubernetes does: the files are links through `..data`,
/// which is exchanged.
fn exchange(volume: &Path, folder: &str) {
    drop(fs::remove_file(volume.join("..next")));
    symlink(folder, volume.join("..next")).unwrap();
    fs::rename(volume.join("..next"), volume.join("..data")).unwrap();
}

#[test]
fn a_changed_certificate_is_used_and_a_broken_one_is_logged_once() {
    let app = built();
    for host in [&["serve", BUNDLE, "--isolates", "2"][..], &["serve", BUNDLE, "--threads"]] {
        let volume = tempfile::tempdir().unwrap();
        let volume = volume.path();
        let first = certificate(&volume.join("..1"));
        let second = certificate(&volume.join("..2"));
        // The key is the first one's.
        certificate(&volume.join("..3"));
        fs::copy(volume.join("..1/tls.key"), volume.join("..3/tls.key")).unwrap();
        exchange(volume, "..1");
        for name in ["tls.crt", "tls.key"] {
            symlink(format!("..data/{name}"), volume.join(name)).unwrap();
        }
        let (crt, key) = (volume.join("tls.crt"), volume.join("tls.key"));
        let options = ["--tls-cert", crt.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
        let served = ServerProcess::start(app.path(), &[host, &options].concat());
        let mut kept = connect(&served, &first);
        assert!(is_answer(&ask(&mut kept, "").unwrap()));
        exchange(volume, "..2");
        served.wait_for("the certificate has changed");
        // Each isolate gets it a moment later.
        let mut in_a_row = 0;
        while in_a_row < 8 {
            in_a_row = if ask(&mut connect(&served, &second), "").is_ok_and(|text| is_answer(&text)) { in_a_row + 1 } else { 0 };
        }
        assert!(is_answer(&ask(&mut kept, "").unwrap()));
        exchange(volume, "..3");
        let said = served.wait_for("is not used, and the one before stays");
        assert!(said.contains(&format!("the private key `{}` does not belong to", key.display())), "{said}");
        assert!(is_answer(&ask(&mut connect(&served, &second), "").unwrap()));
        fs::write(volume.join("..3/tls.crt"), "nothing").unwrap();
        let said = served.wait_for("has no certificate in PEM");
        assert_eq!(said.matches("is not used").count(), 1, "{said}");
        assert!(!said.contains("does not belong"), "said twice: {said}");
        exchange(volume, "..1");
        served.wait_for("the certificate has changed");
        if host.contains(&"--isolates") {
            // One that is started later has it from the start.
            let pids = fs::read_to_string(format!("/proc/{0}/task/{0}/children", served.child.id())).unwrap_or_default();
            for pid in pids.split_whitespace() {
                assert!(std::process::Command::new("kill").args(["-KILL", pid]).status().unwrap().success());
                served.wait_for("a new isolate serves");
            }
        }
        assert!(is_answer(&ask(&mut connect(&served, &first), "").unwrap()));
    }
}

#[test]
fn files_that_cannot_be_used_are_named_with_the_remedy() {
    let app = built();
    let folder = app.path().join("tls");
    certificate(&folder);
    certificate(&app.path().join("other"));
    let start = |certificate: &str, key: &str| -> CommandOutput {
        run(app.path(), &["serve", BUNDLE, "--port", "0", "--tls-cert", certificate, "--tls-key", key])
    };
    let encrypted = std::process::Command::new("openssl")
        .args(["pkey", "-in", "tls/tls.key", "-aes256", "-passout", "pass:x", "-out", "tls/encrypted.key"])
        .current_dir(app.path())
        .status()
        .unwrap();
    assert!(encrypted.success());
    for (certificate, key, expected) in [
        ("tls/none.crt", "tls/tls.key", "the certificate `tls/none.crt` cannot be read: No such file"),
        ("tls/tls.crt", "tls", "the private key `tls` cannot be read"),
        ("tls/tls.key", "tls/tls.key", "`tls/tls.key` has no certificate in PEM; `--tls-cert` needs"),
        ("tls/tls.crt", "tls/tls.crt", "`tls/tls.crt` has no private key in PEM; `--tls-key` needs"),
        ("tls/tls.crt", "other/tls.key", "the private key `other/tls.key` does not belong to the first certificate in `tls/tls.crt`"),
        ("tls/tls.crt", "tls/encrypted.key", "decrypt it with `openssl pkey -in tls/encrypted.key -out FILE`"),
    ] {
        let said = start(certificate, key);
        assert_eq!(said.code, Some(1), "{}", said.err);
        assert!(said.err.contains(expected), "{expected}: {}", said.err);
        assert_eq!(said.out, "");
    }
    let said = run(app.path(), &["serve", BUNDLE, "--port", "0", "--tls-cert", "tls/tls.crt"]);
    assert!(said.code == Some(2) && said.err.contains("--tls-key"), "{}", said.err);
    // With a key for everybody to read, it starts, and says so.
    fs::set_permissions(folder.join("tls.key"), fs::Permissions::from_mode(0o644)).unwrap();
    let served = ServerProcess::start(app.path(), &[&["serve", BUNDLE][..], &OPTIONS].concat());
    served.wait_for("can read the private key `tls/tls.key`; run `chmod 600 tls/tls.key`");
}

#[test]
fn health_asks_a_server_with_and_without_tls() {
    let app = built();
    certificate(&app.path().join("tls"));
    let health = |arguments: &[&str], variables: &[(&str, &str)]| {
        let output = binary().arg("health").args(arguments).envs(variables.iter().copied()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let ok = |body: &str| (Some(0), format!("{body}\n"), String::new());
    for options in [&[][..], &OPTIONS] {
        let mut served = ServerProcess::start(app.path(), &[&["serve", BUNDLE][..], options].concat());
        let port = served.address.port().to_string();
        let tls = if options.is_empty() { "" } else { OPTIONS[1] };
        assert_eq!(health(&[], &[("PORT", &port), ("MILLRACE_TLS_CERT", tls)]), ok(r#"{"status":"ok"}"#));
        let scheme = if options.is_empty() { "http" } else { "https" };
        let ready = format!("{scheme}://localhost:{port}/readyz");
        assert_eq!(health(&[&ready], &[]), ok(r#"{"status":"ok","adapters":[{"name":"main","status":"ok"}]}"#));
        let (code, _, said) = health(&[&format!("{scheme}://127.0.0.1:{port}/nowhere")], &[]);
        assert!(code == Some(1) && said.contains("/nowhere: status 404, "), "{said}");
        assert_eq!(served.terminate(), Some(0));
        let (code, _, said) = health(&[&ready], &[]);
        assert!(code == Some(1) && said.contains("could not connect to `localhost`"), "{said}");
    }
    // Whom to trust is asked for other machines only, and named where it is missing.
    let nobody = [("SSL_CERT_FILE", "/nowhere/ca.crt"), ("SSL_CERT_DIR", "/nowhere")];
    let (code, _, said) = health(&["https://192.0.2.1/livez", "--timeout", "1"], &nobody);
    assert!(code == Some(1) && said.contains("it has no CA certificates; install them, or name a file of them by SSL_CERT_FILE"), "{said}");
    // One that accepts, and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/livez", silent.local_addr().unwrap());
    let (code, _, said) = health(&[&url, "--timeout", "1"], &[]);
    assert!(code == Some(1) && said.contains("did not answer within 1 s"), "{said}");
    let (code, _, said) = health(&["nonsense"], &[]);
    assert!(code == Some(1) && said.contains("`nonsense` is not a URL"), "{said}");
}
