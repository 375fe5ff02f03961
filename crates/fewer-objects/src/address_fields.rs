//! Where machine code and data hold addresses. What lies at these is not asked here.

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};

use crate::layout::{Body, Layout};

/// A place in code or data that holds an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressField {
    start: u32,
    length: u8,
    /// What the field counts from: the end of the instruction, by its offset in the code. `None` for absolute addresses.
    from: Option<u32>,
    pub kind: FieldKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldKind {
    /// Of a branch that leaves the function.
    Branch,
    /// Of memory that the instruction reads or writes, with the number of bytes.
    Access(u32),
    /// The address is taken.
    Address,
}

impl AddressField {
    /// A word of data.
    pub fn word(start: u32) -> AddressField {
        AddressField { start, length: 8, from: None, kind: FieldKind::Address }
    }

    pub fn place(&self) -> Range<usize> {
        self.start as usize..self.start as usize + self.length as usize
    }

    /// Whether it counts from where it is, and not from nothing.
    pub fn is_relative(&self) -> bool {
        self.from.is_some()
    }

    /// The address that the field of some code holds.
    #[inline]
    pub fn target(&self, code: &Body<'_>) -> u64 {
        // Nearly all are of four bytes, and relative.
        match (self.length, self.from, code.bytes.get(self.start as usize..).and_then(<[u8]>::first_chunk)) {
            (4, Some(end), Some(word)) => {
                let distance = i64::from(i32::from_le_bytes(*word));
                code.address.wrapping_add(u64::from(end)).wrapping_add_signed(distance)
            }
            _ => self.unusual_target(code),
        }
    }

    fn unusual_target(&self, code: &Body<'_>) -> u64 {
        let value = value_at(code.bytes, self.place());
        let Some(end) = self.from else { return value };
        let distance = match self.length {
            1 => i64::from(value as i8),
            2 => i64::from(value as i16),
            _ => i64::from(value as i32),
        };
        code.address.wrapping_add(u64::from(end)).wrapping_add_signed(distance)
    }
}

/// Where a function's code holds addresses: displacements relative to the instruction, branches out of the
/// function, and absolute addresses in programs linked to a fixed place.
pub fn x86_address_fields(layout: &Layout<'_>, body: &Body<'_>) -> Vec<AddressField> {
    let Body { address, bytes: code, .. } = *body;
    let mut fields = Vec::new();
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let inside = address..address.saturating_add(code.len() as u64);
    while decoder.can_decode() {
        let start = decoder.position();
        decoder.decode_out(&mut instruction);
        let end = decoder.position() as u32;
        let offsets = decoder.get_constant_offsets(&instruction);
        let displacement = Part::new(start, offsets.displacement_offset(), offsets.displacement_size());
        let immediate = Part::new(start, offsets.immediate_offset(), offsets.immediate_size());
        let is_address = |value: u64| layout.is_fixed && layout.addresses.contains(&value);
        let is_relative = instruction.is_ip_rel_memory_operand();
        if is_relative || (offsets.has_displacement() && is_address(instruction.memory_displacement64())) {
            let has_no_base = matches!(instruction.memory_base(), Register::None | Register::RIP);
            let is_alone = has_no_base
                && instruction.memory_index() == Register::None
                && instruction.mnemonic() != Mnemonic::Lea;
            let kind = match is_alone {
                true => FieldKind::Access(instruction.memory_size().size() as u32),
                false => FieldKind::Address,
            };
            fields.push(displacement.field(is_relative.then_some(end), kind));
        }
        let leaves = matches!(instruction.op0_kind(), OpKind::NearBranch64)
            && instruction.flow_control() != FlowControl::Next
            && !inside.contains(&instruction.near_branch_target());
        if leaves || (offsets.immediate_size() >= 4 && is_address(value_at(code, immediate.range()))) {
            let kind = if leaves { FieldKind::Branch } else { FieldKind::Address };
            fields.push(immediate.field(leaves.then_some(end), kind));
        }
    }
    fields
}

/// A part of an instruction.
struct Part {
    start: usize,
    length: usize,
}

impl Part {
    fn new(instruction: usize, offset: usize, length: usize) -> Part {
        Part { start: instruction + offset, length }
    }

    fn range(&self) -> Range<usize> {
        self.start..self.start + self.length
    }

    fn field(&self, from: Option<u32>, kind: FieldKind) -> AddressField {
        AddressField { start: self.start as u32, length: self.length as u8, from, kind }
    }
}

/// Writes zeros where addresses are.
pub fn clear(bytes: &mut [u8], fields: &[AddressField]) {
    for field in fields {
        if let Some(bytes) = bytes.get_mut(field.place()) {
            bytes.fill(0);
        }
    }
}

/// Branches, page addresses, and the offsets that follow a page address in the same register.
pub fn mask_aarch64(code: &mut [u8]) {
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

/// The number that some bytes are, if they are there.
fn value_at(code: &[u8], place: Range<usize>) -> u64 {
    let mut value = [0u8; 8];
    if let Some(bytes) = code.get(place) {
        value[..bytes.len()].copy_from_slice(bytes);
    }
    u64::from_le_bytes(value)
}
