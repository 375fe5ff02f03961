//! The experiments over a history as tables, JSON and CSV: statistics of a repository, real steps replayed, and
//! generated merges. The figures come from the core and from git; here they are only laid out.

use std::fmt::Write;

use fewer_core::history::experiments::{Measured, Measurement, Ratio, StrategyMeans, Summary};
use serde::Serialize;

use crate::csv::csv;
use crate::json::document;
use crate::style::{Tone, paint};
use crate::table::Table;

/// How a repository was worked on.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HistoryStatsView {
    /// The range as given; `None` for all that any ref leads to.
    pub range: Option<String>,
    pub commits: usize,
    pub authors: usize,
    pub merges: usize,
    pub rebases: usize,
    pub cherry_picks: usize,
    pub reverts: usize,
    /// Commits whose author and committer differ, whatever else they are.
    pub rewritten: usize,
    /// (merges + rebases + cherry-picks + reverts) / commits.
    pub operations_share: Option<f64>,
    pub main: MainBranchView,
    /// `None` if merges were not redone.
    pub auto_merges: Option<AutoMergesView>,
    pub notes: Vec<String>,
}

/// The chain of first parents.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct MainBranchView {
    pub commits: usize,
    pub merges: usize,
    pub merge_share: Option<f64>,
}

/// Merges that git alone makes again, and others.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct AutoMergesView {
    pub automatic: usize,
    pub manual: usize,
    /// Objects were missing.
    pub impossible: usize,
    pub share: Option<f64>,
}

/// A range that was replayed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReplayView {
    pub range: String,
    pub analyser: &'static str,
    /// `None` where nothing had to be analysed.
    pub analysed: Option<AnalysedView>,
    /// Oldest first.
    pub steps: Vec<StepView>,
    pub merges: KindView,
    pub cherry_picks: KindView,
    pub reverts: KindView,
    pub left_out: LeftOutView,
    pub notes: Vec<String>,
}

/// All steps of a kind, and those that git makes alone: only of them S0 and predict can tell.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct KindView {
    pub all: Summary,
    pub automatic: Summary,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StepView {
    pub kind: StepKind,
    pub commit: String,
    pub parents: usize,
    /// What was picked or reverted.
    pub of: Option<String>,
    pub automatic: bool,
    #[serde(flatten)]
    pub measurement: Measurement,
    pub s1_over_s0: Option<f64>,
    pub s0_over_sk: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    Merge,
    CherryPick,
    Revert,
}

/// Commits that were looked at, and how many of them were known from an earlier replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct AnalysedView {
    pub commits: usize,
    pub known: usize,
    pub absent: usize,
}

/// Steps that are not judged, by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct LeftOutView {
    pub before_range: usize,
    pub without_source: usize,
    pub not_recorded: usize,
}

/// Merges generated from a linear history.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GenerateView {
    pub versions: usize,
    pub oldest: String,
    pub newest: String,
    pub layout: &'static str,
    pub analyser: &'static str,
    pub analysed: Option<AnalysedView>,
    /// One per length of branch.
    pub graphs: Vec<GeneratedView>,
    pub all: Summary,
    pub notes: Vec<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GeneratedView {
    pub branch_commits: usize,
    /// Its `steps` are the merges.
    #[serde(flatten)]
    pub summary: Summary,
}

impl StepKind {
    pub fn word(self) -> &'static str {
        match self {
            StepKind::Merge => "merge",
            StepKind::CherryPick => "cherry-pick",
            StepKind::Revert => "revert",
        }
    }
}

impl HistoryStatsView {
    /// `fewer-history-stats/1`.
    pub fn json(&self) -> String {
        document("fewer-history-stats/1", self)
    }

    pub fn csv(&self) -> String {
        let auto = self.auto_merges;
        let columns: Vec<(&str, String)> = vec![
            ("range", self.range.clone().unwrap_or_default()),
            ("commits", self.commits.to_string()),
            ("authors", self.authors.to_string()),
            ("merges", self.merges.to_string()),
            ("rebases", self.rebases.to_string()),
            ("cherry_picks", self.cherry_picks.to_string()),
            ("reverts", self.reverts.to_string()),
            ("rewritten", self.rewritten.to_string()),
            ("operations_share", plain(self.operations_share)),
            ("main_commits", self.main.commits.to_string()),
            ("main_merges", self.main.merges.to_string()),
            ("main_merge_share", plain(self.main.merge_share)),
            ("auto_merges", plain(auto.map(|auto| auto.automatic))),
            ("manual_merges", plain(auto.map(|auto| auto.manual))),
            ("impossible_merges", plain(auto.map(|auto| auto.impossible))),
            ("auto_merge_share", plain(auto.and_then(|auto| auto.share))),
        ];
        csv(columns.iter().map(|(name, _)| *name), [columns.iter().map(|(_, value)| value.clone())])
    }

    pub fn text(&self) -> String {
        let mut table = Table::new(&[false, true]);
        let scope = self.range.as_deref().unwrap_or("every ref");
        table.row([paint(Tone::Strong, "history"), paint(Tone::Strong, scope)]);
        for (name, count) in [
            ("commits", self.commits),
            ("authors", self.authors),
            ("merges (M)", self.merges),
            ("rebases (R): another committer than author", self.rebases),
            ("cherry-picks (C)", self.cherry_picks),
            ("reverts (V)", self.reverts),
        ] {
            table.row([name.to_string(), count.to_string()]);
        }
        table.row(["(M + R + C + V) / commits".to_string(), percent(self.operations_share)]);
        let MainBranchView { commits, merges, merge_share } = self.main;
        table.row(["main branch: commits along first parents".to_string(), commits.to_string()]);
        table.row(["main branch: merges".to_string(), merges.to_string()]);
        table.row(["main branch: merges / commits".to_string(), percent(merge_share)]);
        if let Some(AutoMergesView { automatic, manual, impossible, share }) = self.auto_merges {
            table.row(["merges that git makes alone".to_string(), automatic.to_string()]);
            table.row(["merges finished by hand".to_string(), manual.to_string()]);
            if impossible > 0 {
                table.row(["merges with missing objects".to_string(), impossible.to_string()]);
            }
            table.row(["auto merges / merges".to_string(), percent(share)]);
        }
        table.text()
    }
}

impl ReplayView {
    /// `fewer-history-replay/1`.
    pub fn json(&self) -> String {
        document("fewer-history-replay/1", self)
    }

    /// A line per step.
    pub fn csv(&self) -> String {
        let names = "kind,commit,parents,of,automatic,available,s1,sk,s0,s_star,predict,chosen,chosen_selected,\
                     s1_over_s0,s0_over_sk,s1_comparisons,sk_comparisons,s1_missed,sk_missed,s0_missed,\
                     s_star_missed,predict_missed";
        csv(names.split(','), self.steps.iter().map(StepView::cells))
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.merges.all.steps > 0 {
            text.push_str(&self.merge_table().text());
            let _ = writeln!(text, "\n{}", ratio_sentence(&self.merges.all));
        }
        if self.cherry_picks.all.steps + self.reverts.all.steps > 0 {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&self.change_table().text());
        }
        if text.is_empty() {
            text.push_str("no merge, cherry-pick or revert to judge\n");
        }
        text
    }

    fn merge_table(&self) -> Table {
        let headings = "merge|parents|auto|tests|S1|Sk|S0|S*|predict|chosen|S1/S0|S0/Sk";
        let mut table = headed(headings, 1);
        for step in self.steps.iter().filter(|step| step.kind == StepKind::Merge) {
            let one = &step.measurement;
            let chosen =
                one.chosen.map(|chosen| format!("{}: {}", chosen.strategy, chosen.measured.selected));
            table.row([
                short(&step.commit),
                step.parents.to_string(),
                yes_or_no(step.automatic),
                one.available.to_string(),
                one.s1.selected.to_string(),
                count(one.sk),
                count(one.s0),
                one.s_star.selected.to_string(),
                count(one.predict),
                chosen.unwrap_or_else(absent),
                factor(step.s1_over_s0),
                factor(step.s0_over_sk),
            ]);
        }
        for (label, cells) in self.merges.footers(&[S1, SK, S0, S_STAR, PREDICT, CHOSEN]) {
            let Summary { s1_over_s0, s0_over_sk, .. } = &self.merges.all;
            let ratios = match label {
                SHARE => [s1_over_s0.mean, s0_over_sk.mean].map(factor),
                _ => [String::new(), String::new()],
            };
            let blanks = [String::new(), String::new(), String::new()];
            table.row([paint(Tone::Strong, label)].into_iter().chain(blanks).chain(cells).chain(ratios));
        }
        table
    }

    fn change_table(&self) -> Table {
        let mut table = headed("commit|made by|of|auto|tests|S1|S0|S*|predict", 3);
        for (kind, summary) in [(StepKind::CherryPick, &self.cherry_picks), (StepKind::Revert, &self.reverts)]
        {
            for step in self.steps.iter().filter(|step| step.kind == kind) {
                let one = &step.measurement;
                table.row([
                    short(&step.commit),
                    kind.word().to_string(),
                    step.of.as_deref().map_or_else(absent, short),
                    yes_or_no(step.automatic),
                    one.available.to_string(),
                    one.s1.selected.to_string(),
                    count(one.s0),
                    one.s_star.selected.to_string(),
                    count(one.predict),
                ]);
            }
            if summary.all.steps == 0 {
                continue;
            }
            for (label, cells) in summary.footers(&[S1, S0, S_STAR, PREDICT]) {
                let words = [paint(Tone::Strong, label), format!("{}s", kind.word())];
                let blanks = [String::new(), String::new(), String::new()];
                table.row(words.into_iter().chain(blanks).chain(cells));
            }
        }
        table
    }
}

impl StepView {
    fn cells(&self) -> Vec<String> {
        let one = &self.measurement;
        let selected = |measured: Option<Measured>| plain(measured.map(|measured| measured.selected));
        let comparisons = |measured: Option<Measured>| plain(measured.map(|measured| measured.comparisons));
        let missed = |measured: Option<Measured>| plain(measured.map(|measured| measured.missed));
        let (s1, s_star) = (Some(one.s1), Some(one.s_star));
        vec![
            self.kind.word().to_string(),
            self.commit.clone(),
            self.parents.to_string(),
            self.of.clone().unwrap_or_default(),
            self.automatic.to_string(),
            one.available.to_string(),
            selected(s1),
            selected(one.sk),
            selected(one.s0),
            selected(s_star),
            selected(one.predict),
            plain(one.chosen.map(|chosen| chosen.strategy)),
            plain(one.chosen.map(|chosen| chosen.measured.selected)),
            plain(self.s1_over_s0),
            plain(self.s0_over_sk),
            comparisons(s1),
            comparisons(one.sk),
            missed(s1),
            missed(one.sk),
            missed(one.s0),
            missed(s_star),
            missed(one.predict),
        ]
    }
}

impl GenerateView {
    /// `fewer-history-generate/1`.
    pub fn json(&self) -> String {
        document("fewer-history-generate/1", self)
    }

    /// A line per length of branch.
    pub fn csv(&self) -> String {
        let names = "branch_commits,merges,s1_mean_share,sk_mean_share,s0_mean_share,s_star_mean_share,\
                     s1_over_s0_mean,s1_over_s0_merges,s1_over_s0_of_totals,s0_missed";
        let cells = |graph: &GeneratedView| {
            let Summary { steps, s1, sk, s0, s_star, s1_over_s0, .. } = &graph.summary;
            vec![
                graph.branch_commits.to_string(),
                steps.to_string(),
                plain(s1.mean_share),
                plain(sk.mean_share),
                plain(s0.mean_share),
                plain(s_star.mean_share),
                plain(s1_over_s0.mean),
                s1_over_s0.steps.to_string(),
                plain(s1_over_s0.of_totals),
                s0.missed.to_string(),
            ]
        };
        csv(names.split(','), self.graphs.iter().map(cells))
    }

    pub fn text(&self) -> String {
        let mut table = headed(
            "commits per branch|merges|S1|Sk|S0|S*|mean S1/S0|over merges|S1/S0 of totals|S0 left out",
            1,
        );
        let labelled = self.graphs.iter().map(|graph| (graph.branch_commits.to_string(), &graph.summary));
        for (label, summary) in labelled.chain([(paint(Tone::Strong, "all"), &self.all)]) {
            let Summary { steps, s1, sk, s0, s_star, s1_over_s0, .. } = summary;
            let Ratio { mean, steps: over, of_totals } = *s1_over_s0;
            let shares = [s1, sk, s0, s_star].map(|means| percent(means.mean_share));
            let ratios = [factor(mean), over.to_string(), factor(of_totals), s0.missed.to_string()];
            table.row([label, steps.to_string()].into_iter().chain(shares).chain(ratios));
        }
        let mut text = table.text();
        let _ = writeln!(
            text,
            "\n{} from {} to {}: {}, {}.\nS1, Sk, S0, S*: the mean share of the tests that is selected. S0 left out: \
             tests that differ from the outcome that S0 would copy.",
            counted(self.versions, "version"),
            short(&self.oldest),
            short(&self.newest),
            counted(self.graphs.len(), "history"),
            counted(self.all.steps, "merge")
        );
        text
    }
}

impl KindView {
    /// The rows below a table of steps.
    fn footers(&self, strategies: &[Column]) -> Vec<(&'static str, Vec<String>)> {
        let row = |summary: &Summary, cell: fn(&StrategyMeans) -> String| -> Vec<String> {
            let cell = |means: &StrategyMeans| if means.steps == 0 { absent() } else { cell(means) };
            strategies.iter().map(|of| cell(of(summary))).collect()
        };
        let share = |means: &StrategyMeans| percent(means.mean_share);
        let mut rows = vec![(SHARE, row(&self.all, share))];
        if self.automatic.steps < self.all.steps {
            rows.push(("of auto ones", row(&self.automatic, share)));
        }
        rows.push(("comparisons", row(&self.all, |means| means.comparisons.to_string())));
        rows.push(("changed, yet left out", row(&self.all, |means| means.missed.to_string())));
        rows
    }
}

const SHARE: &str = "mean share of tests";

/// A strategy's figures in a summary.
type Column = fn(&Summary) -> &StrategyMeans;
const S1: Column = |summary| &summary.s1;
const SK: Column = |summary| &summary.sk;
const S0: Column = |summary| &summary.s0;
const S_STAR: Column = |summary| &summary.s_star;
const PREDICT: Column = |summary| &summary.predict;
const CHOSEN: Column = |summary| &summary.chosen;

fn ratio_sentence(all: &Summary) -> String {
    let ratio = |name: &str, below: &str, ratio: &Ratio| match ratio.mean {
        Some(mean) => format!(
            "{name}: {mean:.2} on average over the {} at which {below} selects any test; {} of the totals",
            counted(ratio.steps, "merge"),
            factor(ratio.of_totals)
        ),
        None => format!("{name}: there is no merge at which {below} selects any test"),
    };
    format!("{}\n{}", ratio("S1/S0", "S0", &all.s1_over_s0), ratio("S0/Sk", "Sk", &all.s0_over_sk))
}

fn counted(count: usize, what: &str) -> String {
    match (count, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {what}s"),
    }
}

/// A table with headings, `|` between them; the first columns are words, the others figures.
fn headed(headings: &str, words: usize) -> Table {
    let headings: Vec<String> = headings.split('|').map(|heading| paint(Tone::Strong, heading)).collect();
    let right: Vec<bool> = (0..headings.len()).map(|column| column >= words).collect();
    let mut table = Table::new(&right);
    table.row(headings);
    table
}

fn absent() -> String {
    "-".to_string()
}

fn count(measured: Option<Measured>) -> String {
    measured.map_or_else(absent, |measured| measured.selected.to_string())
}

fn factor(ratio: Option<f64>) -> String {
    ratio.map_or_else(absent, |ratio| format!("{ratio:.2}"))
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(absent, |share| format!("{:.1} %", 100.0 * share))
}

fn yes_or_no(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_string()
}

fn short(commit: &str) -> String {
    commit.chars().take(10).collect()
}

/// For scripts: nothing where there is nothing.
fn plain(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_replay_has_a_cell_for_every_name() {
        let measured = Measured { selected: 1, ..Measured::default() };
        let measurement = Measurement {
            available: 2,
            s1: measured,
            sk: None,
            s0: None,
            s_star: measured,
            predict: None,
            chosen: None,
        };
        let all = Summary::of([&measurement].into_iter());
        let step = StepView {
            kind: StepKind::Revert,
            commit: "c".to_string(),
            parents: 1,
            of: None,
            automatic: false,
            s1_over_s0: measurement.s1_over_s0(),
            s0_over_sk: measurement.s0_over_sk(),
            measurement,
        };
        let view = ReplayView {
            range: "HEAD".to_string(),
            analyser: "files",
            analysed: None,
            steps: vec![step],
            merges: KindView::default(),
            cherry_picks: KindView::default(),
            reverts: KindView { all, automatic: Summary::default() },
            left_out: LeftOutView { before_range: 0, without_source: 0, not_recorded: 0 },
            notes: Vec::new(),
        };
        let counts: Vec<usize> = view.csv().lines().map(|line| line.split(',').count()).collect();
        assert_eq!(counts, [22, 22]);
    }
}
