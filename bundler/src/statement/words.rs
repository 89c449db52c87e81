//! What the words of a statement say of its effects. The parser alone is not asked: it may know less than the database.

use millrace_catalogue::pragma;

use super::{
    dialect::Dialect,
    lex::Kind,
    lower::{Fragment, texts_of},
    tokens::Tokens,
};

/// Words that no statement has that only reads, apart from names. A database that is told that a statement only reads refuses what they do.
const WRITES: &[&str] = &["INTO", "INSERT", "UPDATE", "DELETE", "MERGE", "LOCK", "REPLACE"];
/// Functions whose effect outlives a statement, or that work in a transaction that only reads, too.
const ACTS: &[&str] = &[
    "NEXTVAL",
    "SETVAL",
    "SET_CONFIG",
    "PG_NOTIFY",
    "PG_TERMINATE_BACKEND",
    "PG_CANCEL_BACKEND",
    "PG_RELOAD_CONF",
    "PG_ROTATE_LOGFILE",
    "PG_SWITCH_WAL",
    "PG_CREATE_RESTORE_POINT",
    "PG_LOGICAL_EMIT_MESSAGE",
    "PG_PROMOTE",
    "LO_IMPORT",
    "LO_EXPORT",
    "LO_CREATE",
    "LO_UNLINK",
    "LO_PUT",
    "DBLINK",
    "DBLINK_EXEC",
    "GET_LOCK",
    "RELEASE_LOCK",
    "RELEASE_ALL_LOCKS",
    "LOAD_EXTENSION",
    "WRITEFILE",
    "PG_EXPORT_SNAPSHOT",
    "PG_IMPORT_SYSTEM_COLLATIONS",
    "PG_LOG_BACKEND_MEMORY_CONTEXTS",
    "BRIN_SUMMARIZE_NEW_VALUES",
    "BRIN_SUMMARIZE_RANGE",
    "BRIN_DESUMMARIZE_RANGE",
    "GIN_CLEAN_PENDING_LIST",
    // These run a text as a statement.
    "QUERY_TO_XML",
    "QUERY_TO_XML_AND_XMLSCHEMA",
    "CURSOR_TO_XML",
    "TS_STAT",
    "TS_REWRITE",
];
/// How the names of more such functions begin.
const FAMILIES: &[&str] = &[
    "pg_advisory",
    "pg_try_advisory",
    "pg_create_",
    "pg_drop_",
    "pg_copy_",
    "pg_replication_origin_",
    "pg_replication_slot_",
    "pg_logical_slot_get",
    "pg_stat_reset",
    "pg_stat_statements_reset",
    "pg_backup_",
    "pg_start_backup",
    "pg_stop_backup",
    "pg_wal_replay_",
    "pg_file_",
    "dblink_",
    "lo_creat",
    "lo_from_bytea",
    "lo_trunc",
    "lo_write",
    "lowrite",
];
/// The words that begin what may only read.
const ASKS: &[&str] = &["SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN", "SHOW", "DESCRIBE", "DESC", "PRAGMA"];
/// The words that begin what surely does more, so that nothing needs to be said of it.
const COMMANDS: &[&str] = &[
    "ALTER",
    "ANALYZE",
    "CALL",
    "CHECKPOINT",
    "CLUSTER",
    "COMMENT",
    "COPY",
    "CREATE",
    "DELETE",
    "DO",
    "DROP",
    "EXECUTE",
    "FLUSH",
    "GRANT",
    "IMPORT",
    "INSERT",
    "KILL",
    "LISTEN",
    "LOAD",
    "LOCK",
    "MERGE",
    "NOTIFY",
    "OPTIMIZE",
    "REFRESH",
    "REINDEX",
    "RENAME",
    "REPAIR",
    "REPLACE",
    "RESET",
    "REVOKE",
    "SECURITY",
    "SET",
    "SYSTEM",
    "TRUNCATE",
    "UNLISTEN",
    "UPDATE",
    "VACUUM",
];

/// What the words of a statement say.
pub(super) struct Words {
    /// The word that only a statement which writes has, unless it is a name.
    pub(super) writes: Option<usize>,
    /// The name of a function whose effect nothing can forbid.
    pub(super) acts: Option<usize>,
    /// It surely only reads, whatever is in it that the parser does not know.
    pub(super) surely_reads: bool,
    /// It begins like what reads.
    pub(super) asks: bool,
    /// It begins like what does more than read.
    pub(super) is_command: bool,
    /// A word of its beginning is one of several that a caller chooses from, or has a comment that is run.
    is_open: bool,
}

impl Words {
    /// Whether the words allow that the statement only reads.
    pub(super) const fn may_only_read(&self) -> bool {
        self.writes.is_none() && self.acts.is_none() && !self.is_open
    }

    /// Whether the words have no effect that a database cannot refuse.
    pub(super) const fn can_be_held_to_reading(&self) -> bool {
        self.acts.is_none() && !self.is_open
    }

    /// Whether the database can hold the statement to reading, where its author says that it does.
    pub(super) const fn may_be_declared(&self) -> bool {
        self.asks && self.can_be_held_to_reading()
    }
}

/// Looks at the words of a statement, which begins at the token `first`.
pub(super) fn look(tokens: &Tokens<'_>, first: usize, fragments: &[Fragment], dialect: Dialect) -> Words {
    // Of several keywords the parser has seen the first.
    let chosen = fragments.iter().any(|fragment| match fragment {
        Fragment::Choice { part, .. } => {
            texts_of(part).iter().any(|text| text.split(' ').any(|word| WRITES.iter().any(|write| write.eq_ignore_ascii_case(word))))
        }
        _ => false,
    });
    let is_run = tokens.all.iter().any(|token| token.kind == Kind::Comment { executable: true });
    let opening = tokens.significant().find(|&token| token >= first && !tokens.is_sign(Some(token), b'('));
    let is_open = chosen || is_run;
    Words {
        // MySQL has no `MERGE`, and may have it as a name.
        writes: tokens
            .significant()
            .find(|&token| is_write(tokens, token) && !(dialect == Dialect::MySql && tokens.is_word(Some(token), "MERGE"))),
        acts: tokens.significant().find(|&token| is_act(tokens, token)),
        surely_reads: !is_open && surely_reads(tokens, first, dialect),
        asks: tokens.is_any_word(opening, ASKS),
        is_command: tokens.is_any_word(opening, COMMANDS),
        is_open,
    }
}

fn is_write(tokens: &Tokens<'_>, token: usize) -> bool {
    // `replace(…)` and `insert(…)` are functions, and what follows a dot is a name.
    let called = tokens.is_sign(tokens.after(token), b'(') && tokens.is_any_word(Some(token), &["REPLACE", "INSERT"]);
    tokens.is_any_word(Some(token), WRITES) && !called && !tokens.is_sign(tokens.before(token), b'.')
}

fn is_act(tokens: &Tokens<'_>, token: usize) -> bool {
    let called = tokens.is_sign(tokens.after(token), b'(');
    let is_of_family = |name: &str| {
        let name = name.to_ascii_lowercase();
        FAMILIES.iter().any(|family| name.starts_with(family))
    };
    if (called && tokens.word(Some(token)).is_some_and(is_of_family)) || tokens.is_any_word(Some(token), ACTS) {
        return true;
    }
    // A function's name may stand in quotes, and PostgreSQL has names with escapes.
    let text = tokens.text(token);
    let name = text.trim_matches(['`', '"', '[', ']']);
    let is_escaped = text.starts_with(['u', 'U']);
    let is_named = is_of_family(name) || ACTS.iter().any(|act| act.eq_ignore_ascii_case(name));
    called && tokens.all[token].kind == Kind::Quoted && (is_escaped || is_named)
}

/// Whether the first words of a statement decide that it only reads: those of `SHOW`, and in SQLite those of every query, which has no clause
/// that writes.
fn surely_reads(tokens: &Tokens<'_>, first: usize, dialect: Dialect) -> bool {
    let word = |at: Option<usize>, word: &str| tokens.is_word(at, word);
    match dialect {
        Dialect::Postgres => word(Some(first), "SHOW"),
        Dialect::MySql if tokens.is_any_word(Some(first), &["SHOW", "HELP"]) => true,
        Dialect::MySql => tokens.is_any_word(Some(first), &["DESCRIBE", "DESC"]) && is_name(tokens),
        Dialect::Sqlite if word(Some(first), "EXPLAIN") => true,
        Dialect::Sqlite if word(Some(first), "PRAGMA") => asks_a_pragma(tokens, first),
        Dialect::Sqlite => selects(tokens, first),
        Dialect::ClickHouse | Dialect::PartiQl => false,
    }
}

/// Whether a name follows, and no statement: `DESCRIBE orders`.
fn is_name(tokens: &Tokens<'_>) -> bool {
    !tokens.significant().any(|token| tokens.is_any_word(Some(token), &["SELECT", "WITH", "ANALYZE", "TABLE"]) || is_write(tokens, token))
}

/// The name of a `PRAGMA`, and whether it is a mere question.
fn asks_a_pragma(tokens: &Tokens<'_>, first: usize) -> bool {
    let Some(mut name) = tokens.after(first) else { return false };
    if let Some(dot) = tokens.after(name).filter(|&dot| tokens.is_sign(Some(dot), b'.')) {
        let Some(last) = tokens.after(dot) else { return false };
        name = last;
    }
    let has_value = tokens.after(name).is_some_and(|next| !tokens.is_sign(Some(next), b';'));
    pragma::is_question(tokens.text(name).trim_matches(['"', '`', '[', ']', '\'']), has_value)
}

/// Whether SQLite's query begins here: `SELECT`, `VALUES`, or one of them after common table expressions.
fn selects(tokens: &Tokens<'_>, first: usize) -> bool {
    const VERBS: &[&str] = &["SELECT", "VALUES"];
    if tokens.is_any_word(Some(first), VERBS) {
        return true;
    }
    if !tokens.is_word(Some(first), "WITH") {
        return false;
    }
    let mut depth = 0_usize;
    for token in tokens.significant().filter(|&token| token > first) {
        match tokens.all[token].kind {
            Kind::Sign(b'(') => depth += 1,
            Kind::Sign(b')') => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            // The name of an expression may be a verb, too.
            Kind::Word if tokens.is_word(tokens.after(token), "AS") => {}
            Kind::Word if tokens.is_any_word(Some(token), VERBS) => return true,
            Kind::Word if is_write(tokens, token) => return false,
            Kind::Mark => return false,
            _ => {}
        }
    }
    false
}
