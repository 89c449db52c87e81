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

/// Where a printed line went; all from 0, columns in UTF-16 units.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineShift {
    pub(super) line: u32,
    pub(super) column: u32,
    /// How many columns of its start are gone.
    pub(super) cut: u32,
}

/// Puts printed code onto the lines of its source, as far as they can be reached; and where each printed line went.
pub(super) fn lay_out(code: &str, marks: &[Mark]) -> (String, Vec<LineShift>) {
    let fixed = templates(code);
    let inside = |offset: usize| fixed.iter().any(|(start, end)| *start < offset && offset <= *end);
    let mut out = String::with_capacity(code.len());
    let mut current = 0_usize;
    let mut offset = 0;
    let mut last_mark = 0;
    let mut moved = Vec::new();
    // Of the last line of `out`.
    let mut columns = 0;
    let mut put = |out: &mut String, text: &str, line: usize, cut: usize, starts_line: bool| {
        if starts_line {
            columns = 0;
        } else if !out.is_empty() && !text.is_empty() {
            out.push(' ');
            columns += 1;
        }
        moved.push(LineShift { line: line as u32, column: columns, cut: cut as u32 });
        out.push_str(text);
        columns += text.encode_utf16().count() as u32;
    };
    for (number, line) in code.split_inclusive('\n').enumerate() {
        let text = line.strip_suffix('\n').unwrap_or(line);
        let start = offset;
        offset += line.len();
        if inside(start) {
            out.push('\n');
            current += 1;
            put(&mut out, text, current, 0, true);
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
                put(&mut out, text, current, 0, true);
            }
            _ => put(&mut out, text.trim_start(), current, indent, false),
        }
    }
    (out, moved)
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
