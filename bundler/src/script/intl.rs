//! `Intl` and the methods of locales: who uses them, and the script of the app that has them.
//!
//! The engine has no `Intl`. Where a script of an app, or a package of it, names something of it, the app gets one more script, which is
//! evaluated first: polyfills with the data of the app's locales and the time zones (`scripts/node-modules` makes them).

use std::collections::BTreeSet;

use oxc::{
    ast::ast::{
        Argument, CallExpression, Expression, IdentifierReference, NewExpression, Program, StaticMemberExpression, UnaryExpression,
        UnaryOperator,
    },
    ast_visit::{Visit, walk},
    semantic::Scoping,
    span::{GetSpan, Span},
};

/// The path of that script.
pub(crate) const PATH: &str = "intl";

/// The locales that an app can list, and the data of each.
const LOCALES: &[(&str, &str)] = &include!("../../node/intl/table.rs");
const BASE: &str = include_str!("../../node/intl/base.js");
const SEGMENTER: &str = include_str!("../../node/intl/segmenter.js");
const ZONES: &str = include_str!("../../node/intl/zones.js");

/// What of `Intl` scripts do not have.
const ABSENT: [&str; 2] = ["DisplayNames", "DurationFormat"];
const METHODS: [&str; 6] =
    ["localeCompare", "toLocaleDateString", "toLocaleLowerCase", "toLocaleString", "toLocaleTimeString", "toLocaleUpperCase"];

/// What a module uses of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Use {
    pub(super) is_used: bool,
    pub(super) segments: bool,
    /// The locales that are written out.
    pub(super) locales: Vec<(String, Span)>,
    /// What scripts do not have.
    pub(super) absent: Vec<(&'static str, Span)>,
}

/// The names of the locales that an app can list.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    LOCALES.iter().map(|(name, _)| *name)
}

/// The locale with the data for another: `de` for `de-DE`, `zh-Hant` for `zh-TW`.
pub(crate) fn covering(tag: &str) -> Option<&'static str> {
    let parts: Vec<&str> = tag.split(['-', '_']).take_while(|part| part.len() > 1).collect();
    let language = parts.first()?.to_ascii_lowercase();
    let has = |part: &str| parts.iter().skip(1).any(|own| own.eq_ignore_ascii_case(part));
    let wanted = match language.as_str() {
        "en" if has("GB") => "en-GB",
        "pt" if has("PT") => "pt-PT",
        "zh" if has("Hant") || ((has("TW") || has("HK") || has("MO")) && !has("Hans")) => "zh-Hant",
        "no" => "nb",
        "iw" => "he",
        other => other,
    };
    names().find(|name| *name == wanted)
}

/// The program of the script.
pub(crate) fn program<'l>(locales: impl IntoIterator<Item = &'l str>, segments: bool) -> String {
    let wanted: Vec<&str> = locales.into_iter().collect();
    let mut text = format!("(function () {{\n{BASE}{ZONES}");
    if segments {
        text.push_str(SEGMENTER);
    }
    // The last one is that of whoever names none: the first of the list.
    for locale in wanted.iter().rev() {
        text.push_str(LOCALES.iter().find(|(name, _)| name == locale).map_or("", |(_, data)| data));
    }
    text.push_str("return { __proto__: null };\n})\n");
    text
}

/// What a module uses. A package that looks for `Intl` goes on without.
pub(super) fn used(program: &Program<'_>, scoping: &Scoping, from_packages: bool) -> Use {
    let mut users =
        Users { scoping, from_packages, names: false, looks: false, methods: false, constructors: BTreeSet::new(), found: Use::default() };
    users.visit_program(program);
    users.found.is_used = users.methods || (users.names && !(from_packages && users.looks));
    users.found.segments = users.constructors.contains("Segmenter");
    users.found
}

struct Users<'s> {
    scoping: &'s Scoping,
    from_packages: bool,
    names: bool,
    looks: bool,
    methods: bool,
    constructors: BTreeSet<String>,
    found: Use,
}

impl Users<'_> {
    fn is_intl(&self, expression: &Expression<'_>) -> bool {
        matches!(expression, Expression::Identifier(name) if self.is_global(name))
    }

    fn is_global(&self, name: &IdentifierReference<'_>) -> bool {
        let is_free = |id| {
            let reference = self.scoping.get_reference(id);
            reference.symbol_id().is_none() && reference.is_value()
        };
        name.name == "Intl" && name.reference_id.get().is_some_and(is_free)
    }

    fn locale(&mut self, argument: Option<&Argument<'_>>) {
        if let Some(Argument::StringLiteral(text)) = argument {
            self.found.locales.push((text.value.to_string(), text.span));
        } else if let Some(Argument::ArrayExpression(list)) = argument {
            for element in &list.elements {
                if let Some(Expression::StringLiteral(text)) = element.as_expression() {
                    self.found.locales.push((text.value.to_string(), text.span));
                }
            }
        }
    }

    /// `Intl.NumberFormat(…)`, with `new` or without.
    fn constructed(&mut self, callee: &Expression<'_>, arguments: &[Argument<'_>]) {
        if let Expression::StaticMemberExpression(member) = callee
            && self.is_intl(&member.object)
            && member.property.name.starts_with(|first: char| first.is_ascii_uppercase())
        {
            self.locale(arguments.first());
        }
    }
}

impl<'a> Visit<'a> for Users<'_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.names |= self.is_global(it);
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        if it.operator == UnaryOperator::Typeof && self.is_intl(&it.argument) {
            self.looks = true;
            return;
        }
        walk::walk_unary_expression(self, it);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        if self.is_intl(&it.object) {
            let name = it.property.name.as_str();
            if let Some(absent) = ABSENT.into_iter().find(|absent| *absent == name) {
                self.found.absent.push((absent, it.span()));
            }
            self.constructors.insert(name.to_owned());
        }
        walk::walk_static_member_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.constructed(&it.callee, &it.arguments);
        if let Expression::StaticMemberExpression(member) = &it.callee
            && METHODS.contains(&member.property.name.as_str())
        {
            let is_compared = member.property.name == "localeCompare";
            // The engine's own order of code units is what most packages want of it.
            self.methods |= if self.from_packages { !is_compared && !it.arguments.is_empty() } else { true };
            self.locale(it.arguments.get(usize::from(is_compared)));
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.constructed(&it.callee, &it.arguments);
        walk::walk_new_expression(self, it);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_with_data() {
        let tags = ["en", "en-US", "en-GB", "de-AT", "zh-TW", "zh-CN", "pt-BR", "pt-PT", "no", "de-u-co-phonebk", "xx", ""];
        let found = [
            Some("en"),
            Some("en"),
            Some("en-GB"),
            Some("de"),
            Some("zh-Hant"),
            Some("zh"),
            Some("pt"),
            Some("pt-PT"),
            Some("nb"),
            Some("de"),
            None,
            None,
        ];
        assert_eq!(tags.map(covering), found);
    }
}
