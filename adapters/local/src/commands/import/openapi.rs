//! A specification of OpenAPI as an adapter of connector `http` and a tool for each operation.
//!
//! | OpenAPI | app |
//! |---|---|
//! | a server, a scheme of security | the adapter and its options |
//! | an operation | a tool with a `request` |
//! | a parameter, a property of a body | an input |
//! | pages | `page` |
//! | an answer that is a list with what says how it goes on | `result` |

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use millrace_bundler::{Severity, tokens};

use super::imported::{MOST_ROUNDS, folder_for};
use crate::{
    app::{self, count},
    cli::ImportOpenapi,
    commands::{
        first_tests::{self, Known},
        new::{folder::AppFolder, from::yaml},
    },
    output::{CommandError, CommandResult, note, print, typed},
};

mod api;
mod choice;
mod document;
mod input;
mod merge;
mod operation;
mod prose;
mod request;
mod response;
mod sample;
mod schema;
mod tool;
mod used;

pub(in crate::commands) use used::differences;

use api::{Api, Wish};
use choice::Choice;
use document::Document;
use merge::Fate;
use tool::Tool;

/// The file that makes a folder an app.
const ROOT: &str = "millrace.yaml";

/// The most tools of a new app whose operations nobody chose: a model reads all of them in each
/// list.
const MOST_OF_NEW: usize = 20;

/// What an operation costs a model: the bytes of its tool in `tools/list`, by its folder.
type Costs = BTreeMap<String, u64>;

/// What cannot be a tool, and why.
type Omitted = (String, String);

pub(super) fn run(arguments: &ImportOpenapi) -> CommandResult {
    let (document, api) = opened(arguments)?;
    let path = arguments.out.clone().unwrap_or_else(|| {
        let here = Path::new(".").join(ROOT).is_file();
        if here { PathBuf::from(".") } else { folder_for(Path::new(arguments.spec.trim_end_matches('/')), "openapi") }
    });
    // Nothing is written before this is known to be possible.
    let is_new = !path.join(ROOT).is_file();
    let folder = if is_new { AppFolder::new(&path)? } else { AppFolder { path: &path, name: "" } };
    let (tools, mut omitted) = tools(&document, &api)?;
    let known = merge::imported(&path.join("app/tools"));
    let of_this: Vec<usize> =
        (0..tools.len()).filter(|place| tools.get(*place).is_some_and(|tool| known.contains_key(&mark(&api, tool)))).collect();
    let (places, others) = match choice::of(arguments, &tools, &omitted)? {
        Choice::Some(places) => (places, None),
        Choice::Open if !of_this.is_empty() => {
            let others = tools.len() - of_this.len();
            (of_this, Some(others))
        }
        Choice::Open => {
            let (costs, rejected) = staged(&api, tools.iter().collect())?;
            omitted.extend(rejected);
            list(&tools.iter().collect::<Vec<_>>(), &costs)?;
            tell_omitted(&omitted)?;
            (choice::ask(&tools)?, None)
        }
    };
    let chosen = built(&api, &tools, &places, &mut omitted)?;
    if is_new {
        write_root(&folder, &api)?;
        if !api.variables.is_empty() {
            folder.write(".gitignore", ".env\n")?;
        }
    }
    write(&folder, &api, &chosen, &known)?;
    write_tests(&folder, &api, &chosen)?;
    tell_gone(&api, &tools, &known)?;
    if let Some(others) = others.filter(|others| *others > 0) {
        print(format_args!(
            "{} without a tool; add some with `--only`, `--tag`, `--read-only` or `--all`",
            count(others, "other operation")
        ))?;
    }
    report(&document, &api, &omitted)?;
    let place = typed(folder.path);
    print(format_args!("\n  millrace check {place}\n  millrace dev {place}"))
}

/// What `millrace new` has to know of an API whose tools it has written.
pub(in crate::commands) struct NewApi {
    /// The adapter's name.
    pub(in crate::commands) adapter: String,
    /// A call of one of the tools: `shop-list-orders status=open`.
    pub(in crate::commands) call: String,
    /// The secrets and variables that the adapter reads.
    pub(in crate::commands) variables: Vec<String>,
}

/// Writes the own files of a new app: the adapter, and the tools of the operations that were
/// chosen, or of the first.
///
/// # Errors
/// The specification cannot be read, or a file cannot be written. Nothing is written before the
/// build accepts the tools.
pub(in crate::commands) fn write_new(folder: &AppFolder<'_>, arguments: &ImportOpenapi) -> CommandResult<NewApi> {
    let (document, api) = opened(arguments)?;
    let (tools, mut omitted) = tools(&document, &api)?;
    let mut places = match choice::of(arguments, &tools, &omitted)? {
        Choice::Some(places) => places,
        Choice::Open => (0..tools.len()).filter(|place| tools.get(*place).is_some_and(|tool| !tool.operation.is_deprecated())).collect(),
    };
    let is_choice = !arguments.only.is_empty() || !arguments.tags.is_empty();
    let all = places.len();
    if !is_choice {
        places.truncate(MOST_OF_NEW);
    }
    let chosen = built(&api, &tools, &places, &mut omitted)?;
    write_root(folder, &api)?;
    write(folder, &api, &chosen, &BTreeMap::new())?;
    write_tests(folder, &api, &chosen)?;
    if all > places.len() {
        print(format_args!(
            "{} without a tool: the first {MOST_OF_NEW} were taken; choose with `--only` or `--tag`, or add some with `millrace import openapi`",
            count(all - places.len(), "other operation")
        ))?;
    }
    report(&document, &api, &omitted)?;
    // The one that needs the least to be called.
    let example = chosen.iter().min_by_key(|tool| (!tool.operation.only_reads(), tool.call.len()));
    let call = example.map(|tool| format!("{}-{}{}", api.name, tool.folder, tool.call)).unwrap_or_default();
    Ok(NewApi { adapter: api.name, call, variables: api.variables.into_iter().map(|(name, _)| name).collect() })
}

/// The specification and its API, as the command line wants it.
fn opened(arguments: &ImportOpenapi) -> CommandResult<(Document, Api)> {
    let document = Document::open(&arguments.spec)?;
    let wish = Wish { server: arguments.server.as_deref(), variables: &arguments.variables, adapter: arguments.adapter.as_deref() };
    let api = Api::of(&document, &wish)?;
    Ok((document, api))
}

/// The chosen tools that the build accepts, which are listed; the others join what was left out.
fn built<'t, 'd>(api: &Api, tools: &'t [Tool<'d>], places: &[usize], omitted: &mut Vec<Omitted>) -> CommandResult<Vec<&'t Tool<'d>>> {
    let chosen: Vec<&Tool<'_>> = places.iter().filter_map(|place| tools.get(*place)).collect();
    let (costs, rejected) = staged(api, chosen.clone())?;
    omitted.extend(rejected);
    let chosen: Vec<&Tool<'_>> = chosen.into_iter().filter(|tool| costs.contains_key(&tool.folder)).collect();
    if chosen.is_empty() {
        tell_omitted(omitted)?;
        return Err(CommandError::Wrong("no operation was chosen that can be a tool; nothing was written".to_owned()));
    }
    list(&chosen, &costs)?;
    Ok(chosen)
}

/// The tools of all operations, and the operations that cannot be tools, each with the reason.
///
/// # Errors
/// The specification has no operations.
fn tools<'a>(document: &'a Document, api: &Api) -> CommandResult<(Vec<Tool<'a>>, Vec<Omitted>)> {
    let (operations, mut omitted) = operation::all(document);
    let folders = tool::folders(&operations, &api.name);
    let mut tools = Vec::new();
    for (operation, folder) in operations.into_iter().zip(folders) {
        document.take_problems();
        let made = tool::of(operation, api, folder);
        let problems = document.take_problems();
        match made {
            Ok(mut tool) => {
                // Whoever reads the file learns what the input of any kind stands for.
                if let Some(problems) = problems {
                    tool.text = format!("# Not read: {}.\n{}", tool::one_line(&problems), tool.text);
                }
                tools.push(tool);
            }
            Err(why) => {
                let id = operation.node.text("operationId").map(|id| format!(" `{id}`")).unwrap_or_default();
                omitted.push((format!("{}{id} ({})", operation.shown(), operation.pointer()), why));
            }
        }
    }
    if tools.is_empty() && omitted.is_empty() {
        return Err(CommandError::Wrong(format!("`{}` has no operations below `paths`; nothing was written", document.shown)));
    }
    Ok((tools, omitted))
}

/// What an import writes at the head of a tool's file.
fn mark(api: &Api, tool: &Tool<'_>) -> String {
    tool::one_line(&format!("{} {}", api.name, tool.operation.shown()))
}

/// Builds the tools in a folder of their own: what each costs, and those that the build rejects.
fn staged(api: &Api, mut tools: Vec<&Tool<'_>>) -> CommandResult<(Costs, Vec<Omitted>)> {
    let wrong = |error: std::io::Error| CommandError::Wrong(format!("no folder can be made to build the tools in: {error}"));
    let stage = tempfile::tempdir().map_err(wrong)?;
    let folder = AppFolder { path: stage.path(), name: "import" };
    folder.write(ROOT, "name: import\nversion: 0.1.0\n")?;
    folder.write(&format!("app/adapters/{}.yaml", api.name), &api.file())?;
    for tool in &tools {
        folder.write(&format!("app/tools/{}/{}/config.yaml", api.name, tool.folder), &tool.text)?;
    }
    let mut rejected = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let report = app::compile(stage.path());
        let errors: Vec<_> = report.diagnostics.iter().filter(|found| found.severity == Severity::Error).collect();
        if let (Some(app), []) = (&report.app, errors.as_slice()) {
            let name = |tool: &Tool<'_>| format!("{}-{}", api.name, tool.folder);
            let bytes: BTreeMap<&str, u64> = app.tools.iter().map(|tool| (tool.name.as_str(), tool.descriptor.len() as u64)).collect();
            let costs =
                tools.iter().map(|tool| (tool.folder.clone(), bytes.get(name(tool).as_str()).copied().unwrap_or_default())).collect();
            return Ok((costs, rejected));
        }
        let place = |tool: &Tool<'_>| Path::new("app/tools").join(&api.name).join(&tool.folder);
        let before = tools.len();
        let mut kept = Vec::new();
        for tool in tools {
            let Some(error) = errors.iter().find(|error| error.file.starts_with(place(tool))) else {
                kept.push(tool);
                continue;
            };
            fs::remove_dir_all(stage.path().join(place(tool))).map_err(wrong)?;
            rejected.push((format!("{} ({})", tool.operation.shown(), tool.operation.pointer()), error.message.clone()));
        }
        tools = kept;
        if tools.len() == before {
            app::show(stage.path(), &report.diagnostics);
            return Err(CommandError::Told);
        }
    }
    Err(CommandError::Wrong("the build rejects the tools again and again; nothing was written".to_owned()))
}

/// The operations with their tools, and what each costs a model.
fn list(tools: &[&Tool<'_>], costs: &Costs) -> CommandResult {
    let widest = |part: fn(&Tool<'_>) -> usize, most: usize| tools.iter().map(|tool| part(tool)).max().unwrap_or(0).min(most);
    let (operations, folders) = (widest(|tool| tool.operation.shown().chars().count(), 60), widest(|tool| tool.folder.len(), 48));
    let mut lines: Vec<String> = Vec::new();
    let mut sum = 0;
    for tool in tools {
        let Some(bytes) = costs.get(&tool.folder) else { continue };
        sum += bytes;
        let tags: Vec<&str> = tool.operation.tags().collect();
        let deprecated = if tool.operation.is_deprecated() { ", deprecated" } else { "" };
        let (shown, folder, cost) = (tool.operation.shown(), &tool.folder, tokens(*bytes));
        lines.push(
            format!("  {shown:operations$}  {folder:folders$}  {cost:>5} tokens  {}{deprecated}", tags.join(", ")).trim_end().to_owned(),
        );
    }
    print(format_args!("{}\n{}, about {} tokens in the list of tools", lines.join("\n"), count(costs.len(), "tool"), tokens(sum)))
}

/// Writes the files that make a folder an app.
fn write_root(folder: &AppFolder<'_>, api: &Api) -> CommandResult {
    let (name, about) = (yaml::word(folder.name), yaml::quoted(&format!("Tools of the API `{}`.", api.name)));
    folder.write(ROOT, &format!("name: {name}\nversion: 0.1.0\ninstructions: {about}\n"))?;
    if api.variables.is_empty() {
        return Ok(());
    }
    let lines: String = api.variables.iter().map(|(name, what)| format!("# {what}\n{name}=\n")).collect();
    folder.write(".env.example", &format!("# Copy this to `.env`, which git ignores.\n{lines}"))
}

/// Writes the adapter and the tools. `known`: the files of earlier imports.
fn write(folder: &AppFolder<'_>, api: &Api, tools: &[&Tool<'_>], known: &BTreeMap<String, String>) -> CommandResult {
    let adapter = format!("app/adapters/{}.yaml", api.name);
    let mut fates = Fates::default();
    fates.put(folder, &adapter, &merge::marked(&format!("{} adapter", api.name), &api.file()))?;
    for tool in tools {
        let mark = mark(api, tool);
        // A file that its author moved stays where it is.
        let place = known.get(&mark).cloned().unwrap_or_else(|| format!("{}/{}/config.yaml", api.name, tool.folder));
        fates.put(folder, &format!("app/tools/{place}"), &merge::marked(&mark, &tool.text))?;
    }
    fates.tell()
}

/// What became of files.
#[derive(Default)]
struct Fates {
    written: usize,
    same: usize,
    updated: Vec<String>,
    kept: Vec<String>,
}

impl Fates {
    fn put(&mut self, folder: &AppFolder<'_>, file: &str, text: &str) -> CommandResult {
        let path = folder.path.join(file);
        match merge::fate(&path, text) {
            Fate::New => {
                folder.write(file, text)?;
                self.written += 1;
            }
            Fate::Same | Fate::Own => self.same += 1,
            Fate::Outdated(difference) => {
                fs::write(&path, text).map_err(|error| CommandError::Wrong(format!("`{}` cannot be written: {error}", path.display())))?;
                self.updated.push(format!("  {file}\n{difference}"));
            }
            Fate::Kept(difference) => self.kept.push(format!("  {file}\n{difference}")),
        }
        Ok(())
    }

    fn tell(&self) -> CommandResult {
        print(format_args!("wrote {}, {} as they were", count(self.written, "file"), self.same))?;
        if !self.updated.is_empty() {
            print(format_args!("\nthe API changed; written anew:\n{}", self.updated.join("\n")))?;
        }
        if !self.kept.is_empty() {
            print(format_args!("\nchanged by hand, and left as they are; an import would write:\n{}", self.kept.join("\n")))?;
        }
        Ok(())
    }
}

/// Writes a test for each of the tools that only reads: the API answers as its specification says.
fn write_tests(folder: &AppFolder<'_>, api: &Api, tools: &[&Tool<'_>]) -> CommandResult {
    let name = |tool: &Tool<'_>| format!("{}-{}", api.name, tool.folder);
    let answers = tools.iter().filter_map(|tool| Some((name(tool), sample::of(&tool.operation)?))).collect();
    let variables = api.variables.iter().map(|(name, _)| (name.clone(), value_for_tests(name))).collect();
    first_tests::write(folder.path, &Known { variables, answers, only_answered: true })
}

/// What a variable is in tests, whose requests go nowhere.
fn value_for_tests(name: &str) -> String {
    let is_url = ["URL", "HOST", "SERVER"].iter().any(|end| name.ends_with(end));
    if is_url { "https://api.example.com" } else { "test" }.to_owned()
}

/// Says which tools have operations that the API no longer has.
fn tell_gone(api: &Api, tools: &[Tool<'_>], known: &BTreeMap<String, String>) -> CommandResult {
    let there: BTreeSet<String> = tools.iter().map(|tool| mark(api, tool)).collect();
    let of_this = |what: &&String| what.strip_prefix(&api.name).is_some_and(|rest| rest.starts_with(' '));
    let gone: Vec<String> = known
        .iter()
        .filter(|(what, _)| of_this(what) && !there.contains(*what))
        .map(|(what, file)| format!("  app/tools/{file}: {what}"))
        .collect();
    if gone.is_empty() {
        Ok(())
    } else {
        print(format_args!("\nno longer in the specification, or no longer possible; remove them by hand:\n{}", gone.join("\n")))
    }
}

/// Says what cannot be a tool.
fn tell_omitted(omitted: &[Omitted]) -> CommandResult {
    if omitted.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = omitted.iter().map(|(what, why)| format!("  {what}: {why}")).collect();
    print(format_args!("\nnot carried over:\n{}", lines.join("\n")))
}

/// Says what did not carry over, and what has to be set.
fn report(document: &Document, api: &Api, omitted: &[Omitted]) -> CommandResult {
    for said in document.notes.iter().chain(&api.notes) {
        note(format_args!("note: {said}"));
    }
    tell_omitted(omitted)?;
    let names: Vec<String> = api.variables.iter().map(|(name, what)| format!("  {name}  {what}")).collect();
    if !names.is_empty() {
        print(format_args!("\nset these variables, on this machine in `.env`:\n{}", names.join("\n")))?;
    }
    Ok(())
}
