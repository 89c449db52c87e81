//! What is computed of a table: how many rows it has, and the sums of its numbers.

use super::super::{schema::Kind, yaml::word};
use super::{Body, Field, Filters, Returned, TableTools, allowed, listed, names};

/// The most numbers that are summed up, and dates and other columns that they are grouped by.
const MOST_NUMBERS: usize = 12;
const MOST_DATES: usize = 2;
const MOST_GROUPS: usize = 8;
/// The parts of a date, and how many characters each has.
const PARTS: [(&str, u8); 3] = [("day", 10), ("month", 7), ("year", 4)];

impl TableTools<'_> {
    pub(super) fn count(&self) -> String {
        let Filters { conditions, inputs } = self.filters(&[]);
        let mut lines = vec!["SELECT count(*) AS count".to_owned(), format!("FROM {}", self.table_name())];
        lines.extend(conditions);
        let description = match inputs.is_empty() {
            true => format!("Return how many {} there are.", self.rows()),
            false => format!("Count {}, all or those that fit the filters.", self.rows()),
        };
        let rest = allowed("It counts all rows that the filters leave.") + "returns: { schema: { count: { type: int } } }\n";
        self.file(&description, "", &Body::Statement(lines), &inputs, &rest)
    }

    /// `None` for a table without numbers that can be summed up, or without anything to group them
    /// by.
    pub(super) fn sum(&self) -> Option<String> {
        let (numbers, groups) = (self.numbers(), self.groups());
        let Filters { conditions, mut inputs } = self.filters(&["by", "column", "limit", "offset"]);
        let (first, _) = groups.first()?;
        let choice = |what: &str, names: &[String], first: &str| {
            format!("type: string, enum: [{}], default: {}, description: \"{what}\"", names.join(", "), word(first))
        };
        let names: Vec<String> = groups.iter().map(|(name, _)| word(name)).collect();
        let mut own = vec![("by".to_owned(), choice("What to group the rows by", &names, first))];
        let number = match numbers.as_slice() {
            [] => return None,
            [only] => only.sql.clone(),
            [first, ..] => {
                let names: Vec<String> = numbers.iter().map(|field| word(&field.name)).collect();
                own.push(("column".to_owned(), choice("What to sum up", &names, &first.name)));
                "{{ inputs.column | ident }}".to_owned()
            }
        };
        own.append(&mut inputs);
        let mut lines = vec!["SELECT CASE {{ inputs.by }}".to_owned()];
        lines.extend(groups.iter().map(|(name, sql)| format!("    WHEN '{name}' THEN {sql}")));
        lines.push("  END AS value,".to_owned());
        lines.push(format!("  sum({number}) AS sum, count(*) AS count"));
        lines.push(format!("FROM {}", self.table_name()));
        lines.extend(conditions);
        lines.extend(["GROUP BY 1".to_owned(), "ORDER BY 1".to_owned()]);
        let words: Vec<String> = numbers.iter().map(|field| names::in_words(&field.name)).collect();
        let description = format!("Sum up the {} of {}, and count them, in groups.", listed(&words), self.rows());
        let returns = "schema: { value: { type: string, nullable: true }, sum: { type: float, nullable: true }, count: { type: int } }";
        let returned = Returned { scan: allowed("It adds up all rows that the filters leave."), by: returns.to_owned() };
        Some(self.pages(&description, lines, own, returned))
    }

    /// The columns of numbers that are amounts, by what they are not: a key, or a reference.
    fn numbers(&self) -> Vec<&Field<'_>> {
        let is_id = |field: &Field<'_>| {
            let words = names::in_words(&field.name);
            words.rsplit(' ').next().is_some_and(|last| ["id", "year", "code", "number", "no"].contains(&last))
        };
        let is_number = |kind| matches!(kind, Kind::Int | Kind::BigInt | Kind::Float | Kind::Decimal);
        let amounts = self.fields.iter().enumerate().filter(|(at, field)| {
            is_number(field.column.kind) && field.is_own() && field.refers_to.is_none() && !self.key.contains(at) && !is_id(field)
        });
        amounts.map(|(_, field)| field).take(MOST_NUMBERS).collect()
    }

    /// What numbers are grouped by: the name of each, and an expression that is a text.
    fn groups(&self) -> Vec<(String, String)> {
        let text = |field: &Field<'_>| format!("CAST({} AS {})", field.sql, self.dialect.facts().text_type);
        let own = |is_one: fn(&Field<'_>) -> bool| self.fields.iter().filter(move |field| field.is_own() && is_one(field));
        let dates = own(|field| field.column.kind.is_time()).take(MOST_DATES);
        let parts = dates.flat_map(|field| {
            PARTS.map(|(part, length)| (format!("{}_{part}", field.name), format!("substr({}, 1, {length})", text(field))))
        });
        let few = own(|field| field.refers_to.is_some() || field.column.kind == Kind::Boolean || has_few_values(field));
        let texts = own(|field| field.refers_to.is_none() && field.column.kind == Kind::Text && !has_few_values(field));
        let others = few.chain(texts).take(MOST_GROUPS).map(|field| (field.name.clone(), text(field)));
        let mut groups: Vec<(String, String)> = Vec::new();
        for (name, sql) in parts.chain(others) {
            if !groups.iter().any(|(known, _)| *known == name) {
                groups.push((name, sql));
            }
        }
        // By months most want it, and not by days.
        if let Some(at) = groups.iter().position(|(name, _)| name.ends_with("_month")) {
            groups.swap(0, at);
        }
        groups
    }
}

fn has_few_values(field: &Field<'_>) -> bool {
    field.column.kind == Kind::Text && !field.column.values.is_empty()
}
