//! Recorded results of CI: per commit the test classes that ran and whether they failed, from XML reports or CSV. What
//! is computed from them is told elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use fewer_runners::java::{ArchivedClasses, archived_classes};

/// The file with the results of many commits: `commit,test,outcome`.
const MANY: &str = "results.csv";
/// Fewer digits of a commit's id are taken for another name.
const LEAST_DIGITS: usize = 7;

/// Results by what names their commit: its id or the beginning of it.
#[derive(Debug, Default)]
pub struct Results {
    by_commit: BTreeMap<String, ArchivedClasses>,
    /// What could not be read, in words.
    pub unreadable: Vec<String>,
}

impl Results {
    /// A directory with `<commit>/**/*.xml`, `<commit>.csv` (`test,outcome`) or `results.csv`, or all of them.
    pub fn read(directory: &Path) -> anyhow::Result<Results> {
        let cannot = || format!("cannot read the results in {}", directory.display());
        let mut results = Results::default();
        for entry in fs::read_dir(directory).with_context(cannot)? {
            let entry = entry.with_context(cannot)?;
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() && is_commit(&name) {
                let (classes, unreadable) = archived_classes(&path).with_context(cannot)?;
                results.unreadable.extend(unreadable);
                results.add(&name, classes);
            } else if name == MANY {
                let rows = rows(&path, ["commit", "test", "outcome"])?;
                for [commit, test, outcome] in rows {
                    results.add_row(&path, &commit, &test, &outcome)?;
                }
            } else if let Some(commit) = name.strip_suffix(".csv").filter(|commit| is_commit(commit)) {
                for [test, outcome] in rows(&path, ["test", "outcome"])? {
                    results.add_row(&path, commit, &test, &outcome)?;
                }
            }
        }
        results.unreadable.sort();
        if results.by_commit.is_empty() {
            bail!(
                "{} holds no results: expected <commit>/ with XML reports, <commit>.csv or {MANY} (docs/java.md)",
                directory.display()
            );
        }
        Ok(results)
    }

    pub fn commits(&self) -> usize {
        self.by_commit.len()
    }

    /// The results of a commit, removed from here.
    pub fn take(&mut self, commit: &str) -> Option<ArchivedClasses> {
        let names = (LEAST_DIGITS..=commit.len()).rev().filter_map(|length| commit.get(..length));
        names.into_iter().find_map(|name| self.by_commit.remove(name))
    }

    fn add(&mut self, commit: &str, classes: ArchivedClasses) {
        let known = self.by_commit.entry(commit.to_ascii_lowercase()).or_default();
        for (class, has_failed) in classes {
            *known.entry(class).or_default() |= has_failed;
        }
    }

    fn add_row(&mut self, path: &Path, commit: &str, test: &str, outcome: &str) -> anyhow::Result<()> {
        if !is_commit(commit) {
            bail!("{}: '{commit}' is no commit's id", path.display());
        }
        let has_failed = match outcome.to_ascii_lowercase().as_str() {
            "passed" | "pass" => false,
            "failed" | "fail" | "error" => true,
            "skipped" => return Ok(()),
            _ => bail!("{}: '{outcome}' is none of passed, failed, error, skipped", path.display()),
        };
        self.add(commit, ArchivedClasses::from([(test.to_string(), has_failed)]));
        Ok(())
    }
}

fn is_commit(name: &str) -> bool {
    name.len() >= LEAST_DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The rows of a table with these columns. Names of classes and commits hold no commas.
fn rows<const N: usize>(path: &Path, columns: [&str; N]) -> anyhow::Result<Vec<[String; N]>> {
    let text =
        fewer_files::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let expected = columns.join(",");
    if lines.next().map(|line| line.replace(' ', "")) != Some(expected.clone()) {
        bail!("{}: the first line must be {expected}", path.display());
    }
    lines
        .map(|line| {
            let cells: Vec<String> = line.split(',').map(|cell| cell.trim().to_string()).collect();
            <[String; N]>::try_from(cells)
                .map_err(|_| anyhow::anyhow!("{}: '{line}' is not {expected}", path.display()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    fn read(files: &[(&str, &str)]) -> anyhow::Result<Results> {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Results::read(directory.path())
    }

    #[test]
    fn results_come_from_reports_and_tables() {
        let report = "<testsuite><testcase name=\"m\" classname=\"p.A\"/></testsuite>";
        let mut results = read(&[
            ("aaaaaaaaaa/core/TEST-p.A.xml", report),
            ("aaaaaaaaaa.csv", "test,outcome\np.B, failed\np.C,skipped\n"),
            ("results.csv", "commit,test,outcome\nbbbbbbb,p.A,passed\nBBBBBBB,p.A,error\n"),
            ("README.md", "nothing"),
        ])
        .unwrap();
        assert_eq!(results.commits(), 2);
        let expected =
            |of: &[(&str, bool)]| of.iter().map(|(name, failed)| (name.to_string(), *failed)).collect();
        assert_eq!(results.take(A), Some(expected(&[("p.A", false), ("p.B", true)])));
        assert_eq!(results.take(A), None);
        assert_eq!(results.take(B), Some(expected(&[("p.A", true)])));
    }

    #[test]
    fn what_is_no_table_of_results_is_refused_by_name() {
        for (file, text, complaint) in [
            ("aaaaaaaaaa.csv", "test;outcome\n", "the first line must be test,outcome"),
            ("aaaaaaaaaa.csv", "test,outcome\np.A\n", "'p.A' is not test,outcome"),
            ("aaaaaaaaaa.csv", "test,outcome\np.A,green\n", "'green' is none of"),
            ("results.csv", "commit,test,outcome\nmain,p.A,passed\n", "'main' is no commit's id"),
            ("notes.txt", "", "holds no results"),
        ] {
            let error = read(&[(file, text)]).unwrap_err().to_string();
            assert!(error.contains(complaint), "{error}");
        }
    }
}
