//! The table holds together, and clients are named.

use std::collections::BTreeSet;

use super::{
    table::{CLIENTS, ROWS},
    *,
};

#[test]
fn every_name_of_a_client_means_one() {
    let ids: BTreeSet<&str> = CLIENTS.iter().map(|client| client.id).collect();
    assert_eq!(ids.len(), CLIENTS.len());
    assert!(CLIENTS.windows(2).all(|pair| pair[0].id < pair[1].id) && NAMES.is_sorted());
    for id in &ids {
        assert!(NAMES.contains(id), "{id}");
        assert!(ROWS.iter().any(|row| row.client == *id), "{id} has no row");
    }
    for name in NAMES {
        let selection = Selection { named: Some(vec![(*name).to_owned()]) };
        assert!(ROWS.iter().any(|row| selection.has(row)), "{name}");
        assert!(ids.contains(name) || ids.iter().filter(|id| id.starts_with(&format!("{name}-"))).count() > 1, "{name}");
    }
    for row in ROWS {
        assert!(ids.contains(row.client), "{}", row.client);
        assert!(Construct::ALL.contains(&row.construct));
    }
    for construct in Construct::ALL {
        assert!(ROWS.iter().any(|row| row.construct == *construct), "{construct:?} has no row");
    }
}

#[test]
fn clients_of_one_fate_are_named_together() {
    let of = |named: Option<&[&str]>, construct| {
        let named = named.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        costs(&Selection { named }.rows(construct), |_| String::new())
    };
    let all = "all tools of the server are lost in AutoGen and Semantic Kernel; the tool is dropped in DSPy; calls are rejected in \
               Cursor; the schema is cut short in Copilot Studio";
    assert_eq!(of(None, Construct::TypeList), all);
    assert_eq!(of(Some(&["cursor"]), Construct::TypeList), "calls are rejected in Cursor");
    assert_eq!(of(Some(&["copilot"]), Construct::TypeList), "the schema is cut short in Copilot Studio");
    assert_eq!(of(Some(&["codex"]), Construct::TypeList), "");
    assert_eq!(of(None, Construct::DescriptionLength), "the rest is cut off in Claude Code");
    assert_eq!(of(Some(&["chatgpt"]), Construct::DescriptionLength), "the portal for publishing rejects the tool in ChatGPT");
}
