//! `fewer reduce build`: a reduced suite from what is known of a revision, written for people to review.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use fewer_core::TestId;
use fewer_core::reduction::{
    Algorithm, Kept, Redundant, RequirementKind, Suite, cost_aware_greedy, exact, explain_reduction, greedy,
    hgs,
};
use fewer_requirements::Stored;
use serde::Serialize;

use super::options::{BuildReducedOptions, WayOptions};
use super::reduced_file::{KeptTest, LeftOutTest, ReducedFile};
use super::requirement_files::RequirementFiles;
use super::revision::{Revision, newest_tests, recorded_commit};
use super::sheet::{Sheet, percent, shown};
use crate::session::Session;

/// A reduced suite, as rows of the suite.
pub struct ReducedSuite {
    pub kept: Vec<usize>,
    /// No reduced suite has fewer tests, where that is known.
    lower_bound: Option<usize>,
    spent: Duration,
}

/// What came of it.
#[derive(Serialize)]
struct BuildView {
    kind: RequirementKind,
    commit: Option<String>,
    requirements: usize,
    tests: usize,
    kept: usize,
    left_out: usize,
    /// Tests that are kept because nothing is known of them.
    unknown: usize,
    size_percent: f64,
    /// As far as durations are recorded.
    seconds_of_all: Option<f64>,
    seconds_of_kept: Option<f64>,
    file: String,
    algorithms: Vec<AlgorithmView>,
}

/// One algorithm on the tests that something is known of.
#[derive(Serialize)]
struct AlgorithmView {
    algorithm: Algorithm,
    kept: usize,
    seconds_of_kept: Option<f64>,
    /// By how much of its size it can be larger than the smallest suite.
    gap_percent: Option<f64>,
    lower_bound: Option<usize>,
    spent_s: f64,
}

pub fn execute(session: &Session<'_>, options: &BuildReducedOptions) -> anyhow::Result<()> {
    session.end_in_order();
    let kind = options.kind.kind();
    let stored = RequirementFiles::of(session).find(session, options.at.as_deref(), kind)?;
    say_which(session, &stored);
    let suite = &stored.suite;
    let algorithm = options.way.algorithm.algorithm();
    let reduced = reduce(session, algorithm, options.way.time_limit, suite)?;
    let mut results = vec![(algorithm, reduced)];
    let others = Algorithm::ALL.into_iter().filter(|&other| other != algorithm);
    // How far another algorithm is from the smallest suite is told by the exact one.
    for other in
        others.filter(|&other| options.compare || algorithm == Algorithm::Exact && other == Algorithm::Greedy)
    {
        results.push((other, reduce(session, other, options.way.time_limit, suite)?));
    }
    let unknown = unknown_tests(session, &stored)?;
    let file = reduced_file(&stored, algorithm, &results[0].1, &unknown);
    file.write(&options.output)?;
    let view = view(session, &stored, &file, &results, unknown.len(), options);
    let text = shown(options.format, &view.sheet(), &view.sentence(), "fewer-reduce-build/1", &view);
    session.console.data(&text)
}

/// Reduces as the user wants it.
pub fn reduce_by(session: &Session<'_>, way: &WayOptions, suite: &Suite) -> anyhow::Result<ReducedSuite> {
    reduce(session, way.algorithm.algorithm(), way.time_limit, suite)
}

fn reduce(
    session: &Session<'_>,
    algorithm: Algorithm,
    time_limit: Duration,
    suite: &Suite,
) -> anyhow::Result<ReducedSuite> {
    session.go_on()?;
    let _phase = session.timings.phase("reduce");
    let started = Instant::now();
    let (kept, lower_bound) = match algorithm {
        Algorithm::Greedy => (greedy(suite), None),
        Algorithm::CostAware => (cost_aware_greedy(suite), None),
        Algorithm::Hgs => (hgs(suite), None),
        Algorithm::Exact => {
            let found =
                exact(suite, &mut || started.elapsed() < time_limit && !session.cancel.is_cancelled());
            (found.tests, Some(found.lower_bound))
        }
    };
    session.go_on()?;
    Ok(ReducedSuite { kept, lower_bound, spent: started.elapsed() })
}

/// Which requirements are meant, as that need not be what is checked out.
pub fn say_which(session: &Session<'_>, stored: &Stored) {
    let source = &stored.source;
    session.console.say(&format!(
        "{} of {}, from {} ({})",
        stored.suite.kind.word(),
        Revision::of(source).shown(),
        source.from.join(", "),
        source.at
    ));
}

/// Recorded tests that nothing is known of: they stay.
fn unknown_tests(session: &Session<'_>, stored: &Stored) -> anyhow::Result<BTreeSet<TestId>> {
    let recorded = match stored.source.commit.as_deref().filter(|_| !stored.source.dirty) {
        Some(commit) => recorded_commit(session, commit)?,
        None => None,
    };
    let recorded: BTreeSet<TestId> = match recorded {
        Some(snapshot) => snapshot.into_keys().collect(),
        None => newest_tests(session)?,
    };
    Ok(recorded.into_iter().filter(|test| stored.suite.position(test).is_none()).collect())
}

fn reduced_file(
    stored: &Stored,
    algorithm: Algorithm,
    reduced: &ReducedSuite,
    unknown: &BTreeSet<TestId>,
) -> ReducedFile {
    let suite = &stored.suite;
    let commit = stored.source.commit.clone().filter(|_| !stored.source.dirty);
    let mut file = ReducedFile::new(suite.kind, algorithm, commit);
    let reduction = explain_reduction(suite, &reduced.kept);
    file.kept = reduction.kept.iter().map(|kept| kept_test(suite, kept)).collect();
    let reason = format!("no {} are known of it", suite.kind.word());
    file.kept.extend(unknown.iter().map(|test| KeptTest::new(test.clone(), reason.clone())));
    let left_out = |redundant: &Redundant| LeftOutTest {
        test: suite.tests[redundant.test].clone(),
        because_of: redundant.because_of.iter().map(|&test| suite.tests[test].clone()).collect(),
    };
    file.left_out = reduction.redundant.iter().map(left_out).collect();
    file
}

fn kept_test(suite: &Suite, kept: &Kept) -> KeptTest {
    let kind = suite.kind.word();
    let example = kept.example.map(|example| suite.requirement(example)).unwrap_or_default();
    let reason = match (kept.alone, kept.new) {
        (0, new) => format!("{kind} that no test taken before it satisfies: {new}, like {example}"),
        (alone, new) => format!(
            "{kind} that no other kept test satisfies: {alone}, like {example}; new when it was taken: {new}"
        ),
    };
    KeptTest::new(suite.tests[kept.test].clone(), reason)
}

fn view(
    session: &Session<'_>,
    stored: &Stored,
    file: &ReducedFile,
    results: &[(Algorithm, ReducedSuite)],
    unknown: usize,
    options: &BuildReducedOptions,
) -> BuildView {
    let suite = &stored.suite;
    let lower_bound = results.iter().find_map(|(_, reduced)| reduced.lower_bound);
    let algorithms = results.iter().map(|(algorithm, reduced)| {
        let kept = reduced.kept.len();
        AlgorithmView {
            algorithm: *algorithm,
            kept,
            seconds_of_kept: seconds(suite, reduced.kept.iter().copied()),
            gap_percent: lower_bound
                .map(|bound| 100.0 * (kept - bound.min(kept)) as f64 / kept.max(1) as f64),
            lower_bound,
            spent_s: reduced.spent.as_secs_f64(),
        }
    });
    let tests = file.kept.len() + file.left_out.len();
    BuildView {
        kind: suite.kind,
        commit: file.commit.clone(),
        requirements: suite.matrix.all_satisfied().count_ones(..),
        tests,
        kept: file.kept.len(),
        left_out: file.left_out.len(),
        unknown,
        size_percent: 100.0 * file.kept.len() as f64 / tests.max(1) as f64,
        seconds_of_all: seconds(suite, 0..suite.tests.len()),
        seconds_of_kept: seconds(suite, results[0].1.kept.iter().copied()),
        file: session.project.shown(&options.output),
        algorithms: algorithms.collect(),
    }
}

/// `None` where no duration is recorded.
fn seconds(suite: &Suite, tests: impl IntoIterator<Item = usize>) -> Option<f64> {
    tests.into_iter().filter_map(|test| suite.durations[test]).reduce(|all, duration| all + duration)
}

impl BuildView {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new(["algorithm", "kept", "seconds", "at least", "gap", "took"]);
        for view in &self.algorithms {
            sheet.row([
                view.algorithm.word().to_string(),
                view.kept.to_string(),
                view.seconds_of_kept.map_or("?".to_string(), |seconds| format!("{seconds:.3}")),
                view.lower_bound.map_or("?".to_string(), |bound| bound.to_string()),
                view.gap_percent.map_or("?".to_string(), percent),
                format!("{:.3} s", view.spent_s),
            ]);
        }
        sheet
    }

    fn sentence(&self) -> String {
        let unknown = match self.unknown {
            0 => String::new(),
            unknown => format!(", {unknown} of them because nothing is known of them"),
        };
        format!(
            "{} of {} tests are kept ({}{unknown}); they satisfy all {} {} of the full suite\n{} is written: review and commit it\n",
            self.kept,
            self.tests,
            percent(self.size_percent),
            self.requirements,
            self.kind.word(),
            self.file
        )
    }
}
