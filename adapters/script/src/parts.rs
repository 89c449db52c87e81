//! Parts of the prelude that only some programs name: an image has those that its programs name,
//! and no others.

/// The streams of the standard: a library, and what stands on it.
const STREAMS: &str = concat!(
    "((native, web) => {\nconst streams = {};\n(function (exports, module) {\n",
    include_str!("prelude/vendor/web-streams-polyfill.js"),
    "\n})(streams, {});\nconst made = ",
    include_str!("prelude/parts/streams-more.js"),
    ";\nreturn made(native, web, streams);\n})"
);

struct Part {
    name: &'static str,
    text: &'static str,
    /// What of a program's text tells that it is used. One word too many costs memory, one too few
    /// the time of evaluating it in a call.
    words: &'static [&'static str],
}

const PARTS: [Part; 4] = [
    Part {
        name: "streams",
        text: STREAMS,
        words: &[
            "ReadableStream",
            "WritableStream",
            "TransformStream",
            "QueuingStrategy",
            "TextDecoderStream",
            "TextEncoderStream",
            ".body.",
        ],
    },
    Part { name: "files", text: include_str!("prelude/parts/files.js"), words: &["Blob", "File", "FormData", ".blob(", ".formData("] },
    Part { name: "crypto", text: include_str!("prelude/parts/crypto.js"), words: &["subtle", "CryptoKey"] },
    Part {
        name: "more",
        text: include_str!("prelude/parts/more.js"),
        words: &["MessageChannel", "MessageEvent", "MessagePort", "Performance", "performance.m"],
    },
];

/// The text of a part, if there is one of that name.
pub(crate) fn text(name: &str) -> Option<&'static str> {
    PARTS.iter().find(|part| part.name == name).map(|part| part.text)
}

/// The names of the parts that a program names.
pub(crate) fn named_in(program: &str) -> Vec<&'static str> {
    PARTS.iter().filter(|part| part.words.iter().any(|word| has_word(program, word))).map(|part| part.name).collect()
}

/// Whether a text has a word that does not begin within another one. What follows may be anything:
/// `FileReader` is rare.
fn has_word(text: &str, word: &str) -> bool {
    let begins = |at: usize| {
        word.starts_with('.')
            || !text[..at].chars().next_back().is_some_and(|before| before.is_alphanumeric() || matches!(before, '_' | '$'))
    };
    text.match_indices(word).any(|(at, _)| begins(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_names_what_it_uses() {
        for (program, names) in [
            ("(host) => host.readFile(subtleties)", vec!["crypto"]),
            ("readFile(x.body)", vec![]),
            ("await crypto.subtle.digest('SHA-256', x)", vec!["crypto"]),
            ("const { ReadableStream: R } = globalThis", vec!["streams"]),
            ("(await r.blob()).size + new MessageChannel", vec!["files", "more"]),
            ("typeof File", vec!["files"]),
        ] {
            assert_eq!(named_in(program), names, "{program}");
        }
    }
}
