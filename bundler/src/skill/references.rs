//! What the texts of a skill name: tools, prompts, resources, and files of the skill.
//!
//! A text is prose, so only certain forms are names, which `docs/skills.md` lists. A word in code
//! is one where the sentence says so (the tool `x`, the prompts `x` and `y`, call `x`), and
//! wherever it is the name of something in the app. What would be a name but for a letter or two is
//! taken for a mistake.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use millrace_core::{
    app::{Content, Prompt, Resource},
    protocol::fits,
    url::{UrlParts, percent_decoded_strictly},
};

use super::markdown::{Place, places};
use crate::{
    Severity,
    compiler::Compiler,
    names::{SKILL_SCHEME, is_name, meant},
    source::Source,
    tool_use::Tools,
    yaml::{Data, Document, Node},
};

/// The file that every skill has.
pub(super) const MANIFEST: &str = "SKILL.md";
/// Schemes of URIs that are never those of an app's resources, unless it has such.
const FOREIGN: [&str; 5] = ["http", "https", "mailto", "file", "data"];
/// Folders of a skill, as the specification calls them.
const FOLDERS: [&str; 3] = ["scripts", "references", "assets"];
/// How many letters of a name can be wrong.
const MOST_DIFFERENT: usize = 2;
/// The shortest name of which one that differs by a letter or two is a mistake.
const SHORTEST: usize = 6;
/// What to do where a word in code was taken for a name.
const OTHERWISE: &str = "Write the word without backticks if it is something else.";
/// How names of an app's tools begin for many clients: `mcp__SERVER__TOOL`.
const PREFIX: &str = "mcp__";

/// Something that a skill names.
pub(super) struct Named {
    pub(super) part: NamedPart,
    pub(super) source: Arc<Source>,
    pub(super) range: Range<usize>,
}

/// What it is, by its place in the app.
#[derive(Clone, Copy)]
pub(super) enum NamedPart {
    Tool(usize),
    Prompt(usize),
    Resource(usize),
}

/// What a word is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Tool,
    Prompt,
    Resource,
    /// Something that is used or run: a tool, where it is spelt as the app's tools are.
    Used,
    /// Something that is read: a resource, where it is a URI.
    Read,
}

/// What can be named.
pub(super) struct Surroundings<'a> {
    app: &'a str,
    tools: BTreeMap<&'a str, usize>,
    broken: &'a BTreeSet<String>,
    prompts: BTreeMap<&'a str, usize>,
    resources: &'a [(String, Resource)],
    /// Places by the names of resources.
    names: BTreeMap<String, usize>,
    inputs: BTreeSet<&'a str>,
    schemes: BTreeSet<&'a str>,
    /// Whether every prompt and resource of the app is known.
    is_whole: bool,
}

/// A text of a skill.
struct Text<'a> {
    source: Arc<Source>,
    name: &'a str,
    files: &'a BTreeSet<&'a str>,
    skill: &'a str,
}

impl<'a> Surroundings<'a> {
    pub(super) fn new(app: &'a str, tools: &'a Tools, prompts: &'a [Prompt], resources: &'a [(String, Resource)], is_whole: bool) -> Self {
        let name = |(place, (_, resource)): (usize, &(String, Resource))| {
            let entry: serde_json::Value = serde_json::from_str(&resource.descriptor).unwrap_or_default();
            Some((entry["name"].as_str()?.to_owned(), place))
        };
        Self {
            app,
            tools: tools.list.iter().enumerate().map(|(place, tool)| (tool.name.as_str(), place)).collect(),
            broken: &tools.broken,
            prompts: prompts.iter().enumerate().map(|(place, prompt)| (prompt.name.as_str(), place)).collect(),
            resources,
            names: resources.iter().enumerate().filter_map(name).collect(),
            inputs: tools.list.iter().flat_map(|tool| &tool.inputs).map(|input| input.name.as_str()).collect(),
            schemes: resources.iter().filter_map(|(uri, _)| uri.split_once(':')).map(|(scheme, _)| scheme).collect(),
            is_whole,
        }
    }

    /// What `allowed-tools` names.
    pub(super) fn allowed(&self, compiler: &mut Compiler<'_>, document: &Document) -> Vec<Named> {
        let Some(node) = document.root.at("allowed-tools") else { return Vec::new() };
        let nodes: &[Node] = match &node.data {
            Data::Text(_) => std::slice::from_ref(node),
            Data::List(items) => items,
            Data::Null | Data::Wrong => return Vec::new(),
            _ => {
                let help = "Write the names with blanks between them: `allowed-tools: find-orders refund-order`.";
                compiler.error(document, node.range.clone(), format!("`allowed-tools` takes text, not {}", node.kind()), help);
                return Vec::new();
            }
        };
        let mut found = Vec::new();
        for node in nodes {
            let written = document.source.slice(node.range.clone());
            for word in words(node.text().unwrap_or_default()) {
                let range = match written.find(word) {
                    Some(at) => node.range.start + at..node.range.start + at + word.len(),
                    None => node.range.clone(),
                };
                let own = self.own(word).unwrap_or(word);
                // Tools of clients have capital letters, and those of other servers a prefix:
                // `Bash(git:*)`, `Read`, `mcp__other__find`.
                let is_foreign = own.starts_with(|c: char| c.is_ascii_uppercase()) || own.starts_with(PREFIX) || !is_name(own);
                match self.tools.get(own) {
                    Some(place) => found.push(Named { part: NamedPart::Tool(*place), source: Arc::clone(&document.source), range }),
                    None if is_foreign || self.broken.contains(own) => {}
                    None => self.missing(
                        compiler,
                        &document.source,
                        range,
                        Meaning::Tool,
                        own,
                        "Write a client's own tool with a capital letter or a prefix.",
                    ),
                }
            }
        }
        found
    }

    /// What a text of a skill names. `files` are the names of its files, of which the text is one.
    pub(super) fn named(&self, compiler: &mut Compiler<'_>, source: Source, name: &str, files: &BTreeSet<&str>, skill: &str) -> Vec<Named> {
        let text = Text { source: Arc::new(source), name, files, skill };
        let places = places(&text.source.text);
        let meanings = meanings(&text.source.text, &places);
        let mut found = Vec::new();
        for (place, meaning) in places.iter().zip(meanings) {
            let word = text.source.slice(place.range.clone());
            let part = if is_uri(word) {
                self.uri(compiler, &text, place, meaning)
            } else if place.is_link {
                text.link(compiler, place);
                None
            } else if word.contains('/') {
                text.path(compiler, place);
                None
            } else {
                self.word(compiler, &text, place, meaning)
            };
            found.extend(part.map(|part| Named { part, source: Arc::clone(&text.source), range: place.range.clone() }));
        }
        found
    }

    /// The name of a tool of the app that a client's name for it means: `mcp__shop__find-orders`.
    fn own<'w>(&self, word: &'w str) -> Option<&'w str> {
        let (server, tool) = word.strip_prefix(PREFIX)?.split_once("__")?;
        (server == self.app || self.tools.contains_key(tool)).then_some(tool)
    }

    fn word(&self, compiler: &mut Compiler<'_>, text: &Text<'_>, place: &Place, meaning: Option<Meaning>) -> Option<NamedPart> {
        let word = text.source.slice(place.range.clone());
        let own = self.own(word);
        let (word, meaning) = (own.unwrap_or(word), own.map_or(meaning, |_| Some(Meaning::Tool)));
        let tool = self.tools.get(word).map(|place| NamedPart::Tool(*place));
        let prompt = self.prompts.get(word).map(|place| NamedPart::Prompt(*place));
        let resource = self.names.get(word).map(|place| NamedPart::Resource(*place));
        let meant = match meaning {
            Some(Meaning::Prompt) => prompt,
            Some(Meaning::Resource) => resource,
            Some(Meaning::Tool) => tool,
            _ => tool.or(prompt),
        };
        if meant.is_some() || !is_name(word) || word.starts_with(PREFIX) || self.broken.contains(word) {
            return meant;
        }
        let missing = match meaning {
            Some(Meaning::Tool | Meaning::Prompt | Meaning::Resource) => meaning,
            _ if self.inputs.contains(word) || resource.is_some() || text.skill == word => None,
            Some(Meaning::Used) if self.is_spelt_alike(word) => Some(Meaning::Tool),
            _ => self.is_almost(word).then_some(Meaning::Tool),
        };
        if let Some(missing) = missing {
            self.missing(compiler, &text.source, place.range.clone(), missing, word, OTHERWISE);
        }
        None
    }

    /// Whether a word has the mark between its parts that the names of tools have.
    fn is_spelt_alike(&self, word: &str) -> bool {
        ['-', '_'].into_iter().any(|mark| word.contains(mark) && self.tools.keys().any(|tool| tool.contains(mark)))
    }

    /// Whether a word is the name of a tool but for a letter or two.
    fn is_almost(&self, word: &str) -> bool {
        let is_near = |tool: &&str| tool.len().abs_diff(word.len()) <= MOST_DIFFERENT && strsim::osa_distance(word, tool) <= MOST_DIFFERENT;
        word.len() >= SHORTEST && self.is_spelt_alike(word) && self.tools.keys().any(is_near)
    }

    fn uri(&self, compiler: &mut Compiler<'_>, text: &Text<'_>, place: &Place, meaning: Option<Meaning>) -> Option<NamedPart> {
        let word = text.source.slice(place.range.clone());
        let uri = filled(word.split('#').next().unwrap_or(word));
        let exact = self.resources.iter().position(|(known, _)| *known == uri || *known == word);
        let found = exact.or_else(|| self.resources.iter().position(|(_, resource)| fits(&resource.uri, &uri)));
        let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
        let is_resource = matches!(meaning, Some(Meaning::Resource | Meaning::Read)) && !FOREIGN.contains(&scheme);
        let is_own = scheme == "skill" || (self.schemes.contains(scheme) && !FOREIGN.contains(&scheme));
        match found {
            Some(found) if !uri.starts_with(SKILL_SCHEME) || self.has_file(found, &uri) => Some(NamedPart::Resource(found)),
            None if !is_own && !is_resource => None,
            None if !self.is_whole => None,
            _ if self.is_folder(&uri) => None,
            _ => {
                self.missing(compiler, &text.source, place.range.clone(), Meaning::Resource, word, OTHERWISE);
                None
            }
        }
    }

    /// Whether a resource has a file at a URI. One that is not made of files has whatever fits.
    fn has_file(&self, place: usize, uri: &str) -> bool {
        let Some((pattern, resource)) = self.resources.get(place) else { return false };
        let Content::Files { files, .. } = &resource.content else { return true };
        let Some(path) = pattern.split_once('{').and_then(|(before, _)| uri.strip_prefix(before)) else { return true };
        percent_decoded_strictly(path).is_some_and(|path| files.iter().any(|file| file.name == path))
    }

    /// Whether it is the URI of a skill's folder, or one in it.
    fn is_folder(&self, uri: &str) -> bool {
        let folder = format!("{}/", uri.trim_end_matches('/'));
        folder.starts_with(SKILL_SCHEME)
            && self.resources.iter().any(|(known, resource)| {
                let Content::Files { files, .. } = &resource.content else { return known.starts_with(&folder) };
                let before = known.split('{').next().unwrap_or_default();
                folder
                    .strip_prefix(before)
                    .and_then(percent_decoded_strictly)
                    .is_some_and(|below| files.iter().any(|file| file.name.starts_with(&below)))
            })
    }

    /// Notes that something does not exist. `otherwise` says what to do where the word means
    /// something else.
    fn missing(&self, compiler: &mut Compiler<'_>, source: &Source, range: Range<usize>, meaning: Meaning, word: &str, otherwise: &str) {
        let is_tool = matches!(meaning, Meaning::Tool | Meaning::Used);
        if (!is_tool && !self.is_whole) || compiler.findings.is_full(Severity::Error) {
            return;
        }
        let (noun, known, all): (_, Vec<&str>, _) = match meaning {
            Meaning::Tool | Meaning::Used => ("tool", self.tools.keys().copied().collect(), "The tools are"),
            Meaning::Prompt => ("prompt", self.prompts.keys().copied().collect(), "The prompts are"),
            Meaning::Resource | Meaning::Read => {
                let names = self.names.keys().map(String::as_str);
                let uris = self.resources.iter().map(|(uri, _)| uri.as_str());
                ("resource", if is_uri(word) { uris.collect() } else { names.collect() }, "The resources are")
            }
        };
        let help = match meant(word, &known, all) {
            help if help.is_empty() => format!("The app has no {noun}s. {otherwise}"),
            help if help.starts_with("Did") => help,
            help => format!("{help} {otherwise}"),
        };
        compiler.findings.error(source, range, format!("the {noun} `{word}` does not exist"), help);
    }
}

impl Text<'_> {
    /// The target of a link that is no URI: a file of the skill.
    fn link(&self, compiler: &mut Compiler<'_>, place: &Place) {
        let word = self.source.slice(place.range.clone());
        let path = word.split(['#', '?']).next().unwrap_or_default();
        let scheme = path.split_once(':').map_or("", |(scheme, _)| scheme);
        let has_scheme = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        if path.is_empty() || has_scheme || path.contains(['{', '}', '*', '<']) {
            return;
        }
        let decoded = percent_decoded_strictly(path).unwrap_or_else(|| path.to_owned());
        self.exists(compiler, place, &decoded);
    }

    /// A path in code, where it begins with a folder of the skill.
    fn path(&self, compiler: &mut Compiler<'_>, place: &Place) {
        let word = self.source.slice(place.range.clone());
        let path = word.strip_prefix("./").unwrap_or(word);
        let first = path.split('/').next().unwrap_or_default();
        let is_folder =
            FOLDERS.contains(&first) || self.files.iter().any(|file| file.split_once('/').is_some_and(|(folder, _)| folder == first));
        if is_folder && !path.contains(|c: char| c.is_whitespace() || "*{}<>$|()".contains(c)) {
            self.exists(compiler, place, path);
        }
    }

    /// Notes that a file is not there. Paths begin at the skill's folder, and may begin at the
    /// text's.
    fn exists(&self, compiler: &mut Compiler<'_>, place: &Place, path: &str) {
        let own = self.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let paths: Vec<String> = ["", own].into_iter().filter_map(|base| resolved(base, path)).collect();
        let is_there = |path: &String| {
            let below = format!("{path}/");
            path.is_empty() || self.files.contains(path.as_str()) || self.files.iter().any(|file| file.starts_with(&below))
        };
        if paths.iter().any(is_there) {
            return;
        }
        let range = place.range.clone();
        if paths.is_empty() {
            let help = "Clients read files of the skill only: put the file into the skill's folder, or link to the URI of a resource.";
            compiler.findings.error(&self.source, range, format!("`{path}` leads out of the skill `{}`", self.skill), help);
        } else {
            let files: Vec<&str> = self.files.iter().copied().filter(|file| *file != MANIFEST).collect();
            let help = match meant(path, &files, "Its other files are") {
                help if help.is_empty() => "Add the file: `SKILL.md` is the only one of the skill.".to_owned(),
                help => help,
            };
            compiler.findings.error(&self.source, range, format!("the skill `{}` has no file `{path}`", self.skill), help);
        }
    }
}

/// A path below the skill's folder; `None` where it leads out.
fn resolved(base: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut segments: Vec<&str> = base.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            segment => segments.push(segment),
        }
    }
    Some(segments.join("/"))
}

fn is_uri(word: &str) -> bool {
    UrlParts::of(word).is_some_and(|url| url.has_scheme() && !url.after_scheme.is_empty())
}

/// A URI with something in the place of each placeholder: `docs://orders/{id}`,
/// `docs://orders/<id>`.
fn filled(uri: &str) -> String {
    let mut text = String::new();
    let mut rest = uri;
    while let Some(open) = rest.find(['{', '<']) {
        let close = rest[open..].find(['}', '>']).map_or(rest.len(), |at| open + at + 1);
        text.push_str(&rest[..open]);
        text.push('x');
        rest = &rest[close..];
    }
    text.push_str(rest);
    text
}

/// The words of `allowed-tools`: blanks and commas are between them, unless they are in brackets.
fn words(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let is_between = move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c.is_whitespace() || c == ',')
    };
    text.split(is_between).filter(|word| !word.is_empty()).collect()
}

/// What the words around each place say that it is.
fn meanings(text: &str, places: &[Place]) -> Vec<Option<Meaning>> {
    let between = |left: &Place, right: &Place| text.get(left.outer.end..right.outer.start).unwrap_or("?").trim_matches(is_mark);
    let joins = |text: &str| matches!(text, "," | "and" | "or" | ", and" | ", or" | "/" | "&" | "then" | ", then" | "and then");
    // Whether it follows from what stands before or from what stands after.
    let mut found: Vec<Option<(Meaning, bool)>> = Vec::with_capacity(places.len());
    for (index, place) in places.iter().enumerate() {
        let previous = index.checked_sub(1).and_then(|index| places.get(index));
        let start = previous.map_or(0, |previous| previous.outer.end);
        let before = text.get(start..place.outer.start).unwrap_or_default();
        let end = places.get(index + 1).map_or(text.len(), |next| next.outer.start);
        let after = text.get(place.outer.end..end).unwrap_or_default();
        let own = last_word(before).and_then(|word| meaning_before(&word)).map(|meaning| (meaning, true));
        let own = own.or_else(|| place.heading.and_then(meaning_of).map(|meaning| (meaning, true)));
        let own = own.or_else(|| first_word(after).and_then(|word| meaning_of(&word)).map(|meaning| (meaning, false)));
        let inherited = previous.filter(|previous| joins(between(previous, place))).and(found.last().copied().flatten());
        found.push(own.or(inherited.filter(|(_, is_before)| *is_before)));
    }
    for index in (1..places.len()).rev() {
        if let (Some(left), Some(right)) = (places.get(index - 1), places.get(index))
            && found[index - 1].is_none()
            && matches!(found[index], Some((_, false)))
            && joins(between(left, right))
        {
            found[index - 1] = found[index];
        }
    }
    found.into_iter().map(|found| found.map(|(meaning, _)| meaning)).collect()
}

/// Marks that may stand between a word and a place.
fn is_mark(c: char) -> bool {
    c.is_whitespace() || "*_\"'()[]“”".contains(c)
}

/// The word before a place, in small letters, where it is in the same paragraph.
fn last_word(before: &str) -> Option<String> {
    let end = before.trim_end_matches(|c: char| is_mark(c) || c == ':');
    if has_empty_line(&before[end.len()..]) {
        return None;
    }
    let start = end
        .rfind(|c: char| !c.is_alphabetic() && c != '\'' && c != '’')
        .map_or(0, |at| at + end[at..].chars().next().map_or(1, char::len_utf8));
    Some(end[start..].to_lowercase())
}

/// The word after a place.
fn first_word(after: &str) -> Option<String> {
    let start = after.trim_start_matches(is_mark);
    if has_empty_line(&after[..after.len() - start.len()]) {
        return None;
    }
    let end = start.find(|c: char| !c.is_alphabetic() && c != '\'' && c != '’').unwrap_or(start.len());
    Some(start[..end].to_lowercase())
}

fn has_empty_line(text: &str) -> bool {
    text.bytes().filter(|byte| *byte == b'\n').count() > 1
}

fn meaning_before(word: &str) -> Option<Meaning> {
    match word {
        "call" | "calls" | "calling" | "invoke" | "invokes" | "invoking" => Some(Meaning::Tool),
        "use" | "uses" | "using" | "run" | "runs" | "running" => Some(Meaning::Used),
        "read" | "reads" | "reading" => Some(Meaning::Read),
        word => meaning_of(word),
    }
}

fn meaning_of(word: &str) -> Option<Meaning> {
    match word {
        "tool" | "tools" => Some(Meaning::Tool),
        "prompt" | "prompts" => Some(Meaning::Prompt),
        "resource" | "resources" => Some(Meaning::Resource),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Option<Meaning>> {
        meanings(text, &places(text))
    }

    #[test]
    fn sentences_say_what_a_word_is() {
        let (tool, prompt) = (Some(Meaning::Tool), Some(Meaning::Prompt));
        assert_eq!(of("Call `a`, then `b`. The column `c` of the tool `d`."), [tool, tool, None, tool]);
        assert_eq!(of("The tools `a`, **`b`** and `c` need the `d` and `e` prompts"), [tool, tool, tool, prompt, prompt]);
        assert_eq!(of("the tool's `a`, toolbox `b`, a tool\n`c`\n\nA tool:\n\n`d`"), [None, None, tool, None]);
        assert_eq!(of("Using `a`, read `b`"), [Some(Meaning::Used), Some(Meaning::Read)]);
        assert_eq!(of("# Tools\n- `a` is like `b`\n"), [tool, None]);
    }

    #[test]
    fn words_of_allowed_tools_may_have_brackets() {
        assert_eq!(words("a, Bash(git log:*) Read\n b"), ["a", "Bash(git log:*)", "Read", "b"]);
        assert_eq!(words("Bash(x, y"), ["Bash(x, y"]);
    }

    #[test]
    fn paths_stay_in_the_skill() {
        assert_eq!(resolved("", "./a//b/../c.md").as_deref(), Some("a/c.md"));
        assert_eq!(resolved("a", "../b.md").as_deref(), Some("b.md"));
        assert_eq!((resolved("", "../b.md"), resolved("a", "/b.md")), (None, None));
    }

    #[test]
    fn placeholders_stand_for_something() {
        assert_eq!(filled("docs://a/{id}/<b>"), "docs://a/x/x");
        assert_eq!(filled("docs://a/{id"), "docs://a/x");
        assert!(is_uri("docs://x") && !is_uri("docs://") && !is_uri("a b://x") && !is_uri("://x"));
    }
}
