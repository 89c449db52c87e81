//! Descriptions: one or two short sentences of what a specification says in Markdown.

/// The most characters of a tool's description, and of an input's.
pub(super) const TOOL: usize = 300;
pub(super) const INPUT: usize = 160;

/// The first sentence of a text, as plain text on one line; `None` for a text without words.
pub(super) fn short(text: &str, most: usize) -> Option<String> {
    let plain = plain(text);
    let sentence = first_sentence(&plain);
    let short = match sentence.char_indices().nth(most) {
        Some((at, _)) => {
            let cut = sentence.get(..at).unwrap_or_default();
            format!("{}…", cut.rsplit_once(' ').map_or(cut, |(words, _)| words).trim_end_matches([',', ';', ':', ' ']))
        }
        None => sentence.to_owned(),
    };
    let short = short.replace("{{", "{ {").replace("}}", "} }");
    short.chars().any(char::is_alphanumeric).then_some(short)
}

/// The first paragraph without Markdown and HTML.
fn plain(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut in_code = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
            continue;
        }
        let is_rule = !line.is_empty() && line.chars().all(|c| "-=*_|: ".contains(c));
        // Quotes of GitHub begin with the kind of the note.
        if in_code || is_rule || line.starts_with("> [!") || line.starts_with('|') || line.starts_with("<!--") {
            continue;
        }
        if line.is_empty() && !lines.is_empty() {
            break;
        }
        let line = line.trim_start_matches(['>', ' ']).trim_start_matches('#');
        let line = line.strip_prefix("* ").or_else(|| line.strip_prefix("- ")).unwrap_or(line).trim();
        if !line.is_empty() {
            lines.push(line);
        }
    }
    let joined = without_tags(&without_links(&lines.join(" ")));
    let marks = joined.replace("**", "").replace("__", "").replace("\\_", "_").replace("\\*", "*").replace('`', "");
    let words: Vec<&str> = marks.split_whitespace().collect();
    words.join(" ").chars().filter(|c| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{200b}')).collect()
}

/// `[text](place)` as `text`, and an image as nothing.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        let link = from.get(1..).and_then(|inside| {
            let (label, after) = inside.split_once("](")?;
            let (_, after) = after.split_once(')')?;
            (!label.contains('[')).then_some((label, after))
        });
        match link {
            Some((label, after)) => {
                let image = before.strip_suffix('!');
                plain.push_str(image.unwrap_or(before));
                if image.is_none() {
                    plain.push_str(label);
                }
                rest = after;
            }
            None => {
                plain.push_str(before);
                plain.push('[');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    plain + rest
}

/// The text without tags of HTML.
fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        let (before, from) = rest.split_at(open);
        plain.push_str(before);
        let is_tag = from.get(1..).is_some_and(|inside| inside.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/'));
        match from.find('>').filter(|_| is_tag) {
            Some(close) => {
                plain.push(' ');
                rest = from.get(close + 1..).unwrap_or_default();
            }
            None => {
                plain.push('<');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    (plain + rest).replace(" .", ".").replace(" ,", ",")
}

fn first_sentence(text: &str) -> &str {
    let abbreviations = ["e.g.", "i.e.", "etc.", "vs.", "approx.", "No.", "no."];
    let ends = text.match_indices(['.', '!', '?']).map(|(at, mark)| at + mark.len());
    for end in ends {
        let (sentence, after) = text.split_at(end);
        let begins = after.strip_prefix(' ').is_some_and(|next| next.starts_with(|c: char| !c.is_lowercase()));
        if begins && end > 12 && !abbreviations.iter().any(|word| sentence.ends_with(word)) {
            return sentence;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_short_and_plain() {
        for (text, expected) in [
            ("List **all** [orders](https://x.y/z), e.g. open ones. More follows.", "List all orders, e.g. open ones."),
            ("> [!NOTE]\n> Not this one, it is a note.\n\nGets `it`.\n\n- a\n- b", "Not this one, it is a note."),
            ("<p>The <b>id</b> of it.</p><p>Next</p>", "The id of it."),
            ("```json\n{}\n```\nOne {{ secret.X }}", "One { { secret.X } }"),
            ("a < b and c > d", "a < b and c > d"),
            ("![logo](x.png) Name", "Name"),
        ] {
            assert_eq!(short(text, TOOL).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(short("---\n***", TOOL), None);
        assert_eq!(short("one two three four", 10).as_deref(), Some("one two…"));
    }
}
