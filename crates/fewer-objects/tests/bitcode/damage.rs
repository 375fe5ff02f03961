//! Damaged bitcode never panics the reader, never makes it loop and never makes it ask for memory out of
//! proportion. Bounded and seeded, so that it is the same every time.

use std::fs;
use std::time::{Duration, Instant};

use fewer_objects::bitcode::read_bitcode;
use fewer_objects::summary::{ObjectSummary, Reference, Traits};

use crate::compilers::{CLANGS, Language, compile};

const SOURCE: &str = r#"
struct Base { virtual ~Base() {} virtual int f() { return 1; } };
struct Derived : Base { int f() override { throw 5; } };
static int counter = Derived().f();
thread_local int local = 3;
template <class T> T twice(T t) { return t + t; }
const char *words[] = {"one", "two", "three"};
int choose(int n) { switch (n) { case 0: return 5; case 1: return 7; case 2: return 1; } return twice(n); }
double mix(double a, long b) { asm volatile("nop" : "+r"(b)); return a * 0.5 + b; }
int run(int n) { try { return choose(n) + counter + local + words[n][0]; } catch (int &m) { return m; } }
"#;

const ROUNDS: usize = 5000;

/// A linear congruential generator: the same numbers on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % sides.max(1)
    }
}

/// Bitcode is made of bits, and of words where blocks begin.
fn damaged(original: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..=dice.roll(6) {
        let place = dice.roll(bytes.len());
        let word = place / 4 * 4;
        match dice.roll(6) {
            0 | 1 => bytes[place] ^= 1 << dice.roll(8),
            2 => bytes[place] = dice.roll(256) as u8,
            3 if word + 4 <= bytes.len() => {
                let extreme = [0u32, 1, 0x7fff_ffff, 0xffff_ffff, 64, 1 << 16][dice.roll(6)];
                bytes[word..word + 4].copy_from_slice(&extreme.to_le_bytes());
            }
            4 => {
                let other = dice.roll(bytes.len()) / 4 * 4;
                let length = dice.roll(64).min(bytes.len() - word.max(other));
                bytes.copy_within(other..other + length, word);
            }
            _ => bytes.truncate(place.max(16)),
        }
    }
    bytes
}

/// Uses every index, as the steps behind the reader do.
fn use_up(summary: ObjectSummary) -> usize {
    let mut references = 0;
    for element in 0..summary.elements.len() as u32 {
        summary.element_name(element);
        for reference in summary.references_of(element) {
            references += 1;
            match *reference {
                Reference::Element(target) => summary.element_name(target),
                Reference::Symbol(symbol) => summary.symbol_name(symbol),
                Reference::Common(_) => panic!("a reader makes no packs"),
            };
        }
    }
    references
}

#[test]
fn damaged_bitcode_is_survived() {
    let directory = tempfile::tempdir().unwrap();
    let mut dice = Dice(7);
    for (compiler, flags) in [(CLANGS[0], "-O0"), (CLANGS[0], "-O2"), (CLANGS[4], "-O0"), (CLANGS[4], "-g")] {
        let place = directory.path().join(format!("{compiler}{flags}"));
        let path = compile(compiler, Language::Cpp, SOURCE, &[flags], &place).unwrap();
        let original = fs::read(path).unwrap();
        let whole = read_bitcode(&original);
        assert!(whole.notes.is_empty() && whole.elements.len() > 10, "{:?}", whole.notes);
        let started = Instant::now();
        let (mut opaque, mut partial) = (0, 0);
        for _ in 0..ROUNDS {
            let summary = read_bitcode(&damaged(&original, &mut dice));
            let is_opaque = summary.elements.iter().any(|element| element.traits.has(Traits::OPAQUE));
            opaque += is_opaque as usize;
            partial += (!is_opaque && !summary.notes.is_empty()) as usize;
            assert!(!is_opaque || !summary.notes.is_empty(), "an opaque file needs a cause");
            use_up(summary);
        }
        assert!(opaque > ROUNDS / 10 && partial > 0, "{opaque} opaque and {partial} partial of {ROUNDS}");
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    }
    assert!(peak_memory_kib() < 512 * 1024, "peak memory {} KiB", peak_memory_kib());
}

#[test]
fn every_cut_of_a_module_is_told_from_the_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = compile(CLANGS[4], Language::Cpp, SOURCE, &["-O1"], directory.path()).unwrap();
    let whole = fs::read(path).unwrap();
    let expected = use_up(read_bitcode(&whole));
    for length in (0..whole.len() - 1).step_by(7) {
        let summary = read_bitcode(&whole[..length]);
        assert!(!summary.notes.is_empty() || use_up(summary) == expected, "cut at {length} without a note");
    }
}

fn peak_memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
