use super::*;

#[test]
fn what_is_searched_and_not_shown() {
    let find = |text: &str, dialect| -> Vec<String> {
        let found = searched(text, dialect, &["id", "name", "mail"]);
        found.into_iter().map(|Searched { column, input, range }| format!("{column} {input} {}", &text[range])).collect()
    };
    for (condition, expected) in [
        ("email LIKE '%{{ inputs.q }}%'", "email q email"),
        ("c.email LIKE {{ inputs.q }}", "email q email"),
        ("lower(\"email\") LIKE '%' || lower({{ inputs.q }}) || '%'", "email q email"),
        ("(id = {{ inputs.id }} OR coalesce(email, '') LIKE '{{ inputs.q }}%')", "email q email"),
        ("{{ inputs.q }} LIKE '%' || email || '%'", "email q email"),
        ("instr(email, {{ inputs.q }}) > 0", "email q email"),
        ("id IN (SELECT id FROM mails WHERE email LIKE {{ inputs.q }})", "email q email"),
        ("name LIKE '%{{ inputs.q }}%'", ""),
        ("NAME LIKE '%{{ inputs.q }}%'", ""),
        ("address LIKE '%{{ inputs.q }}%'", ""),
        ("email = {{ inputs.q }} AND born > {{ inputs.since }}", ""),
        ("email LIKE '%@{{ auth.claims.domain }}'", ""),
        ("email LIKE '%@example.com' AND name LIKE {{ inputs.q }}", ""),
        ("email LIKE", ""),
    ] {
        let text = format!("SELECT id, name, address AS mail, email FROM c WHERE {condition} ORDER BY {{{{ inputs.sort | ident }}}}");
        for dialect in [Dialect::Sqlite, Dialect::Postgres] {
            assert_eq!(find(&text, dialect).join(", "), expected, "{condition}");
        }
    }
    for (condition, dialect) in [
        ("email ILIKE '%{{ inputs.q }}%'", Dialect::Postgres),
        ("email ~* {{ inputs.q }}", Dialect::Postgres),
        ("position({{ inputs.q }} in email) > 0", Dialect::Postgres),
        ("email SIMILAR TO {{ inputs.q }}", Dialect::Postgres),
        ("`email` REGEXP {{ inputs.q }}", Dialect::MySql),
        ("MATCH (email) AGAINST ({{ inputs.q }})", Dialect::MySql),
        ("LOCATE({{ inputs.q }}, email)", Dialect::MySql),
        ("email GLOB {{ inputs.q }}", Dialect::Sqlite),
        ("email ILIKE {{ inputs.q }}", Dialect::ClickHouse),
    ] {
        let text = format!("SELECT id FROM c WHERE {condition}");
        assert_eq!(find(&text, dialect), ["email q email"], "{condition}");
    }
}
