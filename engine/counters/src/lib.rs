//! Puts counters into a WebAssembly module, so that what runs in it ends at a unit of work that is the same on every host.
//!
//! A global, `fuel`, goes down by one at the entry of each function and at the head of each loop, and by a sixteenth of its length for each
//! fill or copy of memory. Below zero the module traps, wherever it is, and traps again until the host sets the global anew. Whoever reads a
//! negative `fuel` after a trap knows why.
//!
//! Nothing else is changed: what is not touched is copied byte by byte.

use wasmparser::{BinaryReaderError, Operator, Parser, Payload, ValType};

/// The name under which the counter is exported.
pub const FUEL: &str = "fuel";

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
const UNREACHABLE: u8 = 0x00;
const END: u8 = 0x0b;
const MUTABLE: u8 = 1;

/// What the pass did.
#[derive(Debug)]
pub struct Counted {
    /// The module.
    pub wasm: Vec<u8>,
    /// In how many places it counts.
    pub places: usize,
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
    let mut pass = Pass { out: wasm.get(..8).unwrap_or_default().to_vec(), ..Pass::default() };
    for payload in Parser::new(0).parse_all(wasm) {
        pass.payload(payload?, wasm)?;
    }
    if !pass.has_fuel {
        return Err(Refused::Unknown("no global section, no export section or no code"));
    }
    Ok(Counted { wasm: pass.out, places: pass.places })
}

#[derive(Default)]
struct Pass {
    out: Vec<u8>,
    /// How many parameters a function of each type takes.
    types: Vec<u32>,
    /// The type of each function that has a body.
    functions: Vec<u32>,
    /// The index of the counter.
    fuel: u32,
    bodies: Vec<Vec<u8>>,
    /// How many bodies there are to come.
    expected: u32,
    has_fuel: bool,
    places: usize,
}

impl Pass {
    fn payload(&mut self, payload: Payload<'_>, wasm: &[u8]) -> Result<(), Refused> {
        match payload {
            Payload::Version { .. } | Payload::End(_) | Payload::CustomSection(_) => {}
            Payload::TypeSection(types) => {
                self.section(1, &wasm[types.range()]);
                for recursive in types {
                    for sub_type in recursive?.into_types() {
                        let wasmparser::CompositeInnerType::Func(function) = &sub_type.composite_type.inner else {
                            return Err(Refused::Unknown("types other than functions"));
                        };
                        self.types.push(length(function.params().len())?);
                    }
                }
            }
            Payload::FunctionSection(functions) => {
                self.section(3, &wasm[functions.range()]);
                self.functions = functions.into_iter().collect::<Result<_, _>>()?;
            }
            Payload::ImportSection(imports) => {
                self.section(2, &wasm[imports.range()]);
                for import in imports.into_imports() {
                    if !matches!(import?.ty, wasmparser::TypeRef::Func(_)) {
                        return Err(Refused::Unknown("imports other than functions"));
                    }
                }
            }
            Payload::GlobalSection(globals) => {
                self.fuel = globals.count();
                let section = appended(&wasm[globals.range()], self.fuel, &[I32, MUTABLE, I32_CONST, 0, END]);
                self.section(6, &section);
            }
            Payload::ExportSection(exports) => {
                let mut export = Vec::new();
                leb(length(FUEL.len())?, &mut export);
                export.extend(FUEL.as_bytes());
                export.push(3);
                leb(self.fuel, &mut export);
                let section = appended(&wasm[exports.range()], exports.count(), &export);
                self.section(7, &section);
            }
            Payload::CodeSectionStart { count, .. } => {
                if self.fuel == 0 {
                    return Err(Refused::Unknown("no globals before its code"));
                }
                self.expected = count;
            }
            Payload::CodeSectionEntry(body) => {
                let counted = self.body(&body, wasm)?;
                self.bodies.push(counted);
                if self.bodies.len() == self.expected as usize {
                    let mut section = Vec::new();
                    leb(self.expected, &mut section);
                    for body in std::mem::take(&mut self.bodies) {
                        leb(length(body.len())?, &mut section);
                        section.extend(body);
                    }
                    self.section(10, &section);
                    self.has_fuel = true;
                }
            }
            other => match other.as_section() {
                Some((id, range)) => self.section(id, &wasm[range]),
                None => return Err(Refused::Unknown("parts that are no sections")),
            },
        }
        Ok(())
    }

    fn body(&mut self, body: &wasmparser::FunctionBody<'_>, wasm: &[u8]) -> Result<Vec<u8>, Refused> {
        let own_type = self.functions.get(self.bodies.len()).and_then(|index| self.types.get(*index as usize));
        let mut spare = *own_type.ok_or(Refused::Unknown("a body without a type"))?;
        let (mut groups, mut locals) = (0, Vec::new());
        for group in body.get_locals_reader()? {
            let (count, kind) = group?;
            leb(count, &mut locals);
            locals.push(match kind {
                ValType::I32 => I32,
                ValType::I64 => 0x7e,
                ValType::F32 => 0x7d,
                ValType::F64 => 0x7c,
                _ => return Err(Refused::Unknown("locals that are no numbers")),
            });
            groups += 1;
            spare += count;
        }
        let mut code = Vec::new();
        self.charge_one(&mut code);
        let mut has_spare = false;
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            let start = operators.original_position();
            let operator = operators.read()?;
            if matches!(operator, Operator::MemoryFill { .. } | Operator::MemoryCopy { .. }) {
                has_spare = true;
                self.charge_bytes(spare, &mut code);
            }
            code.extend(&wasm[start..operators.original_position()]);
            if matches!(operator, Operator::Loop { .. }) {
                self.charge_one(&mut code);
            }
        }
        let mut counted = Vec::new();
        leb(groups + u32::from(has_spare), &mut counted);
        counted.extend(locals);
        if has_spare {
            counted.extend([1, I32]);
        }
        counted.extend(code);
        Ok(counted)
    }

    /// `fuel -= 1; if (fuel < 0) unreachable`
    fn charge_one(&mut self, code: &mut Vec<u8>) {
        code.push(GLOBAL_GET);
        leb(self.fuel, code);
        code.extend([I32_CONST, 1]);
        self.subtract(code);
    }

    /// The same with a part of the length that is on top of the stack, and stays there.
    fn charge_bytes(&mut self, spare: u32, code: &mut Vec<u8>) {
        code.push(LOCAL_SET);
        leb(spare, code);
        code.push(GLOBAL_GET);
        leb(self.fuel, code);
        code.push(LOCAL_GET);
        leb(spare, code);
        code.extend([I32_CONST, BYTES_SHIFT, I32_SHR_U]);
        self.subtract(code);
        code.push(LOCAL_GET);
        leb(spare, code);
    }

    fn subtract(&mut self, code: &mut Vec<u8>) {
        code.extend([I32_SUB, GLOBAL_SET]);
        leb(self.fuel, code);
        code.push(GLOBAL_GET);
        leb(self.fuel, code);
        code.extend([I32_CONST, 0, I32_LT_S, IF, NO_VALUE, UNREACHABLE, END]);
        self.places += 1;
    }

    fn section(&mut self, id: u8, content: &[u8]) {
        self.out.push(id);
        // A section of a module that was read is shorter than the module, and what is added is little.
        leb(u32::try_from(content.len()).unwrap_or(u32::MAX), &mut self.out);
        self.out.extend(content);
    }
}

/// A section with one more entry.
fn appended(section: &[u8], count: u32, entry: &[u8]) -> Vec<u8> {
    let old_count = section.iter().take_while(|byte| **byte & 0x80 != 0).count() + 1;
    let mut out = Vec::new();
    leb(count + 1, &mut out);
    out.extend(&section[old_count..]);
    out.extend(entry);
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
