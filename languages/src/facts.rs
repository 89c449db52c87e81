//! What is true of a language of statements: the answers to the questions that are asked of it, and
//! of no other thing.

use alloc::{borrow::ToOwned as _, string::String, vec::Vec};

use millrace_core::app::{InputKind, ParamStyle};

#[cfg(feature = "parser")]
use crate::Resolution;
use crate::{
    lex::{Token, Unread},
    refusal::Refusal,
    tokens::Tokens,
    words::Words,
};

/// What is true of a language of statements.
#[derive(Debug)]
pub struct Facts {
    /// Its name, for messages.
    pub name: &'static str,
    /// How its connectors write parameters.
    pub style: ParamStyle,
    /// How many values its databases take in one statement, unless a connector takes fewer.
    pub max_values: u32,
    /// Cuts a text of it into tokens that cover all of it.
    pub lex: fn(&str) -> Result<Vec<Token>, Unread>,
    /// Which dialect of the parser it is.
    #[cfg(feature = "parser")]
    pub parser: &'static dyn sqlparser::dialect::Dialect,

    // Literals and names
    /// Whether a backslash escapes in every literal.
    pub has_backslashes: bool,
    /// What an escape, which begins with a backslash, stands for, and its length in bytes.
    pub unescape: fn(&str) -> Option<(String, usize)>,
    /// The name that stands between these quotes.
    pub unquoted: fn(&str, char) -> String,
    /// What a literal after this type name is cast to, `DATE '…'`; `None` where it has no such
    /// literal.
    pub typed_literal: fn(&str) -> Option<&'static str>,
    /// What helps where such a literal is written and there are none at all.
    pub instead_of_typed_literals: Option<&'static str>,
    /// Whether `TIMESTAMP WITH TIME ZONE '…'` is such a literal.
    pub has_zoned_literals: bool,
    /// Whether a literal may have its character set before it, `_utf8mb4'…'`.
    pub has_introducers: bool,
    /// What to write in place of a document that is written as a text with values in it.
    pub instead_of_text_document: &'static str,
    /// The quote of names that messages advise.
    pub advised_quote: char,
    /// Whether names without quotes are those in small letters.
    pub folds_names: bool,
    /// Whether names without quotes may have capital letters and stay as they are.
    pub keeps_capitals: bool,
    /// Whether two names that differ in capital letters are one.
    pub ignores_capitals: bool,
    /// Whether a name between `"` that does not exist is a text.
    pub takes_names_for_texts: bool,
    /// Words that are not a name of a table or column everywhere, unless they are quoted.
    pub reserved: Words,

    // Values
    /// What becomes of a list.
    pub lists: Lists,
    /// Whether `[…]` is a list, in which one value may stand for all elements.
    pub has_bracketed_lists: bool,
    /// Whether the database has to find out the type of each parameter, and cannot in places.
    pub finds_types: bool,
    /// The type that a parameter is cast to there.
    pub parameter_type: fn(Option<InputKind>) -> &'static str,
    /// Whether parameters are declared with their types in the text, `{p1:Int64}`.
    pub declares_types: bool,
    /// A subselect without rows, for an empty list of this type that is compared with this column.
    pub empty: fn(Option<InputKind>, Option<&str>) -> String,
    /// Signs that a parameter behind them would be one token with.
    pub fusing_signs: &'static [&'static str],
    /// Why values cannot become part of its text; `None` where they can.
    pub why_not_textual: Option<&'static str>,

    // Judging
    /// What a statement is judged by.
    pub judge: Judge,
    /// Whether the first words, from the token `first` on, decide that a statement only reads.
    pub surely_reads: fn(&Tokens<'_>, usize) -> bool,
    /// Whether `MERGE` is a word of a statement that writes, and not a name.
    pub has_merge: bool,
    /// Why no connector sends a statement, in which each placeholder is a NUL character. The second
    /// says whether it is a step of a transaction.
    pub refusal: fn(&str, bool) -> Option<Refusal>,
    /// Whether a statement that begins with this word, in capital letters, takes no values.
    pub takes_no_values: fn(&str, &Tokens<'_>) -> bool,
    /// What the parser is shown in place of a word or sign that it does not know.
    pub spelling: fn(&Tokens<'_>, usize) -> Option<&'static str>,
    /// What the parser is shown in place of blanks and comments.
    pub blank: &'static str,
    /// Whether two `-` without a blank behind them are two signs.
    pub parts_dashes: bool,
    /// Whether the build can judge its statements by `tenant`.
    pub judges_tenants: bool,
    /// Whether rows of an audit can be inserted into its tables.
    pub takes_audit_rows: bool,
    /// Whether its databases explain an `INSERT`.
    pub explains_inserts: bool,
    /// What tells the rights that statements need, where a server has such.
    pub rights: Option<&'static Rights>,
    /// Asks for the tables and views that have a column.
    pub tables_with_column: &'static str,
    /// How its databases tell how they would run a statement, where they do.
    #[cfg(feature = "parser")]
    pub plans: Option<&'static crate::plan::Plans>,

    // Transactions
    /// A function that tells the number of the row that was inserted last, whichever call did so.
    pub last_number: Option<&'static str>,
    /// Whether the statements of a transaction either all read or all write, and do not tell how
    /// many rows they changed.
    pub has_uniform_transactions: bool,
    /// Whether the rows of a step are counted by a statement around it, where all steps are sent at
    /// once.
    pub counts_by_wrapping: bool,

    // Columns, for tools that are made from tables
    /// The type of `CAST` that makes a text.
    pub text_type: &'static str,
    /// The operator that looks for a text in either case.
    pub like: &'static str,
    /// How many letters may be looked for by it, in every database of the language: a pattern of D1
    /// has 50 bytes, two of which are `%`.
    pub like_letters: usize,
    /// Whether the number of a `LIMIT` can be computed.
    pub computes_limits: bool,
    /// Whether a write returns the rows that it changed.
    pub returns_rows: bool,
    /// Whether whole numbers may have no sign, and one digit more.
    pub has_unsigned_numbers: bool,
    /// Whether a float may be a value that JSON does not have.
    pub has_nan: bool,
    /// Whether times have a type of their own.
    pub has_times: bool,
    /// Whether results say of a date, a time or a UUID what it is.
    pub tells_types: bool,
    /// Whether a document is a text, whose members `->>` reads.
    pub makes_documents: bool,

    /// What its names and clauses mean.
    #[cfg(feature = "parser")]
    pub resolution: Resolution,
}

/// What becomes of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// One value for each element.
    Spread,
    /// An array, where the database takes one; one value for each element elsewhere.
    ArrayInPlaces,
    /// Always an array.
    Array,
}

/// What a statement is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// A parser of SQL, and words where that does not know the statement.
    Parser,
    /// Its words, and beside them a parser that knows few of its statements.
    WordsAndParser,
    /// Its words alone: a parser knows nothing of it.
    Words,
}

/// How a server is asked and told about rights.
#[derive(Debug)]
pub struct Rights {
    /// The questions about what statements need, in the order of the answers.
    pub questions: &'static [(&'static str, About)],
    /// Whether columns and routines have their names in small letters.
    pub folds_names: bool,
    /// The schema that tables are looked for in where the user does not see them yet.
    pub common_schema: Option<&'static str>,
    /// Whether a schema has a right of its own.
    pub has_schema_rights: bool,
    /// Whether tables tell which engine they have.
    pub has_engines: bool,
    /// Whether everybody may call functions, whose text runs as who calls them.
    pub has_open_functions: bool,
    /// Whether nobody may call a routine without a right, apart from those of the server, which are
    /// in no list.
    pub has_closed_routines: bool,
    /// Whether a name is one of a table that is there once it is named.
    pub is_made_up_table: fn(&str) -> bool,
    /// Whether a table without a schema is one of the adapter's database.
    pub is_of_adapters_database: bool,
    /// Who gets rights, for messages.
    pub account_noun: &'static str,
    /// An account, as `GRANT` names it.
    pub account: fn(&str) -> String,
    /// A name, as `GRANT` takes it.
    pub quoted: fn(&str) -> String,
    /// What stands before the columns of a right.
    pub before_columns: &'static str,
}

/// What a question is about, and so what its parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The columns of tables.
    Columns,
    /// The constraints of tables.
    Constraints,
    /// What policies of tables read.
    Policies,
    /// Functions and procedures.
    Routines,
    /// Functions and procedures, by names in small letters.
    FoldedRoutines,
    /// Functions.
    Functions,
    /// The version of the server.
    Version,
}

/// The name between quotes that are doubled in it.
pub(crate) fn doubled(name: &str, quote: char) -> String {
    let mut text = String::with_capacity(name.len());
    let mut characters = name.chars();
    while let Some(character) = characters.next() {
        text.push(character);
        if character == quote {
            characters.next();
        }
    }
    text
}

impl Rights {
    /// The place of the answer about something.
    #[must_use]
    pub fn place(&self, is_it: impl Fn(About) -> bool) -> Option<usize> {
        self.questions.iter().position(|(_, about)| is_it(*about))
    }
}

impl About {
    /// Whether it is about what can be called.
    #[must_use]
    pub const fn is_of_routines(self) -> bool {
        matches!(self, Self::Routines | Self::FoldedRoutines | Self::Functions)
    }
}

impl Facts {
    /// The `number`th parameter, from 1.
    #[must_use]
    pub fn parameter(&self, number: usize) -> String {
        let mut text = String::new();
        self.style.push_placeholder(&mut text, number);
        text
    }

    /// The `number`th parameter as the parser knows one.
    #[must_use]
    pub fn probed(&self, number: usize) -> String {
        if self.declares_types { "?".to_owned() } else { self.parameter(number) }
    }

    /// A name between quotes, each part between dots of its own. `None` where a part is empty.
    #[must_use]
    pub fn identifier(&self, name: &str) -> Option<String> {
        self.style.identifier(name)
    }

    /// A name that may have dots in it, quoted as a whole.
    #[must_use]
    pub fn quoted(&self, name: &str) -> String {
        self.style.quoted(name)
    }

    /// An `INSERT` of one row with a parameter for each column. `None` where the table's name is
    /// not one.
    #[must_use]
    pub fn insert(&self, table: &str, columns: &[&str]) -> Option<String> {
        let mut text = String::from("INSERT INTO ");
        text.push_str(&self.identifier(table)?);
        text.push_str(" (");
        for (place, column) in columns.iter().enumerate() {
            text.push_str(if place == 0 { "" } else { ", " });
            text.push_str(&self.identifier(column)?);
        }
        text.push_str(") VALUES (");
        for number in 1..=columns.len() {
            text.push_str(if number == 1 { "" } else { ", " });
            // The database makes of a text what the column has.
            let (open, close) = if self.declares_types { ("{", ":Nullable(String)}") } else { ("", "") };
            text.push_str(open);
            self.style.push_placeholder(&mut text, number);
            text.push_str(close);
        }
        text.push(')');
        Some(text)
    }
}
