//! `Intl` and the methods of locales: who uses them, and the script of the app that has them.
//!
//! The engine has no `Intl`. Where a script of an app, or a package of it, names something of it,
//! the app gets one more script, which is evaluated first: polyfills with the data of the app's
//! locales and the time zones (`scripts/node-modules` makes them).

use std::{collections::BTreeSet, ops::Range, sync::LazyLock};

use oxc::{
    ast::ast::{Argument, CallExpression, Expression, IdentifierReference, NewExpression, Program, StaticMemberExpression},
    ast_visit::{Visit, walk},
    semantic::Scoping,
    span::{GetSpan, Span},
};

use super::{
    commonjs::{is_free, is_global_object},
    node,
};

/// Which of [`TEXTS`] each text is.
struct Texts {
    base: Range<usize>,
    order: Range<usize>,
    segmenter: Range<usize>,
    /// The locales that an app can list, and the data of each.
    locales: &'static [(&'static str, Range<usize>)],
    zones: Range<usize>,
}

const PLACES: Texts = include!("../../node/intl/table.rs");
static TEXTS: LazyLock<String> = LazyLock::new(|| node::unpacked(include_bytes!("../../node/intl/texts.br"), PLACES.zones.end));

/// What of `Intl` scripts do not have.
const ABSENT: [&str; 2] = ["DisplayNames", "DurationFormat"];
/// The methods that format.
const FORMATS: [&str; 3] = ["toLocaleDateString", "toLocaleString", "toLocaleTimeString"];
/// The methods that change case, and the languages with rules of their own for it.
const CASES: [&str; 2] = ["toLocaleLowerCase", "toLocaleUpperCase"];
const CASED: [&str; 3] = ["az", "lt", "tr"];
/// The languages that order texts as the root of CLDR does.
const ORDERED: [&str; 7] = ["de", "en", "fr", "id", "it", "nl", "pt"];

/// A part of that script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// All but the others: numbers, dates, lists, plurals.
    Formats,
    /// The order of texts.
    Order,
    /// Characters, words and sentences.
    Segments,
}

/// What a module uses of it, and where.
#[derive(Clone, Debug, Default)]
pub(super) struct Use {
    pub(super) parts: Vec<(Part, Span)>,
    /// The locales that are written out.
    pub(super) locales: Vec<(String, Span)>,
    /// Comparisons in the order of the app's first locale.
    pub(super) compared: Vec<Span>,
    /// What scripts do not have, with the remedy.
    pub(super) absent: Vec<(String, &'static str, Span)>,
}

/// The names of the locales that an app can list.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PLACES.locales.iter().map(|(name, _)| *name)
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

/// Whether scripts order texts as a language does.
pub(crate) fn is_ordered(tag: &str) -> bool {
    let tag = tag.to_ascii_lowercase().replace('_', "-");
    let language = tag.split('-').next().unwrap_or_default();
    // Canada's French compares marks from the end, and an extension can name another order.
    ORDERED.contains(&language) && tag != "fr-ca" && !tag.contains("-co-")
}

/// The program of the script.
pub(crate) fn program(locales: &[&str], parts: &BTreeSet<Part>) -> String {
    let data = |locale: &str| PLACES.locales.iter().find(|(name, _)| *name == locale).map(|(_, data)| data.clone());
    let has_formats = parts.iter().any(|part| *part != Part::Order);
    let mut texts = Vec::new();
    if has_formats {
        texts.extend([PLACES.base, PLACES.zones]);
    }
    // Who has `Intl` may look for all of it.
    texts.push(PLACES.order);
    if parts.contains(&Part::Segments) {
        texts.push(PLACES.segmenter);
    }
    if has_formats {
        // The last one is that of whoever names none: the first of the list.
        texts.extend(locales.iter().rev().filter_map(|locale| data(locale)));
    }
    let text: String = texts.into_iter().filter_map(|place| TEXTS.get(place)).collect();
    // What most calls ask for is compared once, when the app is loaded.
    let first = if has_formats { "new Date(0).toLocaleString();new Date(0).toLocaleDateString();\n" } else { "" };
    format!("(function () {{\n{text}{first}return {{ __proto__: null }};\n}})\n")
}

/// What a module uses.
pub(super) fn used(program: &Program<'_>, scoping: &Scoping) -> Use {
    let mut users = Users { scoping, found: Use::default() };
    users.visit_program(program);
    users.found
}

struct Users<'s> {
    scoping: &'s Scoping,
    found: Use,
}

impl Users<'_> {
    fn is_intl(&self, expression: &Expression<'_>) -> bool {
        match expression {
            Expression::Identifier(name) => self.is_global(name),
            Expression::StaticMemberExpression(member) => self.is_member(member),
            _ => false,
        }
    }

    /// `globalThis.Intl`
    fn is_member(&self, member: &StaticMemberExpression<'_>) -> bool {
        member.property.name == "Intl" && is_global_object(&member.object, self.scoping)
    }

    fn is_global(&self, name: &IdentifierReference<'_>) -> bool {
        let is_value = name.reference_id.get().is_some_and(|id| self.scoping.get_reference(id).is_value());
        name.name == "Intl" && is_value && is_free(name, self.scoping)
    }

    /// The locales that an argument writes out. `None` where it names none.
    fn locales(&self, argument: Option<&Argument<'_>>) -> Option<Vec<(String, Span)>> {
        match argument? {
            Argument::StringLiteral(text) => Some(vec![(text.value.to_string(), text.span)]),
            Argument::ArrayExpression(list) if !list.elements.is_empty() => {
                let texts = list.elements.iter().filter_map(|element| match element.as_expression() {
                    Some(Expression::StringLiteral(text)) => Some((text.value.to_string(), text.span)),
                    _ => None,
                });
                Some(texts.collect())
            }
            Argument::ArrayExpression(_) => None,
            other => match other.as_expression() {
                Some(Expression::Identifier(name)) if name.name == "undefined" => None,
                _ => Some(Vec::new()),
            },
        }
    }

    /// A comparison of texts, at `span`.
    fn compared(&mut self, argument: Option<&Argument<'_>>, span: Span) {
        match self.locales(argument) {
            None => self.found.compared.push(span),
            Some(locales) => {
                for (locale, span) in locales.into_iter().filter(|(locale, _)| !is_ordered(locale)) {
                    let message = format!("scripts do not have the order of texts of `{locale}`");
                    let help = "they have that of `de`, `en`, `fr`, `id`, `it`, `nl` and `pt`; let the database sort, or compare by a key";
                    self.found.absent.push((message, help, span));
                }
            }
        }
    }

    /// `Intl.NumberFormat(…)`, with `new` or without.
    fn constructed(&mut self, callee: &Expression<'_>, arguments: &[Argument<'_>], span: Span) {
        let Expression::StaticMemberExpression(member) = callee else { return };
        if !self.is_intl(&member.object) || !member.property.name.starts_with(|first: char| first.is_ascii_uppercase()) {
            return;
        }
        if member.property.name == "Collator" {
            self.compared(arguments.first(), span);
        } else if member.property.name != "Locale" {
            self.found.locales.extend(self.locales(arguments.first()).unwrap_or_default());
        }
    }
}

impl<'a> Visit<'a> for Users<'_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if self.is_global(it) {
            self.found.parts.push((Part::Formats, it.span));
        }
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        if self.is_intl(&it.object) {
            let name = it.property.name.as_str();
            if ABSENT.contains(&name) {
                let message = format!("scripts do not have `Intl.{name}`");
                self.found.absent.push((message, "write the texts into the script", it.span()));
            }
            if name == "Segmenter" {
                self.found.parts.push((Part::Segments, it.span()));
            }
        }
        let name = it.property.name.as_str();
        if self.is_member(it) || FORMATS.contains(&name) {
            self.found.parts.push((Part::Formats, it.span()));
        } else if name == "localeCompare" {
            self.found.parts.push((Part::Order, it.span()));
        }
        walk::walk_static_member_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.constructed(&it.callee, &it.arguments, it.span);
        if let Expression::StaticMemberExpression(member) = &it.callee {
            let name = member.property.name.as_str();
            if name == "localeCompare" {
                self.compared(it.arguments.get(1), it.span);
            } else if FORMATS.contains(&name) {
                self.found.locales.extend(self.locales(it.arguments.first()).unwrap_or_default());
            } else if CASES.contains(&name) {
                let locales = self.locales(it.arguments.first()).unwrap_or_default();
                let is_cased = |locale: &str| CASED.contains(&locale.split(['-', '_']).next().unwrap_or_default());
                for (locale, span) in locales.into_iter().filter(|(locale, _)| is_cased(locale)) {
                    let message = format!("scripts do not have the rules of `{locale}` for `{name}`");
                    self.found.absent.push((message, "replace the letters with rules of their own first", span));
                }
            }
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.constructed(&it.callee, &it.arguments, it.span);
        walk::walk_new_expression(self, it);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(source: &str) -> (Vec<Part>, Vec<String>, usize) {
        let allocator = oxc::allocator::Allocator::default();
        let program = oxc::parser::Parser::new(&allocator, source, oxc::span::SourceType::ts()).parse().program;
        let scoping = oxc::semantic::SemanticBuilder::new_compiler().build(&program).semantic.into_scoping();
        let found = used(&program, &scoping);
        let absent = found.absent.into_iter().map(|(message, ..)| message).collect();
        (found.parts.into_iter().map(|(part, _)| part).collect(), absent, found.compared.len())
    }

    #[test]
    fn what_is_used() {
        let none = Vec::<String>::new();
        assert_eq!(parts("a.localeCompare(b)"), (vec![Part::Order], none.clone(), 1));
        assert_eq!(parts("a.localeCompare(b, \"de-CH\", { numeric: true })"), (vec![Part::Order], none.clone(), 0));
        assert_eq!(parts("a.localeCompare(b, undefined, { numeric: true })"), (vec![Part::Order], none.clone(), 1));
        let refused = |locale: &str| vec![format!("scripts do not have the order of texts of `{locale}`")];
        assert_eq!(parts("a.localeCompare(b, [\"en\", \"sv\"])"), (vec![Part::Order], refused("sv"), 0));
        assert_eq!(parts("new Intl.Collator(\"fr-CA\").compare"), (vec![Part::Formats], refused("fr-CA"), 0));
        assert_eq!(parts("new Intl.Collator(\"de-u-co-phonebk\")"), (vec![Part::Formats], refused("de-u-co-phonebk"), 0));
        assert_eq!(parts("a.toLocaleUpperCase(); b.toUpperCase()"), (vec![], none.clone(), 0));
        assert_eq!(parts("a.toLocaleUpperCase(\"tr-TR\")").1.len(), 1);
        assert_eq!(parts("new Intl.Segmenter(\"en\")").0, [Part::Segments, Part::Formats]);
        assert_eq!(parts("function f(Intl: any) { return Intl.DisplayNames }; let x: Intl.NumberFormat"), (vec![], none.clone(), 0));
        assert_eq!(parts("typeof Intl"), (vec![Part::Formats], none.clone(), 0));
        assert_eq!(parts("globalThis.Intl?.NumberFormat"), (vec![Part::Formats], none, 0));
        assert_eq!(parts("new Intl.DisplayNames()").1, ["scripts do not have `Intl.DisplayNames`"]);
    }

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
