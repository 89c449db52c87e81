//! The table, as `docs/client-checks.md` shows it.

use std::fmt::Write as _;

use super::table::{CLIENTS, Construct, ROWS};

/// The table of clients in Markdown: what each does to which construct, and where that is known
/// from.
#[must_use]
pub fn reference_markdown() -> String {
    let mut text = String::from("| construct | client | what happens | known from | seen |\n|---|---|---|---|---|\n");
    for construct in Construct::ALL {
        for row in ROWS.iter().filter(|row| row.construct == *construct) {
            let name = CLIENTS.iter().find(|client| client.id == row.client).map_or(row.client, |client| client.name);
            let most = match construct {
                Construct::CallTime => format!(" (more than {} s)", row.most / 1000),
                Construct::AnswerLength => format!(" (more than {} bytes)", row.most),
                Construct::ToolCount => format!(" (more than {})", row.most),
                _ if row.most == 0 => String::new(),
                _ if row.prefix.is_empty() => format!(" (more than {} characters)", row.most),
                _ => format!(" (more than {} characters with `{}`)", row.most, row.prefix.replace("{}", "SERVER")),
            };
            let named = if row.when_named { ", told only who names the client" } else { "" };
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "| {}{most} | {name} (`{}`) | {}{named} | {} | {} |",
                construct.what(),
                row.client,
                row.happens,
                row.source,
                row.seen
            );
        }
    }
    text
}
