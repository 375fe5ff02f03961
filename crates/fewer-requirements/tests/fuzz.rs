//! Foreign bytes: damaged reports, data files and stored requirements never panic the readers, never make them loop,
//! and never make them ask for memory out of proportion. Bounded, seeded, so that CI runs it every time.

mod workshop;

use std::fs;
use std::path::Path;

use fewer_core::reduction::RequirementKind;
use fewer_requirements::{Format, KnownTests, OwnCode, Source, Stored, covered_lines, parse_gcov};
use workshop::Workshop;

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

/// Pieces that mean something in one of the formats.
const PIECES: [&[u8]; 14] = [
    b"<",
    b"/>",
    b"</mutation>",
    b"\"",
    b"{",
    b"]",
    b"18446744073709551616",
    b"-1",
    b"\0",
    b"\xff\xfe",
    b"&#x0;",
    b"\n",
    b"|",
    b"1e999",
];

fn damage(original: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..1 + random.below(6) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[at] = random.next() as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes.truncate(at),
            3 => drop(bytes.splice(at..at, PIECES[random.below(PIECES.len())].iter().copied())),
            4 => {
                let end = (at + random.below(200)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let end = (at + random.below(200)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
    bytes
}

const LCOV: &[u8] = b"TN:a\nSF:/p/a.c\nFN:1,f\nFNDA:1,f\nDA:1,1\nDA:2,0\nBRDA:1,0,0,1\nLF:2\nLH:1\nend_of_record\nTN:b\nSF:/p/b.c\nDA:7,12\nend_of_record\n";
const GCOV: &[u8] = br#"{"gcc_version": "12.2.0", "format_version": "1", "current_working_directory": "/p", "files": [{"file": "../a.c", "functions": [], "lines": [{"line_number": 3, "count": 2, "branches": []}]}]}"#;
const STRYKER: &[u8] = br#"{"schemaVersion": "1.0", "thresholds": {"high": 80, "low": 60}, "files": {"cart.js": {"language": "javascript", "source": "x", "mutants": [{"id": "0", "mutatorName": "BlockStatement", "replacement": "{}", "status": "Killed", "location": {"start": {"line": 1, "column": 2}, "end": {"line": 3, "column": 4}}, "coveredBy": ["0"], "killedBy": ["0"]}]}}, "testFiles": {"cart.test.js": {"tests": [{"id": "0", "name": "adds up"}]}}}"#;
const OUTCOMES: &[u8] = br#"{"outcomes": [{"scenario": "Baseline", "summary": "Success", "log_path": "log"}, {"scenario": {"Mutant": {"name": "m"}}, "summary": "CaughtMutant", "log_path": "log"}]}"#;
const LOG: &[u8] = b"Running unittests src/lib.rs (target/debug/deps/shop-0123456789abcdef)\ntest a ... ok\ntest b ... FAILED\nFAIL [ 0.1s] (1/2) shop c\n";
const CSV: &[u8] = b"test,R1,R2\nt::a,1,1\nt::b,0,\"1\"\n";

/// Goes all the way from the bytes to a suite.
fn follow(format: Format, path: &Path, bytes: &[u8]) -> bool {
    let Ok(mut findings) = format.parse(path, bytes) else { return false };
    findings.trim(Some("/p"), &OwnCode::by_convention());
    let suite = findings.matched(|name| vec![KnownTests::unknown(name, "t")]).suite;
    let source = Source { commit: None, dirty: false, at: String::new(), from: vec![] };
    let stored = Stored { source, suite };
    assert_eq!(Stored::decode(&stored.encode()).as_ref(), Ok(&stored));
    true
}

#[test]
fn damaged_reports_are_survived() {
    let workshop = Workshop::empty();
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/requirements");
    let read = |path: &str| fs::read(testdata.join(path)).unwrap();
    fs::write(workshop.file("log"), LOG).unwrap();
    let mutants = RequirementKind::Mutants;
    let corpus = [
        (Format::Lcov, LCOV.to_vec()),
        (Format::PitMutations, read("pit/mutations.xml")),
        (Format::PitLines, read("pit/linecoverage.xml")),
        (Format::Jacoco, read("jacoco/shop.CartTest#addsUp.xml")),
        (Format::Stryker, STRYKER.to_vec()),
        (Format::StrykerCoverage, STRYKER.to_vec()),
        (Format::CargoMutants, OUTCOMES.to_vec()),
        (Format::Csv(mutants), CSV.to_vec()),
    ];
    let path = workshop.file("report");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for (format, whole) in &corpus {
        assert!(follow(*format, &path, whole), "{format:?}");
        for _ in 0..1500 {
            follow(*format, &path, &damage(whole, &mut random));
        }
    }
    for _ in 0..500 {
        fs::write(workshop.file("log"), damage(LOG, &mut random)).unwrap();
        follow(Format::CargoMutants, &path, OUTCOMES);
    }
    for _ in 0..1500 {
        let _ = parse_gcov(&damage(GCOV, &mut random), |path| path.len() % 2 == 0);
        let _ = covered_lines(&damage(LCOV, &mut random));
    }
}

#[test]
fn damaged_stored_requirements_are_refused() {
    let suite = Format::Csv(RequirementKind::Statements).parse("x".as_ref(), CSV).unwrap();
    let suite = suite.matched(|name| vec![name.parse().unwrap()]).suite;
    let source = Source { commit: None, dirty: true, at: "now".into(), from: vec!["csv".into()] };
    let bytes = Stored { source, suite }.encode();
    let mut random = Random(7);
    for _ in 0..5000 {
        let damaged = damage(&bytes, &mut random);
        assert!(damaged == bytes || Stored::decode(&damaged).is_err());
    }
}

#[test]
fn damaged_data_files_of_coverage_py_are_survived() {
    let workshop = Workshop::with_python();
    workshop.write("a.py", "def f(x):\n    return x\n");
    workshop.write("test_a.py", "import a\ndef test_f():\n    assert a.f(1) == 1\n");
    workshop
        .run(workshop.python().to_str().unwrap(), &["-m", "pytest", "-q", "--cov=a", "--cov-context=test"]);
    let whole = fs::read(workshop.file(".coverage")).unwrap();
    let mut random = Random(11);
    let damaged = workshop.file("damaged");
    assert!(Format::CoveragePy.read(&workshop.file(".coverage")).is_ok());
    for _ in 0..400 {
        fs::write(&damaged, damage(&whole, &mut random)).unwrap();
        let _ = Format::CoveragePy.read(&damaged);
    }
}
