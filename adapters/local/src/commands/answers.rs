//! What `millrace call` answers a tool that asks: what the command line says, else what somebody at
//! the terminal types.

use std::io::{self, BufRead as _, IsTerminal as _};

use millrace_core::{Json, pipeline::Rounds};
use serde_json::{Map, json};

use crate::output::{CommandError, CommandResult, note};

/// What is sent back in the next round.
pub(super) struct Round {
    pub(super) capabilities: Map<String, Json>,
    pub(super) responses: Option<Map<String, Json>>,
    pub(super) state: Option<String>,
}

impl Default for Round {
    fn default() -> Self {
        let capabilities = ["elicitation", "sampling", "roots"].map(|name| (name.to_owned(), json!({})));
        Self { capabilities: capabilities.into_iter().collect(), responses: None, state: None }
    }
}

impl Round {
    pub(super) fn rounds(&self) -> Rounds<'_> {
        Rounds { capabilities: Some(&self.capabilities), responses: self.responses.as_ref(), state: self.state.as_deref() }
    }
}

/// `--answer`
pub(super) struct Answers {
    /// `accept`, `decline` or `cancel`.
    all: Option<&'static str>,
    /// By the key of the request.
    each: Map<String, Json>,
}

impl Answers {
    pub(super) fn of(words: &[String]) -> CommandResult<Self> {
        let mut answers = Self { all: None, each: Map::new() };
        for word in words {
            if let Some(action) = ACTIONS.into_iter().find(|action| action == word) {
                answers.all = Some(action);
                continue;
            }
            let Some((key, text)) = word.split_once(":=") else {
                return Err(CommandError::Usage(format!("`{word}` is not an answer; write `accept`, `decline`, `cancel` or `KEY:=JSON`")));
            };
            let value = serde_json::from_str(text)
                .map_err(|error| CommandError::Usage(format!("the answer `{key}` is not valid JSON: {error}")))?;
            answers.each.insert(key.to_owned(), value);
        }
        Ok(answers)
    }

    /// The answers to what a tool asks.
    ///
    /// # Errors
    /// Nobody answers.
    pub(super) fn give(&self, requests: &Map<String, Json>) -> CommandResult<Map<String, Json>> {
        requests.iter().map(|(key, request)| Ok((key.clone(), self.one(key, request)?))).collect()
    }

    fn one(&self, key: &str, request: &Json) -> CommandResult<Json> {
        let is_question = request["method"] == "elicitation/create";
        if let Some(value) = self.each.get(key) {
            // A whole answer says what is done with it.
            let is_whole = !is_question || value.get("action").is_some();
            return Ok(if is_whole { value.clone() } else { json!({ "action": "accept", "content": value }) });
        }
        let params = &request["params"];
        let fields = params["requestedSchema"]["properties"].as_object();
        let has_fields = fields.is_some_and(|fields| !fields.is_empty());
        if is_question && let Some(action) = self.all.filter(|action| *action != "accept" || !has_fields) {
            return Ok(if action == "accept" { json!({ "action": action, "content": {} }) } else { json!({ "action": action }) });
        }
        let message = params["message"].as_str().unwrap_or_default();
        if !is_question || !io::stdin().is_terminal() {
            let question = if message.is_empty() { request["method"].as_str().unwrap_or_default() } else { message };
            let help = match (is_question, has_fields) {
                (true, false) => "answer with `--answer accept` or `--answer decline`".to_owned(),
                (true, true) => format!("answer with `--answer '{key}:={{…}}'`, an object of {}", names(fields)),
                (false, _) => format!("answer with `--answer '{key}:=JSON'`"),
            };
            return Err(CommandError::Wrong(format!("the tool asks: {question}\n{help}")));
        }
        note(format_args!("the tool asks: {message}"));
        let mut content = Map::new();
        for (name, schema) in fields.into_iter().flatten() {
            let about = schema["description"].as_str().map(|text| format!(" ({text})")).unwrap_or_default();
            let typed = read_line(&format!("{name}{about}:"))?;
            if !typed.is_empty() {
                let is_text = schema["type"] == "string";
                let value = if is_text { None } else { serde_json::from_str(&typed).ok() };
                content.insert(name.clone(), value.unwrap_or_else(|| typed.into()));
            }
        }
        Ok(match read_line("accept? [y/N]")?.to_lowercase().as_str() {
            "y" | "yes" => json!({ "action": "accept", "content": content }),
            _ => json!({ "action": "decline" }),
        })
    }
}

/// What can be done with a question.
const ACTIONS: [&str; 3] = ["accept", "decline", "cancel"];

fn names(fields: Option<&Map<String, Json>>) -> String {
    let names: Vec<String> = fields.into_iter().flat_map(|fields| fields.keys()).map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn read_line(prompt: &str) -> CommandResult<String> {
    note(prompt);
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(CommandError::wrong)?;
    Ok(line.trim().to_owned())
}
