//! Puts counters into a WebAssembly module, so that what runs in it ends at a unit of work, and at
//! a depth, that are the same on every host.
//!
//! *Work.* A global, `fuel`, goes down by one at the entry of each function and at the head of each
//! loop, and by a sixteenth of its length for each fill or copy of memory. Below zero the module
//! calls its own function [`REFUEL`], wherever it is: that one gets more, or traps. Work that is
//! not the module's own is told to the function [`CHARGE`].
//!
//! *Depth.* A global, `depth`, goes down by what a frame takes of a platform's stack at the entry
//! of each function that may come to call itself, and up again where it returns. The function
//! [`POSITION`] gives what is left, together with what is left of the stack in memory: the module
//! is to look at that where it looks for the end of its stack.
//!
//! Nothing else is changed: what is not touched is copied byte by byte.

use std::collections::{BTreeMap, BTreeSet};

use wasmparser::{BinaryReaderError, ElementItems, ExternalKind, FunctionBody, Operator, Parser, Payload, ValType};

/// The name under which the counter of work is exported.
pub const FUEL: &str = "fuel";

/// The name under which the counter of depth is exported.
pub const DEPTH: &str = "depth";

/// What the counter of depth begins with: the sum with a place in memory neither ends nor begins
/// anew.
pub const DEPTH_START: i32 = 1 << 28;

/// The exported function, without parameters and results, that is called where there is no fuel.
/// What it does is not counted.
pub const REFUEL: &str = "refuel";

/// The exported function, with one parameter, that takes units of fuel. The pass writes what it
/// does.
pub const CHARGE: &str = "charge";

/// The exported function, with one result, that says where the stack is. The pass writes what it
/// does.
pub const POSITION: &str = "position";

/// The shift by which the length of a fill or copy becomes units.
const BYTES_SHIFT: u8 = 4;

const GLOBAL_GET: u8 = 0x23;
const GLOBAL_SET: u8 = 0x24;
const LOCAL_GET: u8 = 0x20;
const LOCAL_SET: u8 = 0x21;
const I32: u8 = 0x7f;
const I32_CONST: u8 = 0x41;
const I32_LT_S: u8 = 0x48;
const I32_SUB: u8 = 0x6b;
const I32_SHR_U: u8 = 0x76;
const IF: u8 = 0x04;
const NO_VALUE: u8 = 0x40;
const I32_ADD: u8 = 0x6a;
const BLOCK: u8 = 0x02;
const BRANCH: u8 = 0x0c;
const CALL: u8 = 0x10;
const END: u8 = 0x0b;
const MUTABLE: u8 = 1;

/// What a frame takes of a platform's stack. Measured in V8, with both of its compilers: for each
/// kind of recursion that a script can bring about the sum of these and of the stack in memory
/// stays above what the platform's stack has given when it ends. To look at a function's locals
/// fits worse: how many of them are kept on the stack is the compiler's choice.
const FRAME_BYTES: u32 = 256;

/// What the pass did.
#[derive(Debug)]
pub struct Counted {
    /// The module.
    pub wasm: Vec<u8>,
    /// In how many places it counts work.
    pub places: usize,
    /// How many functions count their depth.
    pub deep: usize,
}

/// Why a module could not be counted.
#[derive(Debug)]
pub enum Refused {
    /// It is not valid, or has something that the pass does not read.
    Invalid(BinaryReaderError),
    /// It has what the pass is not made for.
    Unknown(&'static str),
}

impl From<BinaryReaderError> for Refused {
    fn from(error: BinaryReaderError) -> Self {
        Self::Invalid(error)
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Invalid(error) => write!(f, "not a module: {error}"),
            Self::Unknown(what) => write!(f, "a module with {what}"),
        }
    }
}

impl std::error::Error for Refused {}

/// Puts the counters in.
///
/// # Errors
/// A [`Refused`] where the module has what cannot be counted.
pub fn count(wasm: &[u8]) -> Result<Counted, Refused> {
    let survey = Survey::of(wasm)?;
    let deep = survey.recursive();
    let mut pass = Pass { out: wasm.get(..8).unwrap_or_default().to_vec(), survey: &survey, deep: &deep, bodies: Vec::new(), places: 0 };
    for payload in Parser::new(0).parse_all(wasm) {
        pass.payload(payload?, wasm)?;
    }
    Ok(Counted { wasm: pass.out, places: pass.places, deep: deep.len() })
}

/// What has to be known of a module before it is changed.
#[derive(Default)]
struct Survey {
    /// How many parameters a function of each type takes, and the type of its result.
    types: Vec<(u32, Option<ValType>)>,
    imports: u32,
    /// The type of each function that has a body.
    functions: Vec<u32>,
    globals: u32,
    exported: BTreeMap<String, u32>,
    /// The functions that are called by their place in a table.
    in_tables: BTreeSet<u32>,
    /// By the index of a body: the functions that it calls, and the types of those that it calls
    /// through a table.
    calls: Vec<(BTreeSet<u32>, BTreeSet<u32>)>,
}

impl Survey {
    fn of(wasm: &[u8]) -> Result<Self, Refused> {
        let mut survey = Self::default();
        for payload in Parser::new(0).parse_all(wasm) {
            survey.payload(payload?)?;
        }
        for name in [REFUEL, CHARGE, POSITION] {
            if survey.exported.get(name).is_none_or(|index| *index < survey.imports) {
                return Err(Refused::Unknown("no `refuel`, `charge` or `position`"));
            }
        }
        if survey.globals == 0 || survey.calls.len() != survey.functions.len() {
            return Err(Refused::Unknown("no global section, or bodies that are missing"));
        }
        Ok(survey)
    }

    fn payload(&mut self, payload: Payload<'_>) -> Result<(), Refused> {
        match payload {
            Payload::TypeSection(types) => {
                for recursive in types {
                    for sub_type in recursive?.into_types() {
                        let wasmparser::CompositeInnerType::Func(function) = &sub_type.composite_type.inner else {
                            return Err(Refused::Unknown("types other than functions"));
                        };
                        let ([] | [_]) = function.results() else { return Err(Refused::Unknown("more than one result")) };
                        self.types.push((length(function.params().len())?, function.results().first().copied()));
                    }
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    if !matches!(import?.ty, wasmparser::TypeRef::Func(_)) {
                        return Err(Refused::Unknown("imports other than functions"));
                    }
                    self.imports += 1;
                }
            }
            Payload::FunctionSection(functions) => self.functions = functions.into_iter().collect::<Result<_, _>>()?,
            Payload::GlobalSection(globals) => self.globals = globals.count(),
            Payload::ExportSection(exports) => {
                for export in exports {
                    let export = export?;
                    if export.kind == ExternalKind::Func {
                        self.exported.insert(export.name.to_owned(), export.index);
                    }
                }
            }
            Payload::ElementSection(elements) => {
                for element in elements {
                    let ElementItems::Functions(functions) = element?.items else {
                        return Err(Refused::Unknown("tables of other things than functions"));
                    };
                    self.in_tables.extend(functions.into_iter().collect::<Result<Vec<_>, _>>()?);
                }
            }
            Payload::CodeSectionEntry(body) => {
                let (mut direct, mut through_table) = (BTreeSet::new(), BTreeSet::new());
                for operator in body.get_operators_reader()? {
                    match operator? {
                        Operator::Call { function_index } => _ = direct.insert(function_index),
                        Operator::CallIndirect { type_index, .. } => _ = through_table.insert(type_index),
                        Operator::ReturnCall { .. } | Operator::ReturnCallIndirect { .. } => {
                            return Err(Refused::Unknown("calls in the place of returns"));
                        }
                        _ => {}
                    }
                }
                self.calls.push((direct, through_table));
            }
            _ => {}
        }
        Ok(())
    }

    /// The body of a function, unless it is imported.
    fn body(&self, function: u32) -> Option<usize> {
        function.checked_sub(self.imports).map(|body| body as usize)
    }

    /// The bodies of functions that may come to call themselves. Where they are counted each chain
    /// of calls is, but for a few frames.
    fn recursive(&self) -> BTreeSet<usize> {
        let of_type = |wanted: &u32| {
            let bodies = self.in_tables.iter().filter_map(|function| self.body(*function));
            bodies.filter(|body| self.functions.get(*body) == Some(wanted)).collect::<Vec<_>>()
        };
        let called: Vec<BTreeSet<usize>> = self
            .calls
            .iter()
            .map(|(direct, through_table)| {
                direct.iter().filter_map(|function| self.body(*function)).chain(through_table.iter().flat_map(of_type)).collect()
            })
            .collect();
        let reaches_itself = |start: usize| {
            let mut seen = BTreeSet::new();
            let mut next = vec![start];
            while let Some(body) = next.pop() {
                for callee in &called[body] {
                    if *callee == start {
                        return true;
                    }
                    if seen.insert(*callee) {
                        next.push(*callee);
                    }
                }
            }
            false
        };
        (0..called.len()).filter(|body| reaches_itself(*body)).collect()
    }
}

struct Pass<'a> {
    out: Vec<u8>,
    survey: &'a Survey,
    deep: &'a BTreeSet<usize>,
    bodies: Vec<Vec<u8>>,
    places: usize,
}

impl Pass<'_> {
    fn payload(&mut self, payload: Payload<'_>, wasm: &[u8]) -> Result<(), Refused> {
        match payload {
            Payload::Version { .. } | Payload::End(_) | Payload::CustomSection(_) => {}
            Payload::GlobalSection(globals) => {
                let mut added = vec![I32, MUTABLE, I32_CONST, 0, END, I32, MUTABLE, I32_CONST];
                signed_leb(DEPTH_START, &mut added);
                added.push(END);
                self.section(6, &appended(&wasm[globals.range()], self.survey.globals, 2, &added));
            }
            Payload::ExportSection(exports) => {
                let mut added = Vec::new();
                for (name, index) in [(FUEL, self.fuel()), (DEPTH, self.depth())] {
                    leb(length(name.len())?, &mut added);
                    added.extend(name.as_bytes());
                    added.push(3);
                    leb(index, &mut added);
                }
                self.section(7, &appended(&wasm[exports.range()], exports.count(), 2, &added));
            }
            Payload::CodeSectionStart { .. } => {}
            Payload::CodeSectionEntry(body) => {
                let counted = self.body(&body, wasm)?;
                self.bodies.push(counted);
                if self.bodies.len() == self.survey.calls.len() {
                    let mut section = Vec::new();
                    leb(length(self.bodies.len())?, &mut section);
                    for body in std::mem::take(&mut self.bodies) {
                        leb(length(body.len())?, &mut section);
                        section.extend(body);
                    }
                    self.section(10, &section);
                }
            }
            other => match other.as_section() {
                Some((id, range)) => self.section(id, &wasm[range]),
                None => return Err(Refused::Unknown("parts that are not sections")),
            },
        }
        Ok(())
    }

    fn fuel(&self) -> u32 {
        self.survey.globals
    }

    fn depth(&self) -> u32 {
        self.survey.globals + 1
    }

    fn is(&self, name: &str) -> bool {
        self.survey.exported.get(name).and_then(|function| self.survey.body(*function)) == Some(self.bodies.len())
    }

    /// The body of a function that the host calls, and that counts nothing.
    fn of_the_host(&mut self, body: &FunctionBody<'_>, wasm: &[u8]) -> Option<Vec<u8>> {
        if self.is(REFUEL) {
            return Some(wasm[body.range()].to_vec());
        }
        if self.is(CHARGE) {
            let mut code = vec![0, GLOBAL_GET];
            leb(self.fuel(), &mut code);
            code.extend([LOCAL_GET, 0]);
            self.subtract(&mut code);
            code.push(END);
            return Some(code);
        }
        if self.is(POSITION) {
            // The stack's pointer is the first global of a module that `wasm-ld` wrote.
            let mut code = vec![0, GLOBAL_GET, 0, GLOBAL_GET];
            leb(self.depth(), &mut code);
            code.extend([I32_ADD, END]);
            return Some(code);
        }
        None
    }

    fn body(&mut self, body: &FunctionBody<'_>, wasm: &[u8]) -> Result<Vec<u8>, Refused> {
        if let Some(code) = self.of_the_host(body, wasm) {
            return Ok(code);
        }
        let own_type = self.survey.functions.get(self.bodies.len()).and_then(|index| self.survey.types.get(*index as usize));
        let (parameters, result) = *own_type.ok_or(Refused::Unknown("a body without a type"))?;
        let mut spare = parameters;
        let (mut groups, mut locals) = (0, Vec::new());
        for group in body.get_locals_reader()? {
            let (count, kind) = group?;
            leb(count, &mut locals);
            locals.push(number(kind)?);
            groups += 1;
            spare += count;
        }
        let frame = self.deep.contains(&self.bodies.len()).then_some(FRAME_BYTES);
        let mut code = Vec::new();
        self.charge_one(&mut code);
        if let Some(bytes) = frame {
            self.move_depth(bytes, I32_SUB, &mut code);
            code.push(BLOCK);
            code.push(result.map_or(Ok(NO_VALUE), number)?);
        }
        // Blocks that are open: a return leaves all of them for the one that was put around the
        // body.
        let mut open = 0;
        let mut has_spare = false;
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            let start = operators.original_position();
            let operator = operators.read()?;
            match operator {
                Operator::MemoryFill { .. } | Operator::MemoryCopy { .. } => {
                    has_spare = true;
                    self.charge_bytes(spare, &mut code);
                }
                Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => open += 1,
                Operator::End => {
                    if open == 0 {
                        break;
                    }
                    open -= 1;
                }
                _ => {}
            }
            if matches!(operator, Operator::Return) && frame.is_some() {
                code.push(BRANCH);
                leb(open, &mut code);
            } else {
                code.extend(&wasm[start..operators.original_position()]);
            }
            if matches!(operator, Operator::Loop { .. }) {
                self.charge_one(&mut code);
            }
        }
        if let Some(bytes) = frame {
            code.push(END);
            self.move_depth(bytes, I32_ADD, &mut code);
        }
        code.push(END);
        let mut counted = Vec::new();
        leb(groups + u32::from(has_spare), &mut counted);
        counted.extend(locals);
        if has_spare {
            counted.extend([1, I32]);
        }
        counted.extend(code);
        Ok(counted)
    }

    /// `depth = depth ∓ bytes`
    fn move_depth(&self, bytes: u32, operation: u8, code: &mut Vec<u8>) {
        code.push(GLOBAL_GET);
        leb(self.depth(), code);
        code.push(I32_CONST);
        signed_leb(bytes.cast_signed(), code);
        code.extend([operation, GLOBAL_SET]);
        leb(self.depth(), code);
    }

    /// `fuel -= 1; if (fuel < 0) refuel()`
    fn charge_one(&mut self, code: &mut Vec<u8>) {
        code.push(GLOBAL_GET);
        leb(self.fuel(), code);
        code.extend([I32_CONST, 1]);
        self.subtract(code);
    }

    /// The same with a part of the length that is on top of the stack, and stays there.
    fn charge_bytes(&mut self, spare: u32, code: &mut Vec<u8>) {
        code.push(LOCAL_SET);
        leb(spare, code);
        code.push(GLOBAL_GET);
        leb(self.fuel(), code);
        code.push(LOCAL_GET);
        leb(spare, code);
        code.extend([I32_CONST, BYTES_SHIFT, I32_SHR_U]);
        self.subtract(code);
        code.push(LOCAL_GET);
        leb(spare, code);
    }

    fn subtract(&mut self, code: &mut Vec<u8>) {
        code.extend([I32_SUB, GLOBAL_SET]);
        leb(self.fuel(), code);
        code.push(GLOBAL_GET);
        leb(self.fuel(), code);
        code.extend([I32_CONST, 0, I32_LT_S, IF, NO_VALUE, CALL]);
        leb(self.survey.exported.get(REFUEL).copied().unwrap_or_default(), code);
        code.push(END);
        self.places += 1;
    }

    fn section(&mut self, id: u8, content: &[u8]) {
        self.out.push(id);
        // A section of a module that was read is shorter than the module, and what is added is
        // little.
        leb(u32::try_from(content.len()).unwrap_or(u32::MAX), &mut self.out);
        self.out.extend(content);
    }
}

fn number(kind: ValType) -> Result<u8, Refused> {
    match kind {
        ValType::I32 => Ok(I32),
        ValType::I64 => Ok(0x7e),
        ValType::F32 => Ok(0x7d),
        ValType::F64 => Ok(0x7c),
        _ => Err(Refused::Unknown("values that are not numbers")),
    }
}

/// A section with more entries.
fn appended(section: &[u8], count: u32, more: u32, entries: &[u8]) -> Vec<u8> {
    let old_count = section.iter().take_while(|byte| **byte & 0x80 != 0).count() + 1;
    let mut out = Vec::new();
    leb(count + more, &mut out);
    out.extend(&section[old_count..]);
    out.extend(entries);
    out
}

fn length(length: usize) -> Result<u32, Refused> {
    u32::try_from(length).map_err(|_| Refused::Unknown("more than 4 GB"))
}

fn leb(mut number: u32, out: &mut Vec<u8>) {
    loop {
        let byte = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            out.push(byte);
            return;
        }
        out.push(byte | 0x80);
    }
}

fn signed_leb(mut number: i32, out: &mut Vec<u8>) {
    loop {
        let byte = (number & 0x7f) as u8;
        number >>= 7;
        if (number == 0 && byte & 0x40 == 0) || (number == -1 && byte & 0x40 != 0) {
            out.push(byte);
            return;
        }
        out.push(byte | 0x80);
    }
}
