//! Which of the selected tests come first when not all of them are to run, or not at once: scores from the recorded
//! history, the order, and where a limit cuts it. The definitions are those of the simulation, for one moment. Nothing
//! here is safe: what a limit leaves out may have changed, and says so.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::plan::{Plan, PlannedTest, Reason, TestRecord};
use crate::test_id::TestId;

/// The format of [`RankingRecord`].
pub const RANKING_FORMAT: &str = "fewer-ranking/1";
/// What it is called in a project's records.
pub const RANKING_FILE: &str = "ranking.json";

/// Times are in microseconds since 1970.
const HOUR: i64 = 3_600_000_000;

/// Shares of directories are scaled so that different fractions stay different and ordered: with paths of less than
/// 2^15 directories two of them differ by more than 2^-30.
pub const DIRECTORY_SCALE: u64 = 1 << 31;

/// What tests are ranked by. The highest come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RankingAlgorithm {
    /// Transitions seen at milestones within the window.
    TransitionCount,
    /// Commits that affected the test within the window.
    AffectedCount,
    /// Distinct authors of these commits.
    AuthorCount,
    /// Directories shared with the modified files.
    SharedDirectories,
}

impl RankingAlgorithm {
    pub const ALL: [RankingAlgorithm; 4] = [
        RankingAlgorithm::TransitionCount,
        RankingAlgorithm::AffectedCount,
        RankingAlgorithm::AuthorCount,
        RankingAlgorithm::SharedDirectories,
    ];

    /// The word used by the simulation and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            RankingAlgorithm::TransitionCount => "transition-count",
            RankingAlgorithm::AffectedCount => "affected-count",
            RankingAlgorithm::AuthorCount => "author-count",
            RankingAlgorithm::SharedDirectories => "shared-directories",
        }
    }

    /// The inverse of [`RankingAlgorithm::word`].
    pub fn from_word(word: &str) -> Option<RankingAlgorithm> {
        RankingAlgorithm::ALL.into_iter().find(|algorithm| algorithm.word() == word)
    }
}

/// An algorithm with its windows, in hours.
///
/// Example: `author-count/96h`; `transition-count/48h/1h` sees the last 48 hours at milestones every hour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RankingRule {
    pub algorithm: RankingAlgorithm,
    #[serde(default)]
    pub window_h: Option<u32>,
    #[serde(default)]
    pub milestone_h: Option<u32>,
}

impl Default for RankingRule {
    /// What did well in the published study and needs no results.
    fn default() -> RankingRule {
        RankingRule { algorithm: RankingAlgorithm::AuthorCount, window_h: Some(96), milestone_h: None }
    }
}

impl RankingRule {
    /// Whether it has the windows that its algorithm needs, none of them empty.
    pub fn is_whole(&self) -> bool {
        let has_window = self.algorithm != RankingAlgorithm::SharedDirectories;
        let has_milestone = self.algorithm == RankingAlgorithm::TransitionCount;
        self.window_h.is_some() == has_window
            && self.milestone_h.is_some() == has_milestone
            && self.window_h != Some(0)
            && self.milestone_h != Some(0)
    }

    /// From when on the history is looked at; `None` where it is not.
    pub fn horizon(&self, now: i64) -> Option<i64> {
        self.window_h.map(|hours| now.saturating_sub(i64::from(hours) * HOUR))
    }
}

impl fmt::Display for RankingRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.algorithm.word())?;
        for hours in [self.window_h, self.milestone_h].into_iter().flatten() {
            write!(f, "/{hours}h")?;
        }
        Ok(())
    }
}

/// What did best in the simulation of a project's own history, as kept in its `.fewer/ranking.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RankingRecord {
    /// [`RANKING_FORMAT`].
    pub format: String,
    #[serde(flatten)]
    pub rule: RankingRule,
    /// Under its curve of safe selections, of 1.
    pub area: f64,
    /// The history it did best on.
    pub history: String,
}

/// A commit that affected a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sighting {
    pub time: i64,
    /// A number for each author.
    pub author: u32,
    /// Whether the test passed then, where that is known.
    pub passed: Option<bool>,
}

/// The score of a test at a moment, from the commits that affected it in the order of time. Only what was strictly
/// before counts, and within the window (now - window, now).
pub fn score(rule: &RankingRule, sightings: &[Sighting], now: i64) -> u32 {
    let Some(horizon) = rule.horizon(now) else { return 0 };
    let is_inside = |time: i64| horizon < time && time < now;
    let inside = sightings.iter().filter(|sighting| is_inside(sighting.time));
    let count = match rule.algorithm {
        RankingAlgorithm::AffectedCount => inside.count(),
        RankingAlgorithm::AuthorCount => {
            inside.map(|sighting| sighting.author).collect::<BTreeSet<_>>().len()
        }
        RankingAlgorithm::TransitionCount => {
            let every = i64::from(rule.milestone_h.unwrap_or(1)) * HOUR;
            transitions(sightings, every, now).into_iter().filter(|time| is_inside(*time)).count()
        }
        RankingAlgorithm::SharedDirectories => 0,
    };
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The milestones at which a transition is seen: a test has there the result known last before.
fn transitions(sightings: &[Sighting], every: i64, now: i64) -> Vec<i64> {
    let milestone_after = |time: i64| (time.div_euclid(every) + 1) * every;
    let mut results: Vec<(i64, bool)> = Vec::new();
    for sighting in sightings.iter().filter(|sighting| sighting.time < now) {
        let Some(passed) = sighting.passed else { continue };
        let milestone = milestone_after(sighting.time);
        match results.last_mut() {
            Some((at, latest)) if *at == milestone => *latest = passed,
            Some(_) | None => results.push((milestone, passed)),
        }
    }
    results.windows(2).filter(|pair| pair[0].1 != pair[1].1).map(|pair| pair[1].0).collect()
}

/// The longest common prefix of directories of a test and a modified file, over the number of directories of both,
/// scaled; the best over all files. A class is looked for by its package as well.
pub fn shared_directories<'f>(test: &str, files: impl IntoIterator<Item = &'f str>) -> u32 {
    let path: Vec<&str> = directories_of_target(test).collect();
    let package: Vec<&str> = package_of_target(test).collect();
    let share = |file: &str| {
        let by_path = shared(&path, &directories_of_file(file).collect::<Vec<_>>());
        let by_package = package_of_file(file).map(|other| shared(&package, &other.collect::<Vec<_>>()));
        by_path.max(by_package.unwrap_or(0))
    };
    files.into_iter().map(share).max().unwrap_or(0)
}

fn shared(own: &[&str], other: &[&str]) -> u32 {
    let common = own.iter().zip(other).take_while(|(a, b)| a == b).count() as u64;
    let all = (own.len() + other.len()) as u64;
    (common * DIRECTORY_SCALE).checked_div(all).unwrap_or(0) as u32
}

/// The directories that a file is in.
pub fn directories_of_file(path: &str) -> impl Iterator<Item = &str> {
    components(path.rsplit_once('/').map_or("", |(directories, _)| directories))
}

/// The directories of a target's path: `//a/b:c` is in a, b; `a/b/c_test::Suite.Name` too.
pub fn directories_of_target(name: &str) -> impl Iterator<Item = &str> {
    components(match (name.strip_prefix("//"), name.split_once("::")) {
        // A label of Bazel or Buck: the package is a directory.
        (Some(label), _) => label.split_once(':').map_or(label, |(package, _)| package),
        (None, parts) => {
            let path = parts.map_or(name, |(path, _)| path);
            path.rsplit_once('/').map_or("", |(directories, _)| directories)
        }
    })
}

/// The package of a class of the JVM: `org.demo.ATest` and `app::org.demo.ATest#works` are in org, demo.
pub fn package_of_target(name: &str) -> impl Iterator<Item = &str> {
    let class = name.rsplit_once("::").map_or(name, |(_, class)| class);
    let class = class.split_once('#').map_or(class, |(class, _)| class);
    let package = class.rsplit_once('.').map_or("", |(package, _)| package);
    let is_package = |character: char| character.is_alphanumeric() || matches!(character, '.' | '_' | '$');
    let package = if package.chars().all(is_package) { package } else { "" };
    package.split('.').filter(|component| !component.is_empty())
}

/// The package that a source of the JVM is in, by the directories below its source root: `app/src/main/java/org/demo/A.java`
/// is in org, demo. `None` for other files.
pub fn package_of_file(path: &str) -> Option<impl Iterator<Item = &str>> {
    const LANGUAGES: [&str; 4] = ["java", "kotlin", "scala", "groovy"];
    const ROOTS: [&str; 3] = ["src", "test", "tests"];
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    if !["java", "kt", "scala", "groovy"].contains(&extension) {
        return None;
    }
    let directories: Vec<&str> = directories_of_file(path).collect();
    let below = |roots: &[&str]| directories.iter().rposition(|directory| roots.contains(directory));
    let start = below(&LANGUAGES).or_else(|| below(&ROOTS)).map_or(0, |root| root + 1);
    Some(directories.into_iter().skip(start))
}

fn components(directories: &str) -> impl Iterator<Item = &str> {
    directories.split('/').filter(|component| !component.is_empty() && *component != ".")
}

/// A selected test that asks for its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Contender {
    pub id: TestId,
    /// Whatever its score: see [`comes_first`].
    pub comes_first: bool,
    pub score: u32,
    /// How long it took when it last ran, if it ever did.
    pub expected_s: Option<f64>,
    /// How many like it run at a time.
    pub lanes: usize,
}

/// Whether a test is ranked before all others, whatever the history says: it failed last time, is flaky, is always
/// wanted, or nothing is recorded of it.
pub fn comes_first(reason: &Reason, record: &TestRecord) -> bool {
    match reason {
        Reason::New
        | Reason::FailedLast { .. }
        | Reason::FailedRecently { .. }
        | Reason::Flaky { .. }
        | Reason::Always { .. } => true,
        // These reasons hide what is known of the test.
        Reason::Changed { .. }
        | Reason::Inconclusive { .. }
        | Reason::Unmapped { .. }
        | Reason::All
        | Reason::Everything { .. }
        | Reason::Selected { .. } => {
            let failed_with_this = record.same_fingerprint.iter().any(|outcome| outcome.verdict.is_failure());
            failed_with_this || record.last.as_ref().is_none_or(|last| last.verdict.is_failure())
        }
        Reason::Passed { .. }
        | Reason::Unaffected { .. }
        | Reason::Disabled
        | Reason::Excluded { .. }
        | Reason::Redundant { .. }
        | Reason::Budget { .. } => false,
    }
}

/// The order: what comes first regardless, then the highest scores; among equals the quickest, as more of them fit.
pub fn rank(mut contenders: Vec<Contender>) -> Vec<Contender> {
    let seconds = |contender: &Contender| contender.expected_s.unwrap_or(f64::INFINITY);
    let order = |a: &Contender, b: &Contender| -> Ordering {
        let by_score = (b.comes_first, b.score).cmp(&(a.comes_first, a.score));
        by_score.then(seconds(a).total_cmp(&seconds(b))).then_with(|| a.id.cmp(&b.id))
    };
    contenders.sort_by(order);
    contenders
}

/// How much of the ranked tests is wanted.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Limit {
    /// This share of them, in percent, is left out: the lowest ranked.
    pub skip_percent: Option<f64>,
    /// Those from the top that fit into so many seconds.
    pub budget_s: Option<f64>,
}

impl Limit {
    /// How many of the ranked tests are kept. `guess_s` stands for durations that are not known; where there is none,
    /// nothing can be told of what fits and all is kept.
    pub fn kept(&self, ranked: &[Contender], guess_s: Option<f64>) -> usize {
        let all = ranked.len();
        let skipped = self.skip_percent.map_or(0, |percent| (all as f64 * percent / 100.0).floor() as usize);
        let fitting = match (self.budget_s, guess_s) {
            (Some(budget_s), Some(guess_s)) => fitting(ranked, budget_s, guess_s),
            (Some(_), None) | (None, _) => all,
        };
        all.saturating_sub(skipped).min(fitting)
    }
}

fn fitting(ranked: &[Contender], budget_s: f64, guess_s: f64) -> usize {
    let mut sum_s = 0.0;
    let fits = |contender: &&Contender| {
        sum_s += contender.expected_s.unwrap_or(guess_s) / contender.lanes.max(1) as f64;
        sum_s <= budget_s
    };
    ranked.iter().take_while(fits).count()
}

/// The median of known durations.
pub fn median(known: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut known: Vec<f64> = known.into_iter().collect();
    known.sort_by(f64::total_cmp);
    known.get(known.len() / 2).copied()
}

impl Plan {
    /// Leaves out the tests behind the first `kept` of a ranking; `words` tells why a test would run. They may have
    /// changed: nothing is known of them, and a plan without a limit selects them again.
    pub fn keep_first(
        &mut self,
        ranked: &[Contender],
        kept: usize,
        rule: &RankingRule,
        words: impl Fn(&PlannedTest) -> String,
    ) {
        let behind = ranked.iter().enumerate().skip(kept);
        let behind: BTreeMap<&TestId, usize> = behind.map(|(place, one)| (&one.id, place + 1)).collect();
        for test in &mut self.tests {
            if let Some(&rank) = behind.get(&test.id) {
                let (of, by, selected) = (ranked.len(), rule.to_string(), words(test));
                test.reason = Reason::Budget { rank, of, by, selected };
                test.decision = test.reason.decision();
            }
        }
    }
}
