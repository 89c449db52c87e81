//! DynamoDB's PartiQL.

use alloc::string::String;

use millrace_core::app::ParamStyle;

#[cfg(feature = "parser")]
use crate::Resolution;
use crate::{
    Facts, Judge, Lexicon, Lists,
    facts::doubled,
    lex::{self, Question},
    postgres,
    words::RESERVED,
};

/// How DynamoDB cuts a text: <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.html>.
#[derive(Clone, Copy, Debug)]
pub enum PartiQl {}

impl Lexicon for PartiQl {
    // A literal of Ion: nothing in it is a place for a value.
    const BACKTICKS: bool = true;
    const CARRIAGE_RETURNS: bool = true;
    const QUESTION: Question = Question::Parameter;
}

/// What is true of it.
pub const FACTS: Facts = Facts {
    name: "PartiQL",
    style: ParamStyle::PartiQl,
    // A statement has at most 8,192 characters.
    max_values: 2_000,
    lex: lex::cut::<PartiQl>,
    // Only names of it are parsed.
    #[cfg(feature = "parser")]
    parser: &sqlparser::dialect::GenericDialect {},
    has_backslashes: false,
    // It has none.
    unescape: postgres::unescape,
    unquoted: doubled,
    typed_literal: |_| None,
    instead_of_typed_literals: None,
    has_zoned_literals: false,
    has_introducers: false,
    instead_of_text_document: "write the document without quotes around it: `{'key': {{ inputs.x }}}` or `[{{ inputs.x }}]`",
    advised_quote: '"',
    folds_names: false,
    keeps_capitals: true,
    ignores_capitals: false,
    takes_names_for_texts: false,
    reserved: RESERVED,
    lists: Lists::Spread,
    has_bracketed_lists: true,
    finds_types: false,
    parameter_type: |_| "text",
    declares_types: false,
    // There are no subselects: an empty list is refused.
    empty: |_, _| String::new(),
    fusing_signs: &[],
    why_not_textual: Some("the values of a statement of PartiQL are always parameters"),
    judge: Judge::Words,
    surely_reads: |_, _| false,
    has_merge: true,
    // All of it is judged another way.
    refusal: |_, _| None,
    takes_no_values: |word, _| word == "ALTER",
    spelling: |_, _| None,
    blank: " ",
    parts_dashes: false,
    judges_tenants: false,
    takes_audit_rows: false,
    explains_inserts: false,
    rights: None,
    // No adapter on it has a tenant, and it has no list of columns.
    tables_with_column: "",
    #[cfg(feature = "parser")]
    plans: None,
    last_number: None,
    has_uniform_transactions: true,
    counts_by_wrapping: false,
    text_type: "text",
    like: "LIKE",
    like_letters: 100,
    computes_limits: false,
    returns_rows: true,
    has_unsigned_numbers: false,
    has_nan: false,
    has_times: false,
    tells_types: false,
    makes_documents: false,
    #[cfg(feature = "parser")]
    resolution: Resolution::PLAIN,
};
