//! Names: of tools, inputs and fields from those of tables and columns, and those of tables and
//! columns in a statement.

use any_ascii::any_ascii;
use millrace_languages::Dialect;

/// A name as a statement of an app has it: in quotes where it needs them, and with its own `{{` not
/// a placeholder.
pub(super) fn in_statement(name: &str, dialect: Dialect) -> String {
    let facts = dialect.facts();
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_' || (facts.keeps_capitals && byte.is_ascii_uppercase());
    let plain = name.bytes().next().is_some_and(is_plain) && name.bytes().all(|byte| is_plain(byte) || byte.is_ascii_digit());
    if plain && !facts.reserved.has(name) {
        return name.to_owned();
    }
    escaped(&facts.quoted(name))
}

/// A part of a statement whose own `{{` are not placeholders.
pub(super) fn escaped(sql: &str) -> String {
    sql.replace("{{", "{{ '{{' }}")
}

/// Whether a file of an app can have the name: no line break, no control character.
pub(super) fn can_be_written(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'))
}

/// The name of the folder, the tools and the presenter of a table: `Order Items` and `OrderItems`
/// are `order-items`, and `Größe` is `grosse`.
pub(super) fn of_tools(table: &str, taken: &[String]) -> String {
    of_folder(table, "table", 80, taken)
}

/// The name of a folder for what has a name of its own, at most `most` characters before the number
/// that makes it free. `noun` stands for a name without letters.
pub(in crate::commands) fn of_folder(text: &str, noun: &str, most: usize, taken: &[String]) -> String {
    let name = words(&parted(&any_ascii(text)), "-").to_ascii_lowercase();
    let name = match name.bytes().next() {
        None => noun.to_owned(),
        Some(first) if first.is_ascii_alphabetic() => name,
        Some(_) => format!("{noun}-{name}"),
    };
    // Names of devices are no files on Windows.
    let name = if ["aux", "con", "nul", "prn"].contains(&name.as_str()) { format!("{name}-{noun}") } else { name };
    free(name.chars().take(most).collect(), "-", |name| taken.iter().any(|other| other == name))
}

/// The name of an input and of a field of a result: a column's own, where that can be.
pub(super) fn of_field(column: &str, taken: &[String]) -> String {
    of_input(column, "column", 80, taken)
}

/// The name of an input for what has a name of its own, at most `most` characters before the number
/// that makes it free. `noun` stands for a name without letters.
pub(in crate::commands) fn of_input(column: &str, noun: &str, most: usize, taken: &[String]) -> String {
    let is_own = column.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && column.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let name = if is_own { column.to_owned() } else { words(&any_ascii(column), "_") };
    let name = match name.bytes().next() {
        None => noun.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("{noun}_{name}"),
        Some(_) => name,
    };
    // What every object of JavaScript has is not a name of an app.
    let name = if ["__proto__", "constructor", "prototype"].contains(&name.as_str()) {
        format!("{}_{noun}", name.trim_matches('_'))
    } else {
        name
    };
    // Result columns of SQLite that differ in case only are told apart by few readers.
    free(name.chars().take(most).collect(), "_", |name| taken.iter().any(|other| other.eq_ignore_ascii_case(name)))
}

/// The name, or with the first number at its end that makes it free.
pub(in crate::commands) fn free(name: String, separator: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&name) {
        return name;
    }
    (2_u32..).map(|number| format!("{name}{separator}{number}")).find(|name| !is_taken(name)).unwrap_or(name)
}

/// In words: `order-items` is `order items`, and `customerId` is `customer id`.
pub(super) fn in_words(name: &str) -> String {
    parted(name).split(['-', '_', ' ']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The text with a blank where a word begins with a capital: `PlaylistTrack` is `Playlist Track`,
/// and `HTTPServer` is `HTTP Server`.
fn parted(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut parted = String::with_capacity(text.len());
    for (at, character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| characters.get(at));
        let after = characters.get(at + 1);
        let begins = character.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase() || before.is_ascii_digit() || before.is_uppercase() && after.is_some_and(|after| after.is_lowercase())
            });
        if begins {
            parted.push(' ');
        }
        parted.push(*character);
    }
    parted
}

/// The runs of letters and digits of ASCII, with a separator between.
fn words(text: &str, separator: &str) -> String {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(separator)
}

/// Whether a column looks as if its values were secrets, by its name.
pub(super) fn is_secret(column: &str) -> bool {
    const WORDS: [&str; 24] = [
        "apikey",
        "auth",
        "card",
        "credential",
        "credentials",
        "cvc",
        "cvv",
        "hash",
        "iban",
        "mfa",
        "otp",
        "passphrase",
        "passwd",
        "password",
        "pin",
        "pwd",
        "salt",
        "secret",
        "secrets",
        "ssn",
        "token",
        "tokens",
        "totp",
        "passcode",
    ];
    const PARTS: [&str; 10] =
        ["password", "passwd", "secret", "token", "apikey", "privatekey", "socialsecurity", "creditcard", "cardnumber", "accesskey"];
    looks_like(column, &WORDS, &PARTS)
}

/// Whether a column looks as if its values were personal, by its name: those that reach or tell a
/// person.
pub(super) fn is_personal(column: &str) -> bool {
    const WORDS: [&str; 15] = [
        "mail",
        "phone",
        "phones",
        "mobile",
        "cellphone",
        "tel",
        "fax",
        "birth",
        "born",
        "dob",
        "address",
        "street",
        "passport",
        "gender",
        "ip",
    ];
    const PARTS: [&str; 6] = ["email", "telephone", "phonenumber", "birthdate", "dateofbirth", "birthday"];
    looks_like(column, &WORDS, &PARTS)
}

/// Whether a name has one of these words, or these parts when it is written without anything
/// between words.
fn looks_like(name: &str, known_words: &[&str], known_parts: &[&str]) -> bool {
    let spaced = words(&parted(&any_ascii(name)), " ").to_lowercase();
    let joined: String = spaced.split(' ').collect();
    spaced.split(' ').any(|word| known_words.contains(&word)) || known_parts.iter().any(|part| joined.contains(part))
}

#[cfg(test)]
mod tests;
