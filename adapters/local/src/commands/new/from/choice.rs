//! Which tables get tools, and what is said of those that were chosen and of what was left out.

use super::{
    schema::{Found, NumberedTable},
    table_tools::TableTools,
    yaml,
};
use crate::{
    app::count,
    output::{CommandError, CommandResult, print},
};

/// How many tables get tools where nobody chose: a model reads the list of all tools.
const MOST_TABLES: usize = 20;

/// The tables that were asked for, or the first, tables before views; and the names of the others.
///
/// # Errors
/// The database has no table with a name that was asked for.
pub(super) fn choose(all: Vec<NumberedTable>, wanted: &[String]) -> CommandResult<(Vec<NumberedTable>, Vec<String>)> {
    if wanted.is_empty() {
        // Those outside of the search path are chosen by name only.
        let (mut own, far): (Vec<_>, Vec<_>) = all.into_iter().partition(|(table, _)| table.schema.is_none());
        own.sort_by_key(|(table, _)| table.rank);
        let mut own = own.into_iter();
        let chosen = own.by_ref().take(MOST_TABLES).collect();
        return Ok((chosen, own.chain(far).map(|(table, _)| table.shown()).collect()));
    }
    let mut places = Vec::new();
    for name in wanted {
        let exact = all.iter().position(|(table, _)| table.shown() == *name);
        let mut similar = all.iter().enumerate().filter(|(_, (table, _))| table.shown().eq_ignore_ascii_case(name)).map(|(at, _)| at);
        let place = exact.or_else(|| similar.next().filter(|_| similar.next().is_none())).ok_or_else(|| {
            let names: Vec<String> = all.iter().take(MOST_TABLES).map(|(table, _)| yaml::in_comment(&table.shown())).collect();
            let more = if all.len() > MOST_TABLES { ", …" } else { "" };
            CommandError::Usage(format!("the database has no table or view `{name}`; it has: {}{more}", names.join(", ")))
        })?;
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let mut all: Vec<Option<NumberedTable>> = all.into_iter().map(Some).collect();
    let chosen = places.into_iter().filter_map(|place| all.get_mut(place)?.take()).collect();
    Ok((chosen, all.into_iter().flatten().map(|(table, _)| table.shown()).collect()))
}

/// Says which columns seem to be personal, and what was left out.
///
/// # Errors
/// Nothing can be printed.
pub(super) fn tell(found: &Found, written: &[&TableTools<'_>], write: bool) -> CommandResult {
    let of_table = |table: &&TableTools<'_>| {
        let name = table.shown();
        table.personal().into_iter().map(|column| yaml::in_comment(&format!("{name}.{column}"))).collect::<Vec<_>>()
    };
    let personal: Vec<String> = written.iter().flat_map(of_table).collect();
    if !personal.is_empty() {
        print(format_args!(
            "personal, by the names of the columns: {}; `--hide COLUMN,TABLE.COLUMN` makes an app without them",
            named(&personal)
        ))?;
    }
    for (table, why) in &found.unreadable {
        print(format_args!("left out {}: {why}", yaml::in_comment(table)))?;
    }
    if !found.others.is_empty() {
        let names: Vec<String> = found.others.iter().map(|name| yaml::in_comment(name)).collect();
        let how = if found.is_choice {
            format!(" (the first {} were chosen: tables, then tables that inherit from others, then views)", found.tables.len())
        } else {
            String::new()
        };
        print(format_args!(
            "left out {}: {}{how}; choose with `--tables NAME,NAME`",
            count(found.others.len(), "other table"),
            named(&names)
        ))?;
    }
    if !write {
        print("the tools only read; with `--write` there are tools that create and update rows, too")?;
    }
    Ok(())
}

/// The first of many names.
fn named(names: &[String]) -> String {
    let more = if names.len() > MOST_TABLES { ", …" } else { "" };
    format!("{}{more}", names.iter().take(MOST_TABLES).cloned().collect::<Vec<_>>().join(", "))
}
