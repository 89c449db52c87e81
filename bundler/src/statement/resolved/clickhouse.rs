//! What an expression of ClickHouse reads beside columns: parts of columns, dictionaries, and
//! functions in `FROM`.

use sqlparser::ast::{Expr, Ident, ObjectName, Value};

use super::{
    expression::text_of,
    facts::{Fact, Source, Use},
    names::{Named, last, named_in},
    resolver::Resolver,
    scope::Scope,
};
use crate::statement::{
    Dialect,
    rights::clickhouse::{DICTIONARY, FREE_TABLES, IN_A_NAME, SOURCES, TEMPORARY_TABLES, TEXT},
};

/// Whether an expression is a text that is or can be empty.
fn may_be_empty(expr: &Expr) -> bool {
    text_of(expr).is_some_and(|text| text.is_empty() || text == TEXT)
}

impl Resolver<'_> {
    /// The column of a table that an expression is, where it is one for sure, without noting
    /// anything.
    fn column_at(&self, expr: &Expr, scope: &Scope<'_>) -> Option<(Named, String)> {
        let parts: Vec<String> = match expr {
            Expr::Identifier(ident) => vec![self.folded(ident)?],
            Expr::CompoundIdentifier(parts) => parts.iter().map(|part| self.folded(part)).collect::<Option<_>>()?,
            Expr::Nested(inner) => return self.column_at(inner, scope),
            _ => return None,
        };
        let (table, column, path) = self.place(&parts, scope)?;
        path.is_empty().then_some((table?, column))
    }

    /// The table of a name of one or several parts, its column, and the parts of the column that
    /// are meant. `None` where it is none of these.
    fn place(&self, parts: &[String], scope: &Scope<'_>) -> Option<(Option<Named>, String, Vec<String>)> {
        let mut around = Some(scope);
        while let Some(scope) = around {
            if let [first, column, path @ ..] = parts
                && let Some(item) = scope.items.iter().find(|item| item.name == *first)
            {
                return Some((item.table.clone(), column.clone(), path.to_vec()));
            }
            if let [schema, name, column, path @ ..] = parts
                && let Some(item) = scope
                    .items
                    .iter()
                    .find(|item| item.name == *name && item.table.as_ref().is_some_and(|table| table.schema.as_ref() == Some(schema)))
            {
                return Some((item.table.clone(), column.clone(), path.to_vec()));
            }
            around = scope.outer;
        }
        let (column, path) = parts.split_first()?;
        let whole = parts.join(".");
        let mut around = Some(scope);
        let mut candidates: Vec<&Source> = Vec::new();
        while let Some(scope) = around {
            if scope.aliases.contains(column) {
                break;
            }
            let has = |item: &&Source| item.columns.as_ref().is_some_and(|columns| columns.contains(column) || columns.contains(&whole));
            if let Some(item) = scope.items.iter().find(has) {
                candidates.push(item);
                break;
            }
            candidates.extend(scope.items.iter().filter(|item| item.columns.is_none()));
            around = scope.outer;
        }
        match candidates.as_slice() {
            [item] => Some((item.table.clone(), column.clone(), path.to_vec())),
            _ => None,
        }
    }

    /// A name of several parts: of a column, with its table or its database and table before it, or
    /// with parts of it behind it.
    pub(super) fn dotted(&mut self, parts: &[Ident], scope: &Scope<'_>) {
        let names: Option<Vec<String>> = parts.iter().map(|part| self.folded(part)).collect();
        let Some(names) = names else { return self.unclear("it names a column by a variable") };
        match self.place(&names, scope) {
            Some((Some(table), column, path)) if path.is_empty() => self.column_of(&table, Use::Read, &column),
            Some((Some(table), column, path)) => {
                let whole = format!("{column}.{}", path.join("."));
                // A column of a `Nested` is one by itself. Else the column and its part are both
                // looked at.
                let is_column = self.known.tables.get(&table).is_some_and(|known| known.columns.contains(&whole));
                if !is_column {
                    self.column_of(&table, Use::Read, &column);
                }
                self.column_of(&table, Use::Read, &whole);
            }
            Some((None, ..)) => {}
            None => {
                let first = names.first().map_or("", String::as_str);
                self.find(first, first, scope, Use::Read);
            }
        }
    }

    /// A part of a column, which the server reads in its place: both are looked at. What has no
    /// such part loses nothing by it.
    fn part(&mut self, expr: &Expr, part: &str, scope: &Scope<'_>) {
        let Some((table, column)) = self.column_at(expr, scope) else { return };
        let kind = self.known.tables.get(&table).and_then(|known| known.kinds.get(&column));
        let has = |kind: &String| match part {
            "size" => kind == "String",
            "size0" => kind.starts_with("Array(") || kind.starts_with("Map("),
            "null" => kind.starts_with("Nullable("),
            _ if part == "keys" || part == "values" || part.starts_with("key_") => kind.starts_with("Map("),
            _ => true,
        };
        if kind.is_none_or(has) {
            self.column_of(&table, Use::Read, &format!("{column}.{part}"));
        }
    }

    /// The whole table of a column, of which it is not known which part is read.
    fn some_part(&mut self, expr: &Expr, scope: &Scope<'_>) {
        let Some((table, column)) = self.column_at(expr, scope) else { return };
        let kind = self.known.tables.get(&table).and_then(|known| known.kinds.get(&column));
        if kind.is_some_and(|kind| kind.starts_with("Array(")) {
            return;
        }
        self.whole(&table, Use::Read);
        self.wider(format!("which part of `{column}` is read is not known: write its name, or `tupleElement({column}, 'name')`"));
    }

    /// Parts of columns that the server reads where a statement asks for something else.
    pub(super) fn parts(&mut self, expr: &Expr, scope: &Scope<'_>) {
        match expr {
            Expr::IsNull(of) | Expr::IsNotNull(of) => self.part(of, "null", scope),
            Expr::BinaryOp { left, right, .. } if may_be_empty(right) => self.part(left, "size", scope),
            Expr::BinaryOp { left, right, .. } if may_be_empty(left) => self.part(right, "size", scope),
            Expr::InList { expr, list, .. } if list.iter().any(may_be_empty) => self.part(expr, "size", scope),
            _ => {}
        }
    }

    /// `column['key']`, `column[1]`
    pub(super) fn subscript(&mut self, root: &Expr, key: &Expr, scope: &Scope<'_>) {
        match (key, text_of(key)) {
            (_, Some(text)) if text != TEXT => self.part(root, &format!("key_{text}"), scope),
            (Expr::Value(value), _) if matches!(value.value, Value::Number(..)) => {}
            (Expr::Identifier(_) | Expr::CompoundIdentifier(_), None) => {}
            _ => self.some_part(root, scope),
        }
    }

    /// A function that reads by the name of a table, or parts of columns. Whether its first, its
    /// second or no argument is a name.
    pub(super) fn special(&mut self, name: &ObjectName, arguments: &[&Expr], scope: &Scope<'_>) -> Option<usize> {
        let name = last(name).map(|ident| ident.value.to_ascii_lowercase()).unwrap_or_default();
        let first = arguments.first().copied();
        match name.as_str() {
            _ if name.starts_with("dictget") || name == "dicthas" || name == "dictisin" => {
                match first.and_then(|name| named_by(name, self.dialect)) {
                    Some(dictionary) => self.whole(&dictionary, Use::Other(DICTIONARY)),
                    None => self.unclear(format!("the dictionary of `{name}` is not written out")),
                }
                return Some(0);
            }
            "joinget" | "joingetornull" => {
                match first.and_then(|name| named_by(name, self.dialect)) {
                    Some(table) => {
                        self.whole(&table, Use::Read);
                        self.wider(format!("which columns are the key of `{table}` is not known"));
                    }
                    None => self.unclear(format!("the table of `{name}` is not written out")),
                }
                return Some(0);
            }
            "hascolumnintable" => match arguments {
                [schema, table, column] if [schema, table, column].iter().all(|text| text_of(text).is_some_and(|text| text != TEXT)) => {
                    let table = Named { schema: text_of(schema).map(str::to_owned), name: text_of(table).unwrap_or_default().to_owned() };
                    self.whole(&table, Use::Other("SHOW COLUMNS"));
                }
                _ => self.unclear("the table of `hasColumnInTable` is not written out"),
            },
            "in" | "notin" | "globalin" | "globalnotin" | "nullin" | "notnullin" => {
                if let Some(Expr::Identifier(_) | Expr::CompoundIdentifier(_)) = arguments.get(1) {
                    self.unclear(IN_A_NAME);
                    return Some(1);
                }
            }
            "columns" => {
                for table in scope.items.iter().filter_map(|item| item.table.clone()).collect::<Vec<_>>() {
                    self.whole(&table, Use::Read);
                }
                self.wider("which columns `COLUMNS(…)` means depends on the tables".to_owned());
            }
            _ => self.parts_of_arguments(&name, arguments, scope),
        }
        None
    }

    /// A function that reads parts of its arguments, which are columns.
    fn parts_of_arguments(&mut self, name: &str, arguments: &[&Expr], scope: &Scope<'_>) {
        let first = arguments.first().copied();
        match name {
            "length" | "empty" | "notempty" => {
                for part in ["size", "size0"] {
                    first.iter().for_each(|of| self.part(of, part, scope));
                }
            }
            "isnull" | "isnotnull" | "count" => first.iter().for_each(|of| self.part(of, "null", scope)),
            "equals" | "notequals" => {
                if let [left, right] = arguments {
                    let (of, text) = if may_be_empty(left) { (right, left) } else { (left, right) };
                    if may_be_empty(text) {
                        self.part(of, "size", scope);
                    }
                }
            }
            "mapkeys" | "mapcontains" | "mapcontainskey" | "has" => first.iter().for_each(|of| self.part(of, "keys", scope)),
            "mapvalues" => first.iter().for_each(|of| self.part(of, "values", scope)),
            "arrayelement" => {
                if let [of, key] = arguments {
                    self.subscript(of, key, scope);
                }
            }
            "tupleelement" | "variantelement" | "dynamicelement" => {
                if let [of, part, ..] = arguments {
                    match text_of(part) {
                        Some(text) if text != TEXT => self.part(of, text, scope),
                        _ => self.some_part(of, scope),
                    }
                }
            }
            _ => {}
        }
    }

    /// A function in `FROM`.
    pub(super) fn table_function(&mut self, name: &ObjectName, arguments: &[&Expr]) {
        let name = last(name).map(|ident| ident.value.to_ascii_lowercase()).unwrap_or_default();
        if FREE_TABLES.contains(&name.as_str()) {
            return;
        }
        let source = SOURCES.iter().find(|(function, _)| *function == name).map(|(_, source)| *source);
        if let Some(source) = source {
            self.facts.push(Fact::Server("READ", source));
        } else if !TEMPORARY_TABLES.contains(&name.as_str()) {
            return self.unclear(format!("what `{name}(…)` in `FROM` needs: grant it by hand"));
        }
        self.facts.push(Fact::Server("CREATE TEMPORARY TABLE", "*.*"));
        if name == "dictionary" {
            match arguments.first().copied().and_then(|name| named_by(name, self.dialect)) {
                Some(dictionary) => self.whole(&dictionary, Use::Other(DICTIONARY)),
                None => self.unclear("the dictionary of `dictionary(…)` is not written out"),
            }
        }
    }
}

/// What an argument names: `'shop.rates'`, or the same without quotes.
fn named_by(argument: &Expr, dialect: Dialect) -> Option<Named> {
    match argument {
        Expr::Identifier(ident) => Some(Named { schema: None, name: ident.value.clone() }),
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [schema, name] => Some(Named { schema: Some(schema.value.clone()), name: name.value.clone() }),
            _ => None,
        },
        _ => named_in(text_of(argument).filter(|text| *text != TEXT)?, dialect),
    }
}
