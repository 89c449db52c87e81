//! `app/skills/NAME/`: [Agent Skills](https://agentskills.io/specification), and how they are
//! served by the [extension for
//! skills](https://modelcontextprotocol.io/seps/2640-skills-extension).
//!
//! The files of a skill become resources, and its entry in `skills/list` has their digests: all of
//! it is written here, so nothing is left to compute when somebody asks. What its texts name has to
//! exist ([`references`]), and whoever may read it must be allowed to use that.

use std::collections::{BTreeMap, BTreeSet};

use millrace_core::{
    app::{
        Argument, Authorization, Content, File, MiddlewareAction, Prompt, PromptContent, RequiredScopes, Resource, Root, Skill,
        SkillFolder, Source as ValueSource, Template, TemplatePart, Tool, UriPattern,
    },
    hex,
    protocol::pattern_text,
};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::{
    app_settings::RootSettings,
    authorization::{self, FEATURE_SCOPES},
    compiler::Compiler,
    descriptor,
    field::Record,
    hidden_text,
    names::SKILL_SCHEME,
    resource::{embedded, mime},
    source::Source,
    tool_use::Tools,
    tree::{Item, MAX_EMBEDDED, MAX_YAML, is_config},
    yaml::Document,
};

mod front_matter;
mod markdown;
mod references;

use references::{MANIFEST, Named, NamedPart, Surroundings};

/// The most files of a skill that every client has to take.
const MAX_FILES: usize = 512;
/// The name of the variable of the template of its other files.
const PATH: &str = "path";

/// `app/skills/*/config.yaml`
pub(crate) static SKILL: Record = Record {
    name: "skill",
    noun: "a skill",
    doc: "Who may read a skill. This file is not served; all others of the folder are files of the skill.",
    fields: &[FEATURE_SCOPES],
};

/// A skill, and what its texts name.
pub(crate) struct ReadSkill {
    pub(crate) skill: Skill,
    named: Vec<Named>,
    /// Where its scopes stand, or would.
    config: String,
    /// Whether it is known who may read it: a `require_scope` that is wrong has been reported.
    is_certain: bool,
}

/// A skill whose files were read.
struct Draft {
    name: String,
    /// Its folder, below the app's.
    folder: String,
    /// Its files, each with its URI: `SKILL.md` and all others, sorted by name.
    files: Vec<DraftFile>,
    /// The text of its `SKILL.md`, and of its other files in Markdown, each with its name.
    texts: Vec<(String, Source)>,
    front_matter: Document,
    scopes: Option<RequiredScopes>,
    is_certain: bool,
}

struct DraftFile {
    /// Below the skill's folder: `references/FORMS.md`.
    name: String,
    uri: String,
    mime_type: String,
    bytes: Vec<u8>,
}

/// Reads the skills, and adds their files to the resources. Both are sorted by URI.
pub(crate) fn read_all(
    compiler: &mut Compiler<'_>,
    root: &RootSettings,
    tools: &Tools,
    prompts: &[Prompt],
    mut resources: Vec<(String, Resource)>,
) -> (Vec<Resource>, Vec<ReadSkill>) {
    // What could not be read is not missed here.
    let mut is_whole = !compiler.findings.has_errors();
    let mut drafts = Vec::new();
    let mut size = 0;
    for item in compiler.tree.list(&root.skills_folder).into_iter().filter(|item| !item.name.starts_with('.')) {
        if item.is_folder {
            let draft = draft(compiler, root, &item, &mut size);
            is_whole &= draft.is_some();
            drafts.extend(draft);
        } else if compiler.tree.has_folder(&item.path) {
            let message = format!("`{}` is a link to a folder, which is not followed, so it is not served as a skill", item.name);
            compiler.findings.warning(&Source::new(item.path, ""), 0..0, message, "Copy the folder into the app.");
        } else if item.name.ends_with(".md") && !item.name.eq_ignore_ascii_case("readme.md") {
            let help = format!("A skill is a folder: move it to `{}/{}/{MANIFEST}`.", root.skills_folder, crate::tree::stem(&item.name));
            let message = format!("`{}` is not in the folder of a skill, and is not served", item.name);
            compiler.findings.warning(&Source::new(item.path, ""), 0..0, message, help);
        }
    }
    for draft in &mut drafts {
        resources.extend(draft.resources());
    }
    resources.sort_by(|a, b| a.0.cmp(&b.0));
    let surroundings = Surroundings::new(&root.name, tools, prompts, &resources, is_whole);
    let mut read: Vec<ReadSkill> = drafts.into_iter().filter_map(|draft| draft.finish(compiler, &resources, &surroundings)).collect();
    // Folders are sorted by name, which is another order: `-` comes before the `/` that ends the
    // name in a URI.
    read.sort_by(|a, b| a.skill.uri.cmp(&b.skill.uri));
    (resources.into_iter().map(|(_, resource)| resource).collect(), read)
}

/// Reads the files of a skill. What is wrong is reported.
fn draft(compiler: &mut Compiler<'_>, root: &RootSettings, folder: &Item, size: &mut u64) -> Option<Draft> {
    let inside = folder.path.len() + 1;
    let below = |item: &Item| item.path.get(inside..).unwrap_or_default().to_owned();
    let found: Vec<(String, Item)> = compiler.tree.walk(&folder.path).into_iter().map(|item| (below(&item), item)).collect();
    let path = format!("{}/{MANIFEST}", folder.path);
    if !found.iter().any(|(name, _)| name == MANIFEST) {
        let alike = found.iter().find(|(name, _)| name.eq_ignore_ascii_case(MANIFEST));
        let help = match alike {
            Some((name, _)) => format!("Rename `{name}` to `{MANIFEST}`."),
            None => format!("Add it, beginning with `---`, `name: {}`, a `description` and `---`; or remove the folder.", folder.name),
        };
        compiler.findings.error(&Source::new(path, ""), 0..0, format!("the skill `{}` has no `{MANIFEST}`", folder.name), help);
        return None;
    }
    let manifest = compiler.text(&path, MAX_YAML)?;
    let front_matter = front_matter::read(compiler, &manifest, &folder.name);
    hidden_text::check_from(&manifest, front_matter::end(&manifest).unwrap_or(0), &mut compiler.findings);
    let configs: Vec<&str> = found.iter().filter(|(name, _)| is_config(name)).map(|(_, item)| item.path.as_str()).collect();
    let Required { scopes, is_certain } = required(compiler, root, folder, &configs);
    let mut files = Vec::new();
    let mut texts = Vec::new();
    for (name, item) in found.into_iter().filter(|(name, _)| !is_config(name)) {
        if files.len() == MAX_FILES {
            let help = "Clients need not take more. Keep the others in a database, and have a tool find them.";
            compiler.findings.error(&manifest, 0..0, format!("the skill `{}` has more than {MAX_FILES} files", folder.name), help);
            return None;
        }
        let bytes = match compiler.tree.read(&item.path, MAX_EMBEDDED) {
            Ok(bytes) => bytes,
            Err(why) => {
                let help = "A skill takes files of the app's folder. Links to folders are not followed.";
                compiler.findings.error(&Source::new(&item.path, ""), 0..0, format!("the file `{name}` {why}"), help);
                return None;
            }
        };
        *size = size.saturating_add(bytes.len() as u64);
        if *size > MAX_EMBEDDED {
            let help = "Everything of a skill is in the bundle. Keep large files in a database or a bucket, and use a tool.";
            let message = format!("the files of the skills are longer than {} MB together", MAX_EMBEDDED >> 20);
            compiler.findings.error(&manifest, 0..0, message, help);
            return None;
        }
        if name.ends_with(&format!("/{MANIFEST}")) {
            let help = format!("To serve it as a skill, move its folder into `{}`.", root.skills_folder);
            let message = format!("this is a file of the skill `{}`, not a skill of its own", folder.name);
            compiler.findings.warning(&Source::new(&item.path, ""), 0..0, message, help);
        }
        if name != MANIFEST
            && let Ok(text) = std::str::from_utf8(&bytes)
        {
            hidden_text::check_file(&item.path, text, &mut compiler.findings);
            if name.ends_with(".md") {
                texts.push((name.clone(), Source::new(&item.path, text)));
            }
        }
        let mime_type = mime::guess(&name, &bytes).to_owned();
        files.push(DraftFile { uri: format!("{SKILL_SCHEME}{}/{}", folder.name, encoded(&name)), name, mime_type, bytes });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let front_matter = front_matter?;
    texts.push((MANIFEST.to_owned(), manifest));
    Some(Draft { name: folder.name.clone(), folder: folder.path.clone(), files, texts, front_matter, scopes, is_certain })
}

/// What a skill requires of its callers.
struct Required {
    scopes: Option<RequiredScopes>,
    /// Whether all of that could be read.
    is_certain: bool,
}

/// Reads the settings of a skill.
fn required(compiler: &mut Compiler<'_>, root: &RootSettings, folder: &Item, configs: &[&str]) -> Required {
    let Some(config) = configs.first() else { return Required { scopes: None, is_certain: true } };
    if let Some(other) = configs.get(1) {
        let message = format!("the settings of the skill `{}` are in two files", folder.name);
        compiler.findings.error(&Source::new(*other, ""), 0..0, message, format!("Keep one of them; the other one is `{config}`."));
    }
    let Some(document) = compiler.document(config, &SKILL) else { return Required { scopes: None, is_certain: false } };
    let scopes = authorization::of_feature(compiler, root, &document, &document.root);
    let is_certain = scopes.is_some() || document.root.entry("require_scope").is_none();
    Required { scopes, is_certain }
}

impl Draft {
    fn uri(&self) -> String {
        format!("{SKILL_SCHEME}{}/{MANIFEST}", self.name)
    }

    fn files_uri(&self) -> String {
        format!("{SKILL_SCHEME}{}/{{+{PATH}}}", self.name)
    }

    /// The resource of its `SKILL.md`, and the template of its other files. Takes their bytes away,
    /// once the entry knows them.
    fn resources(&mut self) -> Vec<(String, Resource)> {
        let description = self.front_matter.root.text_at("description");
        let uri = self.uri();
        let mut resources = Vec::new();
        let mut files = Vec::new();
        for file in &self.files {
            let content = embedded(file.bytes.clone(), &file.mime_type);
            if file.name == MANIFEST {
                let pattern = UriPattern { literals: vec![uri.clone()], variables: Vec::new(), reserved: None };
                let entry = descriptor::resource("uri", &uri, &self.name, None, description, Some(&file.mime_type));
                resources.push((uri.clone(), self.resource(pattern, entry, Vec::new(), content.into())));
            } else {
                files.push(File { name: file.name.clone(), mime_type: file.mime_type.clone(), content });
            }
        }
        if !files.is_empty() {
            let literals = vec![format!("{SKILL_SCHEME}{}/", self.name), String::new()];
            let pattern = UriPattern { literals, variables: vec![PATH.to_owned()], reserved: Some(0) };
            let completion = files.iter().map(|file| file.name.clone()).collect();
            let arguments = vec![Argument { name: PATH.to_owned(), required: true, completion, complete: None }];
            let (uri, name) = (self.files_uri(), format!("{}-files", self.name));
            let description = format!("A file of the skill `{}`.", self.name);
            let entry = descriptor::resource("uriTemplate", &uri, &name, None, Some(&description), None);
            let source = ValueSource { root: Root::Arguments, path: vec![PATH.to_owned()] };
            let content = Content::Files { name: Template(vec![TemplatePart::Source(source)]), files };
            resources.push((uri, self.resource(pattern, entry, arguments, content)));
        }
        resources
    }

    fn resource(&self, uri: UriPattern, descriptor: String, arguments: Vec<Argument>, content: Content) -> Resource {
        let mime_type = mime::guess(MANIFEST, b"").to_owned();
        Resource { uri, descriptor, mime_type, arguments, content, scopes: self.scopes.clone() }
    }

    /// The entry, the folders, and what the texts name.
    fn finish(self, compiler: &mut Compiler<'_>, resources: &[(String, Resource)], surroundings: &Surroundings<'_>) -> Option<ReadSkill> {
        let place = |uri: &str| {
            let place = resources.binary_search_by(|(known, _)| known.as_str().cmp(uri)).ok()?;
            u32::try_from(place).ok()
        };
        let uri = self.uri();
        let (resource, files) = (place(&uri)?, place(&self.files_uri()));
        let entries: Vec<serde_json::Value> = self
            .files
            .iter()
            .map(|file| {
                let digest = hex::encode(&Sha256::digest(&file.bytes));
                json!({ "uri": file.uri, "digest": format!("sha256:{digest}"), "size": file.bytes.len() })
            })
            .collect();
        let descriptor = json!({ "uri": uri, "frontmatter": self.front_matter.root.json(), "resources": entries }).to_string();
        let manifest = resources.get(resource as usize).map_or("", |(_, resource)| resource.descriptor.as_str());
        let folders = self.folders(manifest);
        let names: BTreeSet<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        let mut named = surroundings.allowed(compiler, &self.front_matter);
        for (name, source) in self.texts {
            // The description is part of what a model reads, too.
            named.extend(surroundings.named(compiler, source, &name, &names, &self.name));
        }
        let config = format!("{}/config.yaml", self.folder);
        Some(ReadSkill { skill: Skill { uri, descriptor, resource, files, folders }, named, config, is_certain: self.is_certain })
    }

    fn folders(&self, manifest: &str) -> Vec<SkillFolder> {
        let uri = |path: &str| match path {
            "" => format!("{SKILL_SCHEME}{}", self.name),
            path => format!("{SKILL_SCHEME}{}/{}", self.name, encoded(path)),
        };
        let mut folders: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for file in &self.files {
            let entry = match file.name.as_str() {
                MANIFEST => manifest.to_owned(),
                name => descriptor::resource("uri", &file.uri, name.rsplit('/').next().unwrap_or(name), None, None, Some(&file.mime_type)),
            };
            let (mut path, mut entry) = (file.name.as_str(), entry);
            loop {
                let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
                let children = folders.entry(uri(parent)).or_default();
                if children.insert(name.to_owned(), entry).is_some() || parent.is_empty() {
                    break;
                }
                path = parent;
                let name = path.rsplit('/').next().unwrap_or(path);
                entry = descriptor::resource("uri", &uri(path), name, None, None, Some(&"inode/directory".to_owned()));
            }
        }
        let listed = |children: BTreeMap<String, String>| format!("[{}]", children.into_values().collect::<Vec<_>>().join(","));
        folders.into_iter().map(|(uri, children)| SkillFolder { uri, children: listed(children) }).collect()
    }
}

/// The path of a file as a part of a URI ([RFC
/// 3986](https://www.rfc-editor.org/rfc/rfc3986#section-3.3)).
fn encoded(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// Reports what a skill names and not each of its readers may use, once it is known which scopes
/// imply others.
pub(crate) fn check_scopes(
    compiler: &mut Compiler<'_>,
    authorization: &Authorization,
    tools: &[Tool],
    prompts: &[Prompt],
    resources: &[Resource],
    skills: &[ReadSkill],
) {
    for read in skills.iter().filter(|read| read.is_certain) {
        let scopes = resources.get(read.skill.resource as usize).and_then(|resource| resource.scopes.as_ref());
        let mut told = BTreeSet::new();
        for named in &read.named {
            let (what, required) = match named.part {
                NamedPart::Tool(place) => match tools.get(place) {
                    Some(tool) => (format!("the tool `{}`", tool.name), of_tool(tool)),
                    None => continue,
                },
                NamedPart::Prompt(place) => match prompts.get(place) {
                    Some(prompt) => (format!("the prompt `{}`", prompt.name), of_prompt(prompt, tools)),
                    None => continue,
                },
                NamedPart::Resource(place) => match resources.get(place) {
                    Some(resource) => (format!("the resource `{}`", pattern_text(&resource.uri)), of_resource(resource, tools)),
                    None => continue,
                },
            };
            let mut missing = RequiredScopes::default();
            for lacked in required.iter().filter_map(|required| lacked(authorization, scopes, required)) {
                missing.all.extend(lacked.all.into_iter().filter(|scope| !missing.all.contains(scope)).collect::<Vec<_>>());
                missing.any = if missing.any.is_empty() { lacked.any } else { missing.any };
            }
            if missing.named().next().is_some() && told.insert(what.clone()) {
                let message = format!("the skill names {what}, which requires {missing}; its reader may lack that");
                let first: Vec<&str> = missing.all.iter().chain(missing.any.first()).map(String::as_str).collect();
                let help = format!(
                    "Let only those read it who have that: `require_scope: [\"{}\"]` in `{}`; or do not name it.",
                    first.join("\", \""),
                    read.config
                );
                compiler.findings.error(&named.source, named.range.clone(), message, help);
            }
        }
    }
}

/// What of `required` somebody may lack who has the scopes of a skill.
fn lacked(authorization: &Authorization, skill: Option<&RequiredScopes>, required: &RequiredScopes) -> Option<RequiredScopes> {
    let all: Vec<&str> = skill.map(|scopes| scopes.all.iter().map(String::as_str).collect()).unwrap_or_default();
    let any = skill.map(|scopes| scopes.any.as_slice()).unwrap_or_default();
    if any.is_empty() {
        return required.missing(authorization, &all);
    }
    any.iter().find_map(|scope| required.missing(authorization, &[all.as_slice(), &[scope.as_str()]].concat()))
}

fn of_tool(tool: &Tool) -> Vec<RequiredScopes> {
    let policy = tool.auth.iter().flat_map(|auth| auth.required_scopes()).cloned().collect();
    let rules = tool.middleware.iter().filter_map(|entry| match &entry.action {
        MiddlewareAction::RequireScope(scopes) => Some(scopes.clone()),
        _ => None,
    });
    std::iter::once(RequiredScopes::all(policy)).chain(rules).collect()
}

fn of_prompt(prompt: &Prompt, tools: &[Tool]) -> Vec<RequiredScopes> {
    let used = prompt.messages.iter().filter_map(|message| match &message.content {
        PromptContent::Tool(used) => tools.get(used.tool as usize),
        _ => None,
    });
    prompt.scopes.iter().cloned().chain(used.flat_map(of_tool)).collect()
}

fn of_resource(resource: &Resource, tools: &[Tool]) -> Vec<RequiredScopes> {
    let used = if let Content::Tool { used, .. } = &resource.content { tools.get(used.tool as usize) } else { None };
    resource.scopes.iter().cloned().chain(used.into_iter().flat_map(of_tool)).collect()
}
