//! The simulator on generated histories: the whole embedded pipeline against DuckDB with equivalent SQL for labels,
//! affected counts and author counts, which must give the same answers; and ten times the rows with bounded memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::cache::user_cache;
use crate::measure::{self, Spread, Usage};
use crate::report::{Report, Unit};

const ROWS: u64 = 20_000_000;
/// The same project, whose history is ten times as long.
const MORE_ROWS: u64 = 200_000_000;
const TARGETS: u64 = 50_000;
const ROWS_PER_DAY: u64 = ROWS / 30;
const DUCKDB: &str = "duckdb==1.4.1";
const SQL: &str = include_str!("simulate.py");
/// The same question for both.
const EXPERIMENT: [&str; 4] = ["--algorithm", "affected-count,author-count", "--window", "24"];

/// What DuckDB answers, and what it reads in the files that the pipeline leaves behind.
#[derive(Debug, Deserialize)]
struct Answers {
    sql: Answer,
    pipeline: Answer,
}

/// How many rows have each label; then, over the safe, maybe-unsafe and unsafe rows of commits with transitions: how
/// many, and the sums of both scores.
#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Answer {
    labels: [u64; 5],
    scored_rows: u64,
    affected_counts: u64,
    author_counts: u64,
}

/// Both in turn, so often; then the large history once if there is room for it.
pub fn measure(repeats: u16, report: &mut Report) -> Result<()> {
    let place = user_cache()?.join("simulate");
    fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
    let lab = lab()?;
    let python = python(&place)?;
    let history = generated(&lab, &place, ROWS)?;
    let (mut pipeline, mut duckdb) = (Vec::new(), Vec::new());
    for repeat in 1..=repeats {
        eprintln!("simulating {ROWS} rows, and the same by DuckDB ({repeat} of {repeats})");
        let work = place.join("work");
        pipeline.push(run(&lab, &history, &work, "512MB", &["--keep-work"])?);
        let script = place.join("simulate.py");
        fs::write(&script, SQL).context("cannot write the SQL")?;
        let (usage, output) = measure::child_output(Command::new(&python).args([&script, &history, &work]))?;
        let answers: Answers = serde_json::from_slice(&output).context("DuckDB printed no answers")?;
        ensure!(answers.sql == answers.pipeline, "the answers differ: {answers:?}");
        fs::remove_dir_all(&work).context("cannot remove the work directory")?;
        duckdb.push(usage);
    }
    report_both(&pipeline, &duckdb, report);
    measure_more(&lab, &place, &pipeline, report)
}

fn report_both(pipeline: &[Usage], duckdb: &[Usage], report: &mut Report) {
    let cpu = |usages: &[Usage]| usages.iter().map(|usage| usage.cpu).collect::<Vec<Duration>>();
    let peak = |usages: &[Usage]| Spread::of(usages.iter().map(|usage| usage.peak_bytes as f64));
    let rows = "20 M rows";
    report.add(&format!("simulation, {rows}"), Unit::CpuSeconds, Spread::of_seconds(&cpu(pipeline)), None);
    report.add(&format!("DuckDB, {rows}"), Unit::CpuSeconds, Spread::of_seconds(&cpu(duckdb)), None);
    let ratio = Spread::of_paired_ratios(&cpu(pipeline), &cpu(duckdb));
    report.add("simulation / DuckDB", Unit::Ratio, ratio, Some(1.0 / 8.0));
    let most = peak(duckdb).median;
    report.add(&format!("peak memory of DuckDB, {rows}"), Unit::Bytes, peak(duckdb), None);
    report.add(&format!("peak memory of the simulation, {rows}"), Unit::Bytes, peak(pipeline), Some(most));
}

/// Ten times the rows: memory stays, time grows tenfold.
fn measure_more(lab: &Path, place: &Path, pipeline: &[Usage], report: &mut Report) -> Result<()> {
    eprintln!("simulating {MORE_ROWS} rows");
    let history = generated(lab, place, MORE_ROWS)?;
    let used = run(lab, &history, &place.join("work"), "1GB", &[])?;
    fs::remove_dir_all(&history).context("cannot remove the large history")?;
    let growth = |time: fn(&Usage) -> Duration| {
        let few = Spread::of(pipeline.iter().map(|usage| time(usage).as_secs_f64())).median;
        Spread::of([time(&used).as_secs_f64() / few / (MORE_ROWS / ROWS) as f64])
    };
    // What the kernel takes to write a gigabyte depends on how many came before it.
    let own = growth(|usage| usage.user);
    report.add("user time per row, 200 M rows / 20 M rows", Unit::Ratio, own, Some(1.2));
    report.add("the same with the kernel's part", Unit::Ratio, growth(|usage| usage.cpu), None);
    let peak = Spread::of([used.peak_bytes as f64]);
    report.add("peak memory of the simulation, 200 M rows, --memory 1GB", Unit::Bytes, peak, Some(1.5e9));
    Ok(())
}

fn run(lab: &Path, history: &Path, work: &Path, memory: &str, more: &[&str]) -> Result<Usage> {
    let output = work.with_file_name("results");
    // What a run that was stopped left there would be taken over.
    for left in [work, &output] {
        if left.exists() {
            fs::remove_dir_all(left).with_context(|| format!("cannot remove {}", left.display()))?;
        }
    }
    let mut command = Command::new(lab);
    command.arg("run").arg(history).arg("-o").arg(&output).arg("--work").arg(work);
    let usage = measure::child(command.args(EXPERIMENT).args(["--memory", memory, "--quiet"]).args(more))?;
    fs::remove_dir_all(&output).context("cannot remove the results")?;
    Ok(usage)
}

/// The release build, as people use it.
fn lab() -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--release", "--quiet", "-p", "fewer-lab", "--message-format=json"]);
    let (_, output) = measure::child_output(build.current_dir(root))?;
    let executable = String::from_utf8_lossy(&output).lines().rev().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executable.context("cargo did not tell where fewer-lab is")
}

fn python(place: &Path) -> Result<PathBuf> {
    let environment = place.join("python");
    let (python, mark) = (environment.join("bin/python"), environment.join("packages"));
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == DUCKDB) {
        return Ok(python);
    }
    measure::child(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    measure::child(Command::new(&python).args(["-m", "pip", "install", "--quiet", DUCKDB]))?;
    fs::write(&mark, DUCKDB).context("cannot write what is installed")?;
    Ok(python)
}

fn generated(lab: &Path, place: &Path, rows: u64) -> Result<PathBuf> {
    let history = place.join(format!("history-{rows}"));
    if !history.exists() {
        eprintln!("generating {rows} rows");
        let [days, rows, targets] = [rows / ROWS_PER_DAY, rows, TARGETS].map(|number| number.to_string());
        let mut generate = Command::new(lab);
        generate.args(["generate", "--quiet", "--rows", &rows, "--days", &days, "--targets", &targets, "-o"]);
        measure::child(generate.arg(&history))?;
    }
    Ok(history)
}
