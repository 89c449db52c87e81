//! Holds audit entries, lines of logs and rows of tables, to the chains that isolates sealed them
//! with.

use std::{collections::BTreeMap, fmt};

use millrace_core::{
    Json,
    audit_chain::{AuditEntry, CHAIN_BEGINS, CHAIN_ENDS, ChainKey, Link, Seal},
    hex,
    ports::AUDIT_TARGET,
};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};

/// The members of a line that are not sealed: a platform may add the time, and the rest is the same
/// in every line.
const UNSEALED: [&str; 4] = ["time", "level", "target", "message"];
/// The texts of an entry, by their names in a line.
const TEXTS: [&str; 10] = ["at", "request_id", "tool", "subject", "decision", "decided_by", "outcome", "code", "inputs", "change_made"];
/// Where the tenant stands behind [`TEXTS`].
const TENANT: usize = TEXTS.len();

/// What is known of the chains so far.
pub(crate) struct Verifier {
    key: ChainKey,
    chains: BTreeMap<String, Chain>,
    /// What is wrong, in the order in which it was found.
    pub(crate) findings: Vec<String>,
    /// Whether lines of logs, and rows of a table, were read.
    reads_logs: bool,
    reads_rows: bool,
    /// How many entries there are.
    pub(crate) entries: u64,
}

#[derive(Default)]
struct Chain {
    links: BTreeMap<u64, Found>,
    /// The number of the last line that was read of it.
    last: Option<u64>,
    /// The number of its end.
    end: Option<u64>,
}

/// A link, where it was found and what seals it.
struct Found {
    kind: Kind,
    seal: Seal,
    place: String,
    has_line: bool,
    has_row: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Begin,
    Entry(Box<Entry>),
    End(String),
}

/// An entry, as a line or a row has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// [`TEXTS`], and the tenant.
    pub(crate) texts: [String; TENANT + 1],
    pub(crate) ms: u64,
    pub(crate) rows: Option<u64>,
}

/// Where an entry stands, as a row has it.
pub(crate) struct RowSeal {
    pub(crate) chain: String,
    pub(crate) seq: Option<u64>,
    pub(crate) mac: String,
}

impl Entry {
    fn entry(&self) -> AuditEntry<'_> {
        let [at, request_id, tool, subject, decision, decided_by, outcome, code, inputs, change_made, tenant] =
            self.texts.each_ref().map(String::as_str);
        let (ms, rows) = (self.ms, self.rows);
        AuditEntry { at, request_id, tool, subject, decision, decided_by, outcome, code, ms, inputs, change_made, tenant, rows }
    }
}

impl Kind {
    fn link(&self) -> Link<'_> {
        match self {
            Self::Begin => Link::Begin,
            Self::Entry(entry) => Link::Entry(entry.entry()),
            Self::End(at) => Link::End(at),
        }
    }
}

impl Verifier {
    pub(crate) fn new(key: ChainKey) -> Self {
        Self { key, chains: BTreeMap::new(), findings: Vec::new(), reads_logs: false, reads_rows: false, entries: 0 }
    }

    /// Takes a line of a log; those of others are passed over.
    pub(crate) fn line(&mut self, place: &str, text: &str) {
        self.reads_logs = true;
        if !text.contains(AUDIT_TARGET) {
            return;
        }
        match Members::of(text) {
            Ok(Some(members)) => match members.link() {
                Ok((chain, seq, seal, kind)) => self.take_line(place, chain, seq, seal, kind),
                Err(problem) => self.findings.push(format!("{place}: {problem}")),
            },
            Ok(None) => {}
            Err(problem) => self.findings.push(format!("{place}: the line is not a whole JSON object: {problem}")),
        }
    }

    fn take_line(&mut self, place: &str, name: String, seq: u64, seal: Seal, kind: Kind) {
        let chain = self.chains.entry(name.clone()).or_default();
        if let Some(last) = chain.last.filter(|last| seq <= *last) {
            self.findings.push(format!("{place}: entry {seq} of chain {name} comes after entry {last}"));
        }
        chain.last = chain.last.max(Some(seq));
        if matches!(kind, Kind::End(_)) {
            chain.end = Some(chain.end.unwrap_or(seq).min(seq));
        }
        self.entries += u64::from(matches!(kind, Kind::Entry(_)));
        let found = Found { kind, seal, place: place.to_owned(), has_line: true, has_row: false };
        if let Some(known) = chain.links.get(&seq) {
            self.findings.push(format!("{place}: entry {seq} of chain {name} is also at {}", known.place));
        } else {
            chain.links.insert(seq, found);
        }
    }

    /// Says that rows of a table are read.
    pub(crate) fn reads_rows(&mut self) {
        self.reads_rows = true;
    }

    /// Takes a row of a table; all lines of logs come before.
    pub(crate) fn row(&mut self, place: &str, seal: Option<RowSeal>, entry: Entry) {
        let Some(RowSeal { chain: name, seq, mac }) = seal else {
            self.findings.push(format!("{place}: the row is not in a chain: it was added, or written without the key"));
            return;
        };
        let Some(seal) = seal_of(&mac) else {
            self.findings.push(format!("{place}: `mac` is not 64 digits"));
            return;
        };
        let kind = Kind::Entry(Box::new(entry));
        let Some(seq) = seq else {
            if self.key.seal(&Seal::default(), &name, None, &kind.link()) != seal {
                self.findings.push(format!("{place}: the row was changed or added"));
            }
            return;
        };
        let chain = self.chains.entry(name.clone()).or_default();
        match chain.links.get_mut(&seq) {
            Some(known) if known.has_row => {
                self.findings.push(format!("{place}: entry {seq} of chain {name} is also at {}", known.place));
            }
            Some(known) if known.kind != kind || known.seal != seal => {
                known.has_row = true;
                self.findings.push(format!("{place}: entry {seq} of chain {name} is not the same as {}", known.place));
            }
            Some(known) => known.has_row = true,
            None => {
                self.entries += 1;
                chain.links.insert(seq, Found { kind, seal, place: place.to_owned(), has_line: false, has_row: true });
            }
        }
    }

    /// Holds the chains to their seals; the names of those whose end is not recorded. `is_whole`:
    /// every entry of the app is a row of the table.
    pub(crate) fn finish(&mut self, is_whole: bool) -> Vec<String> {
        let Self { key, chains, findings, reads_logs, reads_rows, .. } = self;
        let mut open = Vec::new();
        for (name, chain) in chains.iter() {
            chain.hold(key, name, findings);
            for (seq, link) in &chain.links {
                if *reads_logs && !link.has_line {
                    findings.push(format!("{}: the logs have no line of entry {seq} of chain {name}", link.place));
                }
                if is_whole && *reads_rows && !link.has_row && matches!(link.kind, Kind::Entry(_)) {
                    findings.push(format!("{}: the table has no row of entry {seq} of chain {name}", link.place));
                }
            }
            if *reads_logs && !chain.links.contains_key(&0) {
                findings.push(format!("the logs do not have the beginning of chain {name}"));
            }
            let last = chain.links.keys().next_back().copied().unwrap_or(0);
            match chain.end {
                Some(end) if end < last => findings.push(format!("chain {name} has entries after its end, {end}")),
                Some(_) => {}
                None => open.push(format!("chain {name}, whose last entry is {last}")),
            }
        }
        open
    }
}

impl Chain {
    /// Follows the seals from the beginning on.
    fn hold(&self, key: &ChainKey, name: &str, findings: &mut Vec<String>) {
        // Its name says all of the beginning.
        let begin = key.seal(&Seal::default(), name, Some(0), &Link::Begin);
        let (mut before, mut next) = if self.links.contains_key(&0) { (Seal::default(), 0) } else { (begin, 1) };
        for (seq, Found { kind, seal, place, .. }) in &self.links {
            if *seq > next {
                let missing = if seq - next == 1 { format!("entry {next} is") } else { format!("entries {next} to {} are", seq - 1) };
                findings.push(format!("{place}: {missing} missing before entry {seq} of chain {name}"));
            } else if key.seal(&before, name, Some(*seq), &kind.link()) != *seal {
                findings.push(format!("{place}: entry {seq} of chain {name} was changed, moved or added"));
            }
            (before, next) = (*seal, seq.saturating_add(1));
        }
    }
}

fn seal_of(mac: &str) -> Option<Seal> {
    hex::decode(mac.as_bytes())?.try_into().ok()
}

/// The members of an object, in their order.
struct Members(Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfObject;
        impl<'de> Visitor<'de> for OfObject {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(OfObject)
    }
}

impl Members {
    /// The members of a line; `None` of a line with another target.
    fn of(text: &str) -> Result<Option<Self>, String> {
        // What collects logs may put something before each line.
        let json = text.find('{').map_or("", |start| &text[start..]);
        let members: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let is_audit = members.0.iter().any(|(name, value)| name == "target" && value == AUDIT_TARGET);
        Ok(is_audit.then_some(members))
    }

    /// The chain, the number, the seal and what is sealed.
    fn link(&self) -> Result<(String, u64, Seal, Kind), String> {
        for (place, (name, _)) in self.0.iter().enumerate() {
            if self.0.iter().take(place).any(|(other, _)| other == name) {
                return Err(format!("the line has two members `{name}`"));
            }
            let is_known = UNSEALED.contains(&name.as_str())
                || TEXTS.contains(&name.as_str())
                || ["tenant", "ms", "rows", "chain", "seq", "mac"].contains(&name.as_str());
            if !is_known {
                return Err(format!("the line has a member `{name}`, which no line of an audit has"));
            }
        }
        if self.text("level")? != "INFO" {
            return Err("the line has another level than all lines of audits".to_owned());
        }
        let (Some(seq), Some(seal)) = (self.number("seq")?, seal_of(&self.text("mac")?)) else {
            return Err("the line is not in a chain: it was added, or written without the key".to_owned());
        };
        let mut entry = Entry { ms: self.number("ms")?.unwrap_or(0), rows: self.number("rows")?, ..Entry::default() };
        for (text, name) in entry.texts.iter_mut().zip(TEXTS.into_iter().chain(["tenant"])) {
            *text = self.text(name)?;
        }
        let [at, others @ ..] = &entry.texts;
        let is_bare = self.number("ms")?.is_none() && entry.rows.is_none() && others.iter().all(String::is_empty);
        let kind = match self.text("message")?.as_str() {
            CHAIN_BEGINS if is_bare && at.is_empty() && seq == 0 => Kind::Begin,
            CHAIN_ENDS if is_bare => Kind::End(at.clone()),
            "audit" if seq > 0 => Kind::Entry(Box::new(entry)),
            _ => return Err("the line has another message, or other members, than lines of audits".to_owned()),
        };
        Ok((self.text("chain")?, seq, seal, kind))
    }

    fn find(&self, name: &str) -> Option<&Json> {
        self.0.iter().find(|(member, _)| member == name).map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> Result<String, String> {
        match self.find(name) {
            None => Ok(String::new()),
            Some(Json::String(text)) => Ok(text.clone()),
            Some(_) => Err(format!("`{name}` is not a text")),
        }
    }

    fn number(&self, name: &str) -> Result<Option<u64>, String> {
        match self.find(name) {
            None => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or_else(|| format!("`{name}` is not a whole number")),
        }
    }
}

#[cfg(test)]
mod tests {
    use millrace_core::audit_chain::{chain_name, timestamp};
    use serde_json::{Map, json};

    use super::*;

    const KEY: &str = "a key of the tests";

    /// The lines of an isolate, from its beginning to its end.
    fn lines(isolate: u8, calls: u64) -> Vec<String> {
        let key = ChainKey::of(KEY).unwrap();
        let chain = chain_name(1_700_000_000_000 + u64::from(isolate), &[isolate; 8]);
        let mut before = Seal::default();
        let mut seal = |seq, link: &Link<'_>| {
            before = key.seal(&before, &chain, Some(seq), link);
            hex::encode(&before)
        };
        let head =
            |message: &str| json!({ "time": "2026-11-27T22:50:18.123Z", "level": "INFO", "target": AUDIT_TARGET, "message": message });
        let mut lines = Vec::new();
        let mut line = |message: &str, members: Json| {
            let mut line = head(message);
            let Json::Object(members) = members else { panic!("an object") };
            line.as_object_mut().unwrap().extend(members.into_iter().filter(|(_, value)| !value.is_null()));
            lines.push(line.to_string());
        };
        line(CHAIN_BEGINS, json!({ "chain": chain, "seq": 0, "mac": seal(0, &Link::Begin) }));
        for seq in 1..=calls {
            let (at, id) = (timestamp(1_700_000_000_000 + seq), format!("id-{isolate}-{seq}"));
            let code = if seq % 3 == 0 { "NO" } else { "" };
            let rows = (seq % 2 == 0).then_some(seq);
            let entry = AuditEntry {
                at: &at,
                request_id: &id,
                tool: "note",
                subject: "ada",
                decision: "allowed",
                outcome: "ok",
                code,
                ms: seq,
                inputs: "a=00,b",
                tenant: "t1",
                rows,
                ..AuditEntry::default()
            };
            let mac = seal(seq, &Link::Entry(entry));
            let code = (!code.is_empty()).then_some(code);
            line(
                "audit",
                json!({ "subject": "ada", "tool": "note", "decision": "allowed", "outcome": "ok", "code": code, "ms": seq, "inputs": "a=00,b",
                        "request_id": id, "tenant": "t1", "rows": rows, "at": at, "chain": chain, "seq": seq, "mac": mac }),
            );
        }
        let at = timestamp(1_800_000_000_000);
        let mac = seal(calls + 1, &Link::End(&at));
        line(CHAIN_ENDS, json!({ "at": at, "chain": chain, "seq": calls + 1, "mac": mac }));
        lines
    }

    fn verified(lines: &[String]) -> (Vec<String>, Vec<String>) {
        let mut verifier = Verifier::new(ChainKey::of(KEY).unwrap());
        for (number, line) in (1..).zip(lines) {
            verifier.line(&format!("log:{number}"), line);
        }
        let open = verifier.finish(false);
        (verifier.findings, open)
    }

    /// The lines of three isolates, as they come to one file.
    fn honest() -> Vec<String> {
        let mut of_isolates: Vec<_> = (1..=3).map(|isolate| lines(isolate, 10).into_iter()).collect();
        let mut all = vec!["{\"level\":\"INFO\",\"target\":\"millrace::call\",\"message\":\"call finished\"}".to_owned()];
        for turn in 0.. {
            let before = all.len();
            for (place, lines) in of_isolates.iter_mut().enumerate() {
                // One is faster than the others.
                all.extend(lines.take(if (turn + place) % 3 == 0 { 2 } else { 1 }));
            }
            if all.len() == before {
                break;
            }
        }
        all
    }

    #[test]
    fn honest_logs_hold() {
        let honest = honest();
        assert_eq!(honest.len(), 1 + 3 * 12);
        assert_eq!(verified(&honest), (Vec::new(), Vec::new()));
        // What collects them puts a time before each.
        let stamped: Vec<_> = honest.iter().map(|line| format!("2026-11-27 app[1]: {line}")).collect();
        assert_eq!(verified(&stamped), (Vec::new(), Vec::new()));
    }

    fn chain_of(line: &str) -> Option<String> {
        Some(serde_json::from_str::<Json>(line).ok()?.get("chain")?.as_str()?.to_owned())
    }

    /// Every way of changing one member of a line.
    fn changed(line: &str) -> Vec<String> {
        let Json::Object(members) = serde_json::from_str(line).unwrap() else { panic!("an object") };
        let mut all = Vec::new();
        for name in members.keys().filter(|name| name.as_str() != "time") {
            let mut with = |value: Option<Json>| {
                let mut changed: Map<String, Json> = members.clone();
                match value {
                    Some(value) => drop(changed.insert(name.clone(), value)),
                    None => drop(changed.remove(name)),
                }
                all.push(Json::Object(changed).to_string());
            };
            with(None);
            match &members[name] {
                Json::String(text) => with(Some(format!("{text}0").into())),
                number => with(Some((number.as_u64().unwrap() + 1).into())),
            }
        }
        all.push(line.replacen('{', "{\"decided_by\":\"x.yaml:1:1\",", 1));
        all.push(line.replacen('{', "{\"outcome\":\"error\",", 1));
        all.push(line[..line.len() - 1].to_owned());
        all
    }

    #[test]
    fn whatever_is_changed_dropped_moved_or_added_is_found() {
        let honest = honest();
        let mut ways = 0;
        let mut is_found = |lines: &[String], how: &str| {
            let (findings, open) = verified(lines);
            assert!(!findings.is_empty() || !open.is_empty(), "{how}");
            ways += 1;
        };
        for place in [1, 2, 5, 9, 20, 30, honest.len() - 1] {
            for line in changed(&honest[place]) {
                let mut lines = honest.clone();
                lines[place].clone_from(&line);
                is_found(&lines, &line);
            }
        }
        for place in 1..honest.len() {
            let mut lines = honest.clone();
            let dropped = lines.remove(place);
            is_found(&lines, &format!("without {dropped}"));
            lines.insert(place, dropped.clone());
            lines.push(dropped.clone());
            is_found(&lines, &format!("twice {dropped}"));
            lines.pop();
            // In the place of the next one of its chain.
            let next = lines.iter().skip(place + 1).position(|line| chain_of(line) == chain_of(&dropped));
            if let Some(next) = next {
                lines.swap(place, place + 1 + next);
                is_found(&lines, &format!("moved {dropped}"));
            }
        }
        // Of nothing at all, nothing is known.
        for first in 2..honest.len() {
            is_found(&honest[..first], &format!("the first {first}"));
        }
        // Lines of the same chains, sealed with another key or for another place.
        for place in 2..honest.len() {
            let mut lines = honest.clone();
            lines.insert(place, honest[place - 1].replace("\"tool\":\"note\"", "\"tool\":\"other\""));
            is_found(&lines, "added");
        }
        assert!(ways >= 200, "{ways}");
    }

    #[test]
    fn a_table_tells_what_the_logs_lack_and_the_other_way_round() {
        let honest = lines(1, 5);
        let rows: Vec<(RowSeal, Entry)> = honest[1..6]
            .iter()
            .map(|line| {
                let (chain, seq, seal, kind) = Members::of(line).unwrap().unwrap().link().unwrap();
                let Kind::Entry(entry) = kind else { panic!("an entry") };
                (RowSeal { chain, seq: Some(seq), mac: hex::encode(&seal) }, *entry)
            })
            .collect();
        let verify = |lines: &[String], rows: &[&(RowSeal, Entry)], is_whole| {
            let mut verifier = Verifier::new(ChainKey::of(KEY).unwrap());
            lines.iter().for_each(|line| verifier.line("log", line));
            if !rows.is_empty() {
                verifier.reads_rows();
            }
            for (RowSeal { chain, seq, mac }, entry) in rows {
                verifier.row("table", Some(RowSeal { chain: chain.clone(), seq: *seq, mac: mac.clone() }), entry.clone());
            }
            verifier.finish(is_whole);
            verifier.findings
        };
        let all: Vec<_> = rows.iter().collect();
        assert_eq!(verify(&honest, &all, true), Vec::<String>::new());
        assert_eq!(verify(&[], &all, true), Vec::<String>::new());
        // The end of the log is gone, with all that says so in it.
        let findings = verify(&honest[..4], &all, true);
        assert!(findings.iter().any(|finding| finding.contains("the logs have no line of entry 4")), "{findings:?}");
        for gone in 0..5 {
            let some: Vec<_> = all.iter().enumerate().filter(|(place, _)| *place != gone).map(|(_, row)| *row).collect();
            let findings = verify(&honest, &some, true);
            assert_eq!(findings.len(), 1, "{findings:?}");
            // Without the log, nothing says that there was a last one.
            assert_eq!(verify(&[], &some, true).is_empty(), gone == 4);
        }
        let mut changed = rows[2].1.clone();
        changed.texts[3] = "eve".to_owned();
        let (RowSeal { chain, seq, mac }, _) = &rows[2];
        let changed = (RowSeal { chain: chain.clone(), seq: *seq, mac: mac.clone() }, changed);
        let some = [all[0], all[1], &changed, all[3], all[4]];
        assert!(!verify(&[], &some, false).is_empty() && !verify(&honest, &some, false).is_empty());
    }

    #[test]
    fn another_key_finds_everything() {
        let mut verifier = Verifier::new(ChainKey::of("another key").unwrap());
        honest().iter().for_each(|line| verifier.line("log", line));
        verifier.finish(false);
        assert_eq!(verifier.findings.len(), 36);
    }
}
