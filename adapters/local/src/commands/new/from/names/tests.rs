use super::*;

#[test]
fn names_in_statements_are_quoted_where_they_need_it() {
    use Dialect::{MySql, Postgres, Sqlite};
    for (name, dialect, expected) in [
        ("orders", Postgres, "orders"),
        ("Orders", Postgres, "\"Orders\""),
        ("Orders", Sqlite, "Orders"),
        ("order", Sqlite, "\"order\""),
        ("User", Sqlite, "\"User\""),
        ("2nd", Sqlite, "\"2nd\""),
        ("o'neil\"; drop", Postgres, "\"o'neil\"\"; drop\""),
        ("größe", Postgres, "\"größe\""),
        ("{{ inputs.x }}", Sqlite, "\"{{ '{{' }} inputs.x }}\""),
        ("{{{{", Sqlite, "\"{{ '{{' }}{{ '{{' }}\""),
        ("Orders", MySql, "Orders"),
        ("rank", MySql, "`rank`"),
        ("a`\"b", MySql, "`a``\"b`"),
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
        ("\u{e000}", "table"),
        ("ß", "ss"),
        ("con", "con-table"),
        ("\u{e001}", "table-2"),
        ("Größe", "grosse"),
        ("PlaylistTrack", "playlist-track"),
        ("playlist_track", "playlist-track-2"),
        ("HTTPServer2Log", "http-server2-log"),
        ("SALES", "sales"),
        ("Заказы", "zakazy"),
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
        ("größe", "grosse"),
        ("數", "Shu"),
        ("\u{e000}", "column"),
        ("1st", "column_1st"),
        ("__proto__", "proto_column"),
    ] {
        let name = of_field(column, &taken);
        assert_eq!(name, expected, "{column}");
        taken.push(name);
    }
}

#[test]
fn secrets_and_personal_data_are_known_by_their_names() {
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
    for name in
        ["email", "E-mail", "eMail2", "customer_phone", "MobileNumber", "birth_date", "dateOfBirth", "DOB", "IPAddress", "Straße_street"]
    {
        assert!(is_personal(name), "{name}");
    }
    for name in ["name", "telling", "shipping", "mailing_id", "zip", "birthplaces", "status"] {
        assert!(!is_personal(name), "{name}");
    }
    for name in ["name", "assassin", "shipping", "author", "discard", "key", "passenger", "hashtag", "cardinality"] {
        assert!(!is_secret(name), "{name}");
    }
}
