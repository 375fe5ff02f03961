//! What a simulation of a project's own history means for it: the algorithm that did best is written into the
//! project's records, where `fewer run --budget` finds it. Which project a history is of is noted when it is imported.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use fewer_console::Console;
use fewer_core::ranking::{RANKING_FILE, RANKING_FORMAT, RankingAlgorithm, RankingRecord, RankingRule};
use fewer_lab::{Algorithm, AlgorithmSummary, Experiment};
use fewer_report::document;
use serde::{Deserialize, Serialize};

use super::store::DIRECTORY;

/// In the directory of a history: which project's records it comes from.
const SOURCE: &str = "source.json";

/// `fewer-simulate-source/1`.
#[derive(Serialize, Deserialize)]
struct Source {
    project: PathBuf,
}

/// Notes which project a history is of.
pub fn note_source(history: &Path, project: &Path) -> anyhow::Result<()> {
    let source = Source { project: project.to_path_buf() };
    let path = history.join(SOURCE);
    fs::write(&path, document("fewer-simulate-source/1", &source))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// A history that is made from another is of the same project.
pub fn pass_on_source(from: &Path, to: &Path) -> anyhow::Result<()> {
    match source_of(from)? {
        Some(source) => note_source(to, &source.project),
        None => Ok(()),
    }
}

/// Keeps what did best for the project that the history is of. An experiment with fewer algorithms than there are
/// cannot tell.
pub fn keep_best(
    console: &Console,
    history: &Path,
    experiment: &Experiment,
    summary: &[AlgorithmSummary],
) -> anyhow::Result<()> {
    let Some(Source { project }) = source_of(history)? else { return Ok(()) };
    let is_run = |algorithm: RankingAlgorithm| {
        experiment.algorithms.iter().any(|one| rankable(*one) == Some(algorithm))
    };
    let Some(record) = best(summary, history).filter(|_| RankingAlgorithm::ALL.into_iter().all(is_run))
    else {
        return Ok(());
    };
    let records = project.join(DIRECTORY);
    if !records.is_dir() {
        console.note(&format!(
            "{} did best, but {} has no records any more that could keep it",
            record.rule,
            project.display()
        ));
        return Ok(());
    }
    let path = records.join(RANKING_FILE);
    let text = serde_json::to_string_pretty(&record)? + "\n";
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    console.note(&format!(
        "from now on `fewer run --budget`, --skip and --order rank the tests of this project by {}",
        record.rule
    ));
    Ok(())
}

fn source_of(history: &Path) -> anyhow::Result<Option<Source>> {
    let path = history.join(SOURCE);
    let text = match fewer_files::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let source = serde_json::from_str(&text);
    source
        .map(Some)
        .with_context(|| format!("{} cannot be understood; import the history again", path.display()))
}

/// Of those that `fewer run` can rank by; the first of equals.
fn best(summary: &[AlgorithmSummary], history: &Path) -> Option<RankingRecord> {
    let mut best: Option<(RankingAlgorithm, &AlgorithmSummary)> = None;
    for one in summary {
        let is_better = best.is_none_or(|(_, known)| one.area_all > known.area_all);
        if let Some(algorithm) = rankable(one.algorithm).filter(|_| is_better) {
            best = Some((algorithm, one));
        }
    }
    let (algorithm, summary) = best?;
    let rule = RankingRule {
        algorithm,
        window_h: summary.best.window.map(|hours| hours.0),
        milestone_h: summary.best.milestone.map(|hours| hours.0),
    };
    let history = history.display().to_string();
    Some(RankingRecord { format: RANKING_FORMAT.to_string(), rule, area: summary.area_all, history })
}

/// What `fewer run` knows enough for: nothing tells it the answer, or what testing before the commit said.
fn rankable(algorithm: Algorithm) -> Option<RankingAlgorithm> {
    match algorithm {
        Algorithm::TransitionCount => Some(RankingAlgorithm::TransitionCount),
        Algorithm::AffectedCount => Some(RankingAlgorithm::AffectedCount),
        Algorithm::AuthorCount => Some(RankingAlgorithm::AuthorCount),
        Algorithm::SharedDirectories => Some(RankingAlgorithm::SharedDirectories),
        Algorithm::Random | Algorithm::Optimal | Algorithm::Pessimal | Algorithm::PreSubmit => None,
    }
}
