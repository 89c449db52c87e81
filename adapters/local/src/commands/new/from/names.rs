//! Names: of tools, inputs and fields from those of tables and columns, and those of tables and columns in a statement.

use super::dialect::Dialect;

/// Words that SQLite or PostgreSQL does not take as the name of a table or column everywhere.
const RESERVED: &str = " abort action add after all alter always analyse analyze and any array as asc asymmetric attach authorization autoincrement before begin \
    between binary both by cascade case cast check collate collation column commit concurrently conflict constraint create cross current \
    current_catalog current_date current_role current_schema current_time current_timestamp current_user database default deferrable deferred delete desc \
    detach distinct do drop each else end escape except exclude exclusive exists explain fail false fetch filter first following for foreign freeze from full \
    generated glob grant group groups having if ignore ilike immediate in index indexed initially inner insert instead intersect into is isnull join key last \
    lateral leading left like limit localtime localtimestamp match materialized natural no not nothing notnull null nulls of offset on only or order others outer \
    over overlaps partition placing plan pragma preceding primary query raise range recursive references regexp reindex release rename replace restrict returning \
    right rollback row rows savepoint select session_user set similar some symmetric system_user table tablesample temp temporary then ties to trailing \
    transaction trigger true unbounded union unique update user using vacuum values variadic verbose view virtual when where window with without ";

/// Words that MySQL or MariaDB does not take as the name of a table or column everywhere.
const RESERVED_BY_MYSQL: &str = " accessible add all alter analyze and array as asc asensitive before between bigint binary blob both by call cascade case change char \
    character check collate column condition constraint continue convert create cross cube cume_dist current_date current_role current_time \
    current_timestamp current_user cursor database databases day_hour day_microsecond day_minute day_second dec decimal declare default delayed \
    delete delete_domain_id dense_rank desc describe deterministic distinct distinctrow div do_domain_ids double drop dual dumpfile each else elseif empty enclosed \
    escaped except exists exit explain external false fetch first_value float float4 float8 for force foreign from fulltext function general generated get grant group \
    grouping groups having high_priority hour_microsecond hour_minute hour_second if ignore ignore_domain_ids ignore_server_ids in index infile inner \
    inout insensitive insert int int1 int2 int3 int4 int8 integer intersect interval into io_after_gtids io_before_gtids is iterate join json_table key keys \
    kill lag last_value lateral lead leading leave left library like limit linear lines load localtime localtimestamp lock long longblob longtext loop \
    low_priority manual master_bind master_demote_to_replica master_demote_to_slave master_heartbeat_period master_ssl_verify_server_cert match maxvalue mediumblob mediumint mediumtext middleint minus \
    minute_microsecond minute_second mod modifies natural no_write_to_binlog not nth_value ntile null numeric of offset on optimize optimizer_costs \
    option optionally or order out outer outfile over page_checksum parallel parse_vcol_expr partition percent_rank period portion position precision primary procedure purge \
    qualify range rank read read_write reads real recursive ref_system_id references regexp release rename repeat replace require resignal restrict return \
    returning revoke right rlike row row_number rownum rows schema schemas second_microsecond select sensitive separator set sets show signal slow smallint spatial \
    specific sql sql_big_result sql_calc_found_rows sql_small_result sqlexception sqlstate sqlwarning ssl starting stats_auto_recalc \
    stats_persistent stats_sample_pages stored straight_join sysdate system system_time table tablesample terminated then tinyblob tinyint tinytext to trailing trigger true \
    undo union unique unlock unsigned update usage use using utc_date utc_time utc_timestamp value values varbinary varchar varcharacter varying vector versioning \
    virtual when where while window with without write xor year_month zerofill ";

/// A name as a statement of an app has it: in quotes where it needs them, and with its own `{{` not a placeholder.
pub(super) fn in_statement(name: &str, dialect: Dialect) -> String {
    // PostgreSQL makes small letters of a name without quotes.
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_' || (dialect != Dialect::Postgres && byte.is_ascii_uppercase());
    let plain = name.bytes().next().is_some_and(is_plain) && name.bytes().all(|byte| is_plain(byte) || byte.is_ascii_digit());
    let reserved = match dialect {
        Dialect::Sqlite | Dialect::Postgres => RESERVED,
        Dialect::MySql => RESERVED_BY_MYSQL,
    };
    if plain && !reserved.contains(&format!(" {} ", name.to_ascii_lowercase())) {
        return name.to_owned();
    }
    dialect.quoted(name).replace("{{", "{{ '{{' }}")
}

/// Whether a file of an app can have the name: no line break, no control character.
pub(super) fn can_be_written(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'))
}

/// The name of the folder, the tools and the presenter of a table: `Order Items` is `order-items`.
pub(super) fn of_tools(table: &str, taken: &[String]) -> String {
    let name = words(table, "-").to_ascii_lowercase();
    let name = match name.bytes().next() {
        None => "table".to_owned(),
        Some(first) if first.is_ascii_alphabetic() => name,
        Some(_) => format!("table-{name}"),
    };
    // Names of devices are no files on Windows.
    let name = if ["aux", "con", "nul", "prn"].contains(&name.as_str()) { format!("{name}-table") } else { name };
    free(name.chars().take(80).collect(), "-", |name| taken.iter().any(|other| other == name))
}

/// The name of an input and of a field of a result: a column's own, where that can be.
pub(super) fn of_field(column: &str, taken: &[String]) -> String {
    let is_own = column.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && column.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let name = if is_own { column.to_owned() } else { words(column, "_") };
    let name = match name.bytes().next() {
        None => "column".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("column_{name}"),
        Some(_) => name,
    };
    // What every object of JavaScript has is not a name of an app.
    let name = if ["__proto__", "constructor", "prototype"].contains(&name.as_str()) {
        format!("{}_column", name.trim_matches('_'))
    } else {
        name
    };
    // Result columns of SQLite that differ in case only are told apart by few readers.
    free(name.chars().take(80).collect(), "_", |name| taken.iter().any(|other| other.eq_ignore_ascii_case(name)))
}

/// The name, or with the first number at its end that makes it free.
pub(super) fn free(name: String, separator: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&name) {
        return name;
    }
    (2_u32..).map(|number| format!("{name}{separator}{number}")).find(|name| !is_taken(name)).unwrap_or(name)
}

/// In words: `order-items` is `order items`.
pub(super) fn in_words(name: &str) -> String {
    name.split(['-', '_']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
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
    let mut spaced = String::new();
    let mut before = ' ';
    for character in column.chars() {
        if character.is_uppercase() && before.is_lowercase() {
            spaced.push(' ');
        }
        spaced.push(if character.is_alphanumeric() { character } else { ' ' });
        before = character;
    }
    let spaced = spaced.to_lowercase();
    let joined: String = spaced.split_whitespace().collect();
    spaced.split_whitespace().any(|word| WORDS.contains(&word)) || PARTS.iter().any(|part| joined.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_statements_are_quoted_where_they_need_it() {
        for (name, dialect, expected) in [
            ("orders", Dialect::Postgres, "orders"),
            ("Orders", Dialect::Postgres, "\"Orders\""),
            ("Orders", Dialect::Sqlite, "Orders"),
            ("order", Dialect::Sqlite, "\"order\""),
            ("User", Dialect::Sqlite, "\"User\""),
            ("2nd", Dialect::Sqlite, "\"2nd\""),
            ("o'neil\"; drop", Dialect::Postgres, "\"o'neil\"\"; drop\""),
            ("größe", Dialect::Postgres, "\"größe\""),
            ("{{ inputs.x }}", Dialect::Sqlite, "\"{{ '{{' }} inputs.x }}\""),
            ("{{{{", Dialect::Sqlite, "\"{{ '{{' }}{{ '{{' }}\""),
            ("Orders", Dialect::MySql, "Orders"),
            ("rank", Dialect::MySql, "`rank`"),
            ("a`\"b", Dialect::MySql, "`a``\"b`"),
        ] {
            assert_eq!(in_statement(name, dialect), expected, "{name}");
        }
    }

    #[test]
    fn tools_and_fields_get_clean_names_of_their_own() {
        let mut taken = Vec::new();
        for (table, expected) in [
            ("Order Items", "order-items"),
            ("order_items", "order-items-2"),
            ("2024", "table-2024"),
            ("ß", "table"),
            ("con", "con-table"),
            ("ü", "table-2"),
        ] {
            let name = of_tools(table, &taken);
            assert_eq!(name, expected, "{table}");
            taken.push(name);
        }
        let mut taken = Vec::new();
        for (column, expected) in [
            ("id", "id"),
            ("customerId", "customerId"),
            ("CUSTOMERID", "CUSTOMERID_2"),
            ("Order Date", "Order_Date"),
            ("{{ inputs.x }}", "inputs_x"),
            ("o'neil\"; drop", "o_neil_drop"),
            ("größe", "gr_e"),
            ("数", "column"),
            ("1st", "column_1st"),
            ("__proto__", "proto_column"),
        ] {
            let name = of_field(column, &taken);
            assert_eq!(name, expected, "{column}");
            taken.push(name);
        }
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [
            "password",
            "user_password",
            "passwordHash",
            "api_key_hash",
            "apiKey",
            "API-TOKEN",
            "ssn",
            "SSN",
            "salt",
            "card_number",
            "refreshTokenV2",
            "iban",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["name", "assassin", "shipping", "author", "discard", "key", "passenger", "hashtag", "cardinality"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
