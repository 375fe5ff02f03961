//! Line numbers in code: assertions pass `__LINE__` to a few known functions. The instruction that loads it is
//! found, so that a shifted line is not a change. A number is masked only where it can serve nothing else.

use std::ops::Range;

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};

use crate::relocatable::{Machine, Relocation, RelocationFields};
use crate::symbol_names::Part;

/// Which argument of a call is a line number, counted from 0 with `this`.
pub fn line_argument(callee: &[u8]) -> Option<usize> {
    if callee == b"__assert_fail" || callee == b"__assert_rtn" {
        return Some(2);
    }
    static EXPECTED_AT: Part = Part::new(b"18InternalExpectedAtEPKci");
    let rest = callee.strip_prefix(b"_ZN7testing")?;
    if rest.starts_with(b"8internal12AssertHelperC") || rest.starts_with(b"8internal9DeathTest6CreateE") {
        Some(3)
    } else if rest.starts_with(b"11ScopedTraceC") || EXPECTED_AT.is_in(rest) {
        Some(2)
    } else {
        None
    }
}

/// The byte ranges of `code` that hold nothing but a line number on its way to such a call. Which argument of a
/// symbol that is, `argument` tells.
pub fn places(
    machine: Machine,
    code: &[u8],
    relocations: &[Relocation],
    argument: impl Fn(u32) -> Option<usize>,
) -> Vec<Range<usize>> {
    let calls: Vec<(usize, usize)> = relocations
        .iter()
        .filter_map(|relocation| Some((relocation.offset() as usize, argument(relocation.symbol())?)))
        .collect();
    if calls.is_empty() {
        return Vec::new();
    }
    match machine {
        Machine::X86_64 => x86_places(code, &calls),
        Machine::Aarch64 => aarch64_places(code, &calls),
    }
}

/// The general-purpose registers that carry the third and fourth argument.
fn x86_register(argument: usize) -> Register {
    if argument == 2 { Register::RDX } else { Register::RCX }
}

/// Walks the code once. Per argument register it remembers the place of a constant just loaded, until anything
/// else touches the register or the flow branches.
fn x86_places(code: &[u8], calls: &[(usize, usize)]) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut loaded: [Option<Range<usize>>; 2] = [None, None];
    let mut next_call = 0;
    while decoder.can_decode() && next_call < calls.len() {
        let start = decoder.position();
        decoder.decode_out(&mut instruction);
        let end = decoder.position();
        let (field, argument) = calls[next_call];
        if field >= start && field < end {
            if matches!(
                instruction.flow_control(),
                FlowControl::Call | FlowControl::IndirectCall | FlowControl::UnconditionalBranch
            ) && let Some(place) = loaded[argument - 2].take()
            {
                places.push(place);
            }
            while calls.get(next_call).is_some_and(|(field, _)| *field < end) {
                next_call += 1;
            }
        }
        if instruction.flow_control() != FlowControl::Next {
            loaded = [None, None];
            continue;
        }
        for argument in [2, 3] {
            let register = x86_register(argument);
            if loads_constant(&instruction, register) {
                loaded[argument - 2] = Some(end - 4..end);
            } else if touches(&instruction, register) {
                loaded[argument - 2] = None;
            }
        }
    }
    places
}

fn loads_constant(instruction: &Instruction, register: Register) -> bool {
    instruction.code() == Code::Mov_r32_imm32 && instruction.op0_register().full_register() == register
}

/// Whether an instruction names the register at all, or uses registers it does not name.
fn touches(instruction: &Instruction, register: Register) -> bool {
    let named = (0..instruction.op_count()).any(|operand| {
        instruction.op_kind(operand) == OpKind::Register
            && instruction.op_register(operand).full_register() == register
    });
    let addressed = instruction.memory_base().full_register() == register
        || instruction.memory_index().full_register() == register;
    named || addressed || has_implied_operands(instruction)
}

/// Instructions that read or write rcx or rdx without saying so (string operations, wide arithmetic, CPUID...).
fn has_implied_operands(instruction: &Instruction) -> bool {
    use iced_x86::Mnemonic::*;
    instruction.has_rep_prefix()
        || instruction.has_repne_prefix()
        || matches!(
            instruction.mnemonic(),
            Mul | Imul
                | Div
                | Idiv
                | Cdq
                | Cqo
                | Cwd
                | Cpuid
                | Rdtsc
                | Rdtscp
                | Rdmsr
                | Wrmsr
                | Syscall
                | Cmpxchg16b
                | Cmpxchg8b
                | Mulx
                | Xgetbv
                | Xsetbv
                | In
                | Out
                | Monitor
                | Mwait
        )
}

/// `mov wN, #imm16` shortly before the call, with nothing in between that names the register or branches.
fn aarch64_places(code: &[u8], calls: &[(usize, usize)]) -> Vec<Range<usize>> {
    let word = |at: usize| code.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let mut places = Vec::new();
    for &(field, argument) in calls {
        let register = argument as u32;
        for back in 1..=16usize {
            let Some(at) = field.checked_sub(back * 4) else { break };
            let Some(instruction) = word(at) else { break };
            // MOVZ Wd, #imm16
            if instruction & 0xffe0_001f == 0x5280_0000 | register {
                places.push(at..at + 4);
                break;
            }
            let branches = instruction & 0x1c00_0000 == 0x1400_0000;
            let names = [0, 5, 10, 16].iter().any(|shift| instruction >> shift & 0x1f == register);
            if branches || names {
                break;
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relocations of kind call at the given offsets, all to `__assert_fail` (line in edx).
    fn found(machine: Machine, code: &[u8], call_field: usize) -> Vec<Range<usize>> {
        let relocation = Relocation::of(call_field as u64, 4, 1, -4);
        places(machine, code, &[relocation], |_| line_argument(b"__assert_fail"))
    }

    #[test]
    fn a_constant_that_only_goes_to_the_call_is_masked() {
        // mov edx, 0x15; xor eax, eax; call rel32
        let code = [0xba, 0x15, 0, 0, 0, 0x31, 0xc0, 0xe8, 0, 0, 0, 0];
        assert_eq!(found(Machine::X86_64, &code, 8), vec![1..5]);
    }

    #[test]
    fn a_constant_that_is_also_used_elsewhere_is_kept() {
        // mov edx, 0x15; mov [rsp], edx; call rel32
        let code = [0xba, 0x15, 0, 0, 0, 0x89, 0x14, 0x24, 0xe8, 0, 0, 0, 0];
        assert_eq!(found(Machine::X86_64, &code, 9), Vec::<Range<usize>>::new());
        // mov edx, 0x15; jne +0; call rel32
        let code = [0xba, 0x15, 0, 0, 0, 0x75, 0x00, 0xe8, 0, 0, 0, 0];
        assert_eq!(found(Machine::X86_64, &code, 8), Vec::<Range<usize>>::new());
    }

    #[test]
    fn aarch64_line_constants_are_found() {
        let mov_w2 = 0x5280_02a2u32; // mov w2, #21
        let nop_like = 0x9100_0000u32; // add x0, x0, #0
        let bl = 0x9400_0000u32;
        let code: Vec<u8> = [mov_w2, nop_like, bl].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(found(Machine::Aarch64, &code, 8), vec![0..4]);
        let reads_w2 = 0x1100_0440u32; // add w0, w2, #1
        let code: Vec<u8> = [mov_w2, reads_w2, bl].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(found(Machine::Aarch64, &code, 8), Vec::<Range<usize>>::new());
    }
}
