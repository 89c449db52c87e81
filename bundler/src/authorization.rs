//! How clients find out where to sign in, and which scopes there are: `server.resource`,
//! `server.authorization_servers`, `server.scopes`, `server.sign_in`, `require_scope`,
//! `tools.visible`.

use std::collections::{BTreeMap, BTreeSet};

use millrace_core::{
    app::{
        App, Auth, Authorization, Content, EnvPart, EnvTemplate, Execute, ImpliedScopes, KeySource, MiddlewareAction, Prompt,
        PromptContent, PromptMessage, ProtectedResource, RequiredScopes, Resource, ResourceUrl, SignIn, Tool, is_scope,
    },
    pipeline::{scopes_of_app, scopes_of_tool},
    protocol::{check_issuer, check_resource},
    url::UrlParts,
};
use serde_json::{Value, json};

use crate::{
    app_settings::RootSettings,
    compiler::Compiler,
    descriptor,
    field::{Field, Named, Shape},
    names::SKILL_SCHEME,
    required_scopes::{REQUIRE_SCOPE, WORDS, not_a_scope, required_scopes, words},
    scope::PathScope,
    yaml::{Document, Entry, Node},
};

/// Where the metadata is; no endpoint can be there.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
/// `server.resource`
pub(crate) const RESOURCE: Field = Field::new(
    "resource",
    Shape::Text,
    "The public URL of the endpoint, for which tokens are issued: `https://mcp.example.com/mcp`, or a variable. With it, clients find out \
     where to sign in. `host`: the URL has the name in the request's `Host`, which `hosts` must list.",
)
.filled();
/// `server.authorization_servers`
pub(crate) const AUTHORIZATION_SERVERS: Field = Field::new(
    "authorization_servers",
    Shape::List(&Shape::Text),
    "Where clients sign in: the issuers, exactly as their metadata spell them: `https://login.example.com`. Text may have variables. \
     Not given, the issuers of the app's `jwt` policies.",
)
.filled();
/// `server.scopes`
pub(crate) const SCOPES: Field = Field::new(
    "scopes",
    Shape::Map(&WORDS),
    "Scopes that imply others: `{ \"orders:write\": [\"orders:read\"] }`. Who has the first one has the others, too, and what those imply.",
)
.names(Named::Scope)
.keys(Named::Scope);
/// `server.sign_in`
pub(crate) const SIGN_IN: Field = Field::new(
    "sign_in",
    Shape::Word(&["required", "per_tool"]),
    "Where callers are asked to sign in. `required`: at every request, the handshake and the lists included. `per_tool`: where they ask for \
     something that is not open to everybody. Not given, `required` where nothing in the app is open, else `per_tool`.",
);
/// `tools.visible`
pub(crate) const VISIBLE: Field = Field::new(
    "visible",
    Shape::Word(&["all", "callable"]),
    "`all`: everybody sees the same lists. `callable`: lists leave out the tools, prompts and resources that their caller cannot call.",
)
.default("all");
/// `require_scope` of a prompt or a resource.
pub(crate) const FEATURE_SCOPES: Field = Field::new(
    "require_scope",
    REQUIRE_SCOPE,
    "The scopes that a caller must have; the root's `auth` finds out who asks. A tool behind it has an `auth` of its own.",
)
.names(Named::Scope);

/// Reads `require_scope` of a prompt or a resource.
pub(crate) fn of_feature(compiler: &mut Compiler<'_>, root: &RootSettings, document: &Document, node: &Node) -> Option<RequiredScopes> {
    let entry = node.entry("require_scope")?;
    let Some(auth) = root.auth.as_ref().map(|auth| &auth.value) else {
        // An `auth` that is wrong has been reported.
        if root.document.root.at("auth").is_none() {
            let help = "Add `auth` to the root file: it finds out who asks.";
            let message = "`require_scope` refuses everybody: the root file has no `auth`, so no caller is identified";
            compiler.error(document, entry.key_range.clone(), message, help);
        }
        return None;
    };
    if let Some(Err(problem)) = PathScope::of_auth(Some(auth)).named("auth.scopes") {
        let message = format!("`require_scope` refuses everybody: {}", problem.message);
        compiler.error(document, entry.key_range.clone(), message, problem.help);
        return None;
    }
    required_scopes(compiler, document, &entry.value)
}

/// Reads `server.resource`. `None` where there is none, and for `host`.
pub(crate) fn resource_url(compiler: &mut Compiler<'_>, document: &Document) -> Option<EnvTemplate> {
    let node = document.root.at("server")?.at("resource")?;
    if node.text()?.trim() == "host" {
        return None;
    }
    let help = "Write the URL of the endpoint as clients reach it, without a slash at its end: `https://mcp.example.com/mcp`.";
    Some(url(compiler, document, node, "`server.resource`", help, check_resource))
}

/// Reads what the root file says of sign-in, once all that requires scopes is known; and the `auth`
/// of prompts and resources, where one of them requires a scope.
pub(crate) fn read(
    compiler: &mut Compiler<'_>,
    root: &RootSettings,
    tools: &[Tool],
    prompts: &[Prompt],
    resources: &[Resource],
) -> (Authorization, Option<Auth>) {
    let nothing = Node::nothing();
    let server = root.document.root.at("server").unwrap_or(&nothing);
    let of_prompts = prompts.iter().filter_map(|prompt| prompt.scopes.as_ref());
    let of_features: Vec<&RequiredScopes> = of_prompts.chain(resources.iter().filter_map(|resource| resource.scopes.as_ref())).collect();
    let feature_auth = root.auth.as_ref().map(|auth| &auth.value).filter(|_| !of_features.is_empty());
    let auths: Vec<&Auth> = tools.iter().filter_map(|tool| tool.auth.as_ref()).chain(feature_auth).collect();
    let entries = tools.iter().flat_map(|tool| &tool.middleware).filter_map(|entry| match &entry.action {
        MiddlewareAction::RequireScope(scopes) => Some(scopes),
        _ => None,
    });
    let rules = entries.chain(of_features);
    let policies = auths.iter().flat_map(|auth| auth.required_scopes()).map(String::as_str);
    let required: BTreeSet<&str> = policies.chain(rules.flat_map(RequiredScopes::named)).collect();
    let visible = root.document.root.at("tools").and_then(|tools| tools.at("visible"));
    let lists_callable = visible.and_then(Node::text) == Some("callable");
    if let Some(node) = visible.filter(|_| lists_callable && auths.is_empty() && !compiler.findings.has_errors()) {
        let message = "`visible: callable` hides nothing: nothing in the app has an `auth`";
        compiler.warning(&root.document, node.range.clone(), message, "Add `auth`, or remove it.");
    }
    let resource = resource(compiler, root, server, &auths, &required);
    let implied = implied(compiler, &root.document, server.at("scopes"), &required);
    let mut entrances: Vec<u32> = Vec::new();
    for (place, tool) in (0_u32..).zip(tools) {
        let is_known = || entrances.iter().any(|known| tools.get(*known as usize).is_some_and(|known| known.auth == tool.auth));
        if tool.auth.as_ref().is_some_and(Auth::tells_callers) && !is_known() {
            entrances.push(place);
        }
    }
    let authorization = Authorization { resource, implied, lists_callable, entrances, ..Authorization::default() };
    let open = open_parts(tools, prompts, resources);
    let sign_in = sign_in(compiler, &root.document, server.entry("sign_in"), &authorization, &auths, &open);
    (Authorization { sign_in, ..authorization }, feature_auth.cloned())
}

/// Where callers are asked to sign in: what the root file says, else what follows from the app.
fn sign_in(
    compiler: &mut Compiler<'_>,
    document: &Document,
    entry: Option<&Entry>,
    authorization: &Authorization,
    auths: &[&Auth],
    open: &[String],
) -> SignIn {
    let told: Vec<&&Auth> = auths.iter().filter(|auth| auth.tells_callers()).collect();
    let Some(entry) = entry else {
        return if told.is_empty() || !open.is_empty() { SignIn::PerTool } else { SignIn::Required };
    };
    let (is_required, is_whole) = (entry.value.text() == Some("required"), !compiler.findings.has_errors());
    let range = entry.value.range.clone();
    let takes_keys_only = || told.iter().flat_map(|auth| auth.entries()).all(|entry| matches!(entry, Auth::ApiKey(_) | Auth::AllowAll));
    if is_required && told.is_empty() {
        if is_whole {
            let message = "`sign_in: required` refuses everybody: no `auth` of the app can tell who calls";
            compiler.error(document, range, message, "Add `auth`, or remove it.");
        }
        return SignIn::PerTool;
    }
    if is_whole && is_required && !open.is_empty() {
        let message = format!("`sign_in: required` closes {} to callers without credentials", named(open));
        compiler.warning(document, range, message, "Give it the `auth` that it shall have, or write `per_tool`.");
    } else if is_whole && is_required && takes_keys_only() {
        let message = "`sign_in: required` asks callers to sign in who cannot: every `auth` of the app takes keys";
        let help =
            "Add a plugin that takes tokens, such as `jwt`, or remove it: where nothing is open, the handshake needs the key anyway.";
        compiler.warning(document, range, message, help);
    } else if is_whole && told.is_empty() {
        let message = "`sign_in: per_tool` has no effect: no `auth` of the app can tell who calls";
        compiler.warning(document, range, message, "Add `auth`, or remove it.");
    } else if is_whole
        && !is_required
        && open.is_empty()
        && !auths.iter().any(|auth| authorization.signs_in(auth))
        && authorization.lists_callable
    {
        let message =
            "with `sign_in: per_tool` and `visible: callable`, callers without credentials get empty lists, and nothing asks them for any";
        compiler.warning(document, range, message, "Remove one of them.");
    }
    if is_required { SignIn::Required } else { SignIn::PerTool }
}

/// What of an app is open to callers without credentials, as far as that is known: what a script
/// lets in is not. The tools `search` and `execute` are as open as what they find and call.
fn open_parts(tools: &[Tool], prompts: &[Prompt], resources: &[Resource]) -> Vec<String> {
    let is_open = |tool: &Tool| tool.auth.as_ref().is_none_or(Auth::is_open);
    let is_open_at = |place: u32| tools.get(place as usize).is_some_and(is_open);
    let is_own = |tool: &&Tool| !matches!(tool.execute, Execute::Search(_) | Execute::Forward);
    let open_tools = tools.iter().filter(|tool| is_own(tool) && is_open(tool)).map(|tool| format!("the tool `{}`", tool.name));
    let is_open_prompt = |prompt: &&Prompt| {
        let of_tools = |message: &PromptMessage| match &message.content {
            PromptContent::Tool(used) => is_open_at(used.tool),
            _ => true,
        };
        prompt.scopes.is_none() && prompt.messages.iter().all(of_tools)
    };
    let open_prompts = prompts.iter().filter(is_open_prompt).map(|prompt| format!("the prompt `{}`", prompt.name));
    let is_open_resource = |resource: &&Resource| {
        let of_tool = match &resource.content {
            Content::Tool { used, .. } => is_open_at(used.tool),
            _ => true,
        };
        // A skill tells how to use the tools: for whom they are closed, it is of no use.
        resource.scopes.is_none()
            && of_tool
            && !["uri", "uriTemplate"].iter().any(|member| said(resource, member).starts_with(SKILL_SCHEME))
    };
    let open_resources = resources.iter().filter(is_open_resource).map(|resource| format!("the resource `{}`", said(resource, "name")));
    open_tools.chain(open_prompts).chain(open_resources).collect()
}

/// What the entry of a resource says in a member.
fn said(resource: &Resource, member: &str) -> String {
    let entry: Option<Value> = serde_json::from_str(&resource.descriptor).ok();
    entry.and_then(|entry| Some(entry.get(member)?.as_str()?.to_owned())).unwrap_or_default()
}

/// ``the tool `a` and 2 more``
fn named(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

/// Where an app asks callers to sign in, and why, in a sentence; `None` where nothing in it can
/// tell who calls.
#[must_use]
pub fn sign_in_summary(app: &App) -> Option<String> {
    let Authorization { sign_in, entrances, .. } = &app.authorization;
    if entrances.is_empty() && app.feature_auth.as_ref().is_none_or(|auth| !auth.tells_callers()) {
        return None;
    }
    let open = open_parts(&app.tools, &app.prompts, &app.resources);
    Some(match (sign_in, open.is_empty()) {
        (SignIn::Required, true) => {
            "required of every request, the handshake and the lists included: nothing in the app is open".to_owned()
        }
        (SignIn::Required, false) => "required of every request, the handshake and the lists included, as `server.sign_in` says".to_owned(),
        (SignIn::PerTool, false) => format!("per tool: the handshake and the lists are open, since {} is", named(&open)),
        (SignIn::PerTool, true) => "per tool: the handshake and the lists are open, as `server.sign_in` says".to_owned(),
    })
}

/// Adds what is known only of a whole app: the scopes of all of it, and to the entries of its tools
/// what they demand of their callers.
///
/// The entries have it as [OpenAI's clients read
/// it](https://developers.openai.com/apps-sdk/build/auth): they sign in to a tool that says so, and
/// to no other. An app that tells clients not where to sign in says nothing.
pub(crate) fn describe(app: &mut App) {
    app.authorization.scopes = scopes_of_app(app).into_iter().map(str::to_owned).collect();
    if app.authorization.resource.is_none() {
        return;
    }
    let schemes: Vec<Vec<Value>> = app.tools.iter().map(|tool| security_schemes(app, tool)).collect();
    for (tool, schemes) in app.tools.iter_mut().zip(schemes).filter(|(_, schemes)| !schemes.is_empty()) {
        descriptor::add_security_schemes(&mut tool.descriptor, schemes);
    }
}

/// What a tool demands of its callers. Nothing is said of one that takes something else than
/// tokens.
fn security_schemes(app: &App, tool: &Tool) -> Vec<Value> {
    let authorization = &app.authorization;
    let oauth =
        |scopes: Vec<&str>| if scopes.is_empty() { json!({ "type": "oauth2" }) } else { json!({ "type": "oauth2", "scopes": scopes }) };
    let signs_in = |auth: &Auth| authorization.signs_in(auth);
    let is_gateway = matches!(tool.execute, Execute::Search(_) | Execute::Forward);
    let mut schemes = Vec::new();
    let is_open = tool.auth.as_ref().is_none_or(Auth::is_open);
    if is_open && authorization.sign_in == SignIn::PerTool {
        schemes.push(json!({ "type": "noauth" }));
    }
    if tool.auth.as_ref().is_some_and(signs_in) {
        schemes.push(oauth(scopes_of_tool(app, tool)));
    } else if is_gateway || is_open && authorization.sign_in == SignIn::Required {
        // What they lead to may need anything.
        let can_sign_in = app.tools.iter().filter_map(|tool| tool.auth.as_ref()).chain(&app.feature_auth).any(signs_in);
        schemes.extend(can_sign_in.then(|| oauth(authorization.scopes.iter().map(String::as_str).collect())));
    }
    schemes
}

fn resource(
    compiler: &mut Compiler<'_>,
    root: &RootSettings,
    server: &Node,
    auths: &[&Auth],
    required: &BTreeSet<&str>,
) -> Option<ProtectedResource> {
    let document = &root.document;
    let servers = server.entry("authorization_servers");
    let Some(node) = server.at("resource") else {
        if let Some(servers) = servers {
            let help = "Add `server.resource`: the public URL of the endpoint, for which the servers issue tokens.";
            compiler.error(document, servers.key_range.clone(), "`server.authorization_servers` needs `server.resource`", help);
        }
        return None;
    };
    let url = match node.text()?.trim() {
        "host" => {
            if root.server.hosts.is_empty() {
                let help = "List the public names of the server under `server.hosts`, or write the URL: `https://mcp.example.com/mcp`.";
                compiler.error(document, node.range.clone(), "`server.resource: host` needs `server.hosts`", help);
            }
            ResourceUrl::Host
        }
        _ => {
            let template = compiler.resource.clone()?;
            warn_of_path(compiler, root, node, &template);
            ResourceUrl::Url(template)
        }
    };
    let nodes = servers.map(|entry| entry.value.items()).unwrap_or_default();
    let help = "Write the issuer as its metadata spell it: `https://login.example.com`.";
    let mut issuers: Vec<EnvTemplate> = nodes.iter().map(|node| url_of_server(compiler, document, node, help)).collect();
    if servers.is_none() {
        issuers = issuers_of(auths);
    }
    if issuers.is_empty() {
        let range = servers.map_or_else(|| node.range.clone(), |servers| servers.value.range.clone());
        let help = "Name the servers that clients sign in at: `authorization_servers: [\"https://login.example.com\"]`.";
        compiler.error(document, range, "`server.resource` needs `server.authorization_servers`", help);
    } else if !compiler.findings.has_errors()
        && auths.iter().flat_map(|auth| auth.entries()).all(|entry| matches!(entry, Auth::AllowAll | Auth::ApiKey(_)))
    {
        let help = "Give the tools an `auth` that accepts the tokens of these servers.";
        compiler.warning(document, node.range.clone(), "clients are told where to sign in, but no `auth` of the app accepts a token", help);
    }
    let scopes = required.iter().map(|scope| (*scope).to_owned()).collect();
    Some(ProtectedResource { url, authorization_servers: issuers, scopes })
}

/// The issuers whose tokens let callers in, each once: where clients sign in, unless the app says
/// otherwise.
fn issuers_of(auths: &[&Auth]) -> Vec<EnvTemplate> {
    let mut issuers = Vec::new();
    for entry in auths.iter().flat_map(|auth| auth.entries()) {
        if let Auth::Jwt(policy) = entry
            && matches!(policy.keys, KeySource::Discovery | KeySource::Url(_) | KeySource::Introspection(_))
            && literal(&policy.issuer).is_none_or(|issuer| check_issuer(issuer).is_ok())
            && !issuers.contains(&policy.issuer)
        {
            issuers.push(policy.issuer.clone());
        }
    }
    issuers
}

fn url_of_server(compiler: &mut Compiler<'_>, document: &Document, node: &Node, help: &str) -> EnvTemplate {
    url(compiler, document, node, "an issuer of `server.authorization_servers`", help, check_issuer)
}

/// A URL, which is looked at here where no variable is part of it.
fn url(
    compiler: &mut Compiler<'_>,
    document: &Document,
    node: &Node,
    setting: &str,
    help: &str,
    check: fn(&str) -> Result<(), &'static str>,
) -> EnvTemplate {
    let template = compiler.env_template(document, node);
    if template.0.iter().any(|part| matches!(part, EnvPart::Secret(_))) {
        let message = format!("{setting} is shown to everybody, so a secret has no value here");
        compiler.error(document, node.range.clone(), message, "Use a variable: `{{ env.NAME }}`.");
    }
    // A placeholder that is wrong has been reported.
    let is_whole = !template.0.is_empty() || node.text().is_some_and(|text| text.trim().is_empty());
    if let Some(Err(problem)) = literal(&template).filter(|_| is_whole).map(check) {
        compiler.error(document, node.range.clone(), format!("{setting} {problem}"), help);
    }
    template
}

/// The text of a template without variables.
fn literal(template: &EnvTemplate) -> Option<&str> {
    match template.0.as_slice() {
        [] => Some(""),
        [EnvPart::Text(text)] => Some(text),
        _ => None,
    }
}

fn warn_of_path(compiler: &mut Compiler<'_>, root: &RootSettings, node: &Node, template: &EnvTemplate) {
    let Some(url) = literal(template).filter(|url| check_resource(url).is_ok()) else { return };
    let path = UrlParts::of(url).map_or("", |url| url.rest);
    let endpoint = root.server.path.trim_end_matches('/');
    if !path.is_empty() && !path.ends_with(endpoint) {
        let message = format!("`server.resource` is at the path `{path}`, and the endpoint at `{endpoint}`");
        let help = "Clients refuse a resource that is not the URL at which they reach the endpoint.";
        compiler.warning(&root.document, node.range.clone(), message, help);
    }
}

/// Reads `server.scopes`: each broader scope with everything that it implies.
fn implied(compiler: &mut Compiler<'_>, document: &Document, node: Option<&Node>, required: &BTreeSet<&str>) -> Vec<ImpliedScopes> {
    let mut direct: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut are_good = true;
    for entry in node.map(Node::entries).unwrap_or_default() {
        if !is_scope(&entry.key) {
            not_a_scope(compiler, document, entry.key_range.clone(), &entry.key);
            are_good = false;
        }
        let narrower = words(compiler, document, Some(&entry.value));
        are_good &= narrower.is_some();
        direct.insert(entry.key.clone(), narrower.unwrap_or_default());
    }
    if !are_good {
        return Vec::new();
    }
    let closures: BTreeMap<&str, BTreeSet<&str>> = direct.keys().map(|scope| (scope.as_str(), closure(&direct, scope))).collect();
    for entry in node.map(Node::entries).unwrap_or_default() {
        let Some(implies) = closures.get(entry.key.as_str()) else { continue };
        if implies.contains(entry.key.as_str()) {
            let message = format!("the scope `{}` implies itself", entry.key);
            compiler.error(document, entry.key_range.clone(), message, "Of two scopes, only one can be the broader one.");
        } else if !compiler.findings.has_errors() && !implies.iter().any(|scope| required.contains(scope)) {
            // Of a tool with a mistake nobody knows what it requires.
            let message = format!("the scope `{}` is of no use: nothing requires a scope that it implies", entry.key);
            compiler.warning(document, entry.key_range.clone(), message, "Check the spelling, or remove it.");
        }
    }
    let owned = |scopes: &BTreeSet<&str>| scopes.iter().map(|scope| (*scope).to_owned()).collect();
    closures.iter().map(|(scope, implies)| ImpliedScopes { scope: (*scope).to_owned(), implies: owned(implies) }).collect()
}

/// All that a scope implies; itself is among it only where it implies itself.
fn closure<'a>(direct: &'a BTreeMap<String, Vec<String>>, scope: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = direct.get(scope).into_iter().flatten().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(direct.get(next).into_iter().flatten().map(String::as_str));
        }
    }
    found
}
