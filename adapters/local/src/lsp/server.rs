//! The server: takes what the editor says, and answers.

use std::{
    collections::BTreeMap,
    io::{self, BufReader},
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Sender, SyncSender, sync_channel},
    },
    thread,
    time::Instant,
};

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError};
use millrace_bundler::{Texts, editor::OpenFile};
use serde_json::{Value as Json, json};

use super::{
    analysis::{self, Job},
    answers::{Asked, FRESH, METHODS, Refusal},
    apps::Apps,
    documents::Documents,
    queue::{Analysed, Event, Queue, cancelled},
    uris::{path_of, uri_of},
    wire::{self, Incoming},
};

/// The most events that nobody has looked at yet.
const MOST_UNREAD: usize = 64;

/// The most requests that wait for an app to be looked at.
const MOST_WAITING: usize = 500;

/// What the editor watches for the server.
const WATCHED: [&str; 4] = ["**/*.{yaml,yml,terse,ts,tsx,mts,js,mjs,jsx,json,sql,md}", "**/.hyperterse", "**/.env", "**/millrace.lock"];

/// How the end was announced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing was said yet.
    New,
    Running,
    /// It was asked to end.
    ShutDown,
}

struct Server {
    queue: Queue,
    jobs: Sender<Job>,
    is_busy: bool,
    documents: Documents,
    apps: Apps,
    /// Requests that wait for an app to be looked at.
    waiting: Vec<Request>,
    phase: Phase,
    folders: Vec<PathBuf>,
    takes_versions: bool,
    registers: bool,
    /// Standard output.
    output: io::Stdout,
}

/// How the server ended.
enum End {
    /// As it should.
    Good,
    /// By `exit`, without having been asked to shut down.
    Abrupt,
}

/// Serves the editor that has started the process, until it says so, or says nothing more.
///
/// # Errors
/// Its messages cannot be read, or the system gives no thread.
pub(crate) fn serve() -> io::Result<()> {
    let (events, received) = sync_channel(MOST_UNREAD);
    let jobs = analysis::start(events.clone())?;
    listen(events)?;
    let mut server = Server {
        queue: Queue::new(received),
        jobs,
        is_busy: false,
        documents: Documents::default(),
        apps: Apps::default(),
        waiting: Vec::new(),
        phase: Phase::New,
        folders: Vec::new(),
        takes_versions: false,
        registers: false,
        output: io::stdout(),
    };
    match server.run()? {
        End::Good => Ok(()),
        End::Abrupt => Err(io::Error::other("`exit` came without `shutdown`")),
    }
}

/// Reads standard input in a thread of its own, a few messages ahead.
fn listen(events: SyncSender<Event>) -> io::Result<()> {
    let reading = move || {
        let mut input = BufReader::new(io::stdin().lock());
        loop {
            let event = match wire::read(&mut input) {
                Ok(Incoming::Message(message)) => message.into(),
                Ok(Incoming::Broken(why)) => Event::Broken(why),
                Ok(Incoming::End) => Event::End(None),
                Err(error) => Event::End(Some(error.to_string())),
            };
            let is_end = matches!(event, Event::End(_));
            if events.send(event).is_err() || is_end {
                return;
            }
        }
    };
    thread::Builder::new().name("messages".to_owned()).spawn(reading)?;
    Ok(())
}

impl Server {
    fn run(&mut self) -> io::Result<End> {
        loop {
            self.start_due();
            let due = if self.is_busy { None } else { self.next_due() };
            match self.queue.next(due) {
                None => {}
                Some(Event::End(None)) => return Ok(End::Good),
                Some(Event::End(Some(why))) => return Err(io::Error::other(why)),
                Some(Event::Answer) => {}
                Some(Event::Broken(why)) => self.is_broken(&why)?,
                Some(Event::Analysed(found)) => self.take(found)?,
                Some(Event::Request(request)) => self.request(request)?,
                Some(Event::Notification(said)) if said.method == "exit" => {
                    return Ok(if self.phase == Phase::ShutDown { End::Good } else { End::Abrupt });
                }
                Some(Event::Notification(said)) => self.notification(&said)?,
            }
        }
    }

    fn send(&mut self, message: &Message) -> io::Result<()> {
        match message.clone().write(&mut self.output) {
            // Whoever reads nothing more will say nothing more, either.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }

    fn respond(&mut self, id: RequestId, result: Result<Json, ResponseError>) -> io::Result<()> {
        self.send(&Message::Response(Response { id, response_result: result }))
    }

    fn fail(&mut self, id: RequestId, code: ErrorCode, message: impl Into<String>) -> io::Result<()> {
        self.respond(id, Err(ResponseError { code: code as i32, message: message.into(), data: None }))
    }

    fn notify(&mut self, method: &str, params: Json) -> io::Result<()> {
        self.send(&Message::Notification(Notification { method: method.to_owned(), params }))
    }

    /// Says something in the editor's log.
    fn log(&mut self, message: &str) -> io::Result<()> {
        self.notify("window/logMessage", json!({ "type": 3, "message": message }))
    }

    /// Answers what is no message as JSON-RPC has it, without an id.
    fn is_broken(&mut self, why: &str) -> io::Result<()> {
        tracing::warn!("{why}");
        let text = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": ErrorCode::ParseError as i32, "message": why } }).to_string();
        io::Write::write_all(&mut self.output, format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes())?;
        io::Write::flush(&mut self.output)
    }

    fn request(&mut self, request: Request) -> io::Result<()> {
        if self.queue.is_cancelled(&request.id) {
            return self.fail(request.id, ErrorCode::RequestCanceled, "the request was cancelled");
        }
        match (self.phase, request.method.as_str()) {
            (Phase::New, "initialize") => self.initialize(request),
            (Phase::New, _) => self.fail(request.id, ErrorCode::ServerNotInitialized, "`initialize` comes first"),
            (Phase::ShutDown, _) => self.fail(request.id, ErrorCode::InvalidRequest, "the server was asked to shut down"),
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                for waiting in std::mem::take(&mut self.waiting) {
                    self.fail(waiting.id, ErrorCode::RequestCanceled, "the server was asked to shut down")?;
                }
                self.respond(request.id, Ok(Json::Null))
            }
            (Phase::Running, "initialize") => self.fail(request.id, ErrorCode::InvalidRequest, "`initialize` comes once"),
            (Phase::Running, method) if METHODS.contains(&method) => self.ask(request),
            (Phase::Running, method) => {
                let message = format!("the method `{method}` does not exist here");
                self.fail(request.id, ErrorCode::MethodNotFound, message)
            }
        }
    }

    fn initialize(&mut self, request: Request) -> io::Result<()> {
        let params = &request.params;
        let listed =
            params["workspaceFolders"].as_array().into_iter().flatten().filter_map(|folder| folder["uri"].as_str()).filter_map(path_of);
        self.folders = listed.collect();
        if self.folders.is_empty() {
            let root = params["rootUri"].as_str().and_then(path_of).or_else(|| params["rootPath"].as_str().map(PathBuf::from));
            self.folders.extend(root);
        }
        let workspace = &params["capabilities"]["workspace"];
        self.takes_versions = workspace["workspaceEdit"]["documentChanges"] == true;
        self.registers = workspace["didChangeWatchedFiles"]["dynamicRegistration"] == true;
        self.phase = Phase::Running;
        let abilities = json!({
            "positionEncoding": "utf-16",
            "textDocumentSync": { "openClose": true, "change": 2, "save": true },
            "completionProvider": { "triggerCharacters": [" ", "{", ".", "\"", "'", "/", "|", ":"] },
            "hoverProvider": true,
            "definitionProvider": true,
            "referencesProvider": true,
            "documentSymbolProvider": true,
            "renameProvider": { "prepareProvider": true },
            "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
        });
        let server = json!({ "name": "millrace", "version": env!("CARGO_PKG_VERSION") });
        self.respond(request.id, Ok(json!({ "capabilities": abilities, "serverInfo": server })))
    }

    fn notification(&mut self, said: &Notification) -> io::Result<()> {
        if self.phase != Phase::Running {
            return Ok(());
        }
        if let Some(id) = cancelled(said) {
            let found = self.waiting.iter().position(|waiting| waiting.id == id);
            return match found.map(|at| self.waiting.remove(at)) {
                Some(request) => self.fail(request.id, ErrorCode::RequestCanceled, "the request was cancelled"),
                None => Ok(()),
            };
        }
        let params = &said.params;
        let document = &params["textDocument"];
        let path = document["uri"].as_str().and_then(path_of);
        match (said.method.as_str(), path) {
            ("initialized", _) => self.initialized(),
            ("textDocument/didOpen", Some(path)) => {
                let (uri, text) = (document["uri"].as_str().unwrap_or_default(), document["text"].as_str().unwrap_or_default());
                let version = document["version"].as_i64().unwrap_or_default();
                let is_open = self.documents.open(path.clone(), uri.to_owned(), version, text.trim_start_matches('\u{feff}'));
                self.changed(&path);
                if is_open { Ok(()) } else { self.log(&format!("`{}` is too long to be looked at while you type", path.display())) }
            }
            ("textDocument/didChange", Some(path)) => {
                let version = document["version"].as_i64().unwrap_or_default();
                let changes = params["contentChanges"].as_array().map(Vec::as_slice).unwrap_or_default();
                if !self.documents.change(&path, version, changes) && self.documents.close(&path).is_some() {
                    self.log(&format!("a change of `{}` cannot be followed: open the file again", path.display()))?;
                }
                self.changed(&path);
                Ok(())
            }
            ("textDocument/didSave", Some(path)) => {
                self.documents.set_deleted(&path, false);
                self.changed(&path);
                Ok(())
            }
            ("textDocument/didClose", Some(path)) => {
                self.documents.close(&path);
                self.changed(&path);
                Ok(())
            }
            ("workspace/didChangeWatchedFiles", _) => {
                for change in params["changes"].as_array().into_iter().flatten() {
                    let Some(path) = change["uri"].as_str().and_then(path_of) else { continue };
                    self.documents.set_deleted(&path, change["type"] == 3);
                    self.changed(&path);
                }
                Ok(())
            }
            ("workspace/didChangeWorkspaceFolders", _) => self.folders_changed(&params["event"]),
            _ => Ok(()),
        }
    }

    fn initialized(&mut self) -> io::Result<()> {
        if self.registers {
            let watchers: Vec<Json> = WATCHED.iter().map(|pattern| json!({ "globPattern": pattern })).collect();
            let registration =
                json!({ "id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": { "watchers": watchers } });
            let id = RequestId::from("register-files".to_owned());
            let params = json!({ "registrations": [registration] });
            self.send(&Message::Request(Request { id, method: "client/registerCapability".to_owned(), params }))?;
        }
        for folder in self.folders.clone() {
            self.open_folder(&folder)?;
        }
        Ok(())
    }

    fn open_folder(&mut self, folder: &Path) -> io::Result<()> {
        match self.apps.folder_of(&folder.join("millrace.yaml")) {
            Some(app) => {
                self.apps.open(&app);
                Ok(())
            }
            None => {
                let folder = folder.display();
                self.log(&format!("`{folder}` has no `millrace.yaml`: an app below it is looked at once one of its files is open"))
            }
        }
    }

    fn folders_changed(&mut self, event: &Json) -> io::Result<()> {
        let paths = |key: &str| -> Vec<PathBuf> {
            event[key].as_array().into_iter().flatten().filter_map(|folder| folder["uri"].as_str()).filter_map(path_of).collect()
        };
        for folder in paths("removed") {
            self.folders.retain(|known| *known != folder);
            let is_open = |app: &Path| self.documents.iter().any(|(path, _)| path.starts_with(app));
            let gone: Vec<PathBuf> =
                self.apps.iter().map(|(app, _)| app.clone()).filter(|app| app.starts_with(&folder) && !is_open(app)).collect();
            for app in gone {
                self.forget(&app)?;
            }
        }
        for folder in paths("added") {
            self.open_folder(&folder)?;
            self.folders.push(folder);
        }
        Ok(())
    }

    /// Notes that a file changed.
    fn changed(&mut self, path: &Path) {
        if let Some(folder) = self.apps.of_file(path)
            && let Some(app) = self.apps.get_mut(&folder)
        {
            app.changed();
        }
    }

    /// When the next app is to be looked at.
    fn next_due(&self) -> Option<Instant> {
        let is_asked = self.waiting.iter().any(|request| FRESH.contains(&request.method.as_str()));
        self.apps.iter().filter_map(|(_, app)| app.due(is_asked)).min()
    }

    /// Has the app looked at whose turn it is.
    fn start_due(&mut self) {
        if self.is_busy {
            return;
        }
        let Some(due) = self.next_due().filter(|due| *due <= Instant::now()) else { return };
        let is_asked = self.waiting.iter().any(|request| FRESH.contains(&request.method.as_str()));
        let Some(folder) = self.apps.iter().find(|(_, app)| app.due(is_asked) == Some(due)).map(|(folder, _)| folder.clone()) else {
            return;
        };
        let texts = self.texts(&folder);
        let Some(app) = self.apps.get_mut(&folder) else { return };
        let stop = app.starts();
        let job = Job { folder, texts, previous: app.index.clone(), stop };
        self.is_busy = self.jobs.send(job).is_ok();
    }

    /// The texts that are open of an app, by their paths below its folder.
    fn texts(&self, folder: &Path) -> BTreeMap<String, Arc<str>> {
        let open = self.documents.iter().filter(|(_, document)| !document.is_deleted);
        open.filter_map(|(path, document)| Some((below(folder, path)?, Arc::clone(&document.text)))).collect()
    }

    /// Takes what was found of an app, and says what is wrong with its files.
    fn take(&mut self, analysed: Analysed) -> io::Result<()> {
        self.is_busy = false;
        let Analysed { folder, found, texts, is_stopped } = analysed;
        let Some(app) = self.apps.get_mut(&folder) else { return Ok(()) };
        app.ends(is_stopped);
        if is_stopped {
            return Ok(());
        }
        let Some(found) = found else {
            self.log("the app could not be looked at, which is a defect of Millrace: see its standard error")?;
            return self.ask_again();
        };
        if !found.is_app {
            return self.forget(&folder);
        }
        app.index = Some(found.index);
        let before = std::mem::take(&mut app.told);
        let mut told = found.problems;
        let mut files: Vec<&String> = before.keys().chain(told.keys()).collect();
        files.sort();
        files.dedup();
        let mut messages = Vec::new();
        let mut later = Vec::new();
        for file in files {
            let path = folder.join(file);
            let document = self.documents.get(&path);
            // What was typed since then is looked at next.
            if document.is_some_and(|document| !document.is_deleted && texts.get(file) != Some(&document.text)) {
                later.push((file.clone(), before.get(file).cloned()));
                continue;
            }
            if before.get(file) != told.get(file) {
                let uri = document.map(|document| document.uri.clone()).or_else(|| uri_of(&path));
                let version = document.map(|document| document.version);
                messages.push((uri, version, told.get(file).cloned().unwrap_or_default()));
            }
        }
        for (file, before) in later {
            match before {
                Some(before) => drop(told.insert(file, before)),
                None => drop(told.remove(&file)),
            }
        }
        if let Some(app) = self.apps.get_mut(&folder) {
            app.told = told;
        }
        for (uri, version, problems) in messages {
            self.publish(uri, version, problems)?;
        }
        self.ask_again()
    }

    fn publish(&mut self, uri: Option<String>, version: Option<i64>, problems: Vec<Json>) -> io::Result<()> {
        let Some(uri) = uri else { return Ok(()) };
        let mut params = json!({ "uri": uri, "diagnostics": problems });
        if let Some(version) = version {
            params["version"] = version.into();
        }
        self.notify("textDocument/publishDiagnostics", params)
    }

    /// Forgets an app that is not there any more, and what was said about it.
    fn forget(&mut self, folder: &Path) -> io::Result<()> {
        let Some(app) = self.apps.remove(folder) else { return Ok(()) };
        for file in app.told.keys() {
            self.publish(uri_of(&folder.join(file)), None, Vec::new())?;
        }
        self.ask_again()
    }

    /// Answers the requests that have waited, as far as that is possible now.
    fn ask_again(&mut self) -> io::Result<()> {
        for request in std::mem::take(&mut self.waiting) {
            self.ask(request)?;
        }
        Ok(())
    }

    /// Answers a request about a file, at once or once its app was looked at.
    fn ask(&mut self, request: Request) -> io::Result<()> {
        let Some(uri) = request.params["textDocument"]["uri"].as_str() else {
            return self.fail(request.id, ErrorCode::InvalidParams, "the parameters name no file");
        };
        let found = path_of(uri).and_then(|path| Some((self.apps.of_file(&path)?, path)));
        let Some((folder, path)) = found else { return self.respond(request.id, Ok(Json::Null)) };
        let Some(app) = self.apps.get(&folder) else { return self.respond(request.id, Ok(Json::Null)) };
        let is_ready = if FRESH.contains(&request.method.as_str()) { app.is_fresh() } else { app.index.is_some() };
        let Some(index) = app.index.clone().filter(|_| is_ready) else {
            // It was looked at, in vain.
            if app.due(true).is_none() && !app.is_running {
                return self.fail(request.id, ErrorCode::InternalError, "the app could not be looked at, which is a defect of Millrace");
            }
            if self.waiting.len() >= MOST_WAITING {
                return self.fail(request.id, ErrorCode::ServerCancelled, "too many requests wait for the app to be looked at");
            }
            self.waiting.push(request);
            return Ok(());
        };
        let text = match self.documents.get(&path) {
            Some(document) => document.text.to_string(),
            None => std::fs::read_to_string(&path).unwrap_or_default(),
        };
        let Some(file) = below(&folder, &path) else { return self.respond(request.id, Ok(Json::Null)) };
        let texts = Texts::new(self.texts(&folder));
        let asked = Asked {
            index: &index,
            folder: &folder,
            documents: &self.documents,
            texts: &texts,
            file: OpenFile { path: &file, text: &text },
            params: &request.params,
            takes_versions: self.takes_versions,
        };
        // A panic is a defect, and never ends the server.
        let answer = panic::catch_unwind(AssertUnwindSafe(|| asked.answer(&request.method)));
        match answer {
            Ok(Ok(answer)) => self.respond(request.id, Ok(answer)),
            Ok(Err(Refusal::Failed(why))) => self.fail(request.id, ErrorCode::RequestFailed, why),
            Ok(Err(Refusal::Invalid)) => self.fail(request.id, ErrorCode::InvalidParams, "the parameters name no place"),
            Ok(Err(Refusal::Unknown)) => self.fail(request.id, ErrorCode::MethodNotFound, "the method does not exist here"),
            Err(_) => self.fail(request.id, ErrorCode::InternalError, "the request failed, which is a defect of Millrace"),
        }
    }
}

/// The path of a file below a folder, with slashes.
fn below(folder: &Path, path: &Path) -> Option<String> {
    let below = path.strip_prefix(folder).ok()?;
    let parts: Option<Vec<&str>> = below.components().map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}
