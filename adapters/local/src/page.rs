//! The page for browsers: one file, put together from `adapters/local/page/`, and what it knows of
//! the app besides the lists of MCP.
//!
//! It loads nothing else, from this server or any other, and its policy allows no other script and
//! no other style.

use std::{collections::BTreeMap, path::Path, sync::OnceLock};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use millrace_core::{
    app::{App, Auth, SignIn, Tool},
    headers::Headers,
    pipeline::stage::plan,
    protocol::{Request, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest as _, Sha256};

/// The path of [`AppState`].
pub(crate) const STATE_PATH: &str = "/page.json";

/// The path of the last calls of other clients, and of what is wrong with the last change.
pub(crate) const ELSEWHERE_PATH: &str = "/page-elsewhere.json";

/// What browsers ask for beside every page.
pub(crate) const ICON_PATH: &str = "/favicon.ico";

mod connections;
pub(crate) mod testing;

const INDEX: &str = include_str!("../page/index.html");
const ICON: &str = include_str!("../page/icon.svg");
const STYLE: &str = include_str!("../page/page.css");

/// The scripts, in an order in which each uses only what stands before it, or in functions.
const SCRIPTS: [&str; 24] = [
    include_str!("../page/dom.js"),
    include_str!("../page/format.js"),
    include_str!("../page/client.js"),
    include_str!("../page/schema.js"),
    include_str!("../page/editors.js"),
    include_str!("../page/form.js"),
    include_str!("../page/markdown.js"),
    include_str!("../page/draw.js"),
    include_str!("../page/chart.js"),
    include_str!("../page/axes.js"),
    include_str!("../page/pie.js"),
    include_str!("../page/flow.js"),
    include_str!("../page/table.js"),
    include_str!("../page/failure.js"),
    include_str!("../page/answer.js"),
    include_str!("../page/copies.js"),
    include_str!("../page/calls.js"),
    include_str!("../page/complete.js"),
    include_str!("../page/item.js"),
    include_str!("../page/connect.js"),
    include_str!("../page/home.js"),
    include_str!("../page/tests.js"),
    include_str!("../page/list.js"),
    include_str!("../page/page.js"),
];

/// Where one setting of a tool came from.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Setting {
    pub(crate) tool: String,
    pub(crate) setting: String,
    pub(crate) value: String,
    pub(crate) place: String,
}

impl From<&millrace_bundler::Origin> for Setting {
    fn from(origin: &millrace_bundler::Origin) -> Self {
        let millrace_bundler::Origin { tool, setting, value, place } = origin.clone();
        Self { tool, setting, value, place }
    }
}

/// The page, with its style and its script, and its policy.
struct Assembled {
    page: String,
    policy: String,
}

impl Assembled {
    fn get() -> &'static Self {
        static ASSEMBLED: OnceLock<Assembled> = OnceLock::new();
        ASSEMBLED.get_or_init(|| {
            let script = SCRIPTS.concat();
            let policy = format!(
                "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; img-src data:; media-src data:; \
                 base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                hash(&script),
                hash(STYLE)
            );
            Self { page: INDEX.replacen("{{style}}", STYLE, 1).replacen("{{script}}", &script, 1), policy }
        })
    }
}

/// The page. Its script asks the MCP endpoint as any client does, at the path `calls`; `mcp_path`
/// is what it shows.
pub(crate) fn html(mcp_path: &str, calls: &str) -> Response {
    let Assembled { page, policy } = Assembled::get();
    let headers = [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", policy),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ];
    Response {
        status: 200,
        headers: headers.into_iter().collect::<Headers>(),
        body: page.replacen("{{path}}", &escaped(mcp_path), 1).replacen("{{calls}}", &escaped(calls), 1).into_bytes().into(),
    }
}

/// The picture of the page's tab.
pub(crate) fn icon() -> Response {
    let headers = [("content-type", "image/svg+xml"), ("x-content-type-options", "nosniff"), ("cache-control", "max-age=86400")];
    Response { status: 200, headers: headers.into_iter().collect::<Headers>(), body: ICON.as_bytes().to_vec().into() }
}

/// What the page knows of the app besides the lists: which tools need credentials or ask for a
/// confirmation and, where `settings` are given, what a call of each goes through.
pub(crate) struct AppState {
    json: String,
    /// Tells one app from another.
    version: String,
}

impl AppState {
    /// The state of an app. `details`: for a person at this machine, the app's folder and where
    /// settings came from.
    pub(crate) fn of(app: &App, details: Option<(&Path, &[Setting])>) -> Self {
        let settings = details.map(|(_, settings)| by_tool(settings));
        let tools: Vec<Json> = app.tools.iter().filter_map(|tool| tool_state(app, tool, settings.as_ref())).collect();
        let clients = connections::connections(app, details.map(|(folder, _)| folder));
        let folder = details.map(|(folder, _)| std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).display().to_string());
        let json = json!({ "tools": tools, "clients": clients, "folder": folder }).to_string();
        let mut hash = Sha256::new_with_prefix(&json);
        hash.update(app.to_bundle().unwrap_or_default());
        Self { json, version: format!("\"{}\"", BASE64_STANDARD.encode(hash.finalize())) }
    }

    /// The answer to a request of it: nothing, where the page has it.
    pub(crate) fn answer(&self, request: &Request) -> Response {
        let is_known = request.headers.first("if-none-match") == Some(&self.version);
        let headers = [
            ("content-type", "application/json"),
            ("etag", &self.version),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
        ];
        Response {
            status: if is_known { 304 } else { 200 },
            headers: headers.into_iter().collect::<Headers>(),
            body: if is_known { Vec::new() } else { self.json.clone().into_bytes() }.into(),
        }
    }
}

/// The answer to a request of [`ELSEWHERE_PATH`].
pub(crate) fn elsewhere(known: &Json) -> Response {
    let headers = [("content-type", "application/json"), ("x-content-type-options", "nosniff"), ("cache-control", "no-store")];
    Response { status: 200, headers: headers.into_iter().collect::<Headers>(), body: known.to_string().into_bytes().into() }
}

/// Settings by the name of their tool. An app has thousands of tools, and each has some.
type ByTool<'a> = BTreeMap<&'a str, Vec<&'a Setting>>;

fn by_tool(settings: &[Setting]) -> ByTool<'_> {
    let mut found = ByTool::new();
    for setting in settings {
        found.entry(setting.tool.as_str()).or_default().push(setting);
    }
    found
}

/// Nothing, where there is nothing to say: no caller learns names from here that it has not from
/// elsewhere.
fn tool_state(app: &App, tool: &Tool, settings: Option<&ByTool<'_>>) -> Option<Json> {
    let needs = match &tool.auth {
        None | Some(Auth::AllowAll) => None,
        Some(Auth::ApiKey(_)) => Some("key"),
        Some(Auth::Script { .. }) => Some("script"),
        Some(Auth::Jwt(_)) => Some("token"),
        Some(Auth::Any(entries)) => match entries.as_slice() {
            [.., Auth::AllowAll] => None,
            _ if entries.iter().any(|entry| matches!(entry, Auth::ApiKey(_))) => Some("key"),
            _ => Some("token"),
        },
    };
    // Whoever opens a page for others has signed in nowhere: it names no tool that a list without
    // credentials may leave out, and none at all where such a list is refused.
    let is_locked = app.authorization.sign_in == SignIn::Required;
    let is_hidden = is_locked || app.authorization.lists_callable && needs.is_some();
    if settings.is_none() && (is_hidden || needs.is_none() && tool.confirm.is_none()) {
        return None;
    }
    let mut state = Map::new();
    state.insert("name".into(), tool.name.as_str().into());
    state.insert("needs".into(), needs.into());
    state.insert("confirm".into(), tool.confirm.is_some().into());
    if let Some(settings) = settings {
        let stages = plan(app, tool).into_iter().map(|step| {
            json!({
                "stage": step.stage.as_str(),
                "applies": step.applies,
                "does": step.does,
                "details": step.details,
                "statement": step.statement,
            })
        });
        state.insert("stages".into(), stages.collect());
        state.insert("path".into(), tool.path.as_str().into());
        let own = settings.get(tool.name.as_str()).into_iter().flatten();
        state.insert("settings".into(), own.map(|one| json!({ "setting": one.setting, "value": one.value, "place": one.place })).collect());
    }
    Some(state.into())
}

/// Text as the value of an attribute in double quotes.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

/// The hash of an element's text, as a content security policy wants it.
fn hash(text: &str) -> String {
    BASE64_STANDARD.encode(Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use millrace_core::protocol::ResponseBody;

    use super::*;

    fn body(response: Response) -> String {
        let ResponseBody::Whole(body) = response.body else { panic!("the page must not be a stream") };
        String::from_utf8(body).unwrap()
    }

    #[test]
    fn the_page_is_one_file_and_runs_under_its_policy() {
        let page = html("/a\"<b", "/");
        let policy = page.headers.first("content-security-policy").unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'), "{policy}");
        let body = body(page);
        assert!(body.contains(r#"<body data-path="/a&quot;&lt;b" data-calls="/" data-view="list">"#), "{body}");
        // The browser looks at what stands between the tags.
        for (open, close) in [("<style>", "</style>"), ("<script type=\"module\">", "</script>")] {
            assert_eq!((body.matches(open).count(), body.matches(close).count()), (1, 1), "{open}");
            let inner = body.split_once(open).unwrap().1.split_once(close).unwrap().0;
            assert!(policy.contains(&hash(inner)), "{open}");
        }
    }

    #[test]
    fn the_page_is_small() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut packed, body(html("/mcp", "/")).as_bytes()).unwrap();
        let bytes = packed.finish().unwrap().len();
        assert!(bytes <= 150_000, "{bytes} bytes");
    }

    #[test]
    fn the_page_is_named_by_a_picture_for_its_tab() {
        let icon = icon();
        assert_eq!((icon.status, icon.headers.first("content-type")), (200, Some("image/svg+xml")));
        assert!(body(icon).starts_with("<svg "));
    }

    #[test]
    fn a_page_for_others_names_no_tool_that_lists_leave_out() {
        for (visible, sign_in, is_named) in [("all", "per_tool", true), ("callable", "per_tool", false), ("all", "required", false)] {
            let folder = tempfile::tempdir().unwrap();
            let write = |path: &str, text: &str| {
                let file = folder.path().join(path);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, text).unwrap();
            };
            write("millrace.yaml", &format!("name: x\nserver: {{ sign_in: {sign_in} }}\ntools: {{ visible: {visible} }}\n"));
            write("app/tools/hidden/config.yaml", "description: Hidden.\nhandler: ../../h.ts\nauth: { plugin: api_key }\n");
            let confirmed = "description: Confirmed.\nhandler: ../../h.ts\nkind: mutation\nconfirm: Sure?\n";
            write("app/tools/confirmed/config.yaml", confirmed);
            write("app/h.ts", "export default () => 1;\n");
            let app = millrace_bundler::bundle(folder.path(), &millrace_bundler::Options::default()).app.unwrap();
            let state = AppState::of(&app, None).json;
            assert_eq!(state.contains("hidden"), is_named, "{visible} {sign_in}");
            assert_eq!(state.contains("\"name\":\"confirmed\""), sign_in != "required", "{visible} {sign_in}");
            assert!(AppState::of(&app, Some((folder.path(), &[]))).json.contains("hidden"));
        }
    }

    #[test]
    fn nothing_of_the_page_parses_html_or_runs_text() {
        let whole = [INDEX, STYLE, &SCRIPTS.concat()].concat();
        let parsers =
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "createContextualFragment", "setHTML"];
        let runners = ["eval(", "Function(", "import(", "setAttribute(\"on", "style=", "onclick=", "href=", "src=\"", "@import", "url("];
        for forbidden in parsers.into_iter().chain(runners) {
            assert!(!whole.contains(forbidden), "{forbidden}");
        }
    }
}
