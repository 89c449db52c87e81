//! TOON as the core writes it, read by its reference implementation for JavaScript, which
//! `scripts/setup` installs.

use millrace_core::{Json, toon::toon};
use millrace_tests::case::root;
use serde_json::json;

use crate::clients::node;

/// Random values that are alike enough to become tables.
struct Values {
    state: u64,
    texts: Vec<String>,
}

impl Values {
    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % bound
    }

    fn text(&mut self) -> String {
        let at = self.below(self.texts.len());
        self.texts[at].clone()
    }

    /// JavaScript moves keys that look like an index to the front, and sets the prototype by one.
    fn key(&mut self) -> String {
        let key = self.text();
        if key.bytes().all(|byte| byte.is_ascii_digit()) || key == "__proto__" { format!("n{key}") } else { key }
    }

    fn primitive(&mut self) -> Json {
        match self.below(8) {
            0 => Json::Null,
            1 => json!(self.below(2) == 0),
            2 => json!(self.below(1000)),
            3 => json!(-(self.below(1 << 53) as i64)),
            4 => json!((1 + self.below(1 << 30)) as f64 / 1024.0),
            5 => json!(10_f64.powi(self.below(60) as i32 - 30) * (1 + self.below(99)) as f64),
            _ => json!(self.text()),
        }
    }

    fn value(&mut self, depth: usize) -> Json {
        match self.below(if depth == 0 { 1 } else { 5 }) {
            0 => self.primitive(),
            1 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            2 => {
                let keys: Vec<String> = (0..1 + self.below(3)).map(|_| self.key()).collect();
                let row = |values: &mut Self| keys.iter().map(|key| (key.clone(), values.primitive())).collect::<Json>();
                (0..1 + self.below(3)).map(|_| row(self)).collect()
            }
            _ => (0..self.below(4)).map(|_| (self.key(), self.value(depth - 1))).collect(),
        }
    }
}

#[test]
fn the_reference_implementation_reads_what_the_core_writes() {
    let hostile = std::fs::read_to_string(root().join("tests/data/hostile-values.json")).unwrap();
    let mut texts: Vec<String> = serde_json::from_str(&hostile).unwrap();
    let odd =
        ["", " ", "-", "- a", "-x", "#x", "a:", "a: b", "[1]", "{a}", "a|b", "a,b", "\"", "\\", "\n", "\r\n", "\t", "\u{1}", "\u{7f}"];
    let literal =
        ["true", "True", "null", "0", "12", "-1", "+1", "05", "1e5", "1.", ".5", "0x1", "\u{feff}a", "\u{a0}a", "\u{2028}", "é", "😀"];
    texts.extend(odd.iter().chain(&literal).map(ToString::to_string));
    texts.extend(["id", "name", "a_b", "a.b", "x1", "plain words"].iter().flat_map(|text| vec![text.to_string(); 20]));
    let mut values = Values { state: 0x9e37_79b9_7f4a_7c15, texts };
    let lines: Vec<String> = (0..20_000)
        .map(|_| {
            let value = values.value(4);
            json!({ "text": toon(&value), "value": value }).to_string()
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("values");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let answer = node("toon.mjs", &[file.to_str().unwrap()]);
    let told: Json = serde_json::from_slice(&answer.stdout).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
    let wrong: String = told["wrong"].to_string().chars().take(2000).collect();
    assert_eq!((wrong.as_str(), &told["values"]), ("[]", &json!(lines.len())));
    assert!(told["same"].as_u64().unwrap() > 10_000, "{told}");
}
