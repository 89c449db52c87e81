//! Printed code, back on the lines of its source.
//!
//! The printer decides on lines of its own. Stacks are read by people, who look at the source: so every printed line is put
//! onto the line that its first token had, by adding empty lines and by joining lines with a space. The printer ends
//! every statement with a semicolon and prints no comments, so both change nothing, except inside of template literals,
//! which stay as they are.

use oxc::{
    allocator::Allocator,
    ast::ast::TemplateElement,
    ast_visit::Visit,
    parser::{ParseOptions, Parser},
    span::SourceType,
};

/// A token: where it was printed, and its line in the source; all from 0, the column in UTF-16 units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) source: u32,
}

/// Puts printed code onto the lines of its source, as far as they can be reached.
pub(super) fn lay_out(code: &str, marks: &[Mark]) -> String {
    let fixed = templates(code);
    let inside = |offset: usize| fixed.iter().any(|(start, end)| *start < offset && offset <= *end);
    let mut out = String::with_capacity(code.len());
    let mut current = 0_usize;
    let mut offset = 0;
    let mut last_mark = 0;
    for (number, line) in code.split_inclusive('\n').enumerate() {
        let text = line.strip_suffix('\n').unwrap_or(line);
        let start = offset;
        offset += line.len();
        if inside(start) {
            out.push('\n');
            current += 1;
            out.push_str(text);
            continue;
        }
        while marks.get(last_mark).is_some_and(|mark| (mark.line as usize) < number) {
            last_mark += 1;
        }
        let first = marks.get(last_mark).filter(|mark| mark.line as usize == number);
        let indent = text.len() - text.trim_start().len();
        let wanted = first.filter(|mark| mark.column as usize <= indent + 1).map(|mark| mark.source as usize);
        match wanted {
            Some(wanted) if wanted > current => {
                out.extend(std::iter::repeat_n('\n', wanted - current));
                current = wanted;
                out.push_str(text);
            }
            _ => {
                if !out.is_empty() && !text.trim_start().is_empty() {
                    out.push(' ');
                }
                out.push_str(text.trim_start());
            }
        }
    }
    out
}

/// The byte ranges of the text parts of template literals.
fn templates(code: &str) -> Vec<(usize, usize)> {
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, code, SourceType::mjs()).with_options(options).parse();
    let mut templates = Templates(Vec::new());
    templates.visit_program(&parsed.program);
    templates.0
}

struct Templates(Vec<(usize, usize)>);

impl<'a> Visit<'a> for Templates {
    fn visit_template_element(&mut self, it: &TemplateElement<'a>) {
        if it.value.raw.contains('\n') {
            self.0.push((it.span.start as usize, it.span.end as usize));
        }
    }
}
