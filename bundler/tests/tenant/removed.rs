//! Statements that keep to the tenant, without each of their conditions in turn.
//!
//! `⟦a:text⟧` is a piece without which what is marked `‹a:table›` could be another tenant's; it is
//! replaced by a condition that always holds, or by what stands after `→`. `@` says that the piece
//! itself is what the problem points at.

#![allow(clippy::expect_used, reason = "what fails here is the test")]

use super::*;

const STATEMENTS: &[(Dialect, &str)] = &[
    (Sqlite, "SELECT *\nFROM ‹o:orders› o\nWHERE o.id = 1\n  AND ⟦o:o.org_id = {T}⟧"),
    (
        Sqlite,
        "SELECT *\nFROM ‹o:orders› o\n  JOIN ‹i:items› i ON i.order_id = o.id AND ⟦i:i.org_id = {T}⟧\nWHERE ⟦o:o.org_id = {T}⟧ AND o.id = 1",
    ),
    (
        Postgres,
        "SELECT *\nFROM ‹o:orders› o\n  LEFT JOIN ‹i:items› i ON i.order_id = o.id\n    AND ⟦i:i.org_id = o.org_id⟧\n\
         WHERE ⟦o,i:o.org_id = {T}⟧\nORDER BY o.id",
    ),
    (Postgres, "SELECT * FROM ‹i:items› i\nRIGHT JOIN ‹o:orders› o ON ⟦i:i.org_id = {T}⟧\nWHERE ⟦o:{T} = o.org_id⟧"),
    (
        Sqlite,
        "WITH mine AS (\n  SELECT * FROM ‹a:orders› WHERE ⟦a:org_id = {T}⟧\n), lines AS (\n  SELECT * FROM ‹b:items›\n  WHERE ⟦b:org_id = {T}⟧\n)\n\
         SELECT * FROM mine JOIN lines ON lines.order_id = mine.id\nWHERE EXISTS (SELECT 1 FROM ‹c:docs› d WHERE d.id = mine.id AND ⟦c:d.org_id = {T}⟧)",
    ),
    (
        Postgres,
        "SELECT id FROM ‹a:orders› WHERE ⟦a:org_id = {T}⟧\nUNION ALL\nSELECT id FROM ‹b:items› WHERE ⟦b:org_id = {T}⟧\n\
         EXCEPT\nSELECT id FROM ‹c:docs› WHERE (⟦c:org_id = {T}⟧ AND id > 1)",
    ),
    (
        Postgres,
        "SELECT o.id,\n  (SELECT count(*) FROM ‹a:items› i WHERE ⟦a:i.org_id = {T}⟧ AND i.order_id = o.id) AS n\nFROM ‹o:orders› o,\n\
         LATERAL (SELECT * FROM ‹b:docs› d\n  WHERE d.id = o.id AND ⟦b:d.org_id = {T}⟧) d\nWHERE ⟦o:o.org_id = {T}⟧\n\
         ORDER BY (SELECT max(n) FROM ‹c:items› WHERE ⟦c:org_id = {T}⟧)",
    ),
    (
        Postgres,
        "WITH RECURSIVE tree AS (\n  SELECT id FROM ‹a:orders› WHERE ⟦a:org_id = {T}⟧ AND id = {X}\n  UNION ALL\n\
         SELECT o.id FROM ‹b:orders› o JOIN tree t ON o.parent = t.id AND ⟦b:o.org_id = {T}⟧\n)\nSELECT * FROM tree",
    ),
    (Sqlite, "INSERT INTO ‹t:orders› (⟦t:org_id, →⟧item)\nVALUES ({T}, {X})"),
    (Sqlite, "INSERT INTO orders (item, org_id)\nVALUES ({X}, ⟦@:{T}→NULL⟧),\n  ('b', ⟦@:{T}→{X}⟧),\n  ('c', ⟦@:{T}→'north'⟧)"),
    (Postgres, "INSERT INTO orders (item, org_id)\nSELECT item, ⟦@:{T}→org_id⟧\nFROM ‹i:items› WHERE ⟦i:org_id = {T}⟧"),
    (
        Postgres,
        "INSERT INTO ‹t:orders› AS o (item, org_id) VALUES ({X}, {T})\nON CONFLICT (item) DO UPDATE SET n = 1\nWHERE ⟦t:o.org_id = {T}⟧",
    ),
    (Sqlite, "INSERT INTO ‹t:orders› (item, org_id) VALUES ({X}, {T})\nON CONFLICT (⟦t:org_id, →⟧item) DO UPDATE SET n = 1"),
    (
        Sqlite,
        "UPDATE ‹o:orders›\nSET item = {X},\n  n = (SELECT count(*) FROM ‹i:items› i WHERE ⟦i:i.org_id = {T}⟧)\nWHERE id = 1\n  AND ⟦o:org_id = {T}⟧",
    ),
    (
        Postgres,
        "UPDATE ‹o:orders› o SET n = i.n\nFROM ‹i:items› i\nWHERE i.order_id = o.id AND ⟦o:o.org_id = i.org_id⟧\nAND ⟦o,i:i.org_id = {T}⟧",
    ),
    (Postgres, "DELETE FROM ‹o:orders› o\nUSING ‹i:items› i\nWHERE ⟦i:i.org_id = {T}⟧\nAND ⟦o:o.org_id = {T}⟧ AND i.order_id = o.id"),
    (
        Postgres,
        "WITH gone AS (\n  DELETE FROM ‹i:items› WHERE ⟦i:org_id = {T}⟧ RETURNING *\n)\nINSERT INTO orders (org_id, item)\nSELECT ⟦@:{T}→org_id⟧, item FROM gone",
    ),
    (
        Postgres,
        "MERGE INTO ‹o:orders› o\nUSING (SELECT * FROM ‹i:items› WHERE ⟦i:org_id = {T}⟧) i\nON i.id = o.id AND ⟦o:o.org_id = {T}⟧\n\
         WHEN MATCHED THEN UPDATE SET n = i.n\nWHEN NOT MATCHED THEN INSERT (id, org_id)\nVALUES (i.id, ⟦@:{T}→i.org⟧)",
    ),
];

enum Part {
    Text(String),
    Table(String, String),
    Piece(String, String, String),
}

fn parts(text: &str) -> Vec<Part> {
    let text = text.replace("{T}", "{{ auth.claims.org }}").replace("{X}", "{{ inputs.x }}");
    let (mut parts, mut rest) = (Vec::new(), text.as_str());
    while let Some(start) = rest.find(['⟦', '‹']) {
        parts.push(Part::Text(rest[..start].to_owned()));
        let is_piece = rest[start..].starts_with('⟦');
        let end = rest.find(if is_piece { '⟧' } else { '›' }).expect("a mark is closed");
        let (label, inner) = rest[start + 3..end].split_once(':').expect("a mark has a label");
        parts.push(if is_piece {
            let (own, instead) = inner.split_once('→').unwrap_or((inner, "1 = 1"));
            Part::Piece(label.to_owned(), own.to_owned(), instead.to_owned())
        } else {
            Part::Table(label.to_owned(), inner.to_owned())
        });
        rest = &rest[end + 3..];
    }
    parts.push(Part::Text(rest.to_owned()));
    parts
}

/// The statement without one piece, and the lines of what that opens.
fn without(parts: &[Part], removed: Option<usize>) -> (String, BTreeSet<usize>, BTreeSet<String>) {
    let label = match removed.map(|removed| &parts[removed]) {
        Some(Part::Piece(label, ..)) => label.as_str(),
        _ => "",
    };
    let (mut text, mut lines, mut places) = (String::new(), BTreeSet::new(), BTreeSet::new());
    for (at, part) in parts.iter().enumerate() {
        let line = text.matches('\n').count() + 1;
        match part {
            Part::Text(own) => text.push_str(own),
            Part::Table(name, table) => {
                if label.split(',').any(|label| label == name) {
                    lines.insert(line);
                    places.insert(table.clone());
                }
                text.push_str(table);
            }
            Part::Piece(name, own, instead) => {
                if removed == Some(at) {
                    if name == "@" {
                        lines.insert(line);
                        let end = if instead.starts_with("{{") { instead.len() } else { instead.find('.').unwrap_or(instead.len()) };
                        places.insert(instead[..end].to_owned());
                    }
                    text.push_str(instead);
                } else {
                    text.push_str(own);
                }
            }
        }
    }
    (text, lines, places)
}

#[test]
fn without_any_of_its_conditions_a_statement_does_not_build() {
    let mut removals = 0;
    for (dialect, statement) in STATEMENTS {
        let parts = parts(statement);
        let (whole, ..) = without(&parts, None);
        assert_eq!(problems(&whole, *dialect, &listed()), [], "{whole}");
        for at in (0..parts.len()).filter(|&at| matches!(parts[at], Part::Piece(..))) {
            let (text, lines, places) = without(&parts, Some(at));
            assert!(!lines.is_empty(), "{text}: the piece opens nothing");
            let found = problems(&text, *dialect, &listed());
            let found_lines: BTreeSet<usize> = found.iter().map(|(range, _)| text[..range.start].matches('\n').count() + 1).collect();
            let found_places: BTreeSet<String> = found.iter().map(|(range, _)| text[range.clone()].to_owned()).collect();
            assert_eq!((found_lines, found_places), (lines, places), "{text}\n{found:?}");
            removals += 1;
        }
    }
    assert_eq!(removals, 38);
}
