//! Where Rust code hands the place of a panic (file, line, column) to the standard library, which does nothing with it
//! but say it: lines that move do not change such code. A place that goes anywhere else is data like any other.

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess, Register,
    UsedRegister,
};

use crate::relocatable::{ElfFile, Machine, Place, Relocation, RelocationFields, SHF_EXECINSTR};

/// A pointer and a length for the file, then line and column.
const PLACE_SIZE: usize = 24;
/// So far behind the place the call must be.
const INSTRUCTIONS: usize = 12;
/// Registers that arguments are handed over in; nobody expects them to last.
const ARGUMENTS: [Register; 6] =
    [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];

/// Whether a file holds anything that may be a place: most of other languages do not.
pub fn are_possible(file: &ElfFile<'_>) -> bool {
    let may_be_place = |section: usize| {
        file.sections[section].data.len() == PLACE_SIZE && file.relocations(section).len() == 1
    };
    (0..file.sections.len()).any(may_be_place)
}

/// Per relocation of a section of code the file of the panic, where the place is only handed to the standard library.
pub fn files<'d>(file: &ElfFile<'d>, section: usize) -> Vec<Option<&'d [u8]>> {
    let relocations = file.relocations(section);
    let may_be_place = |relocation: &Relocation| {
        local_section(file, relocation, -4).is_some_and(|place| file.sections[place].data.len() == PLACE_SIZE)
    };
    let is_code = file.machine == Machine::X86_64 && file.sections[section].has(SHF_EXECINSTR);
    if !is_code || !relocations.iter().any(may_be_place) {
        return Vec::new();
    }
    let code = file.sections[section].data;
    let told = |relocation: &Relocation| {
        let source = file_of_place(file, relocation)?;
        let callee = callee_behind(code, relocations, relocation)?;
        is_standard(file.symbols.get(callee as usize)?.name).then_some(source)
    };
    relocations.iter().map(told).collect()
}

/// The file that a place names, if the relocation leads to one. rustc ends such a text, and no other, with a zero.
fn file_of_place<'d>(file: &ElfFile<'d>, relocation: &Relocation) -> Option<&'d [u8]> {
    let section = local_section(file, relocation, -4)?;
    let place = &file.sections[section];
    let [inner] = file.relocations(section) else { return None };
    if place.data.len() != PLACE_SIZE || inner.offset() != 0 {
        return None;
    }
    let texts = file.sections[local_section(file, inner, inner.addend())?].data;
    let start = usize::try_from(inner.addend()).ok()?;
    let length = usize::try_from(u64::from_le_bytes(place.data[8..16].try_into().ok()?)).ok()?;
    let end = start.checked_add(length)?;
    let source = texts.get(start..end)?;
    (source.ends_with(b".rs") && texts.get(end) == Some(&0)).then_some(source)
}

/// The section that a relocation leads to with just this addend, by a local symbol at its beginning.
fn local_section(file: &ElfFile<'_>, relocation: &Relocation, addend: i64) -> Option<usize> {
    let symbol = file.symbols.get(relocation.symbol() as usize)?;
    match symbol.place {
        Place::Section(section) if symbol.value == 0 && relocation.addend() == addend => Some(section),
        Place::Section(_) | Place::Undefined | Place::Absolute | Place::Common => None,
    }
}

/// The symbol that is called with the place as an argument, where nothing else is done with it before.
fn callee_behind(code: &[u8], relocations: &[Relocation], relocation: &Relocation) -> Option<u32> {
    // lea register, [rip + displacement]: three bytes before the displacement.
    let start = usize::try_from(relocation.offset()).ok()?.checked_sub(3)?;
    let mut decoder = Decoder::with_ip(64, code.get(start..)?, start as u64, DecoderOptions::NONE);
    let load = decoder.decode();
    let register = load.op0_register();
    let is_load = load.code() == Code::Lea_r64_m && load.is_ip_rel_memory_operand() && load.len() == 7;
    if !is_load || !ARGUMENTS.contains(&register) {
        return None;
    }
    let mut information = InstructionInfoFactory::new();
    // The register that holds the address of a function, with the instruction that put it there.
    let mut address: Option<Instruction> = None;
    for _ in 0..INSTRUCTIONS {
        if !decoder.can_decode() {
            return None;
        }
        let instruction = decoder.decode();
        match instruction.flow_control() {
            FlowControl::Next => {}
            FlowControl::Call | FlowControl::IndirectCall => {
                return called(relocations, &instruction, address.as_ref());
            }
            _ => return None,
        }
        let used = information.info(&instruction).used_registers();
        let touches = |other: Register| {
            let is_other = |used: &&UsedRegister| used.register().full_register() == other;
            used.iter().filter(is_other).any(|used| used.access() != OpAccess::None)
        };
        if touches(register) {
            return None;
        }
        address = address.filter(|load| !touches(load.op0_register()));
        if instruction.code() == Code::Mov_r64_rm64 && instruction.is_ip_rel_memory_operand() {
            address = Some(instruction);
        }
    }
    None
}

/// The symbol of a call: direct, through the table of addresses, or through a register that was filled from it.
fn called(relocations: &[Relocation], call: &Instruction, address: Option<&Instruction>) -> Option<u32> {
    let is_told = matches!(call.code(), Code::Call_rel32_64) || call.is_ip_rel_memory_operand();
    let told =
        if is_told { call } else { address.filter(|load| load.op0_register() == call.op0_register())? };
    let within = told.ip()..told.next_ip();
    relocations
        .iter()
        .find(|relocation| within.contains(&relocation.offset()))
        .map(|relocation| relocation.symbol())
}

/// Whether a function is of Rust's own libraries, in either mangling.
fn is_standard(name: &[u8]) -> bool {
    const CRATES: [&[u8]; 3] = [b"4core", b"5alloc", b"3std"];
    let path = match name.strip_prefix(b"_ZN") {
        Some(path) if memchr::memmem::find(path, b"_$LT$").is_some_and(|start| start <= 3) => {
            return is_standard_implementation(path);
        }
        Some(path) => Some(path),
        None if name.starts_with(b"_R") => {
            // The crate's name stands behind its number: `Cs1234_4core`.
            let crate_root = memchr::memmem::find(name, b"Cs");
            crate_root.and_then(|start| {
                let number = memchr::memchr(b'_', &name[start..])?;
                name.get(start + number + 1..)
            })
        }
        None => None,
    };
    path.is_some_and(|path| CRATES.iter().any(|own| path.starts_with(own)))
}

/// Whether both the type and the trait of a method are of Rust's own libraries.
/// Example: `91_$LT$std..HashMap$LT$K$GT$$u20$as$u20$core..ops..Index$GT$5index`.
fn is_standard_implementation(path: &[u8]) -> bool {
    let is_own = |tail: &[u8]| [&b"core.."[..], b"alloc..", b"std.."].iter().any(|own| tail.starts_with(own));
    let tail = |start: usize| path.get(start..).unwrap_or(b"");
    let mut traits = memchr::memmem::find_iter(path, b"$u20$as$u20$").peekable();
    let own_type = memchr::memmem::find(path, b"_$LT$").is_some_and(|start| is_own(tail(start + 5)));
    own_type && traits.peek().is_some() && traits.all(|start| is_own(tail(start + 12)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relocation(offset: u64, symbol: u32) -> Relocation {
        Relocation::of(offset, 2, symbol, -4)
    }

    #[test]
    fn a_place_that_is_only_handed_over_is_told_from_one_that_is_kept() {
        // lea rdi, [rip]; xor esi, esi; call [rip]
        let handed = [0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0x31, 0xf6, 0xff, 0x15, 0, 0, 0, 0];
        let relocations = [relocation(3, 1), relocation(11, 2)];
        assert_eq!(callee_behind(&handed, &relocations, &relocations[0]), Some(2));
        // lea rdi, [rip]; mov rax, [rip]; xor esi, esi; call rax
        let through = [0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0x48, 0x8b, 0x05, 0, 0, 0, 0, 0x31, 0xf6, 0xff, 0xd0];
        let relocations = [relocation(3, 1), relocation(10, 2)];
        assert_eq!(callee_behind(&through, &relocations, &relocations[0]), Some(2));
        // lea rdi, [rip]; mov [rsp], rdi; call rel32
        let kept = [0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0x48, 0x89, 0x3c, 0x24, 0xe8, 0, 0, 0, 0];
        let relocations = [relocation(3, 1), relocation(12, 2)];
        assert_eq!(callee_behind(&kept, &relocations, &relocations[0]), None);
        // lea rbx, [rip]; call rel32
        let lasting = [0x48, 0x8d, 0x1d, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0];
        let relocations = [relocation(3, 1), relocation(8, 2)];
        assert_eq!(callee_behind(&lasting, &relocations, &relocations[0]), None);
    }

    #[test]
    fn only_functions_of_rusts_own_libraries_are_standard() {
        for name in [
            "_ZN4core6option15Option$LT$T$GT$6unwrap17h0123456789abcdefE",
            "_ZN92_$LT$std..map..HashMap$LT$K$GT$$u20$as$u20$core..ops..Index$LT$Q$GT$$GT$5index17h0E",
            "_RNvNtCsgEmfK2I1SDS_4core6result13unwrap_failed",
            "_RINvNtCsgEmfK2I1SDS_4core9panicking13assert_failedjjECs123_4demo",
        ] {
            assert!(is_standard(name.as_bytes()), "{name}");
        }
        for name in [
            "_ZN44_$LT$alloc..string..String$u20$as$u20$demo..Check$GT$5check17h0E",
            "_ZN4demo5check17h0123456789abcdefE",
            "_RNvNtCs123_4demo4core5check",
            "memcpy",
        ] {
            assert!(!is_standard(name.as_bytes()), "{name}");
        }
    }
}
