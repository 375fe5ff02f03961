//! Code that a program contains but no object of the build explains: static libraries from elsewhere, or objects
//! that are gone. It is compared function by function with all addresses masked, so that it stays the same
//! while the program around it moves.

use std::ops::Range;

use fewer_core::{Digest, DigestBuilder, Domain};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind};

use crate::image::{ImageSummary, ImageSymbol};
use crate::name_map::SizedNameMap;
use crate::relocatable::{SHF_ALLOC, SHF_EXECINSTR, SHT_NOBITS, SectionPlace, section_places};

const FOREIGN: Domain = Domain::new("image.foreign");
const WHOLE: Domain = Domain::new("image.whole");

/// A digest of the foreign part of programs, with the work on equal functions shared between them.
#[derive(Default)]
pub struct ForeignReader {
    masks: SizedNameMap<Vec<Range<usize>>>,
}

/// A symbol of a linked file that no definition of its objects explains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    pub symbol: ImageSymbol,
    /// Whether it may be a local symbol of an object.
    pub is_explained: bool,
}

/// The layout of one linked file.
pub struct Layout<'d> {
    bytes: &'d [u8],
    sections: Vec<SectionPlace<'d>>,
    addresses: Range<u64>,
    is_x86: bool,
    /// Linked to a fixed address, so that code and data hold absolute addresses.
    is_fixed: bool,
}

impl ForeignReader {
    /// The digest of the symbols of a file that nothing explains, if it has some. A stripped file counts as a whole.
    pub fn read(&mut self, bytes: &[u8], image: &ImageSummary, candidates: &[Candidate]) -> Option<Digest> {
        let layout = Layout::of(bytes);
        let Some(layout) = layout.filter(|_| !image.is_stripped()) else {
            return Some(Digest::of(WHOLE, bytes));
        };
        let foreign = candidates.iter().filter(|candidate| !candidate.is_explained);
        let mut foreign: Vec<&ImageSymbol> = foreign.map(|candidate| &candidate.symbol).collect();
        let mut digest = DigestBuilder::new(FOREIGN);
        let mut symbols = 0;
        let mut scratch = Vec::new();
        foreign.sort_unstable_by_key(|symbol| (symbol.key, symbol.address));
        for symbol in foreign {
            // What has no bytes in the file starts as zeros, or is copied from a shared library.
            let Some((body, is_code)) = layout.body(symbol) else { continue };
            if !is_code && body.iter().all(|&byte| byte == 0) {
                continue;
            }
            symbols += 1;
            digest.number(symbol.key.0).number(symbol.size as u64);
            scratch.clear();
            scratch.extend_from_slice(body);
            if is_code {
                self.mask_code(&layout, symbol, &mut scratch);
            } else {
                mask_addresses(&layout, &mut scratch);
            }
            digest.digest(Digest::of(FOREIGN, &scratch));
        }
        (symbols > 0).then(|| digest.finish())
    }

    fn mask_code(&mut self, layout: &Layout<'_>, symbol: &ImageSymbol, code: &mut [u8]) {
        let masks = self.masks.entry((symbol.key, symbol.size)).or_insert_with(|| {
            if layout.is_x86 { x86_address_fields(layout, symbol.address, code) } else { Vec::new() }
        });
        for mask in masks.iter() {
            if let Some(field) = code.get_mut(mask.clone()) {
                field.fill(0);
            }
        }
        if !layout.is_x86 {
            mask_aarch64(code);
        }
    }
}

impl<'d> Layout<'d> {
    pub fn of(bytes: &'d [u8]) -> Option<Layout<'d>> {
        let sections = section_places(bytes)?;
        let loaded = || sections.iter().filter(|section| section.flags & SHF_ALLOC != 0);
        let low = loaded().map(|section| section.address).min()?;
        let high = loaded().map(|section| section.address + section.range.len() as u64).max()?;
        Some(Layout {
            bytes,
            addresses: low..high,
            is_x86: bytes.get(18..20) == Some(&[62, 0]),
            is_fixed: bytes.get(16..18) == Some(&[2, 0]),
            sections,
        })
    }

    /// The bytes of a symbol, and whether they are code; `None` for what has no bytes in the file.
    pub fn body(&self, symbol: &ImageSymbol) -> Option<(&'d [u8], bool)> {
        let section = self.sections.iter().find(|section| {
            let end = section.address.saturating_add(section.range.len() as u64);
            section.flags & SHF_ALLOC != 0
                && section.kind != SHT_NOBITS
                && (section.address..end).contains(&symbol.address)
        })?;
        let start = section.range.start + (symbol.address - section.address) as usize;
        let body = self.bytes.get(start..start.checked_add(symbol.size as usize)?)?;
        Some((body, section.flags & SHF_EXECINSTR != 0))
    }
}

/// Where a function's code holds addresses: displacements relative to the instruction, branches out of the
/// function, and absolute addresses in programs linked to a fixed place.
fn x86_address_fields(layout: &Layout<'_>, address: u64, code: &[u8]) -> Vec<Range<usize>> {
    let mut fields = Vec::new();
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let inside = address..address + code.len() as u64;
    while decoder.can_decode() {
        let start = decoder.position();
        decoder.decode_out(&mut instruction);
        let offsets = decoder.get_constant_offsets(&instruction);
        let displacement = start + offsets.displacement_offset()
            ..start + offsets.displacement_offset() + offsets.displacement_size();
        let immediate =
            start + offsets.immediate_offset()..start + offsets.immediate_offset() + offsets.immediate_size();
        let is_address = |value: u64| layout.is_fixed && layout.addresses.contains(&value);
        if instruction.is_ip_rel_memory_operand()
            || (offsets.has_displacement() && is_address(instruction.memory_displacement64()))
        {
            fields.push(displacement);
        }
        let leaves = matches!(instruction.op0_kind(), OpKind::NearBranch64)
            && instruction.flow_control() != FlowControl::Next
            && !inside.contains(&instruction.near_branch_target());
        if leaves || (offsets.immediate_size() >= 4 && is_address(immediate_value(code, &immediate))) {
            fields.push(immediate);
        }
    }
    fields
}

fn immediate_value(code: &[u8], field: &Range<usize>) -> u64 {
    let mut value = [0u8; 8];
    if let Some(bytes) = code.get(field.clone()) {
        value[..bytes.len()].copy_from_slice(bytes);
    }
    u64::from_le_bytes(value)
}

/// Words that are addresses of the file itself; the loader or the linker filled them in.
fn mask_addresses(layout: &Layout<'_>, data: &mut [u8]) {
    for word in data.chunks_exact_mut(8) {
        let value = u64::from_le_bytes((&*word).try_into().expect("eight bytes"));
        if value != 0 && layout.addresses.contains(&value) {
            word.fill(0);
        }
    }
}

/// Branches, page addresses, and the offsets that follow a page address in the same register.
fn mask_aarch64(code: &mut [u8]) {
    let mut pages: u32 = 0;
    for word in code.chunks_exact_mut(4) {
        let instruction = u32::from_le_bytes((&*word).try_into().expect("four bytes"));
        let (target, base) = (instruction & 0x1f, instruction >> 5 & 0x1f);
        let is_offset = matches!(instruction >> 24, 0x91 | 0x11) || instruction & 0x3b00_0000 == 0x3900_0000;
        let masked = if instruction & 0x7c00_0000 == 0x1400_0000 {
            instruction & 0xfc00_0000
        } else if instruction & 0x1f00_0000 == 0x1000_0000 {
            pages |= 1 << target;
            instruction & 0x9f00_001f
        } else if is_offset && pages & 1 << base != 0 {
            instruction & !0x003f_fc00
        } else {
            instruction
        };
        word.copy_from_slice(&masked.to_le_bytes());
    }
}
