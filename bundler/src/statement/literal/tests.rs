use super::*;
use crate::placeholder;

fn show(text: &str, prefix: Prefix, dialect: Dialect) -> Option<String> {
    let quoted = format!("'{text}'");
    let masked = MaskedStatement::new(&quoted, placeholder::scan(&quoted).0);
    let end = masked.text.len() - 1;
    let pieces = decode(&masked, 1..end, prefix, dialect).ok()?;
    Some(
        pieces
            .iter()
            .map(|piece| match piece {
                Decoded::Text(text) => text.clone(),
                Decoded::Mark(mark) => format!("<{mark}>"),
            })
            .collect(),
    )
}

#[test]
fn undoes_the_escapes_of_each_dialect() {
    use Dialect::{MySql, Postgres, Sqlite};
    for (dialect, prefix, text, expected) in [
        (Sqlite, Prefix::None, "%{{ a }}%", Some("%<0>%")),
        (Sqlite, Prefix::None, "it''s {{ a }}{{ b }}''", Some("it's <0><1>'")),
        (Sqlite, Prefix::None, r"a\n{{ a }}\", Some(r"a\n<0>\")),
        (Postgres, Prefix::None, r"a\n{{ a }}", Some(r"a\n<0>")),
        (MySql, Prefix::None, r"\n\t\0\Z\'\\\%\_\q{{ a }}''", Some("\n\t\0\u{1a}'\\\\%\\_q<0>'")),
        (MySql, Prefix::None, r"\{{ a }}", None),
        (Postgres, Prefix::Escape, r"\n\'\\\101\x41\x4\u00e9\U0001F600\q{{ a }}", Some("\n'\\AA\u{4}é😀q<0>")),
        (Postgres, Prefix::Escape, r"\xff{{ a }}", None),
        (Postgres, Prefix::Escape, r"\u12{{ a }}", None),
        (Postgres, Prefix::Escape, r"\0{{ a }}", None),
        (Postgres, Prefix::Unicode, r"d\0061t\+01F600\\ it''s", Some("dat😀\\ it's")),
        (Postgres, Prefix::Unicode, r"\d83d\de00", None),
        (Sqlite, Prefix::None, "{{ '{{' }}{{ a }}}}", Some("{{<0>}}")),
    ] {
        assert_eq!(show(text, prefix, dialect).as_deref(), expected, "{dialect:?} {text}");
    }
}
