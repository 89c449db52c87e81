//! `{{ secret.NAME }}`: every store, read for real, and an app that takes its key and its database
//! from one, on every host.

use std::{fs, path::Path, process::Command, rc::Rc};

use millrace_core::{ErrorKind, Result, ports::Clock as _};
use millrace_native::{clock::SystemClock, env::Variables, secrets::SecretsChoice};
use millrace_tests::files::write;
use millrace_tests::{
    aws_secrets::AwsSecretsServer,
    case::{Exchange, root},
    database::runtime,
    docs::{blocks, shell, text},
    lambda::{self, Front, Function},
    local::Host,
    typescript,
    worker::{self, Worker, wrangler},
};

/// The app's files. Only who knows the secret `KEY` may call, and the database is where the secret
/// `DB` says.
const APP: [(&str, &str); 4] = [
    ("millrace.yaml", "name: shop\nsecrets: [KEY]\n"),
    (
        "app/adapters/shop.yaml",
        "connector: sqlite\nconnection_string: \"file:{{ secret.DB.file }}\"\noptions: { create: true }\nfallback: { connector: d1, connection_string: \"d1:SHOP\" }\n",
    ),
    (
        "app/tools/items/config.yaml",
        "description: Items.\nuse: shop\nstatement: SELECT 7 AS id\nauth: { plugin: api_key, policy: { value: \"{{ secret.KEY }}\" } }\n",
    ),
    ("app/tools/length/config.yaml", "description: Length.\nhandler: ./handler.ts\n"),
];
const HANDLER: &str = "export default (inputs, ctx) => ctx.env.KEY.length;\n";
const DB: &str = r#"{"file":"shop.db"}"#;
const KEY: &str = "key-in-a-store";

fn app() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in APP.into_iter().chain([("app/tools/length/handler.ts", HANDLER)]) {
        millrace_tests::files::write(folder.path(), path, text);
    }
    folder
}

fn call(tool: &str, key: &str) -> Exchange {
    Exchange::parse(&format!("CALL {tool}")).with("x-api-key", key)
}

/// Who has the key may call, nobody else, and the script sees it.
fn check(host: &str, send: &dyn Fn(&Exchange) -> String) {
    let found = send(&call("items", KEY));
    assert!(found.contains("200") && found.contains(r#"\"id\":7"#), "{host}: {found}");
    let length = send(&call("length", ""));
    assert!(length.contains(r#""text":"14""#), "{host}: {length}");
    for wrong in ["", "another-key", "{{ secret.KEY }}"] {
        let refused = send(&call("items", wrong));
        assert!(refused.contains("401") && !refused.contains(KEY), "{host}: {refused}");
    }
}

/// Reads a secret of the store that these variables name.
fn read(env: &[(String, String)], name: &str) -> Result<Option<String>> {
    let choice = SecretsChoice::of(&env.iter().cloned().collect::<Variables>()).unwrap();
    let store = choice.open(Path::new("/"), Rc::new(SystemClock)).unwrap();
    let text = runtime().block_on(store.read(name, SystemClock.now_ms() + 20_000))?;
    Ok(text.map(|text| text.expose().clone()))
}

#[test]
fn services_of_aws_give_secrets_to_those_who_may_read_them() {
    let mut server = AwsSecretsServer::start();
    for store in ["secrets-manager:shop/prod/", "parameter-store:/shop/"] {
        let reader = server.env(store, "reader");
        assert_eq!(read(&reader, "KEY").unwrap().as_deref(), Some(KEY), "{store}");
        assert_eq!(read(&reader, "MISSING").unwrap(), None, "{store}");
        let denied = read(&server.env(store, "stranger"), "KEY").unwrap_err();
        assert_eq!(denied.kind, ErrorKind::Denied, "{store}: {denied}");
        let mut wrong = server.env(store, "reader");
        wrong.iter_mut().filter(|(name, _)| name == "AWS_SECRET_ACCESS_KEY").for_each(|(_, value)| *value = "wrong".into());
        let denied = read(&wrong, "KEY").unwrap_err();
        assert_eq!(denied.kind, ErrorKind::Denied, "{store}: {denied}");
    }
    let binary = read(&server.env("secrets-manager:shop/prod/", "reader"), "BINARY").unwrap_err();
    assert_eq!((binary.kind, binary.message.as_str()), (ErrorKind::Configuration, "the secret `shop/prod/BINARY` is not text"));
    let env = server.env("secrets-manager:shop/prod/", "reader");
    server.process.kill();
    assert_eq!(read(&env, "KEY").unwrap_err().kind, ErrorKind::Unavailable);
}

#[test]
fn an_app_takes_secrets_from_files_and_from_variables() {
    let folder = app();
    let secrets = tempfile::tempdir().unwrap();
    fs::write(secrets.path().join("DB"), DB).unwrap();
    fs::write(secrets.path().join("KEY"), format!("{KEY}\n")).unwrap();
    let of_files = [("MILLRACE_SECRETS".to_owned(), format!("files:{}", secrets.path().display()))];
    let host = Host::dev(folder.path(), &of_files);
    check("files", &|request| host.send(request));
    let of_variables = [("DB", DB), ("KEY", KEY)].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let host = Host::dev(folder.path(), &of_variables);
    check("variables", &|request| host.send(request));
    let host = Host::dev(folder.path(), &of_files);
    fs::remove_file(secrets.path().join("KEY")).unwrap();
    let closed = host.send(&call("items", ""));
    assert!(closed.contains("401"), "without the secret nobody is let in: {closed}");
}

#[test]
fn a_store_that_is_misspelt_is_told_at_the_start() {
    let folder = app();
    let mut command = Command::new(millrace_tests::local::binary());
    let started = command.arg("dev").arg(folder.path()).args(["--port", "0"]).env("MILLRACE_SECRETS", "vault:x").output().unwrap();
    let said = String::from_utf8_lossy(&started.stderr);
    assert!(
        !started.status.success() && said.contains("the variable `MILLRACE_SECRETS` does not work: use `env`, `files:FOLDER`"),
        "{said}"
    );
}

#[test]
fn a_function_takes_secrets_from_a_service_of_aws() {
    let server = AwsSecretsServer::start();
    let folder = app();
    let build = [("DB".to_owned(), DB.to_owned())];
    let package = lambda::build_with(folder.path(), &build);
    for store in ["secrets-manager:shop/prod/", "parameter-store:/shop/"] {
        let function = Function::start(&package, &server.env(store, "reader"));
        check(store, &|request| function.send(Front::Url, request));
    }
}

#[test]
fn a_worker_takes_secrets_from_the_secrets_store() {
    let folder = app();
    let built = worker::build(folder.path());
    let page = fs::read_to_string(root().join("docs/secrets.md")).unwrap();
    let (_, binding) = blocks(&page).into_iter().find(|(kind, _)| kind == "toml").unwrap();
    let store = binding.split("store_id = \"").nth(1).unwrap().split('"').next().unwrap();
    let file = built.join("wrangler.toml");
    let bindings = ["DB", "KEY"].map(|name| binding.replace("CALLER_KEY", name).replace("shop-caller-key", name)).concat();
    let text = fs::read_to_string(&file).unwrap();
    let text: String = text
        .lines()
        .filter(|line| !line.starts_with("[secrets]") && !line.starts_with("required"))
        .map(|line| line.to_owned() + "\n")
        .collect();
    fs::write(&file, text + &bindings).unwrap();
    for (name, value) in [("DB", DB), ("KEY", KEY)] {
        let made = wrangler()
            .args(["secrets-store", "secret", "create", store, "--name", name, "--value", value, "--scopes", "workers"])
            .current_dir(&built)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}{}", String::from_utf8_lossy(&made.stdout), String::from_utf8_lossy(&made.stderr));
    }
    let host = Worker::dev(&built, &[]);
    check("worker", &|request| host.send(request));
}

#[test]
fn the_page_does_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let page = fs::read_to_string(root().join("docs/secrets.md")).unwrap();
    let mut ran = false;
    for (kind, body) in blocks(&page) {
        if kind == "sh" {
            let output = shell(folder.path(), &body);
            assert!(output.status.success(), "{}", text(&output));
            ran = text(&output).contains("orders") && text(&output).contains("true");
        } else if let Some((first, rest)) = body.split_once('\n').filter(|_| kind != "toml") {
            write(folder.path(), first.trim_start_matches(['#', '/', ' ']), rest);
        }
    }
    assert!(ran, "the commands of the page print what the tools answer");
    typescript::is_strict(folder.path());
}
