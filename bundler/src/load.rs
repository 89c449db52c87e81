//! What evaluating the modules of the app's scripts once has shown: a script that cannot be loaded
//! is a mistake of the app.

use std::path::Path;

use millrace_core::{
    app::{Script, ScriptCall},
    ports::{Ambient, LoadFault, ScriptLoad, ScriptLoader},
};

use crate::{Diagnostic, Severity, compiler::Compiler, script};

const ROOT_FILE: &str = "millrace.yaml";

/// As many calls a stack has at the most: behind them there may be more.
const MAX_CALLS: usize = 50;

/// The longest file whose columns are counted anew.
const MAX_SOURCE: u64 = 32 << 20;

/// Lets the loader evaluate the scripts, and notes everything that it found.
pub(crate) fn check(compiler: &mut Compiler<'_>, scripts: &mut [Script], loader: &dyn ScriptLoader) {
    if scripts.is_empty() || compiler.is_stopped() {
        return;
    }
    let waits = compiler.links.take_waits();
    let loads = loader.load(scripts);
    for (index, ((script, load), waits)) in scripts.iter_mut().zip(loads).zip(waits).enumerate() {
        let ScriptLoad { fault, awaits, took, cost } = load;
        if let Some(size) = compiler.links.sizes.get_mut(index) {
            size.load = Some(cost);
        }
        if let Some(fault) = fault {
            let found = failed(compiler, script, &fault);
            compiler.findings.push(found);
        }
        if awaits {
            compiler.findings.push(waits.unwrap_or_else(|| script::waits_somewhere(Path::new(&script.path))));
        }
        // What packages read there for themselves is not a time that anybody is told: when they
        // were made, or how often they are called.
        script.loads_without_clock =
            !took.is_empty() && took.iter().all(|taken| taken.what == Ambient::Clock && is_of_package(script, taken.stack.as_deref()));
        if script.loads_without_clock {
            continue;
        }
        for taken in took {
            // What it waits for is among what it asks for.
            if !(awaits && matches!(taken.what, Ambient::Outside | Ambient::Timer)) {
                let found = taken_at_load(compiler, script, taken.what, taken.stack.as_deref().unwrap_or_default());
                compiler.findings.push(found);
            }
        }
    }
}

/// The innermost call in a file of the app, and the innermost of all: what a package throws, its
/// user has to look at.
fn innermost<'s>(script: &'s Script, stack: &'s str) -> (Option<ScriptCall<'s>>, Option<ScriptCall<'s>>) {
    (script.calls(stack).find(|call| package(call.file).is_none()), script.calls(stack).next())
}

/// Whether a package took it for itself, and not where a file of the app calls it.
fn is_of_package(script: &Script, stack: Option<&str>) -> bool {
    let stack = stack.unwrap_or_default();
    let (own, taken) = innermost(script, stack);
    own.is_none() && taken.is_some() && stack.lines().count() < MAX_CALLS
}

fn failed(compiler: &mut Compiler<'_>, script: &Script, fault: &LoadFault) -> Diagnostic {
    let (own, thrown) = innermost(script, fault.stack.as_deref().unwrap_or_default());
    if script.is_shared() {
        let message = format!("the locales of the app cannot be loaded: {}", fault.message);
        let help = "List fewer `locales` in `millrace.yaml`.".to_owned();
        return Diagnostic { file: ROOT_FILE.into(), ..at(compiler, script, Severity::Error, None, message, help) };
    }
    let message = format!("the script cannot be loaded: {}", fault.message);
    let brought = thrown.filter(|call| package(call.file).is_some());
    let (message, help) = match brought.and_then(|call| Some((call, package(call.file)?))) {
        Some((ScriptCall { file, line, .. }, package)) => {
            let place = if own.is_some() { format!(", at {file}:{line}") } else { String::new() };
            let help =
                format!("`{}` needs the package `{package}`: use it differently, or import another package or version.", script.path);
            (format!("{message}{place}"), help)
        }
        None => (message, "Modules run once, before any call: with this, no call could be answered.".to_owned()),
    };
    at(compiler, script, Severity::Error, own.or(thrown), message, help)
}

fn taken_at_load(compiler: &mut Compiler<'_>, script: &Script, what: Ambient, stack: &str) -> Diagnostic {
    let (own, taken) = innermost(script, stack);
    let who = match taken.and_then(|call| package(call.file)) {
        Some(package) => format!("the package `{package}`"),
        None => "a module".to_owned(),
    };
    let (does, instead) = match what {
        Ambient::Clock => ("reads the clock", "Read the clock in the function that needs it"),
        Ambient::Random => ("takes random numbers", "Take random numbers in the function that needs them"),
        Ambient::Outside => ("asks for something outside", "Ask in the function that needs the answer"),
        Ambient::Timer => ("sets a timer", "Set it in the function that needs it"),
        Ambient::Log => ("writes to the log", "Write in a function"),
    };
    let message = format!("{who} {does} while it is loaded, so the modules of the script run anew in each call");
    let help = format!("{instead}: then each call begins with what the modules have computed.");
    at(compiler, script, Severity::Warning, own, message, help)
}

/// A diagnostic at a call, else about the whole script.
fn at(
    compiler: &mut Compiler<'_>,
    script: &Script,
    severity: Severity,
    call: Option<ScriptCall<'_>>,
    message: String,
    help: String,
) -> Diagnostic {
    let (file, line, column) = call.map_or((script.path.as_str(), 1, 1), |call| {
        let bytes = compiler.tree.read(call.file, MAX_SOURCE).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let line = text.split('\n').nth((call.line as usize).saturating_sub(1)).unwrap_or_default();
        (call.file, call.line as usize, characters(line, call.column))
    });
    Diagnostic { severity, file: file.into(), line, column, length: 0, message, help: Some(help) }
}

/// The column in characters of one in UTF-16 units. Both from 1.
fn characters(line: &str, column: u32) -> usize {
    let wanted = (column as usize).saturating_sub(1);
    let before: Vec<u16> = line.encode_utf16().take(wanted).collect();
    char::decode_utf16(before.iter().copied()).count() + wanted - before.len() + 1
}

/// The package that a file belongs to, if it does to one.
fn package(file: &str) -> Option<&str> {
    let (_, inside) = file.rsplit_once("node_modules/")?;
    Some(script::package(inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let line = "é😀x";
        assert_eq!([1, 2, 4, 5, 9].map(|column| characters(line, column)), [1, 2, 3, 4, 8]);
        assert_eq!(characters("", 7), 7);
    }

    #[test]
    fn files_of_packages_are_known() {
        let files = ["node_modules/p/i.js", "x/node_modules/.pnpm/q@1/node_modules/@s/q/i.js", "a.ts", "../node_modules/p"];
        assert_eq!(files.map(package), [Some("p"), Some("@s/q"), None, Some("p")]);
    }
}
