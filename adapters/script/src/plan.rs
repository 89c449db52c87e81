//! How a script runs: found out once an engine, from its text alone.

use std::cell::Cell;

use boa_engine::{
    Source,
    ast::{Script, scope::Scope},
    interner::Interner,
    parser::Parser,
};
use millrace_core::ports::ScriptFault;

use crate::{baseline::BuiltIns, checkpoints, patches};

/// What a refused write to a frozen object is called, as the interpreter words it.
const REFUSED: [&str; 4] =
    ["cannot set non-writable property", "cannot redefine property", "cannot delete non-configurable property", "Cannot delete property"];

/// The plan of one script.
pub(crate) struct Plan {
    /// The program with checkpoints; the program as it is where the parser does not know it.
    pub(crate) program: String,
    built_ins: Cell<BuiltIns>,
}

impl Plan {
    pub(crate) fn new(program: &str) -> Self {
        let mut interner = Interner::new();
        let Some(script) = parse(program, &mut interner) else {
            return Self { program: program.to_owned(), built_ins: Cell::new(BuiltIns::Watched) };
        };
        Self { program: checkpoints::insert(program, &script), built_ins: Cell::new(patches::needed(&script, &interner)) }
    }

    /// In which kind of world the script runs.
    pub(crate) fn built_ins(&self) -> BuiltIns {
        self.built_ins.get()
    }

    /// Looks at how a call ended that ran with such built-ins. Where the script was refused a write to frozen ones, it is one of those that
    /// need the other kind from now on.
    pub(crate) fn was_wrong(&self, ran_with: BuiltIns, fault: &ScriptFault) -> bool {
        let ScriptFault::Thrown(thrown) = fault else { return false };
        let refused = ran_with == BuiltIns::Frozen && REFUSED.iter().any(|start| thrown.message.starts_with(start));
        if refused {
            self.built_ins.set(BuiltIns::Watched);
        }
        refused
    }
}

fn parse(program: &str, interner: &mut Interner) -> Option<Script> {
    // Parentheses, so that a function expression is not a declaration; on a line of their own, so that columns stay.
    let source = format!("'use strict';(\n{program}\n)");
    Parser::new(Source::from_bytes(&source)).parse_script(&Scope::new_global(), interner).ok()
}
