//! The keys of Hyperterse 2.x, and what becomes of each: the table for somebody who brings an app
//! along.

use std::fmt::Write as _;

use crate::{
    adapter::ADAPTER,
    field::{KeyStatus, Record, Shape},
    prompt::PROMPT,
    resource::RESOURCE,
    root::ROOT,
    tool::TOOL,
};

/// A kind of file, the table that reads it, and its keys in Hyperterse, each with what differs.
type File = (&'static str, Option<&'static Record>, &'static [(&'static str, &'static str)]);

const NO_AGENTS: &str = "Millrace has no agents. The app is built without them.";
const OTHER_BUILD: &str = "The options of `millrace build` say where the result goes.";

static FILES: [File; 6] = [
    (
        "`.hyperterse`",
        Some(&ROOT),
        &[
            ("name", ""),
            ("version", ""),
            ("root", ""),
            ("tools.directory", ""),
            ("tools.search.limit", ""),
            ("tools.cache.enabled", "Only for statements that read."),
            ("tools.cache.ttl", ""),
            ("adapters.directory", ""),
            ("prompts", ""),
            ("prompts.directory", ""),
            ("resources", ""),
            ("resources.directory", ""),
            ("resource_templates", "In `millrace.yaml`, templates are in `resources`."),
            ("agents.directory", NO_AGENTS),
            ("agents.tool_access.mode", NO_AGENTS),
            ("agents.tool_access.tools", NO_AGENTS),
            ("server.port", "A variable is read when the server starts."),
            ("server.log_level", "The option `--log` and the variable `MILLRACE_LOG` say how much is logged."),
            ("build.out", OTHER_BUILD),
            ("build.out_dir", OTHER_BUILD),
            ("build.clean_dir", OTHER_BUILD),
        ],
    ),
    (
        "`app/adapters/**/*.terse`",
        Some(&ADAPTER),
        &[
            ("name", ""),
            (
                "connector",
                "A statement for `mongodb` is text in JSON, `{\"database\": …, \"command\": …}`, or a map; its commands are those of [`mongodb`](../connectors/mongodb.md). Results are those of each connector: from `redis`, a row for each element.",
            ),
            ("connection_string", ""),
            ("options", ""),
        ],
    ),
    (
        "`app/tools/**/config.terse`",
        Some(&TOOL),
        &[
            ("name", ""),
            ("description", ""),
            ("use", ""),
            (
                "statement",
                "Values are bound, also those in quotes and variables, instead of becoming part of the text. A variable needs `| ident` as a name, and `| raw` as any other text.",
            ),
            ("inputs.type", ""),
            ("inputs.description", ""),
            ("inputs.optional", ""),
            ("inputs.default", ""),
            ("handler", ""),
            ("mappers.input", ""),
            ("mappers.output", ""),
            ("auth.plugin", "`allow_all` and `api_key`; a plugin in Go becomes a script."),
            ("auth.policy", "Its variables are filled in."),
            ("cache.enabled", ""),
            ("cache.ttl", ""),
        ],
    ),
    (
        "`app/prompts/**/*.terse`",
        Some(&PROMPT),
        &[
            ("name", ""),
            ("title", ""),
            ("description", ""),
            ("arguments.title", ""),
            ("arguments.description", ""),
            ("arguments.required", "Enforced. The placeholder of an argument that is absent stays in the text."),
            ("arguments.completion", ""),
            ("messages.role", "MCP has no role `system`; such a message is sent as `user`."),
            ("messages.text", ""),
        ],
    ),
    (
        "`app/resources/**/config.terse`",
        Some(&RESOURCE),
        &[
            ("name", ""),
            ("uri", ""),
            ("uri_template", ""),
            ("title", ""),
            ("description", ""),
            ("mime_type", ""),
            ("text", ""),
            ("file", "Embedded when the app is built."),
            ("text_template", "Values are percent-decoded."),
            ("file_template", "The files that it can name are embedded when the app is built. Values are percent-decoded."),
            ("arguments.title", ""),
            ("arguments.description", ""),
            ("arguments.required", ""),
            ("arguments.completion", ""),
        ],
    ),
    (
        "`app/agents/**/config.terse`",
        None,
        &[
            ("name", NO_AGENTS),
            ("description", NO_AGENTS),
            ("instruction", NO_AGENTS),
            ("model.provider", NO_AGENTS),
            ("model.model", NO_AGENTS),
            ("model.options", NO_AGENTS),
            ("tool_access.mode", NO_AGENTS),
            ("tool_access.tools", NO_AGENTS),
        ],
    ),
];

/// How its page begins.
pub(super) const INTRODUCTION: &str = "# Apps of Hyperterse\n\nTo run an app that was written for Hyperterse, build it as it is: Millrace reads \
    `.hyperterse`. Beside its tools the app has `search` and `execute`, which takes `{ tool, inputs }`, unless it has a tool of that name; \
    `tools.expose: direct` turns both off.\n\nChange two things in its scripts, of which `check` names each place. A host that `fetch` asks must \
    be in `fetch.allow` of `.hyperterse`. `fetch`, `json()` and `text()` return promises, which need `await`.\n\nThe tables have the keys of \
    Hyperterse 2.x, and what Millrace does with them.\n\n<!-- Made from the bundler's tables by `UPDATE_EXPECT=1 cargo test --workspace \
    --test bundler reference`. -->\n";

/// Writes the tables.
pub(super) fn table(text: &mut String) {
    for (title, record, keys) in &FILES {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {title}\n\n| key | is read | as |\n|---|---|---|\n");
        for (key, note) in *keys {
            let is_read = if is_read(*record, key) { "yes" } else { "no" };
            let _ = writeln!(text, "| `{key}` | {is_read} | {} |", note.replace('|', "\\|"));
        }
    }
}

/// Whether the tables have the key, and read what is in it.
fn is_read(record: Option<&'static Record>, key: &str) -> bool {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let Some(field) = record.and_then(|record| record.fields.iter().find(|field| field.key == first)) else { return false };
    match (field.status, rest) {
        (KeyStatus::Imported, None) => !matches!(field.shape, Shape::Any),
        (_, None) => true,
        (_, Some(rest)) => inner(&field.shape, rest),
    }
}

fn inner(shape: &'static Shape, key: &str) -> bool {
    match shape {
        Shape::Record(record) => is_read(Some(record), key),
        Shape::List(element) | Shape::Map(element) => inner(element, key),
        Shape::OneOf(shapes) => shapes.iter().any(|shape| inner(shape, key)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_hyperterse_is_read_or_has_a_reason() {
        for (title, record, keys) in &FILES {
            for (key, note) in *keys {
                assert!(is_read(*record, key) || !note.is_empty(), "{title}: {key}");
            }
        }
    }
}
