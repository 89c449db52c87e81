//! What a presenter says of data beside the data: notices, UI blocks, rules, actions.

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

use serde_json::{Map, json};

use super::{embedded::embedded, fill::Sight, fit::Cut};
use crate::{
    Json,
    app::{ActionTemplate, Auth, ItemLimit, Presenter, PresenterRule, ShownFor, Tool, UiTemplate},
    fault::{Fault, FaultResult, Stage},
    pipeline::{
        call::run::Run,
        call::scopes,
        content::blocks::{self, Action},
        content::json_text::text_of,
        content::result::ContentBlock,
    },
};

/// The most suggestions of one result that depend on items.
const MOST_ACTIONS: usize = 10;
/// The most UI blocks of one result.
const MOST_UI: usize = 100;

/// What is said of one result.
#[derive(Default)]
pub(super) struct Said {
    pub(super) ui: Vec<ContentBlock>,
    pub(super) rules: Vec<String>,
    pub(super) actions: Vec<Action>,
    known_rules: BTreeSet<String>,
    known_actions: BTreeSet<String>,
}

/// The items of one embedded presenter.
struct Embedded<'a> {
    presenter: &'a Presenter,
    items: Vec<Json>,
    is_list: bool,
}

/// How many rules and actions of items may still come.
struct Room {
    rules: usize,
    actions: usize,
}

impl Said {
    /// Says everything of a result: `items`, a list, which is one item where `is_list` is false.
    ///
    /// # Errors
    /// A UI block that cannot be made.
    pub(super) fn of(run: &Run<'_>, presenter: &Presenter, items: &mut Json, is_list: bool) -> FaultResult<Self> {
        let mut said = Self::default();
        let mut room = Room { rules: presenter.rules_max as usize, actions: MOST_ACTIONS };
        said.presented(run, presenter, items, is_list, true, &mut room)?;
        Ok(said)
    }

    /// `pictures`: whether UI blocks are shown. Those of what is embedded in a list of items would
    /// be one for each.
    fn presented(
        &mut self,
        run: &Run<'_>,
        presenter: &Presenter,
        items: &mut Json,
        is_list: bool,
        pictures: bool,
        room: &mut Room,
    ) -> FaultResult<()> {
        let sight = Sight::of(run, items);
        self.rules(sight, &presenter.rules, items, room);
        if is_list {
            self.rules(sight, &presenter.collection_rules, items, room);
        }
        if pictures {
            for template in &presenter.ui {
                self.ui(sight, template, items, is_list)?;
            }
        }
        for template in &presenter.actions {
            self.actions(run, sight, template, items, room);
        }
        let mut children: Vec<Embedded<'_>> = Vec::new();
        let app = run.pipeline.app();
        if presenter.fields.iter().any(super::embedded::embeds) {
            for item in items.as_array_mut().into_iter().flatten() {
                embedded(app, &presenter.fields, item, &mut |child, item, in_list| {
                    // Taken, and put back when it was looked at: the copy of a large result would
                    // cost more than all else.
                    let taken = core::mem::replace(item, Json::Bool(true));
                    match children.iter_mut().find(|known| core::ptr::eq(known.presenter, child)) {
                        Some(known) => {
                            known.items.push(taken);
                            known.is_list = true;
                        }
                        None => children.push(Embedded { presenter: child, items: [taken].into(), is_list: is_list || in_list }),
                    }
                });
            }
        }
        for Embedded { presenter: child, items: nested, is_list: is_list_of_child } in &mut children {
            let mut nested_items = Json::Array(core::mem::take(nested));
            self.presented(run, child, &mut nested_items, *is_list_of_child, pictures && !is_list, room)?;
            if let Json::Array(looked_at) = nested_items {
                *nested = looked_at.into_iter().rev().collect();
            }
        }
        if !children.is_empty() {
            for item in items.as_array_mut().into_iter().flatten() {
                embedded(app, &presenter.fields, item, &mut |child, item, _| {
                    if let Some(known) = children.iter_mut().find(|known| core::ptr::eq(known.presenter, child)) {
                        *item = known.items.pop().unwrap_or_default();
                    }
                });
            }
        }
        Ok(())
    }

    fn rules(&mut self, sight: Sight<'_>, rules: &[PresenterRule], items: &Json, room: &mut Room) {
        for rule in rules {
            if !rule.per_item {
                if sight.holds(rule.when.as_ref()) {
                    self.rule(sight.render(&rule.text));
                }
                continue;
            }
            for item in items.as_array().into_iter().flatten() {
                if room.rules == 0 {
                    break;
                }
                let sight = sight.at(Some(item));
                if sight.holds(rule.when.as_ref()) && self.rule(sight.render(&rule.text)) {
                    room.rules -= 1;
                }
            }
        }
    }

    /// Adds a rule; `false` where it was said before.
    fn rule(&mut self, rule: String) -> bool {
        let is_new = self.known_rules.insert(rule.clone());
        if is_new {
            self.rules.push(rule);
        }
        is_new
    }

    fn ui(&mut self, sight: Sight<'_>, template: &UiTemplate, items: &Json, is_list: bool) -> FaultResult<()> {
        let items = items.as_array().map(Vec::as_slice).unwrap_or_default();
        let sight = if is_list { sight } else { sight.at(items.first()) };
        let fits = match template.shown_for {
            ShownFor::Any => true,
            ShownFor::Item => !is_list,
            ShownFor::Collection => is_list,
        };
        if !fits || self.ui.len() >= MOST_UI || !sight.holds(template.when.as_ref()) {
            return Ok(());
        }
        let fill = match template.kind.as_str() {
            "markdown" | "table" | "list" | "summary" => Sight::fill_markdown,
            "mermaid" => Sight::fill_mermaid,
            _ => Sight::fill,
        };
        let value = match template.each {
            true => items.iter().map(|item| fill(&sight.at(Some(item)), &template.value)).collect(),
            false => fill(&sight, &template.value),
        };
        let mut block = Map::new();
        block.insert("kind".into(), template.kind.as_str().into());
        block.insert("value".into(), value);
        if !template.columns.is_empty() {
            block.insert("columns".into(), template.columns.as_slice().into());
        }
        let texts = [("language", template.language.clone()), ("title", template.title.as_ref().map(|title| sight.render(title)))];
        for (name, text) in texts.into_iter().chain([("width", template.width.clone())]) {
            block.extend(text.map(|text| (String::from(name), Json::from(text))));
        }
        block.extend(template.priority.as_ref().map(|priority| (String::from("priority"), priority.0.clone())));
        let made = blocks::ui_of_presenter(&Json::Object(block)).map_err(|problem| {
            Fault::new(Stage::Present, "PRESENTER_FAILED", format!("A UI block of the presenter cannot be made: {problem}.")).by_author()
        })?;
        self.ui.push(made);
        Ok(())
    }

    fn actions(&mut self, run: &Run<'_>, sight: Sight<'_>, template: &ActionTemplate, items: &Json, room: &mut Room) {
        let Some(tool) = run.pipeline.app.tools.get(template.tool as usize).filter(|tool| may_call(run, tool)) else { return };
        let items: &[Json] = items.as_array().map(Vec::as_slice).unwrap_or_default();
        if !template.per_item {
            self.action(tool, sight, template);
            return;
        }
        for item in items {
            if room.actions == 0 {
                return;
            }
            if self.action(tool, sight.at(Some(item)), template) {
                room.actions -= 1;
            }
        }
    }

    /// Adds a suggestion; `false` where its condition does not hold, or it was made before.
    fn action(&mut self, tool: &Tool, sight: Sight<'_>, template: &ActionTemplate) -> bool {
        if !sight.holds(template.when.as_ref()) {
            return false;
        }
        let args = template.args.as_ref().map(|args| sight.fill(args));
        let reason = sight.render(&template.reason);
        let is_new = self.known_actions.insert(format!("{} {reason} {}", tool.name, args.as_ref().unwrap_or(&Json::Null)));
        if is_new {
            self.actions.push(Action { tool: tool.name.clone(), reason, args });
        }
        is_new
    }
}

/// Whether the caller can call a tool, as far as names, keys and scopes tell.
fn may_call(run: &Run<'_>, tool: &Tool) -> bool {
    let text_of_auth = |name: &str| run.auth.as_ref().and_then(|auth| auth.get(name)?.as_str());
    let (authorization, granted) = (&run.pipeline.app.authorization, scopes::granted(run.auth.as_ref()));
    let has_scopes = |scopes: &[String]| scopes.iter().all(|scope| authorization.grants(&granted, scope));
    let admits = |auth: &Auth| match auth {
        Auth::AllowAll => true,
        // Its plugin decides, and it is not asked here.
        Auth::Script { .. } | Auth::Any(_) => true,
        // Who came with another plugin may have a token, too.
        Auth::Jwt(policy) => text_of_auth("plugin") != Some(policy.plugin.as_str()) || has_scopes(&policy.scopes),
        Auth::ApiKey(policy) => {
            let is_known = match (text_of_auth("plugin"), text_of_auth("subject")) {
                (Some("api_key"), Some(subject)) => policy.keys.iter().any(|key| key.name == subject),
                // Another plugin, or none, looked at this caller.
                _ => true,
            };
            is_known && (run.auth.is_none() || has_scopes(&policy.scopes))
        }
    };
    tool.auth.as_ref().is_none_or(|auth| auth.entries().iter().any(admits))
        && scopes::required(tool).all(|required| required.missing(authorization, &granted).is_none())
}

/// What tells that items are missing.
pub(super) fn limited(sight: Sight<'_>, limit: &ItemLimit, shown: usize, total: usize, next: Option<&Json>, path: &str) -> ContentBlock {
    let omitted = total - shown;
    let mut text = match &limit.notice {
        Some(notice) => sight.counting(&json!({ "shown": shown, "total": total, "omitted": omitted })).render(notice),
        None if path.is_empty() => format!("⚠️ Dataset truncated. {shown} shown, {omitted} hidden. Use filters to narrow results."),
        None => format!("⚠️ `{path}` truncated. {shown} shown, {omitted} hidden. Use filters to narrow results."),
    };
    if let (Some(cursor), Some(next)) = (&limit.cursor, next) {
        text.push_str(&format!(" To get the next ones, call the tool again with `{}: {next}`.", cursor.input));
    }
    blocks::notice(&text)
}

/// The same for a nested list.
pub(super) fn cut(sight: Sight<'_>, cut: &Cut<'_>) -> ContentBlock {
    limited(sight, cut.limit, cut.shown, cut.total, None, &cut.path)
}

/// What tells that items were left out because they did not fit.
pub(super) fn dropped(count: usize) -> ContentBlock {
    let (what, verb) = if count == 1 { ("item", "was") } else { ("items", "were") };
    blocks::notice(&format!("⚠️ {count} {what} {verb} left out, because the data does not match the schema. This is a defect of the tool."))
}

/// The value of a cursor: as the input that takes it would be written. A text in which something
/// hidden was made visible is another one than the row's, and would find other rows.
pub(super) fn cursor_value(item: &Json, field: &str) -> Option<Json> {
    let is_usable = |text: &str| !text.is_empty() && !text.contains("[U+");
    item.get(field).filter(|value| !value.is_null() && is_usable(&text_of(value))).cloned()
}
