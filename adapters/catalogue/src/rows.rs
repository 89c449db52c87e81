//! The rows.

use millrace_languages::Language::{Arguments, ClickHouse, Documents, Http, MySql, PartiQl, Postgres, Requests, Sqlite};

use crate::{
    Binding, BindingKind, Connector,
    Host::{Native, Worker},
    Transactions, WorkerPart,
    row::HYPERDRIVE,
};

/// What most connectors have in common: a server with records of calls and transactions, which
/// every host reaches.
const SERVER: Connector = Connector {
    name: "",
    language: Sqlite,
    options: &[],
    trust_options: &[],
    schemes: &[],
    foreign_schemes: &[],
    hosts: &[Native, Worker],
    worker_part: None,
    binding: None,
    is_file: false,
    max_values: None,
    keeps_call_records: true,
    transactions: Some(Transactions::Stepwise),
    sets_session: false,
    system: "",
};

/// How an adapter on a connector is written, for references.
#[derive(Debug)]
pub struct Written {
    /// The connector's name.
    pub connector: &'static str,
    /// What its connection string is, as Markdown.
    pub connection_string: &'static str,
    /// Its own options, with remarks, as Markdown.
    pub options: &'static str,
}

/// Makes a static of each row, the list of them, and the texts of the app's format that name them
/// all.
macro_rules! rows {
    ($($name:literal $constant:ident: $connection_string:literal, $options:literal, $row:expr;)+) => {
        rows!(names $($name)+);
        $(
            #[doc = concat!("`", $name, "`")]
            pub static $constant: Connector = $row;
        )+
        /// Every connector.
        pub static CONNECTORS: &[&Connector] = &[$(&$constant),+];
        /// How their connection strings are written.
        pub const CONNECTION_STRINGS: &str = concat!("Where to connect.", $(" For `", $name, "`: ", $connection_string, ".",)+);
        /// How the connection string of each is written, and what options it has.
        pub static WRITTEN: &[Written] = &[$(Written { connector: $name, connection_string: $connection_string, options: $options }),+];
        /// Their options.
        pub const OPTIONS: &str = concat!(
            "`timeout` (of one statement, `30s`), `max_rows` (`10000`), `read_only` (`false`).",
            $(" For `", $name, "` also ", $options, ".",)+
        );
    };
    (names $first:literal $($other:literal)*) => {
        /// Their names, for the reference of the app's format.
        pub const NAMES: &str = concat!("What it connects to: `", $first, "`", $(", `", $other, "`",)* ".");
    };
}

rows! {
    "sqlite" SQLITE:
    "a file, relative to the app's folder, or `:memory:`",
    "`seed` (a file of SQL, relative to this file, that creates a database which does not exist yet), `create`, `busy_timeout`, \
     `foreign_keys`, `journal_mode`, `like_uses_index`, `statement_cache`",
    Connector {
        name: "sqlite",
        language: Sqlite,
        options: &["busy_timeout", "create", "foreign_keys", "journal_mode", "like_uses_index", "seed", "statement_cache"],
        schemes: &["file", "sqlite"],
        hosts: &[Native],
        is_file: true,
        system: "sqlite",
        ..SERVER
    };

    "libsql" LIBSQL:
    "`libsql://host`, `https://host` or `http://host:port`",
    "`auth_token` (or `authToken`, or `jwt`), `tls`",
    Connector {
        name: "libsql",
        language: Sqlite,
        options: &["authToken", "auth_token", "jwt", "tls"],
        schemes: &["libsql", "http", "https"],
        foreign_schemes: &["ws", "wss"],
        system: "libsql",
        ..SERVER
    };

    "d1" D1:
    "`d1://ACCOUNT_ID/DATABASE_ID`, or in a Worker the name of a binding, `d1:DB`",
    "`api_token`, `base_url`",
    Connector {
        name: "d1",
        language: Sqlite,
        options: &["api_token", "base_url"],
        schemes: &["d1"],
        binding: Some(Binding { kind: BindingKind::D1, prefix: "d1:" }),
        max_values: Some(100),
        transactions: Some(Transactions::Batch),
        system: "cloudflare.d1",
        ..SERVER
    };

    "postgres" POSTGRES:
    "`postgres://user:password@host/database`, or in a Worker the name of a Hyperdrive, `hyperdrive:DB`",
    "`application_name`, `aws_iam`, `ca_certificate`, `channel_binding`, `connect_timeout`, `max_connections`, `options`, `password`, \
     `search_path`, `sslmode`, `sslrootcert`, `timezone`, `user`",
    Connector {
        name: "postgres",
        language: Postgres,
        options: &[
            "application_name",
            "aws_iam",
            "ca_certificate",
            "channel_binding",
            "connect_timeout",
            "max_connections",
            "options",
            "password",
            "search_path",
            "sslmode",
            "sslrootcert",
            "timezone",
            "user",
        ],
        trust_options: &["ca_certificate", "sslrootcert"],
        schemes: &["postgres", "postgresql"],
        worker_part: Some(WorkerPart::Databases),
        binding: Some(Binding { kind: BindingKind::Hyperdrive, prefix: HYPERDRIVE }),
        sets_session: true,
        system: "postgresql",
        ..SERVER
    };

    "neon" NEON:
    "`postgres://user:password@host/database`, as Neon shows it",
    "`application_name`, `base_url` (of the SQL API, for a host that is not below `neon.tech`), `password`, `search_path`, `timezone`, `user`",
    Connector {
        name: "neon",
        language: Postgres,
        options: &["application_name", "base_url", "password", "search_path", "timezone", "user"],
        schemes: &["postgres", "postgresql"],
        // It needs no sockets; but what it shares with `postgres` is there.
        worker_part: Some(WorkerPart::Databases),
        transactions: Some(Transactions::Batch),
        sets_session: true,
        system: "postgresql",
        ..SERVER
    };

    "mysql" MYSQL:
    "`mysql://user:password@host/database`",
    "`ca_certificate`, `connect_timeout`, `max_connections`, `password`, `sql_mode`, `sslmode`, `sslrootcert`, `user`",
    Connector {
        name: "mysql",
        language: MySql,
        options: &["ca_certificate", "connect_timeout", "max_connections", "password", "sql_mode", "sslmode", "sslrootcert", "user"],
        trust_options: &["ca_certificate", "sslrootcert"],
        schemes: &["mysql", "mariadb"],
        foreign_schemes: &["mysqlx"],
        worker_part: Some(WorkerPart::Databases),
        system: "mysql",
        ..SERVER
    };

    "planetscale" PLANETSCALE:
    "`mysql://user:password@host/database`, as PlanetScale shows it, or the API itself, `https://user:password@host`",
    "`password`, `user`",
    Connector {
        name: "planetscale",
        language: MySql,
        options: &["password", "user"],
        schemes: &["mysql", "https", "http"],
        foreign_schemes: &["postgres", "postgresql"],
        // It needs no sockets; but what it shares with `mysql` is there.
        worker_part: Some(WorkerPart::Databases),
        system: "mysql",
        ..SERVER
    };

    "redis" REDIS:
    "`redis://user:password@host:6379/0`, or `rediss://` for TLS",
    "`allow` (commands that are refused otherwise: `[KEYS, EVAL]`), `ca_certificate`, `ca_file`, `connect_timeout`, `max_connections`, `password`, `protocol`, `user`",
    Connector {
        name: "redis",
        language: Arguments,
        options: &["allow", "ca_certificate", "ca_file", "connect_timeout", "max_connections", "password", "protocol", "user"],
        trust_options: &["ca_certificate", "ca_file"],
        schemes: &["redis", "rediss"],
        foreign_schemes: &["redis+unix", "unix", "http", "https"],
        worker_part: Some(WorkerPart::Databases),
        keeps_call_records: false,
        transactions: None,
        system: "redis",
        ..SERVER
    };

    "upstash" UPSTASH:
    "the REST URL of the database, `https://host`",
    "`token` (required), `allow`",
    Connector {
        name: "upstash",
        language: Arguments,
        options: &["allow", "token"],
        schemes: &["https", "http"],
        foreign_schemes: &["redis", "rediss"],
        // It needs no sockets; but with what it knows of commands it weighs 24 KB, which no Worker
        // without it should carry.
        worker_part: Some(WorkerPart::Databases),
        keeps_call_records: false,
        transactions: None,
        system: "redis",
        ..SERVER
    };

    "mongodb" MONGODB:
    "`mongodb://user:password@host/database`, or `mongodb+srv://` for hosts that DNS names",
    "`allow` (stages and operators that are refused otherwise: `[$out]`), `auth_source`, `ca_certificate`, `connect_timeout`, `dns`, \
     `max_connections`, `password`, `sslmode`, `sslrootcert`, `user`",
    Connector {
        name: "mongodb",
        language: Documents,
        options: &[
            "allow",
            "auth_source",
            "ca_certificate",
            "connect_timeout",
            "dns",
            "max_connections",
            "password",
            "sslmode",
            "sslrootcert",
            "user",
        ],
        trust_options: &["ca_certificate", "sslrootcert"],
        schemes: &["mongodb", "mongodb+srv"],
        foreign_schemes: &["http", "https"],
        worker_part: Some(WorkerPart::Databases),
        keeps_call_records: false,
        transactions: None,
        system: "mongodb",
        ..SERVER
    };

    "postgrest" POSTGREST:
    "the URL of the REST API, `https://PROJECT.supabase.co/rest/v1`",
    "`api_key`, `schema`, `server_max_rows` (how many rows the server sends at most, `1000`; `0` for no limit), `token`",
    Connector {
        name: "postgrest",
        language: Requests,
        options: &["api_key", "schema", "server_max_rows", "token"],
        schemes: &["https", "http"],
        foreign_schemes: &["postgres", "postgresql"],
        // It needs no sockets; but it has the errors of `postgres`, and no Worker without it should
        // carry what it knows of requests.
        worker_part: Some(WorkerPart::Databases),
        keeps_call_records: false,
        transactions: None,
        system: "postgresql",
        ..SERVER
    };

    "clickhouse" CLICKHOUSE:
    "`https://user:password@host:8443/database`, or `clickhouse://` for the same",
    "`database`, `password`, `user`",
    Connector {
        name: "clickhouse",
        language: ClickHouse,
        options: &["database", "password", "user"],
        schemes: &["clickhouse", "clickhouses", "http", "https"],
        foreign_schemes: &["tcp", "grpc"],
        // It needs no sockets; but no Worker without it should carry it.
        worker_part: Some(WorkerPart::Databases),
        keeps_call_records: false,
        transactions: None,
        system: "clickhouse",
        ..SERVER
    };

    "dynamodb" DYNAMODB:
    "`dynamodb://REGION`",
    "`access_key_id`, `secret_access_key`, `session_token` (by default those of the host), `consistent_read` (`false`), `endpoint`, `region`",
    Connector {
        name: "dynamodb",
        language: PartiQl,
        options: &["access_key_id", "consistent_read", "endpoint", "region", "secret_access_key", "session_token"],
        schemes: &["dynamodb"],
        foreign_schemes: &["http", "https"],
        // It needs no sockets; but signatures weigh more than a Worker without it should carry.
        worker_part: Some(WorkerPart::Databases),
        keeps_call_records: false,
        transactions: Some(Transactions::Batch),
        system: "aws.dynamodb",
        ..SERVER
    };

    "rds-data" RDS_DATA:
    "the ARN of a cluster of Aurora PostgreSQL, `arn:aws:rds:REGION:ACCOUNT:cluster:NAME`",
    "`secret_arn` (required), `database`, `access_key_id`, `secret_access_key`, `session_token` (by default those of the host), `endpoint`",
    Connector {
        name: "rds-data",
        language: Postgres,
        options: &["access_key_id", "database", "endpoint", "secret_access_key", "secret_arn", "session_token"],
        schemes: &[],
        // It needs no sockets; but it has the language of `postgres`, and signs as `dynamodb` does.
        worker_part: Some(WorkerPart::Databases),
        sets_session: true,
        system: "postgresql",
        ..SERVER
    };

    "http" HTTP:
    "the URL of the API with its base path, `https://api.example.com/v1`",
    "`bearer`, or `basic`, or `api_key` with `api_key_header` or `api_key_query`, or `oauth_token_url`, `oauth_client_id`, \
     `oauth_client_secret`, `oauth_scope`, `oauth_audience`, `oauth_resource` and `oauth_grant` (`client_credentials`, or \
     `token_exchange` for a token of the caller); `headers` (fields of every request), `idempotency_header`, `redirects` \
     (origins that a redirect may lead to), `max_requests` (at once, `8`), `allow_private` (the reason why the API may have a private address)",
    Connector {
        name: "http",
        language: Http,
        options: &[
            "allow_private",
            "api_key",
            "api_key_header",
            "api_key_query",
            "basic",
            "bearer",
            "headers",
            "idempotency_header",
            "max_requests",
            "oauth_audience",
            "oauth_client_id",
            "oauth_client_secret",
            "oauth_grant",
            "oauth_resource",
            "oauth_scope",
            "oauth_token_url",
            "redirects",
        ],
        schemes: &["https", "http"],
        // It needs no sockets; but no Worker without it should carry it.
        worker_part: Some(WorkerPart::Databases),
        keeps_call_records: false,
        transactions: None,
        system: "",
        ..SERVER
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;

    #[test]
    fn rows_are_whole() {
        for connector in CONNECTORS {
            let name = connector.name;
            assert!(core::ptr::eq(find(name).unwrap(), *connector), "two rows `{name}`");
            assert!(
                connector.options.is_sorted() && !connector.hosts.is_empty() && connector.system.is_empty() == (name == "http"),
                "{name}"
            );
            assert!(connector.trust_options.iter().all(|option| connector.options.contains(option)), "{name}");
            assert!(connector.worker_part.is_none() || connector.runs_on(Worker), "{name}");
        }
        assert!(NAMES.starts_with("What it connects to: `sqlite`, `libsql`"), "{NAMES}");
    }

    #[test]
    fn bindings_are_found_in_connection_strings() {
        let table = [
            (&D1, " d1:DB ", Some(Ok("DB"))),
            (&D1, "D1:my-db_2", Some(Ok("my-db_2"))),
            (&D1, "d1:", Some(Err(""))),
            (&D1, "d1:a b", Some(Err("a b"))),
            (&D1, "d1://a/b", None),
            (&D1, "DB", None),
            (&POSTGRES, "hyperdrive:DB", Some(Ok("DB"))),
            (&POSTGRES, "hyperdrive:ß", Some(Err("ß"))),
            (&POSTGRES, "hyperdrive://DB", Some(Err("//DB"))),
            (&POSTGRES, "postgres://me@db/x", None),
            (&SQLITE, "d1:DB", None),
        ];
        for (connector, text, expected) in table {
            assert_eq!(connector.binding_in(text), expected, "{text}");
        }
    }

    #[test]
    fn schemes_are_found_in_connection_strings() {
        let table =
            [("LibSQL://x", Some("libsql")), (" https://x", Some("https")), ("wss://x", Some("wss")), ("x.db", None), ("file:x", None)];
        for (text, expected) in table {
            assert_eq!(LIBSQL.scheme_of(text), expected, "{text}");
        }
    }
}
