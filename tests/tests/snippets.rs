//! Every fenced block of a page has a test. `tests/snippets.txt` names it: a block that is added to
//! a page fails here, until somebody says what runs it. The tests of blocks that no test of their
//! page runs are in `shown` and `wrangler`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use millrace_tests::{case::root, docs::numbered_blocks};

mod shown;
mod wrangler;

/// Where a list names a test without its file, `MODULE::TEST`.
const SUITES: &str = "tests/tests";

/// The pages of the site, by their path in the repository.
fn pages() -> Vec<String> {
    let folders = ["docs", "docs/connectors", "docs/reference"].map(|folder| root().join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    let pages = files.filter(|file| file.extension().is_some_and(|extension| extension == "md"));
    let pages = pages.map(|file| file.strip_prefix(root()).unwrap().display().to_string());
    pages.chain(["README.md".to_owned()]).collect()
}

/// The blocks of a page: of each kind, the lines that they begin at.
fn found(page: &str) -> BTreeMap<String, Vec<usize>> {
    let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (line, kind, _) in numbered_blocks(&fs::read_to_string(root().join(page)).unwrap()) {
        found.entry(kind).or_default().push(line);
    }
    found
}

/// A line of the list: `PAGE: KIND COUNT, …: TEST …`.
struct Row {
    kinds: BTreeMap<String, usize>,
    tests: Vec<String>,
}

fn rows(list: &str) -> BTreeMap<String, Row> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let parts: Vec<&str> = line.splitn(3, ": ").collect();
            let [page, kinds, tests] = parts[..] else { panic!("tests/snippets.txt: `{line}` is not `PAGE: KIND COUNT, …: TEST …`") };
            let kinds = kinds.split(", ").map(|kind| {
                let (kind, count) =
                    kind.split_once(' ').unwrap_or_else(|| panic!("tests/snippets.txt: `{kind}` is not a kind and a count"));
                (kind.to_owned(), count.parse().unwrap_or_else(|error| panic!("tests/snippets.txt: `{count}`: {error}")))
            });
            (page.to_owned(), Row { kinds: kinds.collect(), tests: tests.split(' ').map(str::to_owned).collect() })
        })
        .collect()
}

/// The file of a test that the list names, and the test.
fn place(test: &str) -> (PathBuf, String) {
    let (file, name) = test.rsplit_once("::").unwrap_or_else(|| panic!("tests/snippets.txt: `{test}` is not FILE::TEST"));
    let path = if file.contains('.') { file.to_owned() } else { format!("{SUITES}/{}.rs", file.replace("::", "/")) };
    (root().join(path), name.to_owned())
}

/// What is wrong with a test that is to run blocks of a page.
fn problem(page: &str, test: &str) -> Option<String> {
    let (file, name) = place(test);
    let Ok(text) = fs::read_to_string(&file) else { return Some(format!("`{}` does not exist", file.display())) };
    let is_python = file.extension().is_some_and(|extension| extension == "py");
    let head = if is_python { format!("def {name}(") } else { format!("fn {name}(") };
    let Some((before, _)) = text.split_once(&head) else { return Some(format!("`{}` has no test `{name}`", file.display())) };
    let attributes = before.trim_end().rsplit("\n\n").next().unwrap_or_default();
    if !is_python && (!attributes.contains("#[test]") || attributes.contains("#[ignore")) {
        return Some(format!("`{name}` is not a test that runs"));
    }
    let page = Path::new(page);
    let stem = page.file_stem()?.to_string_lossy().into_owned();
    let folder = page.parent()?.display().to_string();
    // A test that reads a folder of pages names the folder.
    let names_it = text.contains(&stem) || (folder.contains('/') && text.contains(&format!("\"{folder}\"")));
    (!names_it).then(|| format!("`{}` does not name the page", file.display()))
}

#[test]
fn every_block_of_a_page_has_a_test() {
    let mut known = rows(&fs::read_to_string(root().join("tests/snippets.txt")).unwrap());
    let (mut problems, mut seen) = (Vec::new(), 0);
    for page in pages() {
        let found = found(&page);
        let row = known.remove(&page).unwrap_or_else(|| Row { kinds: BTreeMap::new(), tests: Vec::new() });
        let kinds: BTreeSet<&String> = found.keys().chain(row.kinds.keys()).collect();
        for kind in kinds {
            let (lines, listed) = (found.get(kind).cloned().unwrap_or_default(), row.kinds.get(kind).copied().unwrap_or_default());
            seen += lines.len();
            if lines.len() != listed {
                let lines: Vec<String> = lines.iter().map(|line| format!("{page}:{line}")).collect();
                problems.push(format!("blocks of kind `{kind}`, of which tests/snippets.txt has {listed}: {}", lines.join(", ")));
            }
        }
        problems.extend(row.tests.iter().filter_map(|test| problem(&page, test)).map(|problem| format!("{page}: {problem}")));
    }
    problems.extend(known.keys().map(|page| format!("{page} does not exist, or has no blocks")));
    let remedy = "let a test run the block, and name the test in tests/snippets.txt";
    assert!(problems.is_empty(), "{remedy}:\n{}", problems.join("\n"));
    assert!(seen > 300, "only {seen} blocks were found");
}

/// A block, a test or a page that is not there is found.
#[test]
fn a_block_without_a_test_is_found() {
    let blocks = numbered_blocks("# Page\n\n```sh\nls\n```\n\n```\nplain\n```\n\n````text\n```\nwithin\n```\n````\n");
    let blocks: Vec<(usize, &str)> = blocks.iter().map(|(line, kind, _)| (*line, kind.as_str())).collect();
    assert_eq!(blocks, [(3, "sh"), (7, "plain"), (11, "text")]);
    assert!(problem("docs/caching.md", "readme::nothing").is_some_and(|problem| problem.contains("has no test `nothing`")));
    assert!(problem("docs/caching.md", "readme::pages").is_some_and(|problem| problem.contains("is not a test that runs")));
    assert!(problem("docs/nowhere.md", "readme::links_lead_somewhere").is_some_and(|problem| problem.contains("does not name the page")));
    assert!(problem("docs/caching.md", "nowhere::test").is_some_and(|problem| problem.contains("does not exist")));
}
