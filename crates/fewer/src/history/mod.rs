//! Selection over the commits of the project's repository: what the state at hand is a step of, what is recorded
//! along the way there, and the strategies on top of it. The strategies themselves are pure and live in the core.

mod analysed;
mod experiment;
mod file_rule;
mod foretelling;
mod graph_document;
mod head;
mod java_commits;
mod pace;
mod path_pattern;
mod recorded;
mod request;
mod snapshots;
mod steps;
mod strategy;

pub use analysed::Known;
pub use experiment::{Layout, Means, Replay, Versions, replay};
pub use file_rule::{FileRule, FilesTable};
pub use java_commits::JavaCommits;
pub use pace::Pace;
pub use steps::LeftOut;

pub use foretelling::{Foretold, foretell_head, foretell_merge};
pub use request::{Foretelling, Request};
pub use strategy::{Chosen, UNSAFE, choose};

use fewer_git::CommitHash;

/// A commit for a sentence.
fn short(commit: CommitHash) -> String {
    commit.to_string().chars().take(10).collect()
}

/// Some commits for a sentence, the rest as a number.
fn shown(commits: &[CommitHash]) -> String {
    let mut text = commits.iter().take(3).map(|&commit| short(commit)).collect::<Vec<_>>().join(", ");
    if commits.len() > 3 {
        text.push_str(&format!(" and {} more", commits.len() - 3));
    }
    text
}

fn never_recorded(commit: CommitHash) -> String {
    let commit = short(commit);
    format!(
        "commit {commit} was never recorded here, or not all of its tests were run; to record it: \
         `git checkout {commit}`, build, `fewer run`"
    )
}
