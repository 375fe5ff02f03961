//! The readers of Java against the JDK's own tools: class files against `jdeps -v`, sources against `javac`. What is
//! read comes with the JDK and from Maven Central, and is kept below the user's cache directory.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use fewer_core::{Digest, DigestBuilder, Domain, Fingerprints};
use fewer_java::summary::ClassTraits;
use fewer_java::{
    ClassPath, ClassRoot, NoCache, Options, Program, SourceChange, SourceProject, SourceReader,
    read_class_path,
};
use serde::{Deserialize, Serialize};

use crate::cache::user_cache;
use crate::measure::{self, Spread};
use crate::report::{Report, Unit};

const JDK: Domain = Domain::new("bench.jdk");
/// A library of some size that needs no other to compile.
const SOURCES: &str = "org.apache.lucene:lucene-core:9.10.0:jar:sources";
const SOURCES_JAR: &str = "org/apache/lucene/lucene-core/9.10.0/lucene-core-9.10.0-sources.jar";
/// How many files a commit touches, and how many commits are tried.
const TOUCHED: usize = 10;
const COMMITS: usize = 5;

/// What reading class files found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadClasses {
    pub classes: usize,
    pub references: usize,
}

/// What reading sources cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReadSources {
    pub files: usize,
    pub elements: usize,
    /// Files, names, graph and fingerprints from nothing.
    pub cold: Duration,
    /// Per commit, the same for what it touches.
    pub commits: Vec<Duration>,
    /// The part of it that reads files and looks up names; the rest is the graph and its fingerprints.
    pub commit_readings: Vec<Duration>,
}

/// Measures both readers. `itself` is this program, which reads in a process of its own.
pub fn measure(repeats: u16, itself: impl Fn() -> Result<Command>, report: &mut Report) -> Result<()> {
    let directory = user_cache()?;
    fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let lock = File::create(directory.join("java.lock")).context("cannot create the lock")?;
    lock.lock().context("cannot lock the Java inputs")?;
    measure_classes(&modules(&directory)?, repeats, &itself, report)?;
    measure_sources(&sources(&directory)?, repeats, &itself, report)
}

/// Reads all classes below a directory.
pub fn read_classes(directory: &Path) -> Result<ReadClasses> {
    let found = class_path(directory)?;
    let references = found.classes.iter().map(|class| class.summary.references.len()).sum();
    let read = ReadClasses { classes: found.classes.len(), references };
    // Giving back every piece of memory before the process ends serves nobody.
    std::mem::forget(found);
    Ok(read)
}

/// Reads all sources below a directory, and then some commits that touch ten files each.
pub fn read_sources(directory: &Path) -> Result<ReadSources> {
    let files = files_below(directory, "java")?;
    let mut reader = SourceReader::new();
    let mut project = SourceProject::new();
    let (cold, elements) = measure::closure(|| -> Result<usize> {
        let changes: Result<Vec<SourceChange>> =
            files.iter().map(|file| change(&mut reader, file, &fs::read(file)?)).collect();
        project.update(changes?);
        Ok(fingerprinted(&project))
    });
    ensure!(project.notes().is_empty(), "some sources cannot be parsed: {:?}", project.notes());
    let (mut commits, mut commit_readings) = (Vec::new(), Vec::new());
    for commit in 0..COMMITS {
        let touched = edited(&files, commit)?;
        let (reading, done) = measure::closure(|| -> Result<()> {
            let changes: Result<Vec<SourceChange>> =
                touched.iter().map(|(file, text)| change(&mut reader, file, text.as_bytes())).collect();
            project.update(changes?);
            Ok(())
        });
        done?;
        let (rest, _) = measure::closure(|| fingerprinted(&project));
        commits.push(reading + rest);
        commit_readings.push(reading);
    }
    Ok(ReadSources { files: files.len(), elements: elements?, cold, commits, commit_readings })
}

fn measure_classes(
    modules: &Path,
    repeats: u16,
    itself: &impl Fn() -> Result<Command>,
    report: &mut Report,
) -> Result<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut classes = 0;
    for repeat in 0..=repeats {
        eprintln!("class files of the JDK ({repeat} of {repeats})");
        let (listing, listed) = measure::child_output(&mut jdeps(modules)?)?;
        let (reading, output) = measure::child_output(itself()?.arg("read-classes").arg(modules))?;
        let read: ReadClasses = serde_json::from_slice(&output).context("reading classes printed nothing")?;
        // The first round warms up, and shows that the same is found.
        if repeat == 0 {
            classes = read.classes;
            check(modules, &String::from_utf8_lossy(&listed))?;
        } else {
            theirs.push(listing.cpu);
            ours.push(reading.cpu);
        }
    }
    let of = format!("{classes} classes of the JDK");
    report.add(&format!("jdeps -v, {of}"), Unit::CpuSeconds, Spread::of_seconds(&theirs), None);
    report.add(&format!("class reader, {of}"), Unit::CpuSeconds, Spread::of_seconds(&ours), None);
    let ratio = Spread::of_paired_ratios(&ours, &theirs);
    report.add("class reader / jdeps -v", Unit::Ratio, ratio, Some(0.05));
    Ok(())
}

fn measure_sources(
    sources: &Path,
    repeats: u16,
    itself: &impl Fn() -> Result<Command>,
    report: &mut Report,
) -> Result<()> {
    let (mut compiling, mut cold, mut commits, mut readings) = (vec![], vec![], vec![], vec![]);
    let mut files = 0;
    for repeat in 1..=repeats {
        eprintln!("sources ({repeat} of {repeats})");
        compiling.push(measure::child(&mut javac(sources)?)?.cpu);
        let (_, output) = measure::child_output(itself()?.arg("read-sources").arg(sources))?;
        let read: ReadSources = serde_json::from_slice(&output).context("reading sources printed nothing")?;
        ensure!(read.elements >= read.files, "{} elements in {} files", read.elements, read.files);
        files = read.files;
        cold.push(read.cold);
        commits.push(Duration::from_secs_f64(Spread::of_seconds(&read.commits).median));
        readings.push(Duration::from_secs_f64(Spread::of_seconds(&read.commit_readings).median));
    }
    let seconds = |samples: &[Duration]| Spread::of_seconds(samples);
    let of = format!("{files} source files");
    report.add(&format!("javac, {of}"), Unit::CpuSeconds, seconds(&compiling), None);
    report.add(
        &format!("source reader with graph and fingerprints, {of}"),
        Unit::CpuSeconds,
        seconds(&cold),
        None,
    );
    let commit = format!("commit of {TOUCHED} files");
    report.add(&format!("{commit}, with graph and fingerprints"), Unit::CpuSeconds, seconds(&commits), None);
    report.add(&format!("{commit}, files and names alone"), Unit::CpuSeconds, seconds(&readings), None);
    let ratio = |samples: &[Duration]| Spread::of_paired_ratios(samples, &compiling);
    report.add("source reader / javac", Unit::Ratio, ratio(&cold), Some(0.2));
    report.add(&format!("{commit} / javac"), Unit::Ratio, ratio(&commits), Some(0.02));
    Ok(())
}

/// Every dependency that jdeps lists must have been read.
fn check(modules: &Path, listed: &str) -> Result<()> {
    let found = class_path(modules)?;
    let mut references: HashMap<&str, HashSet<&str>> = HashMap::new();
    for class in &found.classes {
        let summary = &class.summary;
        let is_read = !summary.traits.has(ClassTraits::OPAQUE);
        ensure!(is_read, "{} cannot be read: {:?}", summary.name, summary.notes);
        let names = summary.texts_of(&summary.references).chain(summary.texts_of(&summary.supers));
        references.entry(&summary.name).or_default().extend(names);
    }
    let mut dependencies = 0;
    for line in listed.lines().filter(|line| line.starts_with("   ")) {
        let mut words = line.split_whitespace();
        let (Some(from), Some("->"), Some(to)) = (words.next(), words.next(), words.next()) else { continue };
        let Some(known) = references.get(from) else { continue };
        dependencies += 1;
        ensure!(known.contains(to), "jdeps knows that {from} depends on {to}, and fewer does not");
    }
    ensure!(dependencies > found.classes.len(), "jdeps listed only {dependencies} dependencies");
    eprintln!("all {dependencies} dependencies that jdeps lists were found");
    Ok(())
}

fn class_path(directory: &Path) -> Result<ClassPath> {
    let mut modules: Vec<PathBuf> = fs::read_dir(directory)
        .with_context(|| format!("cannot read {}", directory.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    modules.sort();
    let roots: Vec<ClassRoot> = modules
        .into_iter()
        .map(|path| {
            let module =
                path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            ClassRoot { path, module }
        })
        .collect();
    Ok(read_class_path(&roots, &NoCache)?)
}

fn change(reader: &mut SourceReader, file: &Path, content: &[u8]) -> Result<SourceChange> {
    let facts = Some(Arc::new(reader.read(content)));
    Ok(SourceChange { path: file.display().to_string(), module: "sources".into(), facts })
}

fn fingerprinted(project: &SourceProject) -> usize {
    let program = Program { classes: project.classes().cloned().collect(), inputs: Vec::new() };
    let graph = program.analyse(Options::default()).graph;
    Fingerprints::compute(&graph);
    graph.element_count()
}

/// The files of a commit with a member added to each.
fn edited(files: &[PathBuf], commit: usize) -> Result<Vec<(PathBuf, String)>> {
    let mut edited = Vec::new();
    let step = (files.len() / (TOUCHED * COMMITS * 2)).max(1);
    for file in files.iter().skip(commit).step_by(step) {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let is_class = text.contains("\npublic class ") || text.contains("\npublic final class ");
        if let (true, Some(end)) = (is_class, text.rfind('}')) {
            let text = format!("{}\n  int addedBy{commit} = {commit};\n}}\n", &text[..end]);
            edited.push((file.clone(), text));
        }
        if edited.len() == TOUCHED {
            return Ok(edited);
        }
    }
    anyhow::bail!("only {} files can be edited", edited.len())
}

fn java_home() -> Result<PathBuf> {
    let output = Command::new("java")
        .args(["-XshowSettings:properties", "-version"])
        .output()
        .context("cannot start java; is a JDK installed?")?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let home = text.lines().find_map(|line| line.trim().strip_prefix("java.home = "));
    Ok(PathBuf::from(home.context("java does not say where it is installed")?))
}

/// The class files of the JDK's modules, a directory each.
fn modules(cache: &Path) -> Result<PathBuf> {
    let home = java_home()?;
    let image = home.join("lib/modules");
    let size = image.metadata().with_context(|| format!("cannot read {}", image.display()))?.len();
    let release = fs::read(home.join("release")).unwrap_or_default();
    let key = DigestBuilder::new(JDK).bytes(&release).number(size).finish();
    let jimage = home.join("bin/jimage");
    made_once(cache, &format!("jdk-{key}"), |directory| {
        let mut command = Command::new(&jimage);
        measure::child(command.args(["extract", "--dir"]).arg(directory).arg(&image)).map(drop)
    })
}

/// The sources of a library.
fn sources(cache: &Path) -> Result<PathBuf> {
    let key = Digest::of(JDK, SOURCES.as_bytes());
    made_once(cache, &format!("sources-{key}"), |directory| {
        let mut fetch = Command::new("mvn");
        fetch.args(["-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:get"]);
        measure::child(fetch.arg("-Dtransitive=false").arg(format!("-Dartifact={SOURCES}")))?;
        let home = std::env::var_os("HOME").context("HOME is not set")?;
        let jar = Path::new(&home).join(".m2/repository").join(SOURCES_JAR);
        let unpack = java_home()?.join("bin/jar");
        measure::child(Command::new(unpack).arg("xf").arg(&jar).current_dir(directory)).map(drop)
    })
}

fn made_once(cache: &Path, name: &str, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let directory = cache.join(name);
    if !directory.exists() {
        eprintln!("making {}: once", directory.display());
        let unfinished = cache.join(format!("{name}.unfinished"));
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        fs::create_dir_all(&unfinished)?;
        make(&unfinished)?;
        fs::rename(&unfinished, &directory).context("cannot put it into place")?;
    }
    Ok(directory)
}

fn jdeps(modules: &Path) -> Result<Command> {
    let mut command = Command::new(java_home()?.join("bin/jdeps"));
    command.arg("-v");
    for entry in fs::read_dir(modules).with_context(|| format!("cannot read {}", modules.display()))? {
        command.arg(entry?.path());
    }
    Ok(command)
}

/// Compiles into a directory beside the sources.
fn javac(sources: &Path) -> Result<Command> {
    let output = sources.with_extension("classes");
    if output.exists() {
        fs::remove_dir_all(&output)?;
    }
    let mut command = Command::new(java_home()?.join("bin/javac"));
    command.args(["-nowarn", "-proc:none", "-encoding", "UTF-8", "-d"]).arg(output);
    command.args(files_below(sources, "java")?);
    Ok(command)
}

fn files_below(directory: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in
            fs::read_dir(&directory).with_context(|| format!("cannot read {}", directory.display()))?
        {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
