//! Foreign bytes: damaged objects, programs, archives and summaries never panic the readers, never make them
//! loop, and never make them ask for memory out of proportion. Bounded, seeded, so that CI runs it every time.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use fewer_core::{Digest, Domain};
use fewer_objects::image::{ImageSummary, read_image};
use fewer_objects::pack::{Divided, Pack, Packer};
use fewer_objects::reader::read_object;
use fewer_objects::scan::Packed;
use fewer_objects::summary::{ObjectSummary, Reference};
use fewer_objects::surroundings::{ImageSurroundings, Surroundings};
use fewer_objects::{Analysis, BuildTree, Given, NamedDigest, NoCache, Scanned, scan};
use tempfile::TempDir;

/// What the stored forms are sealed with.
const SUMMARY: Domain = Domain::new("object.summary");
const PACK: Domain = Domain::new("pack");
const IMAGE: Domain = Domain::new("image.summary");

const SOURCE: &str = r#"
#include <cassert>
#include <stdexcept>
struct Base { virtual ~Base() {} virtual int f() { return 1; } };
struct Derived : Base { int f() override { throw std::runtime_error("text"); } };
static int counter = Derived().f();
thread_local int local = 3;
template <class T> T twice(T t) { return t + t; }
int choose(int n) { switch (n) { case 0: return 5; case 1: return 7; case 2: return 1; case 3: return 9; case 4: return 2; } return twice(n); }
int main(int n, char**) { assert(n > 0); try { return choose(n) + counter + local; } catch (std::exception&) { return 1; } }
"#;

/// xorshift: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Damages a file as disks, tools and attackers do: flipped bytes, extreme numbers, cuts, repeats.
fn damage(original: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..1 + random.below(8) {
        if bytes.is_empty() {
            break;
        }
        // Headers and tables decide most, and they are at both ends.
        let near_end = random.below(3) == 0;
        let reach = bytes.len().min(if random.below(2) == 0 { 64 } else { bytes.len() });
        let at = if near_end { bytes.len() - 1 - random.below(reach) } else { random.below(reach) };
        match random.below(5) {
            0 => bytes[at] = random.next() as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => {
                let extreme =
                    [0u64, 1, u64::MAX, i64::MAX as u64, 1 << 31, 1 << 32][random.below(6)].to_le_bytes();
                let end = (at + 8).min(bytes.len());
                bytes[at..end].copy_from_slice(&extreme[..end - at]);
            }
            3 => bytes.truncate(at),
            _ => {
                let end = (at + random.below(64)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
    bytes
}

/// What the stored forms end with is a digest of the rest: damage that it would show is made to fit.
fn damage_sealed(original: &[u8], domain: Domain, random: &mut Random) -> Vec<u8> {
    let mut bytes = damage(&original[..original.len() - 16], random);
    let digest = Digest::of(domain, &bytes);
    bytes.extend(digest.to_bytes());
    bytes
}

/// One bit changed.
fn damage_seal(original: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = original.to_vec();
    let at = random.below(bytes.len());
    bytes[at] ^= 1 << random.below(8);
    bytes
}

struct Corpus {
    _directory: TempDir,
    objects: Vec<Vec<u8>>,
    program: Vec<u8>,
    archive: Vec<u8>,
}

fn corpus() -> Corpus {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    fs::write(path.join("a.cpp"), SOURCE).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let status = Command::new(program).args(arguments).current_dir(path).status();
        assert!(
            status.unwrap_or_else(|error| panic!("{program}: {error}")).success(),
            "{program} {arguments:?}"
        );
    };
    run("g++", &["-O0", "-ffunction-sections", "-fdata-sections", "-c", "a.cpp", "-o", "sections.o"]);
    run("g++", &["-O2", "-c", "a.cpp", "-o", "whole.o"]);
    run("clang++", &["-O2", "-ffunction-sections", "-c", "a.cpp", "-o", "clang.o"]);
    run("aarch64-linux-gnu-g++", &["-O2", "-ffunction-sections", "-c", "a.cpp", "-o", "arm.o"]);
    run("g++", &["sections.o", "-o", "program"]);
    run("ar", &["rcs", "archive.a", "sections.o", "whole.o"]);
    let read = |name: &str| fs::read(path.join(name)).unwrap();
    Corpus {
        objects: ["sections.o", "whole.o", "clang.o", "arm.o"].map(read).to_vec(),
        program: read("program"),
        archive: read("archive.a"),
        _directory: directory,
    }
}

fn peak_memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn damaged_files_and_summaries_are_survived() {
    let corpus = corpus();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for object in &corpus.objects {
        let whole = read_object(object);
        assert!(whole.notes.is_empty() && whole.elements.len() > 5, "{:?}", whole.notes);
        let (packs, own) = kept(whole);
        let encoded = own.encode(&packs);
        assert!(!packs.is_empty() && !own.commons.is_empty());
        let pack = packs[0].pack.encode().1;
        assert!(linked(&ObjectSummary::decode(&encoded).unwrap(), &packs) > 5);
        for _ in 0..1500 {
            kept(read_object(&damage(object, &mut random)));
            assert!(ObjectSummary::decode(&damage_seal(&encoded, &mut random)).is_none());
            if let Some(decoded) = ObjectSummary::decode(&damage_sealed(&encoded, SUMMARY, &mut random)) {
                linked(&decoded, &packs);
                walk_everything(decoded, &packs);
            }
            if let Some(decoded) = Pack::decode(&damage_sealed(&pack, PACK, &mut random)) {
                walk_pack(&decoded);
            }
        }
    }
    let (_, image) = read_image(&corpus.program).encode();
    for _ in 0..1500 {
        read_image(&damage(&corpus.program, &mut random));
        ImageSummary::decode(&damage_sealed(&image, IMAGE, &mut random));
    }
    assert!(peak_memory_kib() < 512 * 1024, "peak memory {} KiB", peak_memory_kib());
}

/// An object with a text of a million letters, to which it refers very often, and with a name as long.
fn far_reaching_object() -> Vec<u8> {
    let directory = TempDir::new().unwrap();
    let source = format!(
        ".section .rodata.str1.1,\"aMS\",@progbits,1\n.Ltext: .fill 1000000, 1, 0x61\n.byte 0\n\
         .data\n.rept 50000\n.quad .Ltext + 1\n.endr\n\
         {}:\n.altmacro\n.macro name number\n.globl n\\number\nn\\number: .byte 1\n.endm\n\
         .set i, 0\n.rept 20000\nname %i\n.set i, i + 1\n.endr\n",
        "x".repeat(1_000_000)
    );
    fs::write(directory.path().join("a.s"), source).unwrap();
    let status = Command::new("as").args(["a.s", "-o", "a.o"]).current_dir(directory.path()).status();
    assert!(status.unwrap().success());
    fs::read(directory.path().join("a.o")).unwrap()
}

/// A number in a file, the lowest byte first.
fn number(bytes: &[u8], at: usize, size: usize) -> usize {
    (0..size).fold(0, |number, byte| number | usize::from(bytes[at + byte]) << (8 * byte))
}

/// Where the entries of a file's table of sections are.
fn section_entries(bytes: &[u8]) -> Vec<usize> {
    (0..number(bytes, 0x3c, 2)).map(|section| number(bytes, 0x28, 8) + section * 64).collect()
}

/// Gives every symbol the longest name there is.
fn with_one_name(object: &[u8]) -> Vec<u8> {
    const SYMBOLS: usize = 2;
    let table = section_entries(object).into_iter().find(|at| number(object, at + 4, 4) == SYMBOLS).unwrap();
    let (start, size) = (number(object, table + 0x18, 8), number(object, table + 0x20, 8));
    let names = section_entries(object)[number(object, table + 0x28, 4)];
    let names = number(object, names + 0x18, 8);
    let longest = memchr::memmem::find(&object[names..], &b"x".repeat(1_000_000)).unwrap();
    let mut bytes = object.to_vec();
    for symbol in (start..start + size).step_by(24) {
        bytes[symbol..symbol + 4].copy_from_slice(&(longest as u32).to_le_bytes());
    }
    bytes
}

/// Names the same table of relocations very often.
fn with_repeated_relocations(object: &[u8]) -> Vec<u8> {
    const RELOCATIONS: usize = 4;
    let entries = section_entries(object);
    let is_large =
        |at: &&usize| number(object, *at + 4, 4) == RELOCATIONS && number(object, *at + 0x20, 8) > 48;
    let repeated = *entries.iter().find(is_large).unwrap();
    let mut bytes = object.to_vec();
    let table = bytes.len() as u64;
    entries.iter().for_each(|&entry| bytes.extend_from_slice(&object[entry..entry + 64]));
    (0..60_000).for_each(|_| bytes.extend_from_slice(&object[repeated..repeated + 64]));
    bytes[0x28..0x30].copy_from_slice(&table.to_le_bytes());
    bytes[0x3c..0x3e].copy_from_slice(&(entries.len() as u16 + 60_000).to_le_bytes());
    bytes
}

#[test]
fn parts_that_lie_within_each_other_do_not_multiply() {
    let object = far_reaching_object();
    let whole = read_object(&object);
    assert!(whole.notes.is_empty() && whole.symbols.len() > 20_000, "{:?}", whole.notes);
    kept(whole);
    for (damaged, cause) in [
        (with_one_name(&object), "the names of its symbols overlap"),
        (with_repeated_relocations(&corpus().objects[0]), "its tables of relocations overlap"),
    ] {
        let notes = read_object(&damaged).notes;
        assert!(notes.iter().any(|note| note.contains(cause)), "{notes:?}");
    }
    assert!(peak_memory_kib() < 512 * 1024, "peak memory {} KiB", peak_memory_kib());
}

/// An object as it is kept: its own part and a pack, both of which must come back from their stored form.
fn kept(whole: ObjectSummary) -> (Vec<Packed>, ObjectSummary) {
    let mut packer = Packer::new(Vec::new(), 1);
    let own = packer.take(Divided::of(whole));
    let packs: Vec<Packed> =
        packer.finish().into_iter().map(|pack| Packed { key: pack.encode().0, pack }).collect();
    for packed in &packs {
        assert_eq!(Pack::decode(&packed.pack.encode().1).as_ref(), Some(&packed.pack));
        walk_pack(&packed.pack);
    }
    let mut decoded = ObjectSummary::decode(&own.encode(&packs)).expect("what was encoded is decoded");
    assert!(decoded.number_packs(&packs));
    assert_eq!(decoded, own);
    (packs, own)
}

/// Builds a state of one program with the object in it; gives how many elements it has.
fn linked(summary: &ObjectSummary, packs: &[Packed]) -> usize {
    let object = scanned("a.o", summary.clone());
    let image = scanned("program", ImageSummary { has_googletest: true, ..ImageSummary::default() });
    let surroundings = Surroundings {
        images: vec![ImageSurroundings { image: "program".to_string(), ..ImageSurroundings::default() }],
        members: vec![("a.o".to_string(), vec![0])],
        ..Surroundings::default()
    };
    let Some(tree) = BuildTree::of_record(vec![object], packs.to_vec(), vec![image]) else { return 0 };
    let analysis = Analysis::of_record(&tree, surroundings);
    let tests = analysis.googletest_tests(&analysis.targets()[0], &[]);
    let (graph, _) = analysis.into_graph(tests);
    graph.elements().for_each(|element| assert!(graph.name(element).len() < 1 << 20));
    graph.element_count()
}

fn scanned<T>(name: &str, summary: T) -> Scanned<T> {
    Scanned { name: name.to_string(), key: Digest(1), modified: None, summary: summary.into() }
}

/// Uses every index a summary holds, as the linker does.
fn walk_everything(mut summary: ObjectSummary, packs: &[Packed]) {
    if !summary.number_packs(packs) {
        return;
    }
    for element in 0..summary.elements.len() as u32 {
        summary.element_name(element);
        for reference in summary.references_of(element) {
            match *reference {
                Reference::Element(target) => summary.element_name(target),
                Reference::Symbol(symbol) => summary.symbol_name(symbol),
                Reference::Common(index) => {
                    let common = summary.commons[index as usize];
                    packs[common.pack as usize].pack.element_name(common.element)
                }
            };
        }
    }
}

fn walk_pack(pack: &Pack) {
    for element in 0..pack.elements.len() as u32 {
        pack.element_name(element);
        pack.references_of(element).iter().for_each(|&name| assert!(pack.name(name).len() < 1 << 20));
        pack.symbols_of(element).iter().for_each(|symbol| assert!(pack.name(symbol.name).len() < 1 << 20));
    }
}

#[test]
fn a_build_directory_of_damaged_files_is_analysed_with_notes_that_name_them() {
    let corpus = corpus();
    let mut random = Random(42);
    for round in 0..40 {
        let directory = TempDir::new().unwrap();
        let write = |name: &str, bytes: Vec<u8>| fs::write(directory.path().join(name), bytes).unwrap();
        for (index, object) in corpus.objects.iter().enumerate() {
            write(&format!("damaged{index}.o"), damage(object, &mut random));
        }
        write("damaged.a", damage(&corpus.archive, &mut random));
        write("program", corpus.program.clone());
        write("damaged-program", damage(&corpus.program, &mut random));
        analyse(directory.path(), round);
    }
    let directory = TempDir::new().unwrap();
    let mut cut = corpus.objects[0].clone();
    cut.truncate(cut.len() / 2);
    fs::write(directory.path().join("cut.o"), cut).unwrap();
    fs::write(directory.path().join("program"), &corpus.program).unwrap();
    let notes = analyse(directory.path(), 0);
    assert!(notes.iter().any(|note| note.starts_with("cut.o: ") && note.contains("damaged")), "{notes:?}");
}

fn analyse(directory: &Path, round: usize) -> Vec<String> {
    let tree = scan(directory, &NoCache).unwrap_or_else(|error| panic!("round {round}: {error}"));
    let analysis = Analysis::of_build(directory, &tree, Given::default());
    for target in analysis.targets() {
        analysis.startup_fingerprint(target);
        analysis.program_test(target, "whole", false);
    }
    analysis.notes().to_vec()
}

/// What a directory with these programs, and no object, finds in them that no object explains, by their names.
fn foreign(programs: &[(&str, &[u8])]) -> BTreeMap<String, Vec<NamedDigest>> {
    let directory = TempDir::new().unwrap();
    for (name, bytes) in programs {
        fs::write(directory.path().join(name), bytes).unwrap();
    }
    let tree = scan(directory.path(), &NoCache).unwrap();
    let analysis = Analysis::of_build(directory.path(), &tree, Given::default());
    let images = analysis.surroundings().images.iter();
    images.map(|image| (image.image.clone(), image.items.clone())).collect()
}

#[test]
fn what_is_foreign_in_a_program_does_not_depend_on_the_programs_read_before_it() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("a.cpp"), SOURCE).unwrap();
    let mut random = Random(7);
    let mut told_apart = 0;
    for flags in [&["-O0"][..], &["-O2", "-no-pie"], &["-O1", "-fuse-ld=mold"], &["-O2", "-fuse-ld=lld"]] {
        let mut compile = Command::new("g++");
        compile.args(["a.cpp", "-o", "program"]).args(flags).current_dir(directory.path());
        assert!(compile.status().unwrap().success(), "{flags:?}");
        let program = fs::read(directory.path().join("program")).unwrap();
        let alone = foreign(&[("program", &program)]);
        for round in 0..200 {
            let mut altered = program.clone();
            for _ in 0..1 + random.below(12) {
                let at = random.below(altered.len());
                altered[at] = altered[at].wrapping_add(1 + random.below(16) as u8);
            }
            let before = foreign(&[("before", &altered)]);
            let both = foreign(&[("before", &altered), ("program", &program)]);
            assert_eq!(both.get("before"), before.get("before"), "{flags:?}, round {round}");
            assert_eq!(both.get("program"), alone.get("program"), "{flags:?}, round {round}");
            let after = foreign(&[("program", &program), ("then", &altered)]);
            let named = |item: &NamedDigest| item.name.contains("explains");
            let digest = |items: Option<&Vec<NamedDigest>>| {
                items?.iter().find(|item| named(item)).map(|item| item.digest)
            };
            assert_eq!(digest(after.get("then")), digest(before.get("before")), "{flags:?}, round {round}");
            told_apart += usize::from(digest(before.get("before")) != digest(alone.get("program")));
        }
    }
    assert!(told_apart > 100, "only {told_apart} programs are told from the one they were made of");
}

#[test]
fn symbols_and_tables_of_a_program_may_be_anywhere() {
    const SYMBOL: usize = 24;
    let program = corpus().program;
    let sections = section_entries(&program);
    let of_kind =
        |kind: usize| sections.iter().copied().find(|at| number(&program, at + 4, 4) == kind).unwrap();
    let symbols = of_kind(2);
    let (start, size) = (number(&program, symbols + 0x18, 8), number(&program, symbols + 0x20, 8));
    for (field, value) in
        [(8, u64::MAX), (8, u64::MAX - 1), (8, 0), (16, u64::MAX), (16, u64::from(u32::MAX))]
    {
        let mut altered = program.clone();
        for entry in (start..start + size).step_by(SYMBOL) {
            altered[entry + field..entry + field + 8].copy_from_slice(&value.to_le_bytes());
        }
        assert!(foreign(&[("program", &program), ("then", &altered)]).contains_key("then"));
    }
    // Very many tables of what the loader fills in, all at the same place.
    const TABLES: usize = 60_000;
    let mut header = program[of_kind(4)..][..64].to_vec();
    let mut altered = program.clone();
    let table = altered.len();
    sections.iter().for_each(|at| altered.extend_from_slice(&program[*at..at + 64]));
    let length = (table + TABLES * 64) / SYMBOL * SYMBOL;
    header[0x18..0x20].copy_from_slice(&0u64.to_le_bytes());
    header[0x20..0x28].copy_from_slice(&(length as u64).to_le_bytes());
    (sections.len()..TABLES).for_each(|_| altered.extend_from_slice(&header));
    altered[0x28..0x30].copy_from_slice(&(table as u64).to_le_bytes());
    altered[0x3c..0x3e].copy_from_slice(&(TABLES as u16).to_le_bytes());
    assert!(foreign(&[("program", &altered)]).contains_key("program"));
    assert!(peak_memory_kib() < 512 * 1024, "peak memory {} KiB", peak_memory_kib());
}
