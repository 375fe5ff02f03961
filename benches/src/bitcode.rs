//! The reader of LLVM bitcode against LLVM's own tools that read the same files and do as little as they can:
//! `llvm-dis` and `opt` with a pass that does nothing. What is read is the generated project, compiled by clang.
//! Beside it how many tests of the example are selected by machine code and by bitcode, read in each way.

use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use fewer_core::{DigestBuilder, Domain};
use fewer_objects::VirtualCalls;
use fewer_objects::bitcode::read_bitcode;
use serde::{Deserialize, Serialize};

use crate::cache::user_cache;
use crate::example::Example;
use crate::flags::{CLANG_BITCODE, CLANG_SECTIONS, share};
use crate::generate::{Parameters, Project};
use crate::measure::{self, Spread};
use crate::report::{Report, Unit};

const BITCODE: Domain = Domain::new("bench.bitcode");
const COMPILER: &str = "clang++-22";
/// As a developer compiles, and as a release is compiled.
const FLAGS: [(&str, &str); 2] = [("-O0 -g", "debug"), ("-O2", "release")];

/// What reading bitcode found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadBitcode {
    pub files: usize,
    pub elements: usize,
    pub references: usize,
}

/// Reads all bitcode below a directory.
pub fn read(directory: &Path) -> Result<ReadBitcode> {
    let mut found = ReadBitcode { files: 0, elements: 0, references: 0 };
    for file in files(directory)? {
        let summary = read_bitcode(&fs::read(&file)?);
        ensure!(summary.notes.is_empty(), "{}: {:?}", file.display(), summary.notes);
        found.files += 1;
        found.elements += summary.elements.len();
        found.references += summary.references.len();
    }
    Ok(found)
}

/// Measures the reader. `itself` is this program, which reads in a process of its own.
pub fn measure(repeats: u16, itself: impl Fn() -> Result<Command>, report: &mut Report) -> Result<()> {
    let directory = user_cache()?;
    fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let lock = File::create(directory.join("bitcode.lock")).context("cannot create the lock")?;
    lock.lock().context("cannot lock the bitcode")?;
    for (flags, name) in FLAGS {
        let compiled = compiled(&directory, flags)?;
        let files = files(&compiled)?;
        let (mut own, mut disassembling, mut passing) = (Vec::new(), Vec::new(), Vec::new());
        for repeat in 1..=repeats {
            eprintln!("reading {} files of bitcode, {name} ({repeat} of {repeats})", files.len());
            let (usage, output) = measure::child_output(itself()?.arg("read-bitcode").arg(&compiled))?;
            let found: ReadBitcode = serde_json::from_slice(&output).context("reading printed nothing")?;
            ensure!(found.files == files.len() && found.elements > 50 * found.files, "{found:?}");
            own.push(usage.cpu);
            disassembling.push(without_starting("llvm-dis-22", &[], &files, &compiled)?);
            passing.push(without_starting("opt-22", &["-passes=no-op-module"], &files, &compiled)?);
        }
        report.add(&format!("reading bitcode, {name}"), Unit::CpuSeconds, Spread::of_seconds(&own), None);
        for (tool, times) in [("llvm-dis", &disassembling), ("opt -passes=no-op-module", &passing)] {
            report.add(&format!("{tool}, {name}"), Unit::CpuSeconds, Spread::of_seconds(times), None);
            let ratio = Spread::of_paired_ratios(&own, times);
            report.add(&format!("reading bitcode / {tool}, {name}"), Unit::Ratio, ratio, Some(0.2));
        }
    }
    measure_precision(&directory.join("precision"), report)
}

/// The mean share of the example's tests that are selected.
fn measure_precision(directory: &Path, report: &mut Report) -> Result<()> {
    const READINGS: [(VirtualCalls, &str); 3] = [
        (VirtualCalls::Slot, "bitcode by slot"),
        (VirtualCalls::Hierarchy, "bitcode by hierarchy"),
        (VirtualCalls::Any, "bitcode, any entry"),
    ];
    eprintln!("building the example's history and mutants for machine code and for bitcode");
    let names = ["machine code"].into_iter().chain(READINGS.map(|(_, name)| name));
    let shares = |shares: fn(&Example, &[VirtualCalls]) -> Result<Vec<f64>>| -> Result<Vec<f64>> {
        let mut all = shares(&Example::open(directory, CLANG_SECTIONS)?, &[VirtualCalls::default()])?;
        all.extend(shares(&Example::open(directory, CLANG_BITCODE)?, &READINGS.map(|(reading, _)| reading))?);
        Ok(all)
    };
    let (mutants, history) = (shares(Example::mutant_shares)?, shares(Example::history_shares)?);
    for ((name, mutants), history) in names.zip(mutants).zip(history) {
        share(report, &format!("selected, history, {name}"), history);
        share(report, &format!("selected, mutants, {name}"), mutants);
    }
    Ok(())
}

/// What a tool uses for all files, without what it takes to start it as often for an empty one.
fn without_starting(tool: &str, options: &[&str], files: &[PathBuf], directory: &Path) -> Result<Duration> {
    let empty = directory.join("empty.ll");
    fs::write(&empty, "").with_context(|| format!("cannot write {}", empty.display()))?;
    let nothing = directory.join("empty.bitcode");
    measure::child(Command::new("llvm-as-22").arg(&empty).arg("-o").arg(&nothing))?;
    let once = |file: &Path| {
        let mut command = Command::new(tool);
        measure::child(command.args(options).arg(file).args(["-o", "/dev/null"])).map(|usage| usage.cpu)
    };
    let (mut all, mut starting) = (Duration::ZERO, Duration::ZERO);
    for file in files {
        all += once(file)?;
        starting += once(&nothing)?;
    }
    Ok(all.saturating_sub(starting))
}

/// The generated project as bitcode: compiled once, and reused.
fn compiled(parent: &Path, flags: &str) -> Result<PathBuf> {
    let project = Project::generate(&Parameters::default());
    let sources: Vec<&String> = project.files.keys().filter(|path| path.starts_with("source/")).collect();
    let mut key = DigestBuilder::new(BITCODE);
    key.text(flags);
    for path in &sources {
        key.text(path).text(&project.files[*path]);
    }
    let directory = parent.join(format!("bitcode-{}", key.finish()));
    for path in &sources {
        write(&directory.join(path), &project.files[*path])?;
    }
    write(&directory.join("build.ninja"), &ninja(&sources, flags))?;
    eprintln!("compiling {}: minutes the first time, nothing to do later", directory.display());
    measure::child(Command::new("nice").args(["-n", "10", "ninja", "--quiet", "-C"]).arg(&directory))?;
    Ok(directory.join("bitcode"))
}

fn ninja(sources: &[&String], flags: &str) -> String {
    let mut text = format!(
        "flags = -std=c++17 -w {flags} -Isource -Isource/tests\n\
         rule precompile\n  command = {COMPILER} $flags -x c++-header -c $in -o $out\n\
         rule compile\n  command = {COMPILER} $flags -include-pch pch/$heavy.pch -emit-llvm -c $in -o $out\n"
    );
    for heavy in ["std", "gtest"] {
        let _ = writeln!(text, "build pch/{heavy}.pch: precompile source/precompiled/{heavy}.h");
    }
    for source in sources.iter().filter(|path| path.ends_with(".cpp")) {
        let name = source.trim_start_matches("source/").trim_end_matches(".cpp").replace('/', "+");
        let heavy = if source.starts_with("source/tests/") { "gtest" } else { "std" };
        let _ =
            writeln!(text, "build bitcode/{name}.bc: compile {source} | pch/{heavy}.pch\n  heavy = {heavy}");
    }
    text
}

/// Writes a file unless it says the same already.
fn write(path: &Path, text: &str) -> Result<()> {
    if fs::read(path).is_ok_and(|present| present == text.as_bytes()) {
        return Ok(());
    }
    let parent = path.parent().context("every file is in a directory")?;
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "bc"));
    files.sort();
    Ok(files)
}
