//! The reference of the app format as pages of Markdown: one for each kind of file, every key with
//! what it takes, what holds without it, its meaning and an example. All of it comes from the
//! tables that the readers use; the examples are in `examples.txt`, and a test has the readers
//! check each.

use std::{collections::BTreeMap, fmt::Write as _};

use millrace_catalogue::WRITTEN;

use super::{
    ADAPTER, API_KEY_POLICY, AUTH, FOLDER, INTROSPECTION_POLICY, JWT_POLICY, LAMBDA_POLICY, PRESENTER, PROMPT, RESOURCE, ROOT, SKILL,
    TEST_FILE, TOOL, hyperterse, now,
};
use crate::{
    auth::ACCESS_POLICY,
    field::{Field, Record, Shape, what_it_takes},
};

/// A page of the reference.
#[derive(Debug)]
pub struct Page {
    /// Its file, below `docs/reference`.
    pub file: &'static str,
    /// Its text.
    pub text: String,
}

/// Records that several files have: each has a table of its own in the reference.
const SHARED: [&str; 4] = ["auth", "limits", "input", "presented_field"];

/// How many words a cell may have: what needs more is for a page that explains.
const MOST_WORDS: usize = 40;

/// A page before it is written: its file, its title, what its reader wants, and its records.
struct Plan {
    file: &'static str,
    title: &'static str,
    wish: &'static str,
    records: &'static [&'static Record],
}

/// In the order of the documentation.
static PLANS: [Plan; 10] = [
    Plan { file: "app.md", title: "The app: `millrace.yaml`", wish: "To set what holds for the whole app", records: &[&ROOT] },
    Plan { file: "adapters.md", title: "Adapters: `app/adapters/*.yaml`", wish: "To connect a database or an API", records: &[&ADAPTER] },
    Plan { file: "tools.md", title: "Tools: `app/tools/**/config.yaml`", wish: "To write a tool", records: &[&TOOL] },
    Plan {
        file: "folders.md",
        title: "Folders of tools: `app/tools/**/_folder.yaml`",
        wish: "To say once what all tools of a folder have in common",
        records: &[&FOLDER],
    },
    Plan {
        file: "auth.md",
        title: "Keys of `auth`: who may call",
        wish: "To say who may call, in `millrace.yaml`, a folder or a tool",
        records: &[&AUTH, &API_KEY_POLICY, &JWT_POLICY, &INTROSPECTION_POLICY, &ACCESS_POLICY, &LAMBDA_POLICY],
    },
    Plan {
        file: "presenters.md",
        title: "Keys of presenters: `app/presenters/*.yaml`",
        wish: "To say once what a model sees of a result",
        records: &[&PRESENTER],
    },
    Plan { file: "prompts.md", title: "Prompts: `app/prompts/*.yaml`", wish: "To give clients a prompt", records: &[&PROMPT] },
    Plan {
        file: "resources.md",
        title: "Resources: `app/resources/**/config.yaml`",
        wish: "To give clients a resource, or a template of resources",
        records: &[&RESOURCE],
    },
    Plan {
        file: "skills.md",
        title: "Keys of skills: `app/skills/*/config.yaml`",
        wish: "To say who may read a skill",
        records: &[&SKILL],
    },
    Plan {
        file: "tests.md",
        title: "Keys of tests: `app/**/*.test.yaml`",
        wish: "To test a tool, a prompt or a resource",
        records: &[&TEST_FILE],
    },
];

/// The order in which tables find their page: what several files have is on the page of the file
/// that it is mostly written in.
const OWNERS: [&str; 10] =
    ["auth.md", "presenters.md", "tools.md", "prompts.md", "resources.md", "tests.md", "skills.md", "folders.md", "adapters.md", "app.md"];

/// A table of a page: its title, its record, and the file of the page.
type Tables = BTreeMap<&'static str, &'static str>;

/// The reference: every file, every key.
#[must_use]
pub fn reference() -> Vec<Page> {
    let mut places: Tables = BTreeMap::new();
    let mut tables: BTreeMap<&'static str, Vec<&'static Record>> = BTreeMap::new();
    for file in OWNERS {
        let Some(plan) = PLANS.iter().find(|plan| plan.file == file) else { continue };
        let mut listed: Vec<&'static Record> = plan.records.to_vec();
        let mut index = 0;
        while let Some(record) = listed.get(index).copied() {
            index += 1;
            let mut parts = Vec::new();
            named(record, &mut parts);
            let new = parts.into_iter().filter(|part| !places.contains_key(part.name) && !listed.iter().any(|one| one.name == part.name));
            let new: Vec<_> = new.collect();
            listed.extend(new);
        }
        listed.dedup_by_key(|record| record.name);
        places.extend(listed.iter().map(|record| (record.name, file)));
        tables.insert(file, listed);
    }
    let mut pages: Vec<Page> = PLANS.iter().map(|plan| page(plan, &tables[plan.file], &places)).collect();
    let mut text = String::from(hyperterse::INTRODUCTION);
    hyperterse::table(&mut text);
    pages.push(Page { file: "hyperterse.md", text });
    pages
}

fn page(plan: &Plan, records: &[&'static Record], places: &Tables) -> Page {
    let mut text = format!(
        "# {}\n\n{}, look up the keys here. Any other key is a mistake, and so is a value of another type. `millrace check` reports each \
         with its line.\n\n<!-- Made from the bundler's tables by `UPDATE_EXPECT=1 cargo test --workspace --test bundler reference`. -->\n",
        plan.title, plan.wish
    );
    for (index, record) in records.iter().enumerate() {
        let title = if index == 0 { "Keys of the file".to_owned() } else { format!("`{}`", record.name) };
        let title = if plan.file == "auth.md" { format!("`{}`", record.name) } else { title };
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {title}\n\n{}\n\n| key | takes | meaning | example |\n|---|---|---|---|\n", record.doc);
        rows(&mut text, &Row { table: record.name, prefix: "", file: plan.file, places }, record);
        let mut more = String::new();
        notes(&mut more, "", record);
        if !more.is_empty() {
            let _ = write!(text, "\n{more}");
        }
    }
    if plan.file == "adapters.md" {
        connectors(&mut text);
    }
    Page { file: plan.file, text }
}

/// Where a row is: the table, the keys before its own, and the page.
struct Row<'a> {
    table: &'static str,
    prefix: &'a str,
    file: &'static str,
    places: &'a Tables,
}

fn rows(text: &mut String, at: &Row<'_>, record: &'static Record) {
    for field in now(record) {
        let path = format!("{}{}", at.prefix, field.key);
        if let Shape::Record(inner) = &field.shape
            && !SHARED.contains(&inner.name)
        {
            rows(text, &Row { prefix: &format!("{path}."), ..*at }, inner);
            continue;
        }
        let takes = takes(&field.shape, at).replace('|', "\\|");
        let example = format!("`{}`", whole(&path, &example(at.table, record.name, &path, field))).replace('|', "\\|");
        let (default, meaning) = (default(field), meaning(at.table, field).replace('|', "\\|"));
        let _ = writeln!(text, "| `{path}` | {takes}{default} | {meaning} | {example} |");
    }
}

/// What holds without a key, behind what it takes.
fn default(field: &Field) -> String {
    match (field.required, field.default) {
        (true, _) => "; **required**".to_owned(),
        (false, Some(default)) if default.contains(' ') && (default.contains('`') || !default.starts_with(['{', '['])) => {
            format!("; by default {default}")
        }
        (false, Some(default)) => format!("; by default `{default}`"),
        (false, None) => String::new(),
    }
}

/// What a key means, in a cell: what is longer is said on a page of its own.
fn meaning(table: &str, field: &Field) -> String {
    match (table, field.key) {
        ("adapter", "connection_string") => "Where to connect; see the [table of connectors](#connection-strings-and-options).".to_owned(),
        ("adapter", "options") => {
            "Settings of the connection: `timeout` (of one statement, `30s`), `max_rows` (`10000`), `read_only` (`false`), and \
             [those of the connector](#connection-strings-and-options)."
                .to_owned()
        }
        _ => short(field.doc),
    }
}

/// As many sentences as a cell has place for.
fn short(doc: &str) -> String {
    let (kept, _) = parted(doc);
    kept.trim_end().to_owned()
}

/// The sentences that a cell has place for, and the others.
fn parted(doc: &str) -> (&str, &str) {
    let mut words = 0;
    let mut end = 0;
    for sentence in doc.split_inclusive(". ") {
        words += sentence.split_whitespace().count();
        if words > MOST_WORDS && end > 0 {
            break;
        }
        end += sentence.len();
    }
    doc.split_at_checked(end).unwrap_or((doc, ""))
}

/// Under a table, what its cells have no place for.
fn notes(text: &mut String, prefix: &str, record: &'static Record) {
    for field in now(record) {
        let path = format!("{prefix}{}", field.key);
        match &field.shape {
            Shape::Record(inner) if !SHARED.contains(&inner.name) => notes(text, &format!("{path}."), inner),
            // It has a table of its own.
            _ if record.name == ADAPTER.name => {}
            _ => {
                let (_, rest) = parted(field.doc);
                if !rest.is_empty() {
                    let _ = writeln!(text, "- `{path}`: {rest}");
                }
            }
        }
    }
}

/// The records that a record's shapes name, of plain maps in it, too.
fn named(record: &'static Record, parts: &mut Vec<&'static Record>) {
    for field in now(record) {
        match &field.shape {
            Shape::Record(inner) if !SHARED.contains(&inner.name) => named(inner, parts),
            shape => direct(shape, parts),
        }
    }
}

fn direct(shape: &Shape, parts: &mut Vec<&'static Record>) {
    match shape {
        Shape::Record(record) => parts.push(record),
        Shape::List(element) | Shape::Map(element) => direct(element, parts),
        Shape::OneOf(shapes) => shapes.iter().for_each(|shape| direct(shape, parts)),
        _ => {}
    }
}

/// What a key takes, with the names of tables instead of their keys.
fn takes(shape: &Shape, at: &Row<'_>) -> String {
    match shape {
        Shape::Record(record) => {
            let file = at.places.get(record.name).copied().filter(|file| *file != at.file).unwrap_or_default();
            format!("[`{0}`]({file}#{0})", record.name)
        }
        Shape::List(element) => format!("list of {}", takes(element, at)),
        Shape::Map(element) => format!("map of {}", takes(element, at)),
        Shape::OneOf(shapes) => shapes.iter().map(|shape| takes(shape, at)).collect::<Vec<_>>().join(", or "),
        _ => what_it_takes(shape),
    }
}

/// The connection strings, and where the options of each connector are.
fn connectors(text: &mut String) {
    text.push_str(
        "\n## Connection strings and options\n\nEvery connector has `timeout`, `max_rows` and `read_only`. The page of a connector lists its \
         other options, with their defaults.\n\n| connector | `connection_string` | options |\n|---|---|---|\n",
    );
    for written in WRITTEN {
        let name = written.connector;
        let _ = writeln!(text, "| `{name}` | {} | [options of `{name}`](../connectors/{name}.md) |", written.connection_string);
    }
}

/// A value at its path, as it would be written in a file: `tools: { cache: { ttl: 300 } }`.
fn whole(path: &str, value: &str) -> String {
    let keys: Vec<&str> = path.split('.').collect();
    let (inner, outer) = (&keys[1..], keys.first().copied().unwrap_or_default());
    let opened: String = inner.iter().map(|key| format!("{{ {key}: ")).collect();
    format!("{outer}: {opened}{value}{}", " }".repeat(inner.len()))
}

/// An example of a key's value: from the list, by its table and path, by its record and key, or by
/// its key alone; else what its shape gives.
fn example(table: &str, record: &str, path: &str, field: &Field) -> String {
    let known = |name: &str| {
        let lines = include_str!("examples.txt").lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| line.split_once(" = ")).find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
    };
    let named = known(&format!("{table}/{path}")).or_else(|| known(&format!("{record}/{}", field.key)));
    named.or_else(|| of_shape(&field.shape, field.default)).or_else(|| known(field.key)).unwrap_or_default()
}

fn of_shape(shape: &Shape, default: Option<&str>) -> Option<String> {
    match shape {
        Shape::Bool => Some(if default == Some("true") { "false" } else { "true" }.to_owned()),
        Shape::Word(words) => words.iter().find(|word| Some(**word) != default).map(|word| (*word).to_owned()),
        Shape::Int(min, _) => {
            Some(default.filter(|text| text.parse::<i64>().is_ok()).map_or_else(|| min.max(&10).to_string(), str::to_owned))
        }
        Shape::Size => Some("256kb".to_owned()),
        Shape::Duration => Some("5s".to_owned()),
        Shape::List(element) if matches!(element, Shape::Word(_)) => of_shape(element, None).map(|word| format!("[{word}]")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        field::{CheckMode, check},
        findings::Findings,
        source::Source,
        yaml::Document,
    };

    /// Every row of every table: the table's record, the record of the key, its path, and the key.
    fn every_key() -> Vec<(&'static Record, &'static Record, String, &'static Field)> {
        fn below(
            table: &'static Record,
            record: &'static Record,
            prefix: &str,
            found: &mut Vec<(&'static Record, &'static Record, String, &'static Field)>,
        ) {
            for field in now(record) {
                let path = format!("{prefix}{}", field.key);
                match &field.shape {
                    Shape::Record(inner) if !SHARED.contains(&inner.name) => below(table, inner, &format!("{path}."), found),
                    _ => found.push((table, record, path, field)),
                }
            }
        }
        let (mut seen, mut found): (Vec<&'static Record>, _) = (PLANS.iter().flat_map(|plan| plan.records).copied().collect(), Vec::new());
        let mut index = 0;
        while let Some(record) = seen.get(index).copied() {
            index += 1;
            let mut parts = Vec::new();
            named(record, &mut parts);
            seen.extend(parts.into_iter().filter(|part| seen.iter().all(|one| one.name != part.name)).collect::<Vec<_>>());
            below(record, record, "", &mut found);
        }
        found
    }

    #[test]
    fn every_key_has_an_example_that_its_reader_takes() {
        let mut wrong = Vec::new();
        let keys = every_key();
        for (table, record, path, field) in &keys {
            let text = whole(path, &example(table.name, record.name, path, field));
            let mut findings = Findings::default();
            if let Some(mut document) = Document::parse(Source::new("example.yaml", text.as_str()), &mut findings) {
                check(&mut document, table, CheckMode::strict(false), &mut findings);
            }
            // What a whole file must have besides is not here.
            let said = findings.into_sorted().into_iter().map(|one| one.message);
            let said: Vec<_> = said.filter(|message| !message.ends_with(" is missing")).collect();
            if text.ends_with(": ") || text.contains(":  }") || !said.is_empty() {
                wrong.push(format!("{}/{path}: {text:?} {said:?}", table.name));
            }
        }
        assert!(keys.len() > 300 && wrong.is_empty(), "of {} keys:\n{}", keys.len(), wrong.join("\n"));
    }

    #[test]
    fn no_cell_is_long_and_every_record_has_its_table_once() {
        let pages = reference();
        for page in &pages {
            for line in page.text.lines().filter(|line| line.starts_with("| ")) {
                let long = line.split(" | ").find(|cell| cell.split_whitespace().count() > MOST_WORDS);
                assert!(long.is_none(), "{}: {long:?} of {line}", page.file);
            }
        }
        for (table, ..) in every_key() {
            let title = format!("\n## `{}`\n", table.name);
            let of_a_file = PLANS.iter().any(|plan| plan.records.first().is_some_and(|record| record.name == table.name));
            let times: usize = pages.iter().map(|page| page.text.matches(&title).count()).sum();
            assert!(times == usize::from(!of_a_file || table.name == "auth"), "{}: {times}", table.name);
        }
    }
}
