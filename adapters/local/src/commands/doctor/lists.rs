//! The lists of a server: whether they end, what they repeat, how long they are.

use std::collections::BTreeSet;

use millrace_bundler::tokens;
use millrace_core::Json;
use serde_json::{Map, json};

use super::{
    finding::{Finding, Side},
    handshake::{Handshakes, modern_result},
    tools::{Tool, findings},
    wire::{Auth, Era, Message, Reply, Wire},
};

/// A list: its method, the capability, the member with its entries, what tells them apart, and the
/// most pages that are read.
struct Kind {
    method: &'static str,
    capability: &'static str,
    member: &'static str,
    key: &'static str,
    pages: usize,
}

const KINDS: [Kind; 4] = [
    Kind { method: "tools/list", capability: "tools", member: "tools", key: "name", pages: 8 },
    Kind { method: "prompts/list", capability: "prompts", member: "prompts", key: "name", pages: 3 },
    Kind { method: "resources/list", capability: "resources", member: "resources", key: "uri", pages: 3 },
    Kind { method: "resources/templates/list", capability: "resources", member: "resourceTemplates", key: "uriTemplate", pages: 3 },
];

/// What Claude Code and others show a model at once, in tokens: a longer list leaves no room for
/// the work.
const MOST_TOKENS: u64 = 25_000;

/// What a list came to.
pub(super) struct ListFacts {
    pub(super) name: &'static str,
    pub(super) entries: usize,
    pub(super) pages: usize,
    pub(super) bytes: usize,
}

/// What the lists came to.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) facts: Vec<ListFacts>,
    /// The descriptors of the tools.
    pub(super) tools: Vec<Map<String, Json>>,
    /// The entries of the prompts, and of both lists of resources.
    pub(super) prompts: Vec<Map<String, Json>>,
    pub(super) resources: Vec<Map<String, Json>>,
    /// The first 401.
    pub(super) refused: Option<Reply>,
}

/// Reads all lists in one era, and the first page of the tools in the other.
pub(super) async fn look(wire: &mut Wire, era: &Era, seen: &Handshakes) -> Lists {
    let mut lists = Lists::default();
    let mut offers_any = false;
    for kind in KINDS {
        if !seen.offers(kind.capability) {
            continue;
        }
        offers_any = true;
        let entries = read(wire, era, &kind, &mut lists).await;
        if kind.member == "prompts" {
            lists.prompts = entries;
        } else if kind.member != "tools" {
            lists.resources.extend(entries);
        } else {
            lists.tools = entries;
            let named = lists.tools.iter().filter_map(|descriptor| Some(Tool { name: descriptor.get("name")?.as_str()?, descriptor }));
            let named: Vec<Tool<'_>> = named.collect();
            let found = findings(&named);
            for mut finding in found {
                finding.places = finding.places.iter().map(|place| wire.shown(place)).collect();
                wire.add(finding);
            }
        }
    }
    if !offers_any {
        let what = "the server declares neither tools nor prompts nor resources: clients show nothing";
        wire.add(Finding::warning(Side::Server, "nothing-offered", what, "Declare in `capabilities` what the server has."));
    }
    if *era == Era::Modern && seen.legacy.is_some() && seen.offers("tools") {
        let legacy = Era::Legacy(seen.legacy_revision.clone());
        let reply = wire.send(Message::new(&legacy, "tools/list", json!({}), Auth::Given)).await;
        judge(wire, &KINDS[0], &reply, &mut lists);
    }
    lists
}

/// Whether a page is one; tells why it is not.
fn judge(wire: &mut Wire, kind: &Kind, reply: &Reply, lists: &mut Lists) -> bool {
    if reply.result.as_ref().is_some_and(|result| result[kind.member].is_array()) {
        return true;
    }
    if reply.status == Some(401) {
        if lists.refused.is_none() {
            lists.refused = Some(Reply {
                status: reply.status,
                sent: reply.sent.clone(),
                got: reply.got.clone(),
                headers: reply.headers.clone(),
                ..Reply::default()
            });
        }
    } else if reply.status == Some(403) {
        let what = "the credentials do not suffice for a list";
        let remedy = "Sign in with the scopes that the answer names.";
        wire.add(reply.tell(Finding::fault(Side::Client, "scopes-missing", what, remedy)).at(kind.method));
    } else if reply.failure.is_none() && reply.status != Some(429) && (reply.is_message() || !reply.is_success()) {
        // What is no message has been told already.
        let what = "a list that the server declares is not answered with one";
        let remedy = format!("Answer with `{{\"{}\": […]}}`, or do not declare `{}`.", kind.member, kind.capability);
        wire.add(reply.tell(Finding::fault(Side::Server, "list-failed", what, remedy)).at(reply.sent.clone()));
    }
    false
}

async fn read(wire: &mut Wire, era: &Era, kind: &Kind, lists: &mut Lists) -> Vec<Map<String, Json>> {
    let (mut entries, mut bytes, mut pages) = (Vec::new(), 0, 0);
    let mut cursor: Option<String> = None;
    let (mut cursors, mut keys, mut repeated) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    loop {
        let params = cursor.as_ref().map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        let reply = wire.send(Message::new(era, kind.method, params, Auth::Given)).await;
        if !judge(wire, kind, &reply, lists) {
            break;
        }
        if *era == Era::Modern {
            modern_result(wire, &reply, true);
        }
        pages += 1;
        bytes += reply.bytes;
        let Some(mut result) = reply.result else { break };
        let page = result[kind.member].as_array_mut().map(std::mem::take).unwrap_or_default();
        let is_empty = page.is_empty();
        for entry in page {
            match entry {
                Json::Object(entry) if entry.get(kind.key).is_some_and(Json::is_string) => {
                    let key = entry.get(kind.key).and_then(Json::as_str).unwrap_or_default();
                    if !keys.insert(key.to_owned()) {
                        repeated.push(key.to_owned());
                    } else {
                        entries.push(entry);
                    }
                }
                other => {
                    let what = format!("an entry of a list has no `{}`: clients refuse the whole list", kind.key);
                    let got = wire.shown(&other.to_string());
                    let finding = Finding::fault(Side::Server, "list-entry", what, "Give every entry one.");
                    wire.add(finding.got(got).at(kind.method));
                }
            }
        }
        let Some(next) = result["nextCursor"].as_str() else { break };
        let is_known = !cursors.insert(next.to_owned());
        if is_known || is_empty || pages >= kind.pages {
            endless(wire, kind, next, is_known || is_empty || !repeated.is_empty());
            break;
        }
        cursor = Some(next.to_owned());
    }
    // What comes again with every page has been told.
    if !repeated.is_empty() && !wire.findings.has("pagination-endless") {
        let what = "a list has the same entry twice: clients refuse the list, or call the wrong one";
        for name in &repeated {
            let place = wire.shown(&format!("{}: {name}", kind.method));
            wire.add(Finding::fault(Side::Server, "duplicate-names", what, "Give each entry a name of its own.").at(place));
        }
    }
    if pages > 0 {
        let size = tokens(bytes as u64);
        if size > MOST_TOKENS {
            let what = format!("a list is about {size} tokens long, which every conversation of some clients begins with");
            let finding = Finding::warning(Side::Server, "list-large", what, "Shorten descriptions and schemas, or offer fewer entries.");
            wire.add(finding.at(kind.method));
        }
        lists.facts.push(ListFacts { name: kind.member, entries: entries.len(), pages, bytes });
    }
    entries
}

fn endless(wire: &mut Wire, kind: &Kind, cursor: &str, is_certain: bool) {
    let got = wire.shown(&format!("nextCursor {cursor:?}"));
    let remedy = "Leave `nextCursor` out on the last page.";
    let finding = if is_certain {
        let what = "the pages of a list do not end: they repeat, or are empty and promise more";
        Finding::fault(Side::Server, "pagination-endless", what, remedy)
    } else {
        let what = format!("a list has more than {} pages: the rest was not looked at, and clients may give up", kind.pages);
        Finding::warning(Side::Server, "pagination-endless", what, format!("Make pages larger. {remedy}"))
    };
    wire.add(finding.sent(kind.method).got(got).at(kind.method));
}
