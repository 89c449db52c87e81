//! MCP clients: what each can do, and the lines that connect it to an app.
//!
//! This is the only place that knows them: `millrace connect`, the page at `/` and
//! `docs/clients.md` show what is made here. A key's value is never part of it: a configuration
//! names the variable or the file that holds the key, or has the client ask for it.

use clap::ValueEnum;

pub(crate) mod entry;
pub(crate) mod place;
pub(crate) mod server;

use entry::{Entry, Format};
use millrace_core::url::UrlParts;
use serde_json::{Map, Value as Json, json};

/// The endpoint of `millrace dev` where nothing else is said.
pub(crate) const DEV_URL: &str = "http://127.0.0.1:8080/mcp";

/// A client that can be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Desktop
    ClaudeDesktop,
    /// Claude Code
    ClaudeCode,
    /// claude.ai, in a browser or on a telephone
    #[value(name = "claude-ai", alias = "claude.ai")]
    ClaudeAi,
    /// ChatGPT
    #[value(name = "chatgpt")]
    ChatGpt,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    #[value(name = "vscode", alias = "vs-code")]
    VsCode,
    /// Codex: command line, editor extension and app
    Codex,
    /// Gemini CLI
    #[value(name = "gemini-cli", alias = "gemini")]
    GeminiCli,
    /// mcp-remote, for clients that only start commands
    McpRemote,
    /// MCP Inspector
    Inspector,
}

/// What a client can do, in words for a table.
pub(crate) struct Abilities {
    /// The client's own name.
    pub(crate) name: &'static str,
    /// Whether it starts a command on the user's machine.
    pub(crate) starts_command: bool,
    /// Which addresses it takes.
    pub(crate) address: &'static str,
    /// Whether the address has to be public.
    pub(crate) needs_public_https: bool,
    /// How it sends a key.
    pub(crate) key: &'static str,
}

/// How a client reaches the app.
#[derive(Clone, Debug)]
pub(crate) enum Server {
    /// The client starts a command and talks to it over standard input and output.
    Command {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// The key that the client gives the process, where the app needs one.
        key: Option<Key>,
    },
    /// The client sends requests to an address.
    Address {
        /// The URL of the endpoint.
        url: String,
        /// The key that it sends, where the app needs one.
        key: Option<Key>,
    },
}

/// A key that a client sends, without its value.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    /// The header field.
    pub(crate) field: String,
    /// The environment variable of the client that holds the key.
    pub(crate) variable: String,
    /// The file with the header field, for clients that read one.
    pub(crate) file: String,
}

impl Key {
    /// The field's value, where `reference` stands for the key.
    fn value(&self, reference: &str) -> String {
        if self.is_authorization() { format!("Bearer {reference}") } else { reference.to_owned() }
    }

    fn is_authorization(&self) -> bool {
        self.field.eq_ignore_ascii_case("authorization")
    }

    /// The variable in which a process that a client starts finds the field:
    /// `MILLRACE_HEADER_X_API_KEY`.
    fn process_variable(&self) -> String {
        format!("MILLRACE_HEADER_{}", self.field.to_ascii_uppercase().replace('-', "_"))
    }

    fn env(&self, reference: &str) -> Json {
        json!({ self.process_variable(): self.value(reference) })
    }

    fn header(&self, reference: &str) -> Json {
        json!({ &self.field: self.value(reference) })
    }
}

/// What connects a client to an app.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// What belongs into the client's configuration.
    pub(crate) entry: Option<Entry>,
    /// A command that does the same, or all there is to do.
    pub(crate) command: Option<Vec<String>>,
    /// Whether the shell puts variables into the command.
    pub(crate) is_expanded: bool,
    /// What a person does in the client, in order.
    pub(crate) steps: Vec<String>,
    /// What else has to be known.
    pub(crate) notes: Vec<String>,
}

impl Client {
    /// The word for it on the command line.
    pub(crate) fn id(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    pub(crate) fn abilities(self) -> Abilities {
        let any = "any";
        let public = "public HTTPS only";
        let (name, starts_command, address, key) = match self {
            Self::ClaudeDesktop => {
                ("Claude Desktop", true, "any, by `mcp-remote`; public HTTPS as a connector", "from a file that `mcp-remote` reads")
            }
            Self::ClaudeCode => ("Claude Code", true, any, "from a variable: `${NAME}`"),
            Self::ClaudeAi => ("claude.ai", false, public, "only where its dialog has *Request headers*"),
            Self::ChatGpt => ("ChatGPT", false, public, "no"),
            Self::Cursor => ("Cursor", true, any, "from a variable: `${env:NAME}`"),
            Self::VsCode => ("VS Code", true, any, "asks for it once and keeps it: `${input:…}`"),
            Self::Codex => ("Codex", true, any, "from a variable: `env_http_headers`"),
            Self::GeminiCli => ("Gemini CLI", true, any, "from a variable: `${NAME}`"),
            Self::McpRemote => ("`mcp-remote`", false, "any", "from a file: `--header-file`"),
            Self::Inspector => ("MCP Inspector", true, any, "from a variable of the shell, or typed in its page"),
        };
        Abilities { name, starts_command, address, needs_public_https: address == public, key }
    }

    /// The lines that connect the client to `server` under the name `name`.
    pub(crate) fn connection(self, name: &str, server: &Server) -> Connection {
        let mut connection = match server {
            Server::Command { program, arguments, key } => self.by_command(name, program, arguments, key.as_ref()),
            Server::Address { url, key } => self.by_address(name, url, key.as_ref()),
        };
        connection.notes.extend(self.after_a_change());
        connection
    }

    fn by_command(self, name: &str, program: &str, arguments: &[String], key: Option<&Key>) -> Connection {
        let entry = |start: Json, reference: &dyn Fn(&Key) -> String| {
            let mut server = start.as_object().cloned().unwrap_or_default();
            server.insert("command".into(), program.into());
            server.insert("args".into(), arguments.into());
            server.extend(key.map(|key| ("env".to_owned(), key.env(&reference(key)))));
            Json::from(server)
        };
        let line = |start: &[&str]| {
            let words = start.iter().copied().map(str::to_owned).chain([program.to_owned()]);
            words.chain(arguments.iter().cloned()).collect::<Vec<String>>()
        };
        let variable = |key: &Key| format!("${{{}}}", key.variable);
        // `NAME=VALUE`, where VALUE is a reference.
        let assigned = |key: &Key, reference: &str| format!("{}={}", key.process_variable(), key.value(reference));
        let typed = json!({ "type": "stdio" });
        let told: Vec<String> = key.map(|key| set_variable(&key.variable)).into_iter().collect();
        match self {
            Self::ClaudeDesktop => {
                let entry = Entry::json("mcpServers", name, json!({ "command": program, "args": arguments }));
                let note = key.map(|key| {
                    format!(
                        "Claude Desktop puts no variable into this file, so tools that need `{}` refuse. It sends a key to an address (`--url`), and asks for \
                         one when a desktop bundle is installed (`millrace build --target mcpb`).",
                        key.field
                    )
                });
                Connection { notes: note.into_iter().collect(), ..Connection::of(entry) }
            }
            Self::GeminiCli => Connection { notes: told, ..Connection::of(Entry::json("mcpServers", name, entry(json!({}), &variable))) },
            Self::Cursor => {
                let server = entry(typed, &|key| format!("${{env:{}}}", key.variable));
                Connection { notes: told, ..Connection::of(Entry::json("mcpServers", name, server)) }
            }
            Self::ClaudeCode => {
                let env = key.map(|key| assigned(key, &variable(key)));
                let given: Vec<&str> = env.iter().flat_map(|env| ["--env", env]).collect();
                let start = [&["claude", "mcp", "add", name][..], &given, &["--"]].concat();
                let entry = Entry::json("mcpServers", name, entry(typed, &variable));
                Connection { command: Some(line(&start)), notes: told, ..Connection::of(entry) }
            }
            Self::VsCode => {
                let id = format!("{name}-key");
                let mut entry = Entry::json("servers", name, entry(typed, &|_| format!("${{input:{id}}}")));
                entry.inputs.extend(key.map(|key| asked(&id, name, key)));
                Connection { notes: key.map(|_| KEPT.to_owned()).into_iter().collect(), ..Connection::of(entry) }
            }
            Self::Codex => {
                let mut server = Map::from_iter([("command".to_owned(), program.into()), ("args".to_owned(), arguments.into())]);
                server.extend(key.map(|key| ("env_vars".to_owned(), json!([key.process_variable()]))));
                let entry = Entry { format: Format::Toml, ..Entry::json("mcp_servers", name, server.into()) };
                // Its command knows no names of variables.
                let command = key.is_none().then(|| line(&["codex", "mcp", "add", name, "--"]));
                let told = key.map(|key| {
                    let value = if key.is_authorization() { "`Bearer` and the key" } else { "the key" };
                    format!("Set the variable `{}` to {value} where the client is started.", key.process_variable())
                });
                Connection { command, notes: told.into_iter().collect(), ..Connection::of(entry) }
            }
            Self::Inspector => {
                let env = key.map(|key| assigned(key, &format!("${}", key.variable)));
                let given: Vec<&str> = env.iter().flat_map(|env| ["-e", env]).collect();
                let command = line(&[&["npx", "-y", "@modelcontextprotocol/inspector"][..], &given].concat());
                let notes = key.map(|key| format!("The shell puts the key in from the variable `{}`.", key.variable));
                Connection { command: Some(command), is_expanded: true, notes: notes.into_iter().collect(), ..Connection::default() }
            }
            // They start nothing: the app has to be served.
            Self::ClaudeAi | Self::ChatGpt | Self::McpRemote => self.by_address(name, DEV_URL, key),
        }
    }

    fn by_address(self, name: &str, url: &str, key: Option<&Key>) -> Connection {
        let with_headers = |mut server: Json, reference: &dyn Fn(&Key) -> String| {
            if let (Some(key), Some(object)) = (key, server.as_object_mut()) {
                object.insert("headers".into(), key.header(&reference(key)));
            }
            server
        };
        let variable = |key: &Key| format!("${{{}}}", key.variable);
        let http = json!({ "type": "http", "url": url });
        let told: Vec<String> = key.map(|key| set_variable(&key.variable)).into_iter().collect();
        match self {
            Self::ClaudeDesktop => {
                let (words, notes) = remote(url, key);
                let (program, arguments) = npx(&words, cfg!(windows));
                let steps = if is_public(url) && key.is_none() {
                    vec![format!(
                        "Instead of the lines below, *Customize* → *Connectors* → *Add custom connector* takes the address `{url}`."
                    )]
                } else {
                    Vec::new()
                };
                let entry = Entry::json("mcpServers", name, json!({ "command": program, "args": arguments }));
                Connection { steps, notes, ..Connection::of(entry) }
            }
            Self::ClaudeCode => {
                let mut command: Vec<String> = ["claude", "mcp", "add", "--transport", "http", name, url].map(str::to_owned).into();
                if let Some(key) = key {
                    command.extend(["--header".to_owned(), format!("{}: {}", key.field, key.value(&variable(key)))]);
                }
                let entry = Entry::json("mcpServers", name, with_headers(http, &variable));
                Connection { command: Some(command), notes: told, ..Connection::of(entry) }
            }
            Self::ClaudeAi => of_claude_ai(name, url, key),
            Self::ChatGpt => of_chatgpt(name, url, key),
            Self::Cursor => {
                let server = with_headers(json!({ "url": url }), &|key| format!("${{env:{}}}", key.variable));
                Connection { notes: told, ..Connection::of(Entry::json("mcpServers", name, server)) }
            }
            Self::VsCode => {
                let id = format!("{name}-key");
                let server = with_headers(http, &|_| format!("${{input:{id}}}"));
                let mut entry = Entry::json("servers", name, server);
                entry.inputs.extend(key.map(|key| asked(&id, name, key)));
                Connection { notes: key.map(|_| KEPT.to_owned()).into_iter().collect(), ..Connection::of(entry) }
            }
            Self::Codex => {
                let entry = Entry { format: Format::Toml, ..Entry::json("mcp_servers", name, codex_server(url, key)) };
                Connection { notes: told, ..Connection::of(entry) }
            }
            Self::GeminiCli => Connection { notes: told, ..Connection::of(Entry::json("mcpServers", name, with_headers(http, &variable))) },
            Self::McpRemote => {
                let (words, notes) = remote(url, key);
                let (program, arguments) = npx(&words, cfg!(windows));
                let command = std::iter::once("npx".to_owned()).chain(words).collect();
                let entry = Entry::json("mcpServers", name, json!({ "command": program, "args": arguments }));
                Connection { command: Some(command), notes, ..Connection::of(entry) }
            }
            Self::Inspector => {
                let words = ["npx", "-y", "@modelcontextprotocol/inspector", "--transport", "http", "--server-url", url];
                let mut command: Vec<String> = words.map(str::to_owned).into();
                if let Some(key) = key {
                    command.extend(["--header".to_owned(), format!("{}: {}", key.field, key.value(&format!("${}", key.variable)))]);
                }
                let notes = key.map(|key| format!("The shell puts the key in from the variable `{}`.", key.variable));
                Connection { command: Some(command), is_expanded: true, notes: notes.into_iter().collect(), ..Connection::default() }
            }
        }
    }

    /// What the client needs before it sees a change of its configuration.
    fn after_a_change(self) -> Option<String> {
        let text = match self {
            Self::ClaudeDesktop => "Quit Claude Desktop before the file is changed, and start it afterwards: it writes the file itself.",
            Self::ClaudeCode => "Claude Code asks once whether servers of `.mcp.json` may be used.",
            Self::VsCode => "VS Code asks once whether the server is trusted.",
            Self::GeminiCli => "Gemini CLI starts servers only in folders that are trusted: `/permissions trust`.",
            _ => return None,
        };
        Some(text.to_owned())
    }
}

/// The server as Codex has it, which reads the key from a variable.
fn codex_server(url: &str, key: Option<&Key>) -> Json {
    let mut server = Map::new();
    server.insert("url".into(), url.into());
    match key {
        Some(key) if key.is_authorization() => drop(server.insert("bearer_token_env_var".into(), key.variable.clone().into())),
        Some(key) => drop(server.insert("env_http_headers".into(), json!({ &key.field: key.variable }))),
        None => {}
    }
    server.into()
}

fn of_claude_ai(name: &str, url: &str, key: Option<&Key>) -> Connection {
    let steps = vec![
        "Open *Customize* → *Connectors* and choose *Add custom connector*.".to_owned(),
        format!("Name: `{name}`. Address: `{}`.", public_address(url)),
        "Choose *Add*, then switch the connector on in a chat.".to_owned(),
    ];
    let of_key = key.map(|key| {
        format!(
            "It sends the field `{}` only where the dialog has *Request headers*, a test that not every account has. Without it, tools \
             that need the key refuse.",
            key.field
        )
    });
    Connection { steps, notes: not_public(url).into_iter().chain(of_key).collect(), ..Connection::default() }
}

fn of_chatgpt(name: &str, url: &str, key: Option<&Key>) -> Connection {
    let add = "Open the plugins of ChatGPT in a browser, choose the plus sign and then *Add custom MCP server* (in workspaces, an \
               administrator allows it).";
    let steps = vec![
        add.to_owned(),
        format!("Name: `{name}`. Server URL: `{}`. Authentication: none.", public_address(url)),
        "Accept the warning, then choose the plugin in a chat.".to_owned(),
    ];
    let of_key = key.map(|key| format!("It cannot send the field `{}`: tools that need the key refuse.", key.field));
    Connection { steps, notes: not_public(url).into_iter().chain(of_key).collect(), ..Connection::default() }
}

impl Connection {
    fn of(entry: Entry) -> Self {
        Self { entry: Some(entry), ..Self::default() }
    }
}

/// What VS Code does with a key.
const KEPT: &str = "VS Code asks for the key at the first start, and keeps it in its own store.";

/// What VS Code asks for.
fn asked(id: &str, name: &str, key: &Key) -> Json {
    let description = format!("Key for {name}, sent as {}", key.field);
    json!({ "type": "promptString", "id": id, "description": description, "password": true })
}

fn set_variable(name: &str) -> String {
    format!("Set the variable `{name}` to the key where the client is started.")
}

/// The words after `npx` that start mcp-remote, and what to know of them.
fn remote(url: &str, key: Option<&Key>) -> (Vec<String>, Vec<String>) {
    let mut words: Vec<String> = ["-y", "mcp-remote", url, "--transport", "http-only"].map(str::to_owned).into();
    if url.starts_with("http://") && !is_loopback(url) {
        words.push("--allow-http".into());
    }
    let Some(key) = key else { return (words, Vec::new()) };
    words.extend(["--header-file".into(), key.file.clone()]);
    let line = format!("{}: {}", key.field, key.value("THE-KEY"));
    (
        words,
        vec![format!(
            "Write the line `{line}`, with the key in place of `THE-KEY`, into `{}`, and let nobody else read that file.",
            key.file
        )],
    )
}

/// A command of npm, as a program that a client starts. On Windows `npx` is a script, which needs
/// its interpreter.
pub(crate) fn npx(words: &[String], on_windows: bool) -> (String, Vec<String>) {
    match on_windows {
        true => ("cmd".into(), ["/c", "npx"].map(str::to_owned).into_iter().chain(words.iter().cloned()).collect()),
        false => ("npx".into(), words.to_vec()),
    }
}

fn host(url: &str) -> &str {
    let authority = UrlParts::of(url).map_or("", |url| url.authority);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.strip_prefix('[') {
        Some(literal) => literal.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

fn is_loopback(url: &str) -> bool {
    let host = host(url);
    host.eq_ignore_ascii_case("localhost") || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether everybody's servers may reach it, as far as the address says.
pub(crate) fn is_public(url: &str) -> bool {
    let is_private = match host(url).parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(address)) => address.is_private() || address.is_link_local() || address.is_unspecified(),
        Ok(std::net::IpAddr::V6(address)) => address.is_unique_local() || address.is_unicast_link_local() || address.is_unspecified(),
        Err(_) => false,
    };
    url.starts_with("https://") && !is_loopback(url) && !is_private
}

fn public_address(url: &str) -> &str {
    if url == DEV_URL { "https://YOUR-ADDRESS/mcp" } else { url }
}

fn not_public(url: &str) -> Option<String> {
    (!is_public(url)).then(|| "It connects from the servers of its maker, so the address must be public and use HTTPS.".to_owned())
}

impl Connection {
    /// The command as one types it into a shell.
    pub(crate) fn typed_command(&self, on_windows: bool) -> Option<String> {
        let typed = |word: &String| typed_word(word, on_windows || (self.is_expanded && word.contains('$')));
        Some(self.command.as_ref()?.iter().map(typed).collect::<Vec<_>>().join(" "))
    }
}

fn typed_word(word: &str, in_double_quotes: bool) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|character| character.is_alphanumeric() || "/._-+@%,:=".contains(character));
    match (is_plain, in_double_quotes) {
        (true, _) => word.to_owned(),
        (false, true) => format!("\"{}\"", word.replace('"', "\\\"")),
        (false, false) => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod reference;
