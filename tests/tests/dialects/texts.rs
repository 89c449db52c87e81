//! Generated texts of quotes, comments and line ends: whatever a server takes as code, a text or a
//! name, the build takes for the same.
//!
//! A text selects constants with names. Which of the names are columns of the server's result, and
//! what texts they have, shows where the server saw quotes and comments end. What a server refuses
//! proves nothing; what the build refuses harms nobody.

use millrace_bundler::statement::{Constants, Dialect, Outline, outline};
use millrace_core::{
    ErrorKind,
    ports::{Command, Query},
    value::Value,
};
use millrace_tests::{
    clickhouse,
    database::{Database, query},
    mysql::Mysql,
    neon,
    postgres::Postgres,
    rds_data,
};

use super::count;

/// A generator of texts, the same ones in each run.
struct Generator {
    seed: u64,
    dialect: Dialect,
    names: usize,
}

impl Generator {
    fn below(&mut self, count: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) as usize % count
    }

    fn of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }

    /// A column that is there where this is code.
    fn marker(&mut self) -> String {
        self.names += 1;
        format!(", {} AS c{} ", self.names, self.names)
    }

    /// What a text, a name or a comment has in it: mostly what is harmless there, and what ends it,
    /// or would in another dialect.
    fn noise(&mut self) -> String {
        let mut noise = String::new();
        for _ in 0..self.below(4) {
            match self.below(12) {
                0 => noise.push_str(&self.marker()),
                1 => noise.push_str(self.of(&["\n", "\r", "\r\n", "\t"])),
                2 | 3 => noise.push_str(self.of(&["''", "\\'", "\\\\", "\"\"", "``", "\\\"", "\\`"])),
                4 | 5 => noise.push_str(self.of(&["--", "-- ", "/*", "*/", "#", "//", "/*/", "*"])),
                6 => noise.push_str(self.of(&["'", "\"", "`", "]", "[", "\\"])),
                7 => noise.push_str(self.of(&["$$", "$t$", "$", "$é$"])),
                8 => noise.push_str(self.of(&["\u{b}", "\u{c}", "\u{a0}", "\u{2028}", "\u{feff}", "\u{1}", "\u{2019}", "é", "ﬀ"])),
                _ => noise.push_str(self.of(&["a", " ", "b c", "0", ",", "E", "\\n", "\\0061", "%"])),
            }
        }
        noise
    }

    fn blank(&mut self) -> &'static str {
        match self.below(24) {
            0 => self.of(&["\u{b}", "\u{c}", "\u{a0}", "\u{2028}", "\u{85}", "\u{feff}", "\u{3000}", "\u{200b}", "\u{1}", "\u{7f}"]),
            1..=4 => self.of(&["\n", "\r", "\r\n", "\t", "\n\r"]),
            _ => " ",
        }
    }

    fn line_comment(&mut self) -> String {
        let begin = match self.dialect {
            Dialect::MySql => self.of(&["-- ", "--\t", "--\n", "#", "# ", "--", "--\u{1}", "--\r"]),
            Dialect::ClickHouse => self.of(&["--", "-- ", "# ", "#!", "//", "#"]),
            _ => self.of(&["--", "-- ", "--", "--- "]),
        };
        let (noise, end) = (self.noise(), self.of(&["\n", "\n", "\n", "\r", "\r\n", "\u{b}", "\u{2028}", "\u{85}", "\u{c}"]));
        let mut text = format!("{begin}{noise}{end}");
        if self.below(2) == 0 {
            text.push_str(&self.marker());
            text.push('\n');
        }
        text
    }

    fn block_comment(&mut self) -> String {
        let (noise, marker) = (self.noise(), self.marker());
        match self.below(6) {
            0 => format!("/*{noise}/*{marker}*/{noise}*/"),
            1 => format!("/*/{noise}*/"),
            2 => format!("/**{marker}*/"),
            3 => format!("/*{noise}/*{noise}*/{marker}"),
            _ => format!("/*{noise}*/"),
        }
    }

    fn literal(&mut self) -> String {
        let noise = self.noise();
        match self.dialect {
            Dialect::Postgres => match self.below(9) {
                0 => format!("E'{noise}'"),
                1 => format!("e'{noise}'"),
                2 => format!("U&'{noise}'"),
                3 => format!("N'{noise}'"),
                4 => format!("$${noise}$$"),
                5 => format!("$é${noise}$é$"),
                6 => format!("$t${noise}$t$"),
                _ => format!("'{noise}'"),
            },
            Dialect::MySql => match self.below(6) {
                0 => format!("\"{noise}\""),
                1 => format!("N'{noise}'"),
                2 => format!("_utf8mb4'{noise}'"),
                3 => format!("_utf8mb4 \"{noise}\""),
                _ => format!("'{noise}'"),
            },
            Dialect::ClickHouse => match self.below(5) {
                0 => format!("$t${noise}$t$"),
                1 => format!("$${noise}$$"),
                _ => format!("'{noise}'"),
            },
            _ => format!("'{noise}'"),
        }
    }

    /// A literal, or several in a row, which are one in places.
    fn literals(&mut self) -> String {
        let mut text = self.literal();
        for _ in 0..[0, 0, 0, 1, 2][self.below(5)] {
            let between = match self.below(4) {
                0 => self.line_comment(),
                1 => format!("\n{}", self.line_comment()),
                2 => self.of(&["\n", "\r", " \n ", "\r\n\t"]).to_owned(),
                _ => self.of(&["", " ", "/* \n */", "\n/**/"]).to_owned(),
            };
            let noise = self.noise();
            text = format!("{text}{between}'{noise}'");
        }
        text
    }

    fn name(&mut self) -> String {
        self.names += 1;
        let (number, noise) = (self.names, self.noise());
        let quotes = match self.dialect {
            Dialect::Sqlite => ["\"\"", "``", "[]"][self.below(3)],
            Dialect::MySql => "``",
            Dialect::ClickHouse => ["\"\"", "``"][self.below(2)],
            _ => "\"\"",
        };
        let unicode = if self.dialect == Dialect::Postgres && self.below(4) == 0 { "U&" } else { "" };
        format!("{unicode}{}q{number}{noise}{}", &quotes[..1], &quotes[1..])
    }

    fn text(&mut self) -> String {
        self.names = 0;
        let mut text = "SELECT 0 AS z".to_owned();
        for _ in 0..1 + self.below(5) {
            let blank = self.blank();
            text.push_str(blank);
            match self.below(8) {
                0 | 1 => text.push_str(&self.line_comment()),
                2 => text.push_str(&self.block_comment()),
                3 | 4 => {
                    self.names += 1;
                    let (number, literals) = (self.names, self.literals());
                    text.push_str(&format!(", {literals} AS t{number}"));
                }
                5 => {
                    let (name, value) = (self.name(), self.names);
                    text.push_str(&format!(", {value} AS {name}"));
                }
                6 => {
                    self.names += 1;
                    let (value, number) = (self.of(&["5--1\n", "5 - -1", "5*/**/2", "x'4142'", "7/ 2", "5--+1\n"]), self.names);
                    text.push_str(&format!(", {value} AS m{number}"));
                }
                _ => text.push_str(&self.marker()),
            }
        }
        text
    }
}

/// The columns of the server's result and their texts; `None`: it refuses the text.
fn of_server(database: &Database, text: &str) -> Option<Constants> {
    let rows = database.run_with(&Query { command: Command::Statement { text, values: &[] }, ..query(text) }).ok()?;
    let cells = rows.rows.first()?;
    let text = |value: &Value| if let Value::Text(text) = value { Some(text.clone()) } else { None };
    Some(rows.columns.iter().cloned().zip(cells.iter().map(text)).filter(|(name, _)| is_given(name)).collect())
}

/// Whether a name is one that the generator gives. A column whose name is in a comment has another
/// one.
fn is_given(name: &str) -> bool {
    let digits = name.get(1..).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
    name == "z"
        || name.starts_with(['c', 't', 'm']) && digits
        || name.starts_with('q') && name.as_bytes().get(1).is_some_and(u8::is_ascii_digit)
}

/// Whether two readings say the same: the same names, and the same texts where both know one.
fn agree(own: &Constants, server: &Constants) -> bool {
    own.len() == server.len()
        && own
            .iter()
            .zip(server)
            .all(|((name, value), (other, found))| name == other && (value.is_none() || found.is_none() || value == found))
}

fn compare(name: &str, dialect: Dialect, count: usize, database: &Database) {
    let mut generator = Generator { seed: 27, dialect, names: 0 };
    let (mut judged, mut parsed, mut refused) = (0, 0, 0);
    let mut wrong = Vec::new();
    for _ in 0..count {
        let text = generator.text();
        let Some(server) = of_server(database, &text) else { continue };
        // PostgreSQL cuts long names.
        if server.iter().any(|(column, _)| column.len() > 60) {
            continue;
        }
        let Some(Outline { cut, parsed: understood }) = outline(&text, dialect) else {
            refused += 1;
            continue;
        };
        judged += 1;
        parsed += usize::from(understood.is_some());
        for (how, own) in [("cut", Some(cut)), ("parsed", understood)] {
            let own: Option<Constants> = own.map(|own| own.into_iter().filter(|(name, _)| is_given(name)).collect());
            if let Some(own) = own.filter(|own| !agree(own, &server)) {
                wrong.push(format!("{text:?}\n  {how}: {own:?}\n  server: {server:?}"));
            }
        }
    }
    eprintln!(
        "{name}: of {count} texts the server took {}; {judged} were compared, {parsed} of them parsed, {refused} refused by the build",
        judged + refused
    );
    assert!(wrong.is_empty(), "{name}: {} of {judged}\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
    assert!(judged * 10 > count && parsed * 20 > count, "{name}: only {judged} of {count} texts were compared, and {parsed} parsed");
}

#[test]
fn sqlite_reads_texts_as_the_build_does() {
    compare("SQLite", Dialect::Sqlite, count(20_000, 2_000), &super::sqlite());
}

#[test]
fn postgres_reads_texts_as_the_build_does() {
    let server = Postgres::start(&[]);
    compare("PostgreSQL", Dialect::Postgres, count(20_000, 2_000), &server.open());
}

#[test]
fn mysql_reads_texts_as_the_build_does() {
    let server = Mysql::start(&[]);
    compare("MariaDB", Dialect::MySql, count(20_000, 2_000), &server.open());
}

#[test]
fn clickhouse_reads_texts_as_the_build_does() {
    let server = clickhouse::start(&[]);
    compare("ClickHouse", Dialect::ClickHouse, count(1_500, 150), &clickhouse::open(&server));
}

/// A setting of the database by which a literal would end elsewhere.
#[test]
fn literals_of_postgres_end_where_the_build_sees_them_end() {
    let server = Postgres::start(&[]);
    server.open().run("ALTER DATABASE postgres SET standard_conforming_strings = off", &[]).unwrap();
    // It comes with the login, so that nothing is run.
    let error = server.open().run("SELECT 1", &[]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Configuration);
    assert!(error.message.contains("`standard_conforming_strings = off`"), "{error:?}");
    for database in [neon::open(&server), rds_data::open(&server)] {
        let rows = database.run("SELECT 'a\\' AS a, 1 AS b -- '", &[]).unwrap().rows;
        assert_eq!(rows, [[Value::Text("a\\".to_owned()), Value::I64(1)]]);
    }
}
