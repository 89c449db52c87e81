//! `millrace grants`: the rights that an app's statements need in its databases.

use std::collections::BTreeMap;

use millrace_bundler::printable;
use millrace_core::{
    app::App,
    ports::Env as _,
    value::{Rows, Value},
};
use millrace_grants::{self as grants, Answer, Asked, Found, Note, Section};
use millrace_native::{cache::CacheChoice, env::Variables, isolate, wait_until::Tasks};
use serde_json::json;

use crate::{
    app::{self, BundledApp},
    cli::Grants,
    output::{CommandError, CommandResult, in_full, note, print, print_json},
};

pub(super) fn run(arguments: &Grants) -> CommandResult {
    if arguments.role.as_deref().is_some_and(|role| role.trim().is_empty() || role.chars().any(char::is_control)) {
        return Err(CommandError::Usage("`--role` is not the name of a role".to_owned()));
    }
    if arguments.role.as_deref().is_some_and(|role| role.eq_ignore_ascii_case("public")) {
        return Err(CommandError::Usage("`--role public` is everybody; name the role that the app logs in as".to_owned()));
    }
    let BundledApp { app, report } = app::load(&arguments.app)?;
    let variables = app::variables(&arguments.app)?;
    let variable = |name: &str| variables.var(name).map(|value| value.expose().to_owned());
    let asked = Asked { app: &app, report: &report, variable: &variable, role: arguments.role.as_deref() };
    if let Some(name) = arguments.adapter.iter().find(|name| app.adapters.iter().all(|adapter| adapter.name != **name)) {
        return Err(CommandError::Usage(format!("`--adapter {name}`: the app has no adapter of this name")));
    }
    let wanted = |found: &BTreeMap<usize, Found>| -> Vec<Section> {
        let is_wanted =
            |section: &Section| arguments.adapter.is_empty() || section.adapters.iter().any(|name| arguments.adapter.contains(name));
        grants::sections(&asked, found).into_iter().filter(is_wanted).collect()
    };
    let mut sections = wanted(&BTreeMap::new());
    if arguments.connect {
        let found = connect(&app, &sections, arguments, variables.clone())?;
        sections = wanted(&found);
    }
    for Note { place, user, text, .. } in sections.iter().flat_map(|section| &section.notes).filter(|note| note.is_missing) {
        note(format_args!("warning: {place} ({user}): {text}"));
    }
    if arguments.json {
        return print_json(&json!({ "sections": grants::json(&sections) }));
    }
    print(grants::text(&printable(&app.name), &sections))
}

/// Asks the databases of the sections that have rights.
fn connect(app: &App, sections: &[Section], arguments: &Grants, variables: Variables) -> CommandResult<BTreeMap<usize, Found>> {
    let asking: Vec<Section> = sections.iter().filter(|section| section.dialect.is_some()).cloned().collect();
    let (compiled, base) = (app.clone(), arguments.app.clone());
    let ask_all = move || async move {
        let tasks = Tasks::new();
        let endpoint = app::endpoint(compiled, base, variables, &CacheChoice::Memory, &tasks);
        let (mut found, mut failures) = (BTreeMap::new(), Vec::new());
        for section in asking {
            let mut answers: Vec<Answer> = Vec::new();
            for question in section.questions() {
                match endpoint.pipeline().look_up(section.index, question.text, &[Value::Text(question.names)]).await {
                    Ok(rows) => answers.push(texts(rows)),
                    Err(error) => {
                        failures.push(format!("adapter `{}` ({}): {}", section.adapters.join("`, `"), section.connector, in_full(error)));
                        break;
                    }
                }
            }
            found.insert(section.index, Found::of(&section, &answers));
        }
        tasks.drained().await;
        (found, failures)
    };
    let (found, failures) = isolate::run(ask_all).map_err(CommandError::wrong)?;
    for failure in &failures {
        note(failure);
    }
    if failures.is_empty() { Ok(found) } else { Err(CommandError::Told) }
}

fn texts(rows: Rows) -> Answer {
    let text = |value: Value| match value {
        Value::Text(text) | Value::Decimal(text) => Some(text),
        Value::I64(number) => Some(number.to_string()),
        Value::U64(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    };
    rows.rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect()
}
