//! `millrace explain`: what a call of one tool goes through, and where each setting came from.

use millrace_bundler::{Origin, sign_in_summary};
use millrace_core::{
    Json,
    app::App,
    pipeline::stage::{Step, plan},
};
use serde_json::json;

use crate::{
    app,
    cli::Explain,
    output::{CommandError, CommandResult, print, print_json},
};

pub(super) fn run(arguments: &Explain) -> CommandResult {
    let bundled = app::load_for(&arguments.app, &arguments.tool)?;
    let tool = bundled.app.tools.iter().find(|tool| tool.name == arguments.tool).ok_or_else(|| unknown(&bundled.app, &arguments.tool))?;
    let steps = plan(&bundled.app, tool);
    let settings: Vec<&Origin> = bundled.report.origins.iter().filter(|origin| origin.tool == tool.name).collect();
    if arguments.json {
        return print_json(&json!({
            "tool": tool.name,
            "sign_in": sign_in_summary(&bundled.app),
            "stages": steps.iter().map(step).collect::<Vec<_>>(),
            "settings": settings.iter().map(|origin| setting(origin)).collect::<Vec<_>>(),
        }));
    }
    let mut lines = vec![format!("`{}` ({})", tool.name, tool.path), String::new()];
    for step in &steps {
        lines.push(format!("{:>14}  {}", step.stage.as_str(), step.does));
        let statement = step.statement.iter().flat_map(|text| text.trim().lines());
        lines.extend(statement.chain(step.details.iter().map(String::as_str)).map(|line| format!("{:>14}    {line}", "")));
    }
    if let Some(sign_in) = sign_in_summary(&bundled.app) {
        lines.extend([String::new(), format!("sign-in: {sign_in}")]);
    }
    lines.push(String::new());
    let width = |part: fn(&Origin) -> &str| settings.iter().map(|origin| part(origin).chars().count()).max().unwrap_or(0).min(48);
    let (name, value) = (width(|origin| &origin.setting), width(|origin| &origin.value));
    lines.extend(settings.iter().map(|origin| format!("  {:name$}  {:value$}  {}", origin.setting, origin.value, origin.place)));
    print(lines.join("\n").trim_end())
}

fn step(step: &Step) -> Json {
    let mut object = json!({ "stage": step.stage.as_str(), "applies": step.applies, "does": step.does, "details": step.details });
    if let Some(statement) = &step.statement {
        object["statement"] = statement.as_str().into();
    }
    object
}

fn setting(origin: &Origin) -> Json {
    json!({ "setting": origin.setting, "value": origin.value, "place": origin.place })
}

fn unknown(app: &App, name: &str) -> CommandError {
    let names: Vec<&str> = app.tools.iter().map(|tool| tool.name.as_str()).collect();
    let known = if names.is_empty() { "it has none".to_owned() } else { format!("it has: {}", names.join(", ")) };
    CommandError::Wrong(format!("the app has no tool `{name}`; {known}"))
}
