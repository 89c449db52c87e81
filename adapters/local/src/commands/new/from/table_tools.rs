//! The tools of one table, as texts.

use millrace_languages::Dialect;

use super::{
    names,
    schema::{Column, Filled, Kind, Literal, Reference, Table},
    yaml::{in_comment, quoted, remark, sentence, word},
};

mod totals;

/// The most columns that rows can be filtered by, that a list can be sorted by, and that a search
/// looks at.
const MOST_FILTERS: usize = 8;
const MOST_SORTED: usize = 12;
const MOST_SEARCHED: usize = 8;
/// How long a line of a statement becomes.
const WIDTH: usize = 110;
/// The most rows that a list or a search returns.
const MOST_ROWS: u32 = 200;

/// What is written for a table.
pub(super) struct TableTools<'a> {
    table: &'a Table,
    dialect: Dialect,
    adapter: &'a str,
    /// The name of its presenter, and what the names of its tools begin with.
    pub(super) name: String,
    /// The columns that are shown.
    fields: Vec<Field<'a>>,
    /// The places of the key in `fields`; none, where a caller could not name a row.
    key: Vec<usize>,
    /// The columns that look like secrets.
    secrets: Vec<&'a Column>,
    /// The columns of bytes.
    binary: Vec<&'a Column>,
}

/// A column, its name in results and inputs, and in statements.
struct Field<'a> {
    column: &'a Column,
    name: String,
    sql: String,
    /// The rows that it refers to.
    refers_to: Option<Referred>,
}

/// The rows of a table that a column of another one refers to.
#[derive(Clone)]
pub(super) struct Referred {
    /// The name of the table's tools.
    pub(super) tools: String,
    /// Its column that is referred to.
    pub(super) column: Option<String>,
}

impl Referred {
    /// Such a row, and where its value is found.
    fn words(&self) -> String {
        let rows = names::in_words(&self.tools);
        match &self.column {
            Some(column) => format!("a row of {rows}: its {column}, which {}-list returns", self.tools),
            None => format!("a row of {rows}, which {}-list returns", self.tools),
        }
    }
}

impl Field<'_> {
    /// Whether an input can name the column: its name is one in statements as it is.
    fn is_own(&self) -> bool {
        self.name == self.column.name
    }
}

/// What narrows rows.
struct Filters {
    /// The lines of `WHERE`.
    conditions: Vec<String>,
    inputs: Vec<(String, String)>,
}

/// What a tool does.
enum Body {
    /// A statement that returns rows.
    Statement(Vec<String>),
    /// A statement that returns none.
    Change(Vec<String>),
    /// A change, and a statement that returns the row: MySQL has no `RETURNING`.
    Steps([(&'static str, Vec<String>); 2]),
}

/// What stands behind the inputs of a tool that returns pages.
struct Returned {
    /// Its `scan`; empty where it reads no whole table.
    scan: String,
    /// What its presenter is.
    by: String,
}

/// The `scan` of a tool.
fn allowed(reason: &str) -> String {
    format!("scan: {{ allowed: {} }}\n", quoted(reason))
}

/// A file of a tool.
pub(super) struct ToolFile {
    /// `list`, `get`, …
    pub(super) verb: &'static str,
    pub(super) text: String,
}

impl<'a> TableTools<'a> {
    /// Plans the tools of a table; `referred` finds the table that a reference is about. `None`
    /// where nothing of it can be shown.
    pub(super) fn new(
        table: &'a Table,
        name: String,
        adapter: &'a str,
        dialect: Dialect,
        referred: impl Fn(&Reference) -> Option<Referred>,
    ) -> Option<Self> {
        let (mut fields, mut key, mut taken): (Vec<Field<'_>>, Vec<Option<usize>>, Vec<String>) =
            (Vec::new(), vec![None; table.key.len()], Vec::new());
        let (mut secrets, mut binary) = (Vec::new(), Vec::new());
        for (at, column) in table.columns.iter().enumerate() {
            if names::is_secret(&column.name) {
                secrets.push(column);
                continue;
            }
            if column.kind == Kind::Binary {
                binary.push(column);
                continue;
            }
            let place = table.key.iter().position(|of_key| *of_key == at);
            if let Some(slot) = place.and_then(|place| key.get_mut(place)).filter(|_| can_be_key(column.kind)) {
                *slot = Some(fields.len());
            }
            let field = names::of_field(&column.name, &taken);
            taken.push(field.clone());
            let reference = table.references.iter().find(|reference| reference.column == at);
            let refers_to = reference.and_then(&referred);
            fields.push(Field { column, name: field, sql: names::in_statement(&column.name, dialect), refers_to });
        }
        let key = key.into_iter().collect::<Option<Vec<usize>>>().unwrap_or_default();
        (!fields.is_empty()).then_some(Self { table, dialect, adapter, name, fields, key, secrets, binary })
    }

    /// The files of its tools.
    pub(super) fn files(&self, write: bool) -> Vec<ToolFile> {
        let file = |verb, text: Option<String>| text.map(|text| ToolFile { verb, text });
        let write = write && self.table.is_writable;
        let files = [
            file("list", Some(self.list())),
            file("get", self.get()),
            file("search", self.search()),
            file("count", Some(self.count())),
            file("sum", self.sum()),
            file("create", self.create().filter(|_| write)),
            file("update", self.update().filter(|_| write)),
        ];
        files.into_iter().flatten().collect()
    }

    /// Why a table that can be written to has no tool to create rows, as an end of a sentence.
    pub(super) fn why_not_created(&self) -> Option<String> {
        if !self.table.is_writable {
            return None;
        }
        let needed = self.not_shown().find(|column| column.must_be_given());
        needed.map(|column| format!("each row needs a value of {}, which no tool takes", in_comment(&column.name)))
    }

    /// The table as the user of the command would write it.
    pub(super) fn shown(&self) -> String {
        self.table.shown()
    }

    /// The table in a statement.
    pub(super) fn table_name(&self) -> String {
        let name = names::in_statement(&self.table.name, self.dialect);
        match &self.table.schema {
            Some(schema) => format!("{}.{name}", names::in_statement(schema, self.dialect)),
            None => name,
        }
    }

    /// A column as a text, in a statement.
    pub(super) fn a_text(&self) -> String {
        let text = self.fields.iter().find(|field| field.column.kind == Kind::Text && field.column.values.is_empty());
        match (text, self.fields.first()) {
            (Some(field), _) => field.sql.clone(),
            (None, Some(field)) => format!("CAST({} AS {})", field.sql, self.dialect.facts().text_type),
            (None, None) => "''".to_owned(),
        }
    }

    /// The file of the presenter.
    pub(super) fn presenter(&self) -> String {
        let mut text = format!(
            "# What a model sees of a row of {}, whichever tool returns it. A column that is not listed here is left out.\n",
            in_comment(&self.table.shown())
        );
        let mut left_out = |why: &str, columns: Vec<&str>| {
            if !columns.is_empty() {
                let names: Vec<String> = columns.into_iter().map(in_comment).collect();
                text += &format!("# Left out, {why}: {}\n", names.join(", "));
            }
        };
        let names = |columns: &[&'a Column]| columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>();
        left_out("because the name looks like that of a secret; if it is not one, add it here and to the statements", names(&self.secrets));
        left_out("because it is binary", names(&self.binary));
        left_out("by `--hide`", names(&self.table.hidden.iter().collect::<Vec<_>>()));
        left_out("because a statement cannot have the name", self.table.unnamed.iter().map(String::as_str).collect());
        let personal = self.personal();
        if !personal.is_empty() {
            let names: Vec<String> = personal.iter().map(|name| in_comment(name)).collect();
            text += &format!("# Personal, by the names: {}. Leave out what the model need not see.\n", names.join(", "));
        }
        text += "schema:\n";
        let lines = self.fields.iter().map(|field| {
            let mut parts = vec![format!("type: {}", self.shown_type(field.column.kind))];
            if matches!(field.column.kind, Kind::List(_)) {
                parts.push("items: { type: json, nullable: true }".to_owned());
            }
            // A float of PostgreSQL may be `NaN`, which JSON does not have.
            let may_be_null = field.column.nullable || (self.dialect.facts().has_nan && field.column.kind == Kind::Float);
            if may_be_null && self.shown_type(field.column.kind) != "json" {
                parts.push("nullable: true".to_owned());
            }
            if let Some(comment) = field.column.comment.as_deref().and_then(remark) {
                parts.push(format!("description: {}", quoted(&comment)));
            }
            (field.name.as_str(), parts)
        });
        text + &entries(lines)
    }

    /// The columns whose names look like those of personal data.
    pub(super) fn personal(&self) -> Vec<&'a str> {
        self.fields.iter().map(|field| field.column.name.as_str()).filter(|name| names::is_personal(name)).collect()
    }

    fn list(&self) -> String {
        let Filters { conditions, mut inputs } = self.filters(&["limit", "offset", "sort", "order"]);
        let is_plain = conditions.is_empty() && self.sorted().len() < 2;
        let scan =
            if is_plain { String::new() } else { allowed("Callers choose the filters and the order, and no index serves all of them.") };
        let mut lines = self.select();
        lines.extend(conditions);
        let sorted = self.sorted();
        let order = match sorted.as_slice() {
            [first, _, ..] => {
                let names: Vec<String> = sorted.iter().map(|field| word(&field.name)).collect();
                inputs.push((
                    "sort".to_owned(),
                    format!("type: string, enum: [{}], default: {}, description: \"What to sort by\"", names.join(", "), word(&first.name)),
                ));
                inputs.push((
                    "order".to_owned(),
                    "type: string, enum: [ASC, DESC], default: ASC, description: \"DESC: the greatest first\"".to_owned(),
                ));
                format!("{}{{{{ inputs.sort | ident }}}} {{{{ inputs.order | keyword }}}}, {}", self.qualifier(), self.order())
            }
            _ => self.order(),
        };
        lines.push(format!("ORDER BY {order}"));
        let by = if self.key.is_empty() { ", page by page".to_owned() } else { format!(", ordered by {}", self.key_words(" and ")) };
        let unless = if sorted.len() > 1 && !self.key.is_empty() { " unless sort says otherwise" } else { "" };
        self.pages(&format!("List {}{by}{unless}.", self.rows()), lines, inputs, Returned { scan, by: self.used() })
    }

    fn get(&self) -> Option<String> {
        let inputs = self.key_inputs()?;
        let lines = self.select_where(&self.is_key());
        let description = format!("Get one row of {} by its {}.", self.noun(), self.key_words(" and "));
        Some(self.tool(&description, "", &Body::Statement(lines), &inputs, &self.not_found()))
    }

    fn search(&self) -> Option<String> {
        let searched: Vec<&Field<'_>> = self
            .fields
            .iter()
            .filter(|field| field.column.kind == Kind::Text && field.column.values.is_empty())
            .take(MOST_SEARCHED)
            .collect();
        if searched.is_empty() {
            return None;
        }
        let (like, most) = (self.dialect.facts().like, self.dialect.facts().like_letters);
        let mut lines = self.select();
        for (at, field) in searched.iter().enumerate() {
            let start = if at == 0 { "WHERE" } else { "   OR" };
            lines.push(format!("{start} {} {like} '%{{{{ inputs.q }}}}%'", field.sql));
        }
        lines.push(format!("ORDER BY {}", self.order()));
        let inputs = vec![("q".to_owned(), format!("type: string, min: 1, max: {most}, description: \"What to look for\""))];
        let names: Vec<String> = searched.iter().map(|field| names::in_words(&field.name)).collect();
        let returned = Returned { scan: allowed("No index finds a part of a text."), by: self.used() };
        Some(self.pages(&format!("Find {} by a part of their {}.", self.rows(), listed(&names)), lines, inputs, returned))
    }

    /// The presenter, as a tool names it.
    fn used(&self) -> String {
        format!("use: {}", word(&self.name))
    }

    /// A tool whose presenter, which `returns` names, shows as many rows as the caller wants, and
    /// says that there are more and how to get them. Its statement reads one row more, by which the
    /// presenter knows. MySQL computes nothing in a `LIMIT`.
    fn pages(&self, description: &str, mut lines: Vec<String>, mut inputs: Vec<(String, String)>, returned: Returned) -> String {
        let limit = if self.dialect.facts().computes_limits { "{{ inputs.limit }} + 1".to_owned() } else { (MOST_ROWS + 1).to_string() };
        lines.push(format!("LIMIT {limit} OFFSET {{{{ inputs.offset }}}}"));
        inputs.push((
            "offset".to_owned(),
            "type: int, default: 0, min: 0, description: \"For the next page: how many rows to pass over\"".to_owned(),
        ));
        inputs
            .push(("limit".to_owned(), format!("type: int, default: 20, min: 1, max: {MOST_ROWS}, description: \"Most rows to return\"")));
        let notice = quoted("⚠️ Rows shown: {{ shown }}. There are more.");
        let limit = format!("  limit: {{ max: {MOST_ROWS}, input: limit, cursor: {{ input: offset }}, notice: {notice} }}\n");
        let Returned { scan, by } = returned;
        self.file(description, "", &Body::Statement(lines), &inputs, &format!("{scan}returns:\n  {by}\n{limit}"))
    }

    fn create(&self) -> Option<String> {
        if self.why_not_created().is_some() {
            return None;
        }
        let (mut columns, mut values, mut inputs, mut by_default) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for field in &self.fields {
            let rule = match &field.column.filled {
                Filled::Always => continue,
                Filled::ByLiteral(literal) => Some(format!("default: {}", self.literal(literal, field))),
                Filled::BySql(sql) if names::can_be_written(sql) => Some("optional: true".to_owned()),
                Filled::ByDefault | Filled::BySql(_) => {
                    by_default.push(in_comment(&field.column.name));
                    continue;
                }
                Filled::ByNothing => field.column.nullable.then(|| "optional: true".to_owned()),
            };
            columns.push(field.sql.clone());
            let value = self.bound(field.column.kind, &field.name);
            values.push(match &field.column.filled {
                Filled::BySql(sql) => format!("COALESCE({value}, {})", names::escaped(sql)),
                _ => value,
            });
            inputs.push((field.name.clone(), self.input(field, rule.as_deref(), None)));
        }
        if columns.is_empty() {
            return None;
        }
        let mut lines = wrapped(&format!("INSERT INTO {} (", self.table_name()), &columns, ")");
        lines.extend(wrapped("VALUES (", &values, ")"));
        let body = match self.dialect.facts().returns_rows {
            true => {
                lines.extend(wrapped("RETURNING ", &self.columns(), ""));
                Body::Statement(lines)
            }
            false => match self.created() {
                Some(condition) => Body::Steps([("create", lines), ("created", self.select_where(&condition))]),
                None => Body::Change(lines),
            },
        };
        let note = if by_default.is_empty() { String::new() } else { format!("# The database fills in {}.\n", by_default.join(", ")) };
        Some(note + &self.tool(&format!("Create a row of {}.", self.noun()), "kind: mutation\n", &body, &inputs, ""))
    }

    fn update(&self) -> Option<String> {
        let mut inputs = self.key_inputs()?;
        let mut sets = Vec::new();
        for (at, field) in self.fields.iter().enumerate() {
            if self.key.contains(&at) || field.column.filled == Filled::Always {
                continue;
            }
            sets.push(format!("{} = COALESCE({}, {})", field.sql, self.bound(field.column.kind, &field.name), field.sql));
            inputs.push((field.name.clone(), self.input(field, Some("optional: true"), None)));
        }
        if sets.is_empty() {
            return None;
        }
        let mut lines = vec![format!("UPDATE {} SET", self.table_name())];
        let last = sets.len() - 1;
        lines.extend(sets.into_iter().enumerate().map(|(at, set)| if at == last { format!("  {set}") } else { format!("  {set},") }));
        lines.push(format!("WHERE {}", self.is_key()));
        let body = match self.dialect.facts().returns_rows {
            true => {
                lines.extend(wrapped("RETURNING ", &self.columns(), ""));
                Body::Statement(lines)
            }
            false => Body::Steps([("change", lines), ("changed", self.select_where(&self.is_key()))]),
        };
        let description = format!("Change a row of {}. What is not given keeps its value.", self.noun());
        let note = "# `COALESCE` keeps the value of an input that is absent, so this tool cannot set a column to NULL. Write another tool for that.\n";
        Some(
            note.to_owned()
                + &self.tool(&description, "kind: mutation\nannotations: { idempotentHint: true }\n", &body, &inputs, &self.not_found()),
        )
    }

    /// What names the row that an `INSERT` of MySQL has just made; `None` where nothing does.
    fn created(&self) -> Option<String> {
        let key: Vec<&Field<'_>> = self.key.iter().filter_map(|at| self.fields.get(*at)).collect();
        match key.as_slice() {
            [] => None,
            // Only `AUTO_INCREMENT` fills in a key of integers: a generated column cannot be one.
            [only] if only.column.filled == Filled::Always => Some(format!("{} = LAST_INSERT_ID()", only.sql)),
            key if key.iter().all(|field| !matches!(field.column.filled, Filled::Always | Filled::ByDefault)) => Some(self.is_key()),
            _ => None,
        }
    }

    fn tool(&self, description: &str, kind: &str, body: &Body, inputs: &[(String, String)], rest: &str) -> String {
        let returns = match body {
            Body::Change(_) => String::new(),
            Body::Statement(_) | Body::Steps(_) => format!("returns: {}\n", word(&self.name)),
        };
        self.file(description, kind, body, inputs, &format!("{returns}{rest}"))
    }

    fn file(&self, description: &str, kind: &str, body: &Body, inputs: &[(String, String)], rest: &str) -> String {
        let description = match self.table.comment.as_deref().and_then(remark) {
            Some(comment) => format!("{description} {comment}"),
            None => description.to_owned(),
        };
        let indented = |lines: &[String], indent: &str| -> String { lines.iter().map(|line| format!("{indent}{line}\n")).collect() };
        let statement = match body {
            Body::Statement(lines) | Body::Change(lines) => format!("statement: |\n{}", indented(lines, "  ")),
            Body::Steps(steps) => {
                let step =
                    |(name, lines): &(&str, Vec<String>)| format!("  - name: {name}\n    statement: |\n{}", indented(lines, "      "));
                format!("transaction:\n{}", steps.iter().map(step).collect::<String>())
            }
        };
        let listed = entries(inputs.iter().map(|(name, parts)| (name.as_str(), vec![parts.clone()])));
        let inputs = if inputs.is_empty() { String::new() } else { format!("inputs:\n{listed}") };
        format!("description: {}\n{kind}use: {}\n{statement}{inputs}{rest}", sentence(&description), word(self.adapter))
    }

    /// The table in words.
    pub(super) fn noun(&self) -> String {
        names::in_words(&self.name)
    }

    /// Its rows in words: `customers`, and `rows of stock`.
    fn rows(&self) -> String {
        let noun = self.noun();
        if noun.ends_with('s') { noun } else { format!("rows of {noun}") }
    }

    fn columns(&self) -> Vec<String> {
        let column = |field: &Field<'_>| match field.column.kind {
            Kind::BigInt => {
                // A `BIT` of MySQL as a text is its bytes.
                let number = if self.dialect.facts().has_unsigned_numbers { " + 0" } else { "" };
                let (text, name) = (self.dialect.facts().text_type, names::in_statement(&field.name, self.dialect));
                format!("CAST({}{number} AS {text}) AS {name}", field.sql)
            }
            _ if field.name == field.column.name => field.sql.clone(),
            _ => format!("{} AS {}", field.sql, names::in_statement(&field.name, self.dialect)),
        };
        self.fields.iter().map(column).collect()
    }

    fn select(&self) -> Vec<String> {
        let mut lines = wrapped("SELECT ", &self.columns(), "");
        lines.push(format!("FROM {}", self.table_name()));
        lines
    }

    fn select_where(&self, condition: &str) -> Vec<String> {
        let mut lines = self.select();
        lines.push(format!("WHERE {condition}"));
        lines
    }

    /// A stable order: by the key, or else by all that can be compared.
    fn order(&self) -> String {
        let of_key = self.key.iter().filter_map(|at| self.fields.get(*at));
        let comparable = self.fields.iter().filter(|field| !matches!(field.column.kind, Kind::Json | Kind::Other | Kind::List(_)));
        let mut names: Vec<String> = of_key.map(|field| self.qualified(field)).collect();
        if names.is_empty() {
            names = comparable.map(|field| self.qualified(field)).collect();
        }
        if names.is_empty() { self.a_text() } else { names.join(", ") }
    }

    /// A column in `ORDER BY`, where its name alone would be that of the result's.
    fn qualified(&self, field: &Field<'_>) -> String {
        if field.column.kind == Kind::BigInt { format!("{}.{}", self.table_name(), field.sql) } else { field.sql.clone() }
    }

    /// The table and a dot, where a column of the result is another thing than that of its name.
    fn qualifier(&self) -> String {
        let is_changed = self.fields.iter().any(|field| field.column.kind == Kind::BigInt);
        if is_changed { format!("{}.", self.table_name()) } else { String::new() }
    }

    /// What a list can be sorted by, the key or its first part first.
    fn sorted(&self) -> Vec<&Field<'a>> {
        let can_sort = |field: &&Field<'_>| {
            field.is_own() && !matches!(field.column.kind, Kind::Json | Kind::Other | Kind::List(_) | Kind::Any | Kind::Boolean)
        };
        let first = self.key.first().and_then(|at| self.fields.get(*at)).filter(can_sort);
        let others = self.fields.iter().filter(can_sort).filter(|field| first.is_none_or(|first| first.name != field.name));
        first.into_iter().chain(others).take(MOST_SORTED).collect()
    }

    fn is_key(&self) -> String {
        let parts = self.key.iter().filter_map(|at| self.fields.get(*at));
        let parts: Vec<String> = parts.map(|field| format!("{} = {}", field.sql, self.bound(field.column.kind, &field.name))).collect();
        parts.join(" AND ")
    }

    fn key_words(&self, separator: &str) -> String {
        let names: Vec<String> = self.key.iter().filter_map(|at| self.fields.get(*at)).map(|field| names::in_words(&field.name)).collect();
        names.join(separator)
    }

    /// The inputs that name one row; `None` where nothing does.
    fn key_inputs(&self) -> Option<Vec<(String, String)>> {
        let fields = self.key.iter().filter_map(|at| self.fields.get(*at));
        // What is commented on, or refers to other rows, has words of its own.
        let what = |field: &Field<'_>| {
            let has_words = field.column.comment.is_some() || field.refers_to.is_some();
            (!has_words).then(|| format!("Which row: its {}, which {}-list returns", field.name, self.name))
        };
        let inputs: Vec<_> = fields.map(|field| (field.name.clone(), self.input(field, None, what(field)))).collect();
        (!inputs.is_empty()).then_some(inputs)
    }

    fn not_found(&self) -> String {
        let names = self
            .key
            .iter()
            .filter_map(|at| self.fields.get(*at))
            .map(|field| format!("{} {{{{ inputs.{} }}}}", names::in_words(&field.name), field.name));
        let message = format!("No row of {} has {}.", self.noun(), names.collect::<Vec<_>>().join(" and "));
        format!(
            "errors:\n  on: [ {{ when: \"len(results) == 0\", code: NOT_FOUND, message: {}, actions: [{}-list] }} ]\n",
            quoted(&message),
            self.name
        )
    }

    /// Conditions on what a row refers to, on its dates, and on what has few values. The inputs
    /// have other names than these.
    fn filters(&self, others: &[&str]) -> Filters {
        let mut places: Vec<(u8, usize)> =
            self.fields.iter().enumerate().filter_map(|(at, field)| Some((self.filter_rank(field)?, at))).collect();
        places.sort_unstable();
        places.truncate(MOST_FILTERS);
        places.sort_unstable_by_key(|(_, at)| *at);
        let mut taken: Vec<String> = others.iter().map(|name| (*name).to_owned()).collect();
        let mut filters = Filters { conditions: Vec::new(), inputs: Vec::new() };
        let mut add = |field: &Field<'_>, name: String, operator: &str, what: String| {
            let name = names::free(name, "_", |name| taken.iter().any(|other| other == name));
            let start = if filters.conditions.is_empty() { "WHERE" } else { "  AND" };
            let (value, sql) = (self.bound(field.column.kind, &name), &field.sql);
            filters.conditions.push(format!("{start} ({{{{ inputs.{name} }}}} IS NULL OR {sql} {operator} {value})"));
            let kind = if field.column.kind.is_time() { "date".to_owned() } else { self.input_type(field) };
            filters.inputs.push((name.clone(), format!("type: {kind}, optional: true, description: {}", quoted(&what))));
            taken.push(name);
        };
        for field in places.iter().filter_map(|(_, at)| self.fields.get(*at)) {
            let words = names::in_words(&field.name);
            if field.column.kind.is_time() {
                add(field, format!("{}_from", field.name), ">=", format!("Only those whose {words} is on this date or later"));
                add(field, format!("{}_before", field.name), "<", format!("Only those whose {words} is before this date"));
                continue;
            }
            let what = match &field.refers_to {
                Some(other) => format!("Only those of {}", other.words()),
                None => format!("Only those whose {words} is this"),
            };
            add(field, field.name.clone(), "=", what);
        }
        filters
    }

    /// Which columns come first as filters; `None` for one that is none.
    fn filter_rank(&self, field: &Field<'_>) -> Option<u8> {
        let is_whole_key =
            self.key.len() == 1 && self.key.first().and_then(|at| self.fields.get(*at)).is_some_and(|key| key.name == field.name);
        match field.column.kind {
            _ if is_whole_key => None,
            Kind::Int | Kind::BigInt | Kind::Text | Kind::Uuid if field.refers_to.is_some() => Some(0),
            kind if kind.is_time() => Some(1),
            Kind::Text if !field.column.values.is_empty() => Some(2),
            Kind::Boolean => Some(3),
            _ => None,
        }
    }

    /// An input as the value of a column.
    fn bound(&self, kind: Kind, input: &str) -> String {
        let value = format!("{{{{ inputs.{input} }}}}");
        match kind {
            // `BIGINT UNSIGNED` has values that `SIGNED` does not.
            Kind::BigInt if self.dialect.facts().has_unsigned_numbers => format!("CAST({value} AS DECIMAL(20))"),
            Kind::BigInt => format!("CAST({value} AS bigint)"),
            // A document is a text to SQLite, and is read as one: a text that is a document is that
            // one.
            Kind::Json if self.dialect.facts().makes_documents => {
                format!("iif(json_valid({value} ->> '$'), {value} ->> '$', {value})")
            }
            // A text is bound as JSON, with its quotes: the value is what it says.
            Kind::Any => format!("json_extract({value}, '$')"),
            _ => value,
        }
    }

    /// The type of an input for a column, and what narrows it.
    fn input_type(&self, field: &Field<'_>) -> String {
        let column = field.column;
        match column.kind {
            Kind::Int | Kind::Id => "int".to_owned(),
            Kind::BigInt if self.dialect.facts().has_unsigned_numbers => "string, pattern: \"^-?[0-9]{1,20}$\"".to_owned(),
            Kind::BigInt => "string, pattern: \"^-?[0-9]{1,19}$\"".to_owned(),
            Kind::Float => "float".to_owned(),
            Kind::Decimal => "string, pattern: \"^-?[0-9]+([.][0-9]+)?$\"".to_owned(),
            Kind::Boolean => "boolean".to_owned(),
            Kind::Text if !column.values.is_empty() => enumerated(&column.values),
            Kind::Text => column.max_length.map_or_else(|| "string".to_owned(), |max| format!("string, max: {max}")),
            Kind::Date => "date".to_owned(),
            Kind::DateTime if self.dialect.facts().has_times => "datetime".to_owned(),
            Kind::Uuid if self.dialect.facts().tells_types => "uuid".to_owned(),
            Kind::DateTime | Kind::LocalTime | Kind::Uuid | Kind::Other | Kind::Binary => "string".to_owned(),
            Kind::Json | Kind::Any => "json".to_owned(),
            Kind::List(_) if !column.values.is_empty() => {
                format!("array, items: {{ type: {}, nullable: true }}", enumerated(&column.values))
            }
            Kind::List(element) => format!("array, items: {{ type: {element}, nullable: true }}"),
        }
    }

    fn input(&self, field: &Field<'_>, rule: Option<&str>, what: Option<String>) -> String {
        let mut parts = vec![format!("type: {}", self.input_type(field))];
        parts.extend(rule.map(str::to_owned));
        let comment = field.column.comment.as_deref().and_then(remark);
        let reference = field.refers_to.as_ref().map(|other| capitalized(&other.words()));
        let mut what = what.or(comment).or(reference).unwrap_or_else(|| capitalized(&names::in_words(&field.name)));
        // Inputs have no type for a time without a zone: the description shows how one is written.
        if field.column.kind == Kind::LocalTime && self.dialect.facts().has_times {
            what += ", as in 2026-02-03T04:05:06";
        }
        parts.push(format!("description: {}", quoted(&what)));
        parts.join(", ")
    }

    fn literal(&self, literal: &Literal, field: &Field<'_>) -> String {
        match literal {
            Literal::Text(text) if field.column.values.contains(text) => word(text),
            Literal::Text(text) => quoted(text),
            Literal::Number(digits) if field.column.kind == Kind::BigInt => quoted(digits),
            Literal::Number(digits) => digits.clone(),
            // A number that most take for a truth value.
            Literal::Boolean(truth) if field.column.kind == Kind::Int => u8::from(*truth).to_string(),
            Literal::Boolean(truth) => truth.to_string(),
        }
    }

    /// The type of a field of a presenter.
    fn shown_type(&self, kind: Kind) -> &'static str {
        let is_told = self.dialect.facts().tells_types;
        match kind {
            Kind::Int | Kind::Id => "int",
            Kind::Float => "float",
            Kind::Boolean => "boolean",
            Kind::Date if is_told => "date",
            Kind::DateTime if is_told => "datetime",
            Kind::Uuid if is_told => "uuid",
            Kind::List(_) => "array",
            Kind::Json | Kind::Any => "json",
            _ => "string",
        }
    }

    fn not_shown(&self) -> impl Iterator<Item = &'a Column> + '_ {
        self.secrets.iter().chain(&self.binary).copied().chain(&self.table.hidden)
    }
}

fn can_be_key(kind: Kind) -> bool {
    !matches!(kind, Kind::Float | Kind::Json | Kind::List(_) | Kind::Any | Kind::Binary)
}

/// The type of a text that is one of these.
fn enumerated(values: &[String]) -> String {
    format!("string, enum: [{}]", values.iter().map(|value| word(value)).collect::<Vec<_>>().join(", "))
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// Lines of a map whose values are in braces, one below the other.
fn entries<'t>(lines: impl Iterator<Item = (&'t str, Vec<String>)>) -> String {
    let lines: Vec<(String, Vec<String>)> = lines.map(|(name, parts)| (format!("{}:", word(name)), parts)).collect();
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0).min(32);
    lines.iter().map(|(name, parts)| format!("  {name:width$} {{ {} }}\n", parts.join(", "))).collect()
}

/// A list in lines that are not too long.
fn wrapped(start: &str, parts: &[String], end: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = start.to_owned();
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            line.push(',');
            if line.chars().count() + part.chars().count() + 1 > WIDTH {
                lines.push(std::mem::replace(&mut line, "  ".to_owned()));
            } else {
                line.push(' ');
            }
        }
        line += part;
    }
    lines.push(line + end);
    lines
}

/// `a, b or c`
fn listed(names: &[String]) -> String {
    match names {
        [init @ .., last] if !init.is_empty() => format!("{} or {last}", init.join(", ")),
        names => names.concat(),
    }
}
