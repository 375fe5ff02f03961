//! A generated repository of many commits, 30 % of them merges, and what fewer does with its history. The same
//! numbers come from git, so that loading the history can be compared with git listing it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use fewer_core::history::Dominators;
use fewer_core::{DigestBuilder, Domain};
use fewer_git::{CommitHash, CommitLog, History, Origin, PatchIds, Recognition, Redo, Redoing, Scope, Tips};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cache::user_cache;
use crate::measure::{self, Usage};
use crate::random::Random;

const REPOSITORY: Domain = Domain::new("bench.repository");
/// Raised when the generator changes.
const VERSION: u64 = 2;
const SEED: u64 = 0x5eed;
const MERGE_PERCENT: usize = 30;
/// Who makes merges with an edit that neither side has.
const EDITOR: &str = "Editor";
/// Branches that are worked on at the same time, each in a directory of its own.
const TOPICS: usize = 8;
const FILES: usize = 6;

/// A bare repository on disk, locked against other benchmarks until dropped.
#[derive(Debug)]
pub struct Repository {
    directory: PathBuf,
    pub merges: usize,
    _lock: File,
}

/// What loading found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Loaded {
    pub commits: usize,
    pub merges: usize,
    /// Commits with an immediate dominator.
    pub dominated: usize,
    /// Beyond what the program needed before.
    pub peak_bytes: u64,
}

/// What redoing merges found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Redone {
    pub merges: usize,
    /// Merges that were generated with an edit.
    pub edited: usize,
    /// Merges whose tree is not what git makes of them.
    pub manual: usize,
}

impl Repository {
    /// Made once below the user's cache directory, and reused.
    pub fn in_user_cache(commits: usize) -> Result<Repository> {
        Repository::below(&user_cache()?, commits)
    }

    pub fn below(parent: &Path, commits: usize) -> Result<Repository> {
        let key = DigestBuilder::new(REPOSITORY).number(VERSION).number(commits as u64).finish().to_string();
        let directory = parent.join(format!("history-{key}"));
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        let lock =
            File::create(parent.join(format!("history-{key}.lock"))).context("cannot create the lock")?;
        lock.lock().context("cannot lock the repository")?;
        if !directory.exists() {
            let unfinished = parent.join(format!("history-{key}.unfinished"));
            if unfinished.exists() {
                fs::remove_dir_all(&unfinished)?;
            }
            import(&unfinished, commits)?;
            fs::rename(&unfinished, &directory).context("cannot put the repository into place")?;
        }
        let mut command = git(&directory, &["rev-list", "--all", "--merges", "--count"]);
        let (_, count) = measure::child_output(&mut command)?;
        let merges = String::from_utf8(count)?.trim().parse()?;
        Ok(Repository { directory, merges, _lock: lock })
    }

    /// With git's own index of commits or without it.
    pub fn index(&self, is_wanted: bool) -> Result<()> {
        let file = self.directory.join("objects/info/commit-graph");
        if file.exists() {
            fs::remove_file(&file).context("cannot remove the commit-graph file")?;
        }
        if is_wanted {
            measure::child(&mut git(
                &self.directory,
                &["commit-graph", "write", "--reachable", "--no-progress"],
            ))?;
        }
        Ok(())
    }

    /// What is compared with.
    pub fn list(&self) -> Result<Usage> {
        measure::child_output(&mut git(&self.directory, &["rev-list", "--parents", "--all"]))
            .map(|(usage, _)| usage)
    }

    /// Runs a command on this repository, which prints JSON.
    pub fn measured<T: DeserializeOwned>(&self, command: &mut Command) -> Result<(Usage, T)> {
        let (usage, output) = measure::child_output(command.arg(&self.directory))?;
        Ok((usage, serde_json::from_slice(&output).context("the measured command printed no result")?))
    }
}

/// The commit graph and its dominators.
pub fn load(directory: &Path) -> Result<Loaded> {
    let before = peak_bytes()?;
    let history = History::load(&fewer_git::Repository::open(directory)?, &Tips::All)?;
    let graph = history.graph();
    let dominators = Dominators::of(graph);
    let peak_bytes = peak_bytes()? - before;
    let dominated = graph.commits().filter(|&commit| dominators.immediate(commit).is_some()).count();
    let merges = graph.commits().filter(|&commit| graph.parents(commit).len() > 1).count();
    Ok(Loaded { commits: graph.len(), merges, dominated, peak_bytes })
}

/// The number of merges among all commits, whose messages are read too.
pub fn recognise(directory: &Path) -> Result<usize> {
    let repository = fewer_git::Repository::open(directory)?;
    let recognition = Recognition { redo: Redoing::Skip, patch_ids: PatchIds::Skip };
    let found = repository.recognise(&Scope::All, recognition, &mut |_| ())?;
    Ok(found.iter().filter(|commit| matches!(commit.origin, Origin::Merge { .. })).count())
}

/// Redoes the newest merges.
pub fn redo_merges(directory: &Path, merges: usize) -> Result<Redone> {
    let repository = fewer_git::Repository::open(directory)?;
    let log = CommitLog::read(&repository, &Scope::All)?;
    let newest = log.records.iter().filter(|record| record.parents.len() > 1).take(merges);
    let edited = newest.clone().filter(|record| log.authors[record.author as usize] == EDITOR).count();
    let newest: Vec<CommitHash> = newest.map(|record| record.commit).collect();
    let recognition = Recognition { redo: Redoing::Merges, patch_ids: PatchIds::Skip };
    let found = repository.recognise(&Scope::Commits(newest), recognition, &mut |_| ())?;
    let manual = found.iter().filter(|commit| commit.origin.redo() == Some(&Redo::Manual)).count();
    let automatic = found.iter().filter(|commit| commit.origin.is_automatic()).count();
    Ok(Redone { merges: manual + automatic, edited, manual })
}

fn import(directory: &Path, commits: usize) -> Result<()> {
    eprintln!("generating {commits} commits in {}: a minute the first time", directory.display());
    let path = directory.to_str().context("the cache directory's path is not text")?;
    measure::child(Command::new("git").args(["init", "-q", "--bare", "-b", "main", path]))?;
    let mut child = git(directory, &["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .context("cannot start git fast-import; is git installed?")?;
    let pipe = child.stdin.take().context("git fast-import has no input")?;
    Generator::new(BufWriter::new(pipe)).write(commits).context("cannot write to git fast-import")?;
    ensure!(child.wait()?.success(), "git fast-import failed; its output is above");
    Ok(())
}

/// A branch: where it is, and what differs from the main branch.
#[derive(Clone, Debug, Default)]
struct Topic {
    /// 0 before the first commit.
    tip: usize,
    changed: BTreeMap<String, String>,
}

/// A main branch and topics that leave it, take it in now and then, and are merged into it.
struct Generator<W: Write> {
    stream: W,
    random: Random,
    /// Commits are numbered from 1.
    made: usize,
    merges: usize,
    main: usize,
    topics: Vec<Topic>,
}

impl<W: Write> Generator<W> {
    fn new(stream: W) -> Generator<W> {
        let topics = vec![Topic::default(); TOPICS];
        Generator { stream, random: Random::new(SEED), made: 0, merges: 0, main: 0, topics }
    }

    fn write(mut self, commits: usize) -> std::io::Result<()> {
        self.commit("main", "Author", &[], &BTreeMap::from([file(0, 0, 0)]))?;
        self.main = self.made;
        while self.made < commits {
            let topic = self.random.below(TOPICS);
            let Topic { tip, .. } = self.topics[topic];
            let is_merge_due = tip > 0 && self.merges * 100 < self.made * MERGE_PERCENT;
            match self.random.below(5) {
                0 if is_merge_due && tip < self.main => self.take_main_in(topic)?,
                0..5 if is_merge_due => self.merge(topic)?,
                _ => self.work(topic)?,
            }
        }
        for topic in 0..TOPICS {
            let tip = self.topics[topic].tip;
            if tip > 0 {
                writeln!(self.stream, "reset refs/heads/topic{topic}\nfrom :{tip}\n")?;
            }
        }
        self.stream.flush()
    }

    fn work(&mut self, topic: usize) -> std::io::Result<()> {
        let (path, text) = file(topic, self.random.below(FILES), self.made);
        let Topic { tip, changed } = &mut self.topics[topic];
        let parent = if *tip > 0 { *tip } else { self.main };
        changed.insert(path.clone(), text.clone());
        self.commit(&format!("topic{topic}"), "Author", &[parent], &BTreeMap::from([(path, text)]))?;
        self.topics[topic].tip = self.made;
        Ok(())
    }

    fn take_main_in(&mut self, topic: usize) -> std::io::Result<()> {
        let Topic { tip, changed } = self.topics[topic].clone();
        self.commit(&format!("topic{topic}"), "Author", &[self.main, tip], &changed)?;
        self.topics[topic].tip = self.made;
        Ok(())
    }

    fn merge(&mut self, topic: usize) -> std::io::Result<()> {
        let Topic { tip, mut changed } = std::mem::take(&mut self.topics[topic]);
        let is_edited = self.random.below(50) == 0;
        if is_edited {
            changed.extend([file(TOPICS, self.random.below(FILES), self.made)]);
        }
        let author = if is_edited { EDITOR } else { "Author" };
        self.commit("main", author, &[self.main, tip], &changed)?;
        self.main = self.made;
        Ok(())
    }

    /// Its files are the first parent's, but for those given.
    fn commit(
        &mut self,
        branch: &str,
        author: &str,
        parents: &[usize],
        files: &BTreeMap<String, String>,
    ) -> std::io::Result<()> {
        self.made += 1;
        self.merges += usize::from(parents.len() > 1);
        let (number, date) = (self.made, 1_000_000_000 + 60 * self.made);
        let message = format!("commit {number}\n");
        writeln!(self.stream, "commit refs/heads/{branch}\nmark :{number}")?;
        writeln!(self.stream, "author {author} <a@example.org> {date} +0000")?;
        writeln!(self.stream, "committer {author} <a@example.org> {date} +0000")?;
        writeln!(self.stream, "data {}\n{message}", message.len())?;
        for (place, parent) in parents.iter().enumerate() {
            writeln!(self.stream, "{} :{parent}", if place == 0 { "from" } else { "merge" })?;
        }
        for (path, text) in files {
            writeln!(self.stream, "M 100644 inline {path}\ndata {}\n{text}", text.len())?;
        }
        writeln!(self.stream)
    }
}

fn file(directory: usize, number: usize, version: usize) -> (String, String) {
    (format!("directory{directory}/file{number}"), format!("version {version}\n"))
}

/// The most memory this process ever had in use.
fn peak_bytes() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status").context("cannot read /proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")).context("no VmHWM line")?;
    Ok(1024 * kilobytes.trim().parse::<u64>()?)
}

fn git(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_of_ten_generated_commits_are_merges_and_only_edited_ones_are_manual() {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::below(directory.path(), 3_000).unwrap();
        let loaded = load(&repository.directory).unwrap();
        let redone = redo_merges(&repository.directory, 200).unwrap();
        assert_eq!((loaded.commits, loaded.merges), (3_000, repository.merges));
        assert!((895..=900).contains(&loaded.merges), "{loaded:?}");
        assert!(loaded.dominated > 2_900, "{loaded:?}");
        assert!(redone.merges == 200 && redone.manual == redone.edited && redone.edited > 0, "{redone:?}");
    }
}
