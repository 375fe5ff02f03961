//! The benchmark: `cargo bench -p fewer-bench`. Joins the measurements and prints one table.
//! All heavy work is done in child processes, which are this same program with a hidden command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::{Parser, Subcommand, ValueEnum};
use fewer_bench::analysis::{self, Findings};
use fewer_bench::bitcode;
use fewer_bench::cache::Built;
use fewer_bench::edit::Edit;
use fewer_bench::fingerprints::{self, Samples, Shape};
use fewer_bench::flags;
use fewer_bench::generate::{DEVELOPER_FLAGS, Parameters, Project};
use fewer_bench::history::{self, Loaded, Redone, Repository};
use fewer_bench::java;
use fewer_bench::link;
use fewer_bench::measure::{self, Spread, Usage};
use fewer_bench::reduction::{self, Reduced, Size};
use fewer_bench::report::{ProjectSize, Report, Unit};
use fewer_bench::simulate;

const ELEMENTS: usize = 1_000_000;
const REFERENCES: usize = 10_000_000;
/// 100 million entries.
const SUITE: Size = Size { tests: 20_000, requirements: 2_000_000, each: 5_000 };
/// How many objects are edited for the median; a fixed sample of them.
const SAMPLED_EDITS: usize = 9;
const SETTLED: Duration = Duration::from_secs(3);
const COMMITS: usize = 200_000;
/// How many of them are redone.
const MERGES: usize = 2_000;

/// Measures fewer against its targets.
#[derive(Parser)]
#[command(name = "analysis", bin_name = "cargo bench -p fewer-bench --")]
struct Arguments {
    /// Measure only these parts.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Part::Link, Part::Analysis, Part::Fingerprints, Part::History, Part::Reduction, Part::Java, Part::Bitcode])]
    only: Vec<Part>,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// How often linking and analysing are repeated.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    repeats: u16,
    /// How the generated project is compiled.
    #[arg(long, default_value = DEVELOPER_FLAGS, allow_hyphen_values = true)]
    flags: String,
    /// Build the generated project, print the command that links each test executable, and stop.
    #[arg(long)]
    print_link_commands: bool,
    /// Exit with 1 when a target is missed.
    #[arg(long)]
    require_targets: bool,
    /// Given by `cargo bench`; `cargo test` does not give it, and then nothing is measured.
    #[arg(long, hide = true, global = true)]
    bench: bool,
    #[command(subcommand)]
    work: Option<Work>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Linking all test executables of the generated project.
    Link,
    /// Analysing the generated project; implies `link`, which it is compared with.
    Analysis,
    /// Fingerprinting large random graphs.
    Fingerprints,
    /// Loading a history of many commits, against git listing it.
    History,
    /// Reducing a large suite, lazily against plainly.
    Reduction,
    /// Reading class files against jdeps, and sources against javac.
    Java,
    /// Reading bitcode against llvm-dis and opt, and how many tests it selects.
    Bitcode,
    /// What flags of the compiler bring and cost; only when asked for.
    Flags,
    /// Simulating on large generated histories, against DuckDB; only when asked for, as it takes 20 GB of disk.
    Simulate,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
}

/// What a child process does; the result is JSON on its stdout.
#[derive(Subcommand)]
enum Work {
    #[command(hide = true)]
    Analyse { build: PathBuf, listings: PathBuf, store: PathBuf },
    #[command(hide = true)]
    Fingerprints { shape: Shape },
    #[command(hide = true)]
    LoadHistory { repository: PathBuf },
    #[command(hide = true)]
    Recognise { repository: PathBuf },
    #[command(hide = true)]
    RedoMerges { merges: usize, repository: PathBuf },
    #[command(hide = true)]
    Reduce { repeats: usize },
    #[command(hide = true)]
    ReadClasses { directory: PathBuf },
    #[command(hide = true)]
    ReadSources { directory: PathBuf },
    #[command(hide = true)]
    ReadBitcode { directory: PathBuf },
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    match &arguments.work {
        Some(Work::Analyse { build, listings, store }) => {
            println!("{}", serde_json::to_string(&analysis::analyse(build, listings, store)?)?);
        }
        Some(Work::Fingerprints { shape }) => {
            let samples = fingerprints::sample(*shape, ELEMENTS, REFERENCES, 5);
            println!("{}", serde_json::to_string(&samples)?);
        }
        Some(Work::LoadHistory { repository }) => {
            println!("{}", serde_json::to_string(&history::load(repository)?)?);
        }
        Some(Work::Recognise { repository }) => {
            println!("{}", serde_json::to_string(&history::recognise(repository)?)?);
        }
        Some(Work::RedoMerges { repository, merges }) => {
            println!("{}", serde_json::to_string(&history::redo_merges(repository, *merges)?)?);
        }
        Some(Work::Reduce { repeats }) => {
            println!("{}", serde_json::to_string(&reduction::sample(SUITE, *repeats))?);
        }
        Some(Work::ReadClasses { directory }) => {
            println!("{}", serde_json::to_string(&java::read_classes(directory)?)?);
        }
        Some(Work::ReadSources { directory }) => {
            println!("{}", serde_json::to_string(&java::read_sources(directory)?)?);
        }
        Some(Work::ReadBitcode { directory }) => {
            println!("{}", serde_json::to_string(&bitcode::read(directory)?)?);
        }
        None if !arguments.bench => eprintln!("nothing is measured without --bench; use `cargo bench`"),
        None => return run(&arguments),
    }
    Ok(ExitCode::SUCCESS)
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut report = Report { format: Report::FORMAT, project: None, measures: Vec::new() };
    let wants = |part| arguments.only.contains(&part);
    if wants(Part::Link) || wants(Part::Analysis) || arguments.print_link_commands {
        let parameters = Parameters { flags: arguments.flags.clone(), ..Parameters::default() };
        let mut built = Built::in_user_cache(Project::generate(&parameters))?;
        if arguments.print_link_commands {
            println!("cd {}", built.build_directory().display());
            built.project.links.iter().for_each(|link| println!("{}", link::shown(link)));
            return Ok(ExitCode::SUCCESS);
        }
        report.project = Some(project_size(&built)?);
        if wants(Part::Analysis) {
            measure_analysis(&built, arguments.repeats, &mut report)?;
            measure_again(&mut built, arguments.repeats, &mut report)?;
        } else {
            measure_links(&built, arguments.repeats, &mut report)?;
        }
    }
    if wants(Part::Fingerprints) {
        measure_fingerprints(Shape::Layered, &mut report)?;
        measure_fingerprints(Shape::Random, &mut report)?;
    }
    if wants(Part::History) {
        measure_history(arguments.repeats, &mut report)?;
    }
    if wants(Part::Reduction) {
        measure_reduction(arguments.repeats, &mut report)?;
    }
    if wants(Part::Java) {
        java::measure(arguments.repeats, itself, &mut report)?;
    }
    if wants(Part::Bitcode) {
        bitcode::measure(arguments.repeats, itself, &mut report)?;
    }
    if wants(Part::Flags) {
        flags::measure(arguments.repeats, &mut report)?;
    }
    if wants(Part::Simulate) {
        simulate::measure(arguments.repeats, &mut report)?;
    }
    match arguments.format {
        Format::Table => print!("{}", report.table()),
        Format::Json => println!("{}", serde_json::to_string_pretty(&report)?),
    }
    let failed = arguments.require_targets && !report.all_met();
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn project_size(built: &Built) -> Result<ProjectSize> {
    let (tests, expected) = (built.listed_tests()?, built.project.tests);
    ensure!(tests == expected, "the executables list {tests} tests, but the generator wrote {expected}");
    Ok(ProjectSize {
        translation_units: built.project.translation_units,
        executables: built.project.links.len(),
        tests,
        object_bytes: built.bytes("o")?,
        archive_bytes: built.bytes("a")?,
    })
}

fn measure_links(built: &Built, repeats: u16, report: &mut Report) -> Result<()> {
    let mut links = Vec::new();
    for repeat in 1..=repeats {
        eprintln!("linking all test executables ({repeat} of {repeats})");
        links.push(link::all(built)?);
    }
    report_links(&links, report);
    Ok(())
}

fn report_links(links: &[Duration], report: &mut Report) {
    let value = Spread::of_seconds(links);
    report.add("linking all test executables with mold", Unit::CpuSeconds, value, None);
}

/// What is compared is measured in turn: each pair under the same conditions, also on a busy machine.
/// Leaves a store that knows the project as it is.
fn measure_analysis(built: &Built, repeats: u16, report: &mut Report) -> Result<()> {
    analysis::list_tests(&built.build_directory(), &built.project.links, &listings(built))?;
    let mut links = Vec::new();
    let full = repeated("linking and full analysis", repeats, || {
        links.push(link::all(built)?);
        from_scratch(built)
    })?;
    copy(&store(built), &kept_store(built))?;
    eprintln!("full analysis: {:?}", full.findings);
    let (found, expected) = (&full.findings, built.project.tests);
    ensure!(found.tests == expected, "the analysis knows {} of {expected} tests", found.tests);
    ensure!(found.unmapped_tests == 0, "{} tests are mapped to nothing", found.unmapped_tests);
    let most = 1.5 * built.bytes("o")? as f64 + 100e6;
    report_links(&links, report);
    report.add("full analysis", Unit::CpuSeconds, Spread::of_seconds(&full.cpu), None);
    let ratio = Spread::of_paired_ratios(&full.cpu, &links);
    report.add("full analysis / linking", Unit::Ratio, ratio, Some(0.10));
    report.add("peak memory of the full analysis", Unit::Bytes, full.peak_bytes, Some(most));
    Ok(())
}

/// Analysing again after one object changed: the worst case, two others, and a fixed sample of all objects.
fn measure_again(built: &mut Built, repeats: u16, report: &mut Report) -> Result<()> {
    let project = &built.project;
    let lowest = Edit::of(project, &project.edit.0).context("the project's own edit is one")?;
    let middle = Edit::of_middle_library(project).context("some object can be edited")?;
    let test = Edit::of_test(project).context("some test can be edited")?;
    let (programs, sample) = (project.links.len(), Edit::sample(project, SAMPLED_EDITS));
    for (kind, edit, target) in [
        ("the lowest library", lowest, Some(0.15)),
        ("a middle library", middle, None),
        ("a test program", test, None),
    ] {
        let again = again_after(built, &edit, repeats)?;
        let kind = format!("an object of {kind} ({} of {programs} programs linked again)", edit.programs);
        let seconds = Spread::of_seconds(&again.cpu);
        report.add(&format!("re-analysis, {kind}"), Unit::CpuSeconds, seconds, None);
        let ratio = Spread::of_paired_ratios(&again.cpu, &again.full);
        report.add(&format!("re-analysis / full analysis, {kind}"), Unit::Ratio, ratio, target);
    }
    let mut ratios = Vec::new();
    for edit in &sample {
        let again = again_after(built, edit, 1)?;
        ratios.push(Spread::of_paired_ratios(&again.cpu, &again.full).median);
        eprintln!("{}: {:.3} ({} programs)", edit.path, ratios[ratios.len() - 1], edit.programs);
    }
    let name = format!("re-analysis / full analysis, {} objects of all kinds", sample.len());
    report.add(&name, Unit::Ratio, Spread::of(ratios), Some(0.15));
    Ok(())
}

/// Analyses after an edit, each paired with a full one of the same.
struct Again {
    cpu: Vec<Duration>,
    full: Vec<Duration>,
}

/// Analysing again must find what analysing from scratch finds, and notice the edit.
fn again_after(built: &mut Built, edit: &Edit, repeats: u16) -> Result<Again> {
    built.project.edit = (edit.path.clone(), edit.text.clone());
    let mut full = Vec::new();
    // The edit before was undone just now: what was built again is only remembered once it is old enough.
    std::thread::sleep(SETTLED);
    let (_, before) = analyse(built, &kept_store(built))?;
    let again = built.while_edited(|| {
        repeated(&format!("re-analysis after an edit of {}", edit.path), repeats, || {
            let (usage, from_scratch) = from_scratch(built)?;
            full.push(usage.cpu);
            copy(&kept_store(built), &store(built))?;
            let (usage, again) = analyse(built, &store(built))?;
            let is_same = again == Findings { files_read: again.files_read, ..from_scratch.clone() };
            ensure!(is_same, "analysing again found {again:?}, from scratch {from_scratch:?}");
            Ok((usage, again))
        })
    })?;
    eprintln!("re-analysis: {:?}", again.findings);
    ensure!(before.snapshot != again.findings.snapshot, "the edit of {} changed no test", edit.path);
    Ok(Again { cpu: again.cpu, full })
}

fn from_scratch(built: &Built) -> Result<(Usage, Findings)> {
    empty(&store(built))?;
    analyse(built, &store(built))
}

fn store(built: &Built) -> PathBuf {
    built.directory.join("store")
}

/// What is known of the project without an edit.
fn kept_store(built: &Built) -> PathBuf {
    built.directory.join("kept-store")
}

/// Repetitions of one analysis.
struct Analyses {
    cpu: Vec<Duration>,
    peak_bytes: Spread,
    findings: Findings,
}

fn repeated(
    name: &str,
    repeats: u16,
    mut work: impl FnMut() -> Result<(Usage, Findings)>,
) -> Result<Analyses> {
    let mut usages: Vec<Usage> = Vec::new();
    let mut all_findings: Vec<Findings> = Vec::new();
    for repeat in 1..=repeats {
        eprintln!("{name} ({repeat} of {repeats})");
        let (usage, findings) = work()?;
        usages.push(usage);
        all_findings.push(findings);
    }
    all_findings.dedup();
    let [findings] = &all_findings[..] else {
        bail!("the same {name} found different things: {all_findings:?}");
    };
    Ok(Analyses {
        cpu: usages.iter().map(|usage| usage.cpu).collect(),
        peak_bytes: Spread::of(usages.iter().map(|usage| usage.peak_bytes as f64)),
        findings: findings.clone(),
    })
}

fn analyse(built: &Built, store: &Path) -> Result<(Usage, Findings)> {
    let mut command = itself()?;
    command.arg("analyse").args([&built.build_directory(), &listings(built)]).arg(store);
    let (usage, output) = measure::child_output(&mut command)?;
    Ok((usage, serde_json::from_slice(&output).context("the analysis printed no findings")?))
}

fn listings(built: &Built) -> PathBuf {
    built.directory.join("listings")
}

fn measure_fingerprints(shape: Shape, report: &mut Report) -> Result<()> {
    eprintln!("fingerprinting a graph ({shape:?})");
    let name = shape.to_possible_value().context("every shape has a name")?;
    let name = name.get_name();
    let (_, output) = measure::child_output(itself()?.args(["fingerprints", name]))?;
    let samples: Samples = serde_json::from_slice(&output).context("fingerprinting printed no samples")?;
    let graph = format!("{name} graph of {} components", samples.components);
    let seconds = Spread::of_seconds(&samples.traversal);
    report.add(&format!("traversal, {graph}"), Unit::CpuSeconds, seconds, None);
    let seconds = Spread::of_seconds(&samples.fingerprints);
    report.add(&format!("fingerprints, {graph}"), Unit::CpuSeconds, seconds, None);
    let ratio = Spread::of_paired_ratios(&samples.fingerprints, &samples.traversal);
    report.add(&format!("fingerprints / traversal, {name}"), Unit::Ratio, ratio, Some(6.0));
    Ok(())
}

fn measure_history(repeats: u16, report: &mut Report) -> Result<()> {
    let repository = Repository::in_user_cache(COMMITS)?;
    for is_indexed in [false, true] {
        repository.index(is_indexed)?;
        let with = if is_indexed { "with a commit-graph file" } else { "without a commit-graph file" };
        let (mut listing, mut loading, mut recognising, mut bytes) = (vec![], vec![], vec![], vec![]);
        for repeat in 0..=repeats {
            eprintln!("a history of {COMMITS} commits {with} ({repeat} of {repeats})");
            let listed = repository.list()?.cpu;
            let (loaded_in, loaded) = repository.measured::<Loaded>(itself()?.arg("load-history"))?;
            ensure!(loaded.commits == COMMITS, "{} of {COMMITS} commits were loaded", loaded.commits);
            ensure!(loaded.merges == repository.merges, "{} of {} merges", loaded.merges, repository.merges);
            ensure!(loaded.dominated > COMMITS / 2, "{} commits have a dominator", loaded.dominated);
            let (recognised_in, merges) = repository.measured::<usize>(itself()?.arg("recognise"))?;
            ensure!(merges == repository.merges, "{merges} of {} merges were recognised", repository.merges);
            // The first round only warms up.
            if repeat > 0 {
                listing.push(listed);
                loading.push(loaded_in.cpu);
                recognising.push(recognised_in.cpu);
                bytes.push(loaded.peak_bytes as f64 / COMMITS as f64);
            }
        }
        let seconds = |samples| Spread::of_seconds(samples);
        let ratio = |samples| Spread::of_paired_ratios(samples, &listing);
        report.add(
            &format!("git rev-list --parents --all, {with}"),
            Unit::CpuSeconds,
            seconds(&listing),
            None,
        );
        report.add(&format!("graph and dominators, {with}"), Unit::CpuSeconds, seconds(&loading), None);
        report.add(
            &format!("graph and dominators / git rev-list, {with}"),
            Unit::Ratio,
            ratio(&loading),
            Some(2.0),
        );
        report.add(
            &format!("kinds of all commits / git rev-list, {with}"),
            Unit::Ratio,
            ratio(&recognising),
            None,
        );
        report.add(&format!("peak memory per commit, {with}"), Unit::Bytes, Spread::of(bytes), None);
    }
    measure_merges(&repository, repeats, report)
}

fn measure_merges(repository: &Repository, repeats: u16, report: &mut Report) -> Result<()> {
    let mut seconds = Vec::new();
    for repeat in 1..=repeats {
        eprintln!("redoing {MERGES} merges ({repeat} of {repeats})");
        let mut command = itself()?;
        let (used, redone) =
            repository.measured::<Redone>(command.arg("redo-merges").arg(MERGES.to_string()))?;
        let Redone { merges, edited, manual } = redone;
        ensure!(merges == MERGES && edited == manual && edited > 0, "not what was generated: {redone:?}");
        seconds.push(used.cpu.as_secs_f64() / MERGES as f64);
    }
    report.add("redoing one merge", Unit::CpuSeconds, Spread::of(seconds), None);
    Ok(())
}

fn measure_reduction(repeats: u16, report: &mut Report) -> Result<()> {
    eprintln!("reducing a suite of {} tests; the plain way takes minutes", SUITE.tests);
    let (usage, output) = measure::child_output(itself()?.arg("reduce").arg(repeats.to_string()))?;
    let reduced: Reduced = serde_json::from_slice(&output).context("reducing printed no times")?;
    ensure!(reduced.entries == SUITE.tests * SUITE.each, "{} entries", reduced.entries);
    ensure!(reduced.satisfied > SUITE.requirements / 10 * 9, "{} are satisfied", reduced.satisfied);
    let plain = vec![reduced.plain; reduced.lazy.len()];
    let suite = format!("keeping {} of {} tests", reduced.kept, SUITE.tests);
    report.add(&format!("plain greedy, {suite}"), Unit::CpuSeconds, Spread::of_seconds(&plain), None);
    report.add(&format!("lazy greedy, {suite}"), Unit::CpuSeconds, Spread::of_seconds(&reduced.lazy), None);
    let ratio = Spread::of_paired_ratios(&reduced.lazy, &plain);
    report.add("lazy greedy / plain greedy", Unit::Ratio, ratio, Some(0.05));
    let peak = Spread::of([usage.peak_bytes as f64]);
    report.add("peak memory of both on 100 M entries", Unit::Bytes, peak, Some(2e9));
    Ok(())
}

fn itself() -> Result<Command> {
    Ok(Command::new(std::env::current_exe().context("cannot find this program")?))
}

/// Makes a directory that is empty.
fn empty(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot remove {}", directory.display()))?;
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))
}

/// Copies a directory with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    empty(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let (path, copied) = entry.map(|entry| (entry.path(), to.join(entry.file_name())))?;
        if path.is_dir() {
            copy(&path, &copied)?;
        } else {
            fs::copy(&path, copied).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}
