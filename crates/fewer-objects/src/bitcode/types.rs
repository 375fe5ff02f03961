//! The type table of a module. Types are told apart by structure: their numbers, the names of structs and what
//! pointers point to are no part of what code means, as every access names its type.

use fewer_core::{Digest, DigestBuilder, Domain};

use super::Unreadable;
use super::bitstream::{Abbreviations, Block, Record};

const TYPE: Domain = Domain::new("bitcode.type");

/// How deep structs and arrays may nest.
const MOST_NESTED: u32 = 64;

const NUMBER_OF_ENTRIES: u32 = 1;
const LABEL: u32 = 5;
const OPAQUE: u32 = 6;
const INTEGER: u32 = 7;
const POINTER: u32 = 8;
const ARRAY: u32 = 11;
const VECTOR: u32 = 12;
const METADATA: u32 = 16;
const STRUCT_ANONYMOUS: u32 = 18;
const STRUCT_NAME: u32 = 19;
const STRUCT_NAMED: u32 = 20;
const FUNCTION: u32 = 21;
const OPAQUE_POINTER: u32 = 25;
const TARGET: u32 = 26;
const LAST_KNOWN: u32 = 27;
const VOID: u32 = 2;

/// One entry of the table.
struct Type {
    code: u32,
    operands: Vec<u64>,
    name: Vec<u8>,
}

/// A function type, as calls need it.
pub struct FunctionType<'t> {
    pub has_result: bool,
    pub is_variadic: bool,
    parameters: &'t [u64],
    types: &'t Types,
}

/// How a parameter's argument is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    Value,
    Label,
    Metadata,
}

#[derive(Default)]
pub struct Types {
    types: Vec<Type>,
    digests: Vec<Digest>,
}

impl Types {
    pub fn read<'d>(
        &mut self,
        mut block: Block<'d>,
        known: &mut Abbreviations,
        record: &mut Record<'d>,
    ) -> Result<(), Unreadable> {
        let mut name = Vec::new();
        while block.next_record(known, record)? {
            match record.code {
                NUMBER_OF_ENTRIES => {}
                STRUCT_NAME => name = record.text(0),
                code if code > LAST_KNOWN => {
                    return Err(Unreadable::Unknown(format!("type record {code}")));
                }
                code => {
                    let own_name = matches!(code, STRUCT_NAMED | OPAQUE | TARGET);
                    let name = if own_name { std::mem::take(&mut name) } else { Vec::new() };
                    self.types.push(Type { code, operands: record.operands.clone(), name });
                }
            }
        }
        self.digest_all()
    }

    pub fn digest(&self, id: u64) -> Result<Digest, Unreadable> {
        usize::try_from(id).ok().and_then(|id| self.digests.get(id).copied()).ok_or(Unreadable::TYPE)
    }

    pub fn function(&self, id: u64) -> Result<FunctionType<'_>, Unreadable> {
        let entry = self.get(id)?;
        match (entry.code, entry.operands.as_slice()) {
            (FUNCTION, [is_variadic, result, parameters @ ..]) => Ok(FunctionType {
                has_result: self.get(*result)?.code != VOID,
                is_variadic: *is_variadic != 0,
                parameters,
                types: self,
            }),
            // A pointer to a function, where pointers have types.
            (POINTER, [pointee, ..]) if self.get(*pointee)?.code == FUNCTION => self.function(*pointee),
            _ => Err(Unreadable::TYPE),
        }
    }

    /// Size and alignment in bytes; `None` where they depend on the target.
    pub fn layout(&self, id: u64) -> Option<(u64, u64)> {
        self.layout_at(id, 0)
    }

    /// What a step into a type by a constant index adds to an address, and the type there.
    pub fn step(&self, id: u64, index: i64) -> Option<(i64, u64)> {
        let entry = self.get(id).ok()?;
        match entry.code {
            ARRAY | VECTOR => {
                let element = *entry.operands.get(1)?;
                Some((index.checked_mul(self.layout(element)?.0 as i64)?, element))
            }
            STRUCT_ANONYMOUS | STRUCT_NAMED => {
                let index = usize::try_from(index).ok()?;
                let field = *entry.operands.get(index.checked_add(1)?)?;
                let before = self.fields_end(entry, index, 0)?;
                let alignment = if entry.operands[0] != 0 { 1 } else { self.layout(field)?.1 };
                Some((before.checked_next_multiple_of(alignment)? as i64, field))
            }
            _ => None,
        }
    }

    fn layout_at(&self, id: u64, depth: u32) -> Option<(u64, u64)> {
        let entry = self.get(id).ok().filter(|_| depth < MOST_NESTED)?;
        match entry.code {
            INTEGER => {
                let bytes = entry.operands.first()?.div_ceil(8).checked_next_power_of_two()?;
                Some((bytes, bytes.min(16)))
            }
            POINTER | OPAQUE_POINTER => Some((8, 8)),
            3 => Some((4, 4)),
            4 => Some((8, 8)),
            ARRAY => {
                let (size, alignment) = self.layout_at(*entry.operands.get(1)?, depth + 1)?;
                Some((size.checked_mul(entry.operands[0])?, alignment))
            }
            STRUCT_ANONYMOUS | STRUCT_NAMED => {
                let mut alignment = 1;
                for &field in entry.operands.get(1..)?.iter().filter(|_| entry.operands[0] == 0) {
                    alignment = alignment.max(self.layout_at(field, depth + 1)?.1);
                }
                let size = self.fields_end(entry, entry.operands.len() - 1, depth)?;
                Some((size.checked_next_multiple_of(alignment)?, alignment))
            }
            _ => None,
        }
    }

    /// Where the first fields of a struct end.
    fn fields_end(&self, entry: &Type, count: usize, depth: u32) -> Option<u64> {
        let is_packed = *entry.operands.first()? != 0;
        let mut end = 0u64;
        for &field in entry.operands.get(1..1 + count)? {
            let (size, alignment) = self.layout_at(field, depth + 1)?;
            let start = if is_packed { end } else { end.checked_next_multiple_of(alignment)? };
            end = start.checked_add(size)?;
        }
        Some(end)
    }

    fn get(&self, id: u64) -> Result<&Type, Unreadable> {
        usize::try_from(id).ok().and_then(|id| self.types.get(id)).ok_or(Unreadable::TYPE)
    }

    fn digest_all(&mut self) -> Result<(), Unreadable> {
        let mut digests: Vec<Option<Digest>> = vec![None; self.types.len()];
        for id in 0..self.types.len() {
            self.digest_of(id as u64, &mut digests, 0)?;
        }
        self.digests = digests.into_iter().map(Option::unwrap_or_default).collect();
        Ok(())
    }

    fn digest_of(&self, id: u64, known: &mut [Option<Digest>], depth: u32) -> Result<Digest, Unreadable> {
        let entry = self.get(id)?;
        if let Some(digest) = known[id as usize] {
            return Ok(digest);
        }
        if depth > MOST_NESTED {
            return Err(Unreadable::Unknown("a type that contains itself".to_string()));
        }
        let mut digest = DigestBuilder::new(TYPE);
        // All structs are alike but for their fields; all pointers but for their address space.
        let (code, plain, inner) = match entry.code {
            POINTER => (OPAQUE_POINTER, entry.operands.get(1..).unwrap_or(&[]), &[][..]),
            OPAQUE_POINTER => (OPAQUE_POINTER, &entry.operands[..], &[][..]),
            STRUCT_ANONYMOUS | STRUCT_NAMED | FUNCTION => {
                let (plain, inner) = entry.operands.split_at(entry.operands.len().min(1));
                let code = if entry.code == FUNCTION { FUNCTION } else { STRUCT_NAMED };
                (code, plain, inner)
            }
            ARRAY | VECTOR => {
                let element = entry.operands.get(1..2).ok_or(Unreadable::TYPE)?;
                digest.number(entry.operands.get(2).copied().unwrap_or(0));
                (entry.code, &entry.operands[..1], element)
            }
            TARGET => {
                let count = *entry.operands.first().ok_or(Unreadable::TYPE)? as usize;
                let inner = entry.operands.get(1..count.saturating_add(1)).ok_or(Unreadable::TYPE)?;
                digest.bytes(&entry.name);
                entry.operands[count + 1..].iter().for_each(|&number| {
                    digest.number(number);
                });
                (TARGET, &entry.operands[..1], inner)
            }
            OPAQUE => (OPAQUE, &[][..], &[][..]),
            code => (code, &entry.operands[..], &[][..]),
        };
        digest.number(code as u64).number(plain.len() as u64);
        // An absent address space is the first one.
        plain.iter().for_each(|&number| {
            digest.number(number);
        });
        for &id in inner {
            digest.digest(self.digest_of(id, known, depth + 1)?);
        }
        let digest = digest.finish();
        known[id as usize] = Some(digest);
        Ok(digest)
    }
}

impl<'t> FunctionType<'t> {
    /// How the arguments for the fixed parameters are written.
    pub fn arguments(&self) -> impl Iterator<Item = Result<Argument, Unreadable>> + 't {
        let types = self.types;
        self.parameters.iter().map(move |&parameter| {
            Ok(match types.get(parameter)?.code {
                LABEL => Argument::Label,
                METADATA => Argument::Metadata,
                _ => Argument::Value,
            })
        })
    }

    pub fn parameters(&self) -> &'t [u64] {
        self.parameters
    }
}
