//! What the build makes of a text, in a form that can be compared with what a database makes of it.

use sqlparser::ast::{Expr, SelectItem, SetExpr, Statement as Sql, Value};

use super::{
    dialect::Dialect,
    lex::{Kind, Prefix},
    literal::{self, Decoded},
    masked::MaskedStatement,
    shown, spelling,
    tokens::Tokens,
};
use crate::placeholder::Piece;

/// The columns of a query that selects constants with names, `SELECT 1 AS a, 'b' AS c`: each name,
/// and its value where that is a text.
pub type Constants = Vec<(String, Option<String>)>;

/// What the build makes of a query of constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// As its tokens say.
    pub cut: Constants,
    /// As the parser says that judges statements; `None`: it does not understand the text.
    pub parsed: Option<Constants>,
}

/// Reads a query of constants as a statement of an app is read. `None`: the build refuses it.
#[must_use]
pub fn outline(text: &str, dialect: Dialect) -> Option<Outline> {
    if text.contains('\0') {
        return None;
    }
    let all = dialect.lex(text).ok()?;
    let masked = MaskedStatement::new(text, vec![Piece::Text(text)]);
    let tokens = Tokens::new(&masked, all);
    let is_refused = |kind: &Kind| matches!(kind, Kind::Parameter | Kind::Comment { executable: true } | Kind::Sign(b';'));
    if tokens.all.iter().any(|token| is_refused(&token.kind)) {
        return None;
    }
    let names = tokens.significant().filter(|&token| tokens.is_word(tokens.before(token), "AS"));
    let cut = names.filter_map(|name| Some((named(&tokens, name, dialect)?, text_before(&tokens, name, dialect)))).collect();
    let shown = spelling::whole(text, dialect).ok()?;
    let parsed = shown::parse(&shown, dialect).ok().and_then(|statements| constants(&statements, dialect));
    Some(Outline { cut, parsed })
}

fn folded(name: &str, is_quoted: bool, dialect: Dialect) -> String {
    if dialect.facts().folds_names && !is_quoted { name.to_ascii_lowercase() } else { name.to_owned() }
}

fn named(tokens: &Tokens<'_>, name: usize, dialect: Dialect) -> Option<String> {
    match tokens.all[name].kind {
        Kind::Word => Some(folded(tokens.text(name), false, dialect)),
        Kind::Quoted => {
            let shown = shown::token(tokens, name, dialect);
            let quote = shown.chars().next()?;
            let inner = shown.get(1..shown.len().checked_sub(1)?)?;
            Some(inner.replace(&format!("{quote}{quote}"), &quote.to_string()))
        }
        _ => None,
    }
}

/// The text before `AS`, where a literal stands there with nothing but a comma before it.
fn text_before(tokens: &Tokens<'_>, name: usize, dialect: Dialect) -> Option<String> {
    let last = tokens.before(tokens.before(name)?)?;
    let mut first = last;
    let mut value = String::new();
    loop {
        let Kind::Literal { prefix, body, continues } = &tokens.all[first].kind else { return None };
        if *prefix == Prefix::Digits {
            return None;
        }
        let pieces = literal::decode(tokens.masked, body.clone(), *prefix, dialect).ok()?;
        let part: String = pieces.into_iter().map(|piece| if let Decoded::Text(text) = piece { text } else { String::new() }).collect();
        value.insert_str(0, &part);
        let before = tokens.before(first)?;
        match *continues {
            true => first = before,
            false => return tokens.is_sign(Some(before), b',').then_some(value),
        }
    }
}

fn constants(statements: &[Sql], dialect: Dialect) -> Option<Constants> {
    let [Sql::Query(query)] = statements else { return None };
    let SetExpr::Select(select) = &*query.body else { return None };
    let column = |item: &SelectItem| {
        let (expr, alias) = match item {
            SelectItem::ExprWithAlias { expr, alias } => (expr, alias),
            // It has no name of its own.
            SelectItem::UnnamedExpr(_) => return Some((String::new(), None)),
            _ => return None,
        };
        let value = match expr {
            Expr::Value(value) => match &value.value {
                Value::SingleQuotedString(text) => Some(text.clone()),
                _ => None,
            },
            _ => None,
        };
        Some((folded(&alias.value, alias.quote_style.is_some(), dialect), value))
    };
    select.projection.iter().map(column).collect()
}
