//! What stands in `FROM`, and how it is joined.

use sqlparser::ast::{
    Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, TableAlias, TableFactor, TableFunctionArgs, TableWithJoins,
};

use super::{
    condition::{Condition, Reach},
    expression::expr_of,
    facts::{Block, Clause, Concerns, Fact, Mention, MentionKind, Output, Role, Shape, Source, Use, Using},
    names::{Named, at, last, named},
    resolver::Resolver,
    scope::{Part, Scope},
};
use crate::statement::rights::clickhouse;

/// `FROM`, or what stands in its place.
pub(super) struct FromClause<'s> {
    pub(super) scope: Scope<'s>,
    pub(super) conditions: Vec<Condition>,
    usings: Vec<Using>,
    pub(super) shape: Shape,
    /// What is in the conditions of joins.
    on: Vec<Fact>,
}

impl<'s> FromClause<'s> {
    pub(super) fn new(scope: Scope<'s>) -> Self {
        Self { scope, conditions: Vec::new(), usings: Vec::new(), shape: Shape::default(), on: Vec::new() }
    }
}

impl Resolver<'_> {
    /// Adds elements of `FROM`.
    pub(super) fn from(&mut self, from: &mut FromClause<'_>, all: &[TableWithJoins]) {
        if all.iter().rev().skip(1).any(|tables| tables.joins.iter().any(|join| is_array_join(&join.join_operator))) {
            self.unclear("whether tables or arrays follow its `ARRAY JOIN`: write one array for each");
        }
        all.iter().for_each(|tables| self.tables(from, tables, Role::Read));
    }

    /// Adds an element of `FROM`, and says what becomes of its first table.
    pub(super) fn tables(&mut self, from: &mut FromClause<'_>, tables: &TableWithJoins, first: Role) {
        let start = from.scope.items.len();
        self.factor(from, &tables.relation, first);
        for join in &tables.joins {
            if is_array_join(&join.join_operator) {
                self.array(from, &join.relation);
            } else {
                self.join(from, start, join);
            }
        }
    }

    /// Ends `FROM`: with its conditions, and those of the statement.
    pub(super) fn conclude<'s>(&mut self, from: FromClause<'s>) -> Scope<'s> {
        let FromClause { scope, conditions, usings, shape, on } = from;
        self.facts.push(Fact::Block(Block { sources: scope.items.clone(), conditions, usings, shape }));
        self.facts.extend(on);
        scope
    }

    /// A join with what stands before it, from `start` on.
    fn join(&mut self, from: &mut FromClause<'_>, start: usize, join: &Join) {
        let left = start..from.scope.items.len();
        self.factor(from, &join.relation, Role::Read);
        let right = left.end..from.scope.items.len();
        let (inside, is_left) =
            (Reach::Inside(start..right.end), matches!(join.join_operator, JoinOperator::Left(_) | JoinOperator::LeftOuter(_)));
        let mut is_of_tenants = !join.global;
        let (constraint, reach) = match &join.join_operator {
            JoinOperator::Join(constraint) | JoinOperator::Inner(constraint) | JoinOperator::CrossJoin(constraint) => (constraint, inside),
            JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => {
                (constraint, Reach::Into { into: right.clone(), from: left.clone() })
            }
            JoinOperator::Right(constraint) | JoinOperator::RightOuter(constraint) => {
                (constraint, Reach::Into { into: left.clone(), from: right.clone() })
            }
            JoinOperator::FullOuter(constraint) => (constraint, Reach::Nothing),
            JoinOperator::StraightJoin(constraint)
            | JoinOperator::Semi(constraint)
            | JoinOperator::LeftSemi(constraint)
            | JoinOperator::RightSemi(constraint)
            | JoinOperator::Anti(constraint)
            | JoinOperator::LeftAnti(constraint)
            | JoinOperator::RightAnti(constraint) => {
                is_of_tenants = false;
                (constraint, Reach::Nothing)
            }
            _ => return self.doubt(Concerns::Everyone, None, "it has a join that is not understood"),
        };
        if !is_of_tenants {
            self.doubt(Concerns::Tenant, None, "it has a join that is not understood");
        }
        if let Reach::Into { into, .. } = &reach {
            from.scope.items[into.clone()].iter_mut().for_each(|source| source.restricted_in = Clause::On);
        }
        match constraint {
            JoinConstraint::On(condition) => {
                from.conditions.push(Condition::of(condition, reach, self.dialect));
                let within = self.apart(|resolver| resolver.within(condition, &from.scope));
                from.on.extend(within);
            }
            JoinConstraint::Using(columns) => {
                let columns = columns.iter().filter_map(last).cloned().collect();
                // A right join has the column of the other side, a full join one that is either.
                let using = Using { columns, left, right, is_left, is_inner: matches!(reach, Reach::Inside(_)) };
                self.using(&mut from.scope, &using);
                from.usings.push(using);
            }
            JoinConstraint::Natural => {
                for table in from.scope.items[start..].iter().filter_map(|item| item.table.as_ref()) {
                    self.whole(table, Use::Read);
                }
                self.wider("which columns a `NATURAL` join compares depends on the tables");
                self.doubt(Concerns::Tenant, None, "which columns a `NATURAL` join compares depends on the database");
            }
            JoinConstraint::None => {}
        }
    }

    /// The array of an `ARRAY JOIN`, which the parser takes for a table, and the name that its
    /// elements get.
    fn array(&mut self, from: &mut FromClause<'_>, factor: &TableFactor) {
        self.doubt(Concerns::Tenant, None, "it has a join that is not understood");
        let TableFactor::Table { name, alias, args, .. } = factor else {
            return self.doubt(Concerns::Everyone, None, "the array of its `ARRAY JOIN` is not understood");
        };
        self.seen.tables += 1;
        let idents: Vec<Ident> = name.0.iter().filter_map(|part| part.as_ident().cloned()).collect();
        match (args, idents.as_slice()) {
            (Some(args), _) => {
                self.within(args, &from.scope);
                self.called(name);
            }
            (None, [column]) => self.unqualified(column, &from.scope),
            (None, _) => self.within(&Expr::CompoundIdentifier(idents), &from.scope),
        }
        if let Some(name) = alias.as_ref().and_then(|alias| self.folded(&alias.name)) {
            from.scope.items.push(Source::other(String::new(), Some([name].into())));
        }
    }

    fn using(&mut self, scope: &mut Scope<'_>, using: &Using) {
        for ident in &using.columns {
            let Some(name) = self.folded(ident) else { return self.unclear("it names a column by a variable") };
            // A join before it may have made the column one already.
            if !scope.merged.contains(&name) {
                self.find(&name, &ident.value, &scope.of_items(using.left.clone()), Use::Read);
            }
            self.find(&name, &ident.value, &scope.of_items(using.right.clone()), Use::Read);
            scope.merged.insert(name);
        }
    }

    /// Adds a table, a query or a function.
    pub(super) fn factor(&mut self, from: &mut FromClause<'_>, factor: &TableFactor, role: Role) {
        const UNKNOWN: &str = "it has something in `FROM` that is not understood";
        if role != Role::Read && !matches!(factor, TableFactor::Table { args: None, .. }) {
            self.facts.push(Fact::Unnamed { reads: false, writes: true });
        }
        let (alias, source) = match factor {
            TableFactor::Table { alias, .. } => (alias, self.named_factor(&from.scope, factor, role)),
            TableFactor::Derived { lateral, subquery, alias, sample } => {
                let scope = &from.scope;
                let items = if *lateral { scope.items.clone() } else { Vec::new() };
                let around = Scope { items, merged: scope.merged.clone(), ..Scope::new(scope.parts, scope.outer) };
                let columns = self.query(subquery, scope.parts, Some(&around));
                self.within(sample, scope);
                (alias, Some(Source::other(String::new(), columns)))
            }
            TableFactor::Function { lateral: _, name, args, with_ordinality: _, alias } => {
                self.within(args, &from.scope);
                if self.dialect.facts().resolution.calls_tables {
                    self.doubt(Concerns::Tenant, None, UNKNOWN);
                }
                self.mention(name, MentionKind::Function, Role::Read);
                self.called(name);
                let folded = last(name).and_then(|ident| self.folded(ident));
                (alias, Some(Source::other(folded.unwrap_or_default(), None)))
            }
            TableFactor::UNNEST { alias, array_exprs, with_offset, with_offset_alias, with_ordinality: _ } => {
                if *with_offset || with_offset_alias.is_some() {
                    self.doubt(Concerns::Tenant, None, UNKNOWN);
                }
                self.within(array_exprs, &from.scope);
                (alias, Some(Source::other("unnest".to_owned(), None)))
            }
            TableFactor::JsonTable { json_expr, json_path: _, columns: _, alias } => {
                self.doubt(Concerns::Tenant, None, UNKNOWN);
                self.within(json_expr, &from.scope);
                (alias, Some(Source::other(String::new(), None)))
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                if let Some(alias) = alias {
                    self.doubt(Concerns::Tenant, at(&alias.name), "a join in parentheses has a name");
                    self.unclear(UNKNOWN);
                }
                return self.tables(from, table_with_joins, role);
            }
            _ => return self.doubt(Concerns::Everyone, None, UNKNOWN),
        };
        let Some(mut source) = source else { return };
        if let Some(alias) = alias {
            let is_unnest = matches!(factor, TableFactor::UNNEST { .. });
            let Some(name) = self.rename(&mut source, alias) else { return };
            // The column of a function is called as the function is.
            if is_unnest && alias.columns.is_empty() {
                source.columns = Some([name].into());
            }
        }
        from.scope.items.push(source);
    }

    /// Gives something its alias, which is returned. `None` where it is not written out, which has
    /// been noted.
    fn rename(&mut self, source: &mut Source, alias: &TableAlias) -> Option<String> {
        let TableAlias { explicit: _, name: written, columns, at: position } = alias;
        let Some(name) = self.folded(written) else {
            self.doubt(Concerns::Tenant, at(written), "the name of a table is not written out");
            self.unclear("it names a table by a variable");
            return None;
        };
        if position.is_some() {
            self.doubt(Concerns::Tenant, at(written), "the columns of a table get other names");
        }
        if !columns.is_empty() {
            source.renamed = Some(written.clone());
            source.columns = self.listed(alias);
            // Columns get other names, and are not told apart.
            if let Some(table) = source.table.take() {
                self.whole(&table, Use::Read);
            }
        }
        (source.name, source.shown) = (name.clone(), written.value.clone());
        Some(name)
    }

    /// The names that an alias gives to columns, which can be fewer than there are.
    pub(super) fn listed(&self, alias: &TableAlias) -> Output {
        (!alias.columns.is_empty()).then(|| alias.columns.iter().filter_map(|column| self.folded(&column.name)).collect())
    }

    /// What a name in `FROM` is of.
    fn named_factor(&mut self, scope: &Scope<'_>, factor: &TableFactor, role: Role) -> Option<Source> {
        let TableFactor::Table {
            name,
            alias: _,
            args,
            with_hints,
            version,
            with_ordinality: _,
            partitions,
            json_path,
            sample,
            index_hints,
        } = factor
        else {
            return None;
        };
        let is_plain = with_hints.is_empty() && version.is_none() && json_path.is_none();
        if !is_plain || !partitions.is_empty() || !index_hints.is_empty() {
            let concerns = if is_plain { Concerns::Tenant } else { Concerns::Everyone };
            self.doubt(concerns, last(name).and_then(at), "it says something of a table that is not understood");
        }
        self.within(sample, scope);
        Some(match args {
            Some(args) => self.table_called(scope, name, args),
            None => self.table(scope, name, role),
        })
    }

    /// A function in the place of a table.
    fn table_called(&mut self, scope: &Scope<'_>, name: &ObjectName, args: &TableFunctionArgs) -> Source {
        self.seen.tables += 1;
        let mention = self.mention(name, MentionKind::Function, Role::Read);
        if self.dialect.facts().resolution.is_clickhouse {
            let exprs: Vec<&Expr> = args.args.iter().filter_map(expr_of).collect();
            self.table_function(name, &exprs);
            // A name is no column there.
            for expr in exprs.iter().filter(|expr| !matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))) {
                self.within(*expr, scope);
            }
        } else {
            self.within(args, scope);
            if !self.dialect.facts().resolution.calls_tables {
                self.called(name);
            }
        }
        let folded = last(name).and_then(|ident| self.folded(ident)).unwrap_or_default();
        let mut source = Source::other(folded, None);
        source.shown = last(name).map(|ident| ident.value.clone()).unwrap_or_default();
        source.mention = Some(mention);
        source
    }

    fn mention(&mut self, name: &ObjectName, kind: MentionKind, role: Role) -> Mention {
        let mention = Mention { name: name.clone(), kind, role };
        self.facts.push(Fact::Mention(mention.clone()));
        mention
    }

    /// A table, or what a common table expression calls so.
    fn table(&mut self, scope: &Scope<'_>, name: &ObjectName, role: Role) -> Source {
        self.seen.tables += 1;
        let folded = last(name).and_then(|ident| self.folded(ident));
        let table = named(name, self.dialect);
        let is_part = |part: &&Part| name.0.len() == 1 && role != Role::Written && Some(&part.name) == folded.as_ref();
        let part = scope.parts.iter().rev().find(is_part);
        let mention = self.mention(name, if part.is_some() { MentionKind::Part } else { MentionKind::Table }, role);
        if folded.is_none() {
            self.doubt(Concerns::Tenant, mention.at(), "the name of a table is not written out");
        }
        if folded.is_none() || table.is_none() {
            self.unclear("the name of a table is not written out, or is not understood");
        }
        let mut source = Source::other(folded.unwrap_or_default(), None);
        source.shown = last(name).map(|ident| ident.value.clone()).unwrap_or_default();
        source.mention = Some(mention);
        match (part, table) {
            (Some(part), _) => source.columns = part.columns.clone(),
            (None, Some(table)) if !self.is_everybodys(&table) => {
                source.columns = self.known.tables.get(&table).map(|known| known.columns.clone());
                source.table = Some(table);
            }
            _ => {}
        }
        source
    }

    /// Whether a table is one of the system's that everybody may read.
    fn is_everybodys(&self, table: &Named) -> bool {
        if self.dialect.facts().resolution.is_clickhouse {
            clickhouse::is_everybodys(table)
        } else {
            (self.dialect.facts().resolution.is_everybodys)(table.schema.as_deref().map(str::to_ascii_lowercase).as_deref(), &table.name)
        }
    }

    /// The table that a statement writes, which nothing that `WITH` names hides. `None` where it
    /// cannot be told, which has been noted.
    pub(super) fn target(&mut self, from: &mut FromClause<'_>, factor: &TableFactor) -> Option<Source> {
        let TableFactor::Table { args: None, .. } = factor else {
            self.doubt(Concerns::Everyone, None, "what it writes is not a table");
            return None;
        };
        self.factor(from, factor, Role::Written);
        from.scope.items.last().cloned()
    }

    /// The same, where it has a name and an alias.
    pub(super) fn target_named(&mut self, from: &mut FromClause<'_>, name: &ObjectName, alias: Option<&Ident>) -> Source {
        let mut source = self.table(&from.scope, name, Role::Written);
        if let Some(alias) = alias {
            (source.name, source.shown) = (self.folded(alias).unwrap_or_default(), alias.value.clone());
        }
        from.scope.items.push(source.clone());
        source
    }
}

const fn is_array_join(operator: &JoinOperator) -> bool {
    matches!(operator, JoinOperator::ArrayJoin | JoinOperator::LeftArrayJoin | JoinOperator::InnerArrayJoin)
}
