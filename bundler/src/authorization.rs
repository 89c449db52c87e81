//! How clients find out where to sign in, and which scopes there are: `server.resource`, `server.authorization_servers`, `server.scopes`,
//! `require_scope`, `tools.visible`.

use std::collections::{BTreeMap, BTreeSet};

use millrace_core::{
    app::{
        Auth, Authorization, EnvPart, EnvTemplate, ImpliedScopes, KeySource, MiddlewareAction, Prompt, ProtectedResource, RequiredScopes,
        Resource, ResourceUrl, Tool, is_scope,
    },
    protocol::{check_issuer, check_resource},
};

use crate::{
    app_settings::RootSettings,
    compiler::Compiler,
    field::{Field, Shape},
    required_scopes::{REQUIRE_SCOPE, WORDS, not_a_scope, required_scopes, words},
    scope::PathScope,
    yaml::{Document, Node},
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
);
/// `tools.visible`
pub(crate) const VISIBLE: Field = Field::new(
    "visible",
    Shape::Word(&["all", "callable"], &[]),
    "`all`: everybody sees the same lists. `callable`: lists leave out the tools, prompts and resources that their caller cannot call.",
)
.default("all");
/// `require_scope` of a prompt or a resource.
pub(crate) const FEATURE_SCOPES: Field = Field::new(
    "require_scope",
    REQUIRE_SCOPE,
    "The scopes that a caller must have; the root's `auth` finds out who asks. A tool behind it has an `auth` of its own.",
);

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
    Some(url(compiler, document, node, ("`server.resource`", help), check_resource))
}

/// Reads what the root file says of sign-in, once all that requires scopes is known; and the `auth` of prompts and resources, where one of
/// them requires a scope.
pub(crate) fn read(
    compiler: &mut Compiler<'_>,
    root: &RootSettings,
    (tools, prompts, resources): (&[Tool], &[Prompt], &[Resource]),
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
    (Authorization { resource, implied, lists_callable }, feature_auth.cloned())
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

/// The issuers whose tokens let callers in, each once: where clients sign in, unless the app says otherwise.
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
    url(compiler, document, node, ("an issuer of `server.authorization_servers`", help), check_issuer)
}

/// A URL, which is looked at here where no variable is part of it.
fn url(
    compiler: &mut Compiler<'_>,
    document: &Document,
    node: &Node,
    (setting, help): (&str, &str),
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
    let place = url.split_once("://").map_or("", |(_, place)| place);
    let path = place.find('/').map_or("", |at| &place[at..]);
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
