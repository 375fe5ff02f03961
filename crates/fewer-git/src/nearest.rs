//! Which of some commits come before the one that is checked out, nearest first. Only the newest part of a history is
//! looked at.

use std::collections::{HashMap, HashSet};

use crate::WorkTree;
use crate::command::{GitError, git};

/// Known commits before the one that is checked out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Nearest {
    /// None of them comes before another.
    Commits(Vec<String>),
    /// No known commit comes before it.
    None,
    /// The history that is here ends before one was met.
    Unknown,
}

/// How many commits are looked at.
const WALKED: usize = 5000;

impl WorkTree {
    /// The nearest known commits at or before `HEAD`, on every way that leads there.
    pub fn nearest(&self, is_known: impl Fn(&str) -> bool) -> Result<Nearest, GitError> {
        let limit = format!("--max-count={WALKED}");
        let listing = git(&self.root, &["rev-list", "--parents", &limit, "HEAD"])?;
        let text = String::from_utf8_lossy(&listing);
        let parents: HashMap<&str, Vec<&str>> = text
            .lines()
            .filter_map(|line| {
                let mut commits = line.split(' ');
                Some((commits.next()?, commits.collect()))
            })
            .collect();
        let mut due: Vec<&str> = text.split_whitespace().take(1).collect();
        let (mut seen, mut found) = (HashSet::new(), Vec::new());
        let mut is_cut = false;
        while let Some(commit) = due.pop() {
            if !seen.insert(commit) {
                continue;
            }
            if is_known(commit) {
                found.push(commit);
                continue;
            }
            match parents.get(commit) {
                Some(parents) => due.extend(parents),
                None => is_cut = true,
            }
        }
        if found.is_empty() {
            let is_cut = is_cut || git(&self.root, &["rev-parse", "--is-shallow-repository"])? != b"false\n";
            return Ok(if is_cut { Nearest::Unknown } else { Nearest::None });
        }
        // One may come before another by a way that leads past it.
        let nearest = git(&self.root, &[&["merge-base", "--independent"][..], &found].concat())?;
        Ok(Nearest::Commits(String::from_utf8_lossy(&nearest).lines().map(str::to_string).collect()))
    }

    /// Whether a commit comes before another.
    pub fn comes_before(&self, old: &str, new: &str) -> bool {
        git(&self.root, &["merge-base", "--is-ancestor", old, new]).is_ok()
    }
}
