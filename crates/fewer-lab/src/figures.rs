//! The tables behind the figures of the published study, for this history, and the summary. What they look like on
//! paper is somebody else's business.

use serde::Serialize;

use crate::algorithms::{Algorithm, Configuration, Hours};
use crate::clean::TransitionSources;
use crate::curves::{Curve, Measure};
use crate::engine::Simulation;
use crate::table::{Cell, Column, Table};
use crate::tally::commits;

/// The skip rate at which windows are compared.
const HALF: usize = 50;

/// What figures are made of.
pub struct Findings<'f> {
    pub simulation: &'f Simulation,
    /// The same history before cleaning, if it was run too.
    pub raw: Option<&'f Simulation>,
    /// What cleaning found, if the history was cleaned.
    pub sources: Option<&'f TransitionSources>,
}

/// What an algorithm comes to, with the windows that suit it best.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AlgorithmSummary {
    pub algorithm: Algorithm,
    pub best: Configuration,
    /// Under the curve of safe selections by All, of 1.
    pub area_all: f64,
    /// The same by Any.
    pub area_any: f64,
    /// How much of the optimal area is missing.
    pub gap_to_optimal: f64,
    /// How much more than random.
    pub gap_to_random: f64,
    /// Safe selections at half of the targets skipped.
    pub safe_at_half: f64,
}

impl Findings<'_> {
    /// Every figure that there is data for, and every curve.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.flakiness()];
        tables.extend(self.sources.map(TransitionSources::table));
        tables.push(self.example());
        let curves = [
            (4, Measure::SafeAll, "Safe selections at commits with transitions"),
            (5, Measure::UnsafeAll, "Unsafe selections at commits with unsafe targets"),
            (6, Measure::MaybeUnsafeAll, "Maybe-unsafe selections at commits with maybe-unsafe targets"),
            (7, Measure::SafeAny, "Safe selections at commits with transitions, any transition suffices"),
        ];
        tables.extend(curves.map(|(number, measure, title)| self.compared(number, measure, title)));
        tables.push(self.windows());
        tables.push(self.all_curves());
        tables.push(self.summary_table());
        tables
    }

    /// In the order of algorithms; those without any commit to judge by are left out.
    pub fn summary(&self) -> Vec<AlgorithmSummary> {
        let simulation = self.simulation;
        let area = |algorithm: Algorithm| {
            let best = simulation.best(algorithm, Measure::SafeAll)?;
            Some(simulation.curve(&best, Measure::SafeAll)?.area())
        };
        let (optimal, random) = (area(Algorithm::Optimal), area(Algorithm::Random));
        let summary = |algorithm| {
            let best = simulation.best(algorithm, Measure::SafeAll)?;
            let all = simulation.curve(&best, Measure::SafeAll)?;
            let any = simulation.curve(&best, Measure::SafeAny)?;
            Some(AlgorithmSummary {
                algorithm,
                best,
                area_all: all.area(),
                area_any: any.area(),
                gap_to_optimal: optimal? - all.area(),
                gap_to_random: all.area() - random?,
                safe_at_half: all.at(HALF),
            })
        };
        simulation.algorithms().into_iter().filter_map(summary).collect()
    }

    /// Figure 1: missed transitions with and without flaky executions, of all commits.
    fn flakiness(&self) -> Table {
        let columns = [("data", Column::TEXT), ("skip_rate", Column::INTEGER), ("share", Column::NUMBER)];
        let title = "Commits with an unsafe selection by the transition count, with and without cleaning";
        let mut table = Table::new("figure-1", title, &columns);
        let Some(best) = self.simulation.best(Algorithm::TransitionCount, Measure::SafeAll) else {
            return table;
        };
        for (data, simulation) in [("raw", self.raw), ("clean", Some(self.simulation))] {
            let tally =
                simulation.and_then(|simulation| Some((simulation.commits, simulation.tally(&best)?)));
            let Some((all, tally)) = tally else { continue };
            for (rate, sums) in tally.sums.iter().enumerate() {
                let share = commits(sums.unsafe_skipped) / (all as f64).max(1.0);
                table.row([data.into(), (rate as i64).into(), share.into()]);
            }
        }
        table
    }

    /// Figure 3: a target's results and labels.
    fn example(&self) -> Table {
        let columns = [
            ("target", Column::TEXT),
            ("position", Column::INTEGER),
            ("result", Column::TEXT),
            ("label", Column::TEXT),
        ];
        let example = &self.simulation.example;
        let mut table = Table::new("figure-3", "Results and safety of one target across commits", &columns);
        for row in &example.rows {
            table.row([
                example.target.as_str().into(),
                i64::from(row.position).into(),
                row.outcome.word().into(),
                row.label.word().into(),
            ]);
        }
        table
    }

    /// Figures 4 to 7: each algorithm with its best windows.
    fn compared(&self, number: u8, measure: Measure, title: &str) -> Table {
        let mut table = Table::new(format!("figure-{number}"), title, &curve_columns());
        for algorithm in self.simulation.algorithms() {
            let best = self.simulation.best(algorithm, measure);
            let curve = best.and_then(|best| Some((best, self.simulation.curve(&best, measure)?)));
            if let Some((best, curve)) = curve {
                add_curve(&mut table, &best, measure, &curve);
            }
        }
        table
    }

    /// Figure 8: safe selections at half of the targets skipped, by window.
    fn windows(&self) -> Table {
        let columns = [
            ("algorithm", Column::TEXT),
            ("varied", Column::TEXT),
            ("hours", Column::INTEGER),
            ("share", Column::NUMBER),
        ];
        let title = "Safe selections at a skip rate of 50 %, by window";
        let mut table = Table::new("figure-8", title, &columns);
        for algorithm in self.simulation.algorithms() {
            let Some(best) = self.simulation.best(algorithm, Measure::SafeAll) else { continue };
            let of_algorithm = || {
                let tallies = self.simulation.tallies.iter();
                tallies.filter(move |(one, _)| one.algorithm == algorithm).map(|(one, _)| *one)
            };
            let with_window: Vec<_> = of_algorithm().filter(|one| one.milestone == best.milestone).collect();
            let with_milestone: Vec<_> = of_algorithm().filter(|one| one.window == best.window).collect();
            let mut add = |varied: &str, configuration: &Configuration, hours: Option<Hours>| {
                let curve = self.simulation.curve(configuration, Measure::SafeAll);
                if let (Some(hours), Some(curve)) = (hours, curve) {
                    let share = curve.at(HALF);
                    table.row([
                        algorithm.word().into(),
                        varied.into(),
                        i64::from(hours.0).into(),
                        share.into(),
                    ]);
                }
            };
            with_window.iter().for_each(|one| add("window", one, one.window));
            with_milestone.iter().for_each(|one| add("milestone", one, one.milestone));
        }
        table
    }

    fn all_curves(&self) -> Table {
        let mut table = Table::new("curves", "Every configuration and measure", &curve_columns());
        for (configuration, tally) in &self.simulation.tallies {
            for measure in Measure::ALL {
                if let Some(curve) = measure.curve(tally) {
                    add_curve(&mut table, configuration, measure, &curve);
                }
            }
        }
        table
    }

    fn summary_table(&self) -> Table {
        let columns = [
            ("algorithm", Column::TEXT),
            ("window_h", Column::INTEGER),
            ("milestone_h", Column::INTEGER),
            ("area_all", Column::NUMBER),
            ("area_any", Column::NUMBER),
            ("gap_to_optimal", Column::NUMBER),
            ("gap_to_random", Column::NUMBER),
            ("safe_at_half", Column::NUMBER),
        ];
        let mut table = Table::new("summary", "Each algorithm with the windows that suit it best", &columns);
        for one in self.summary() {
            table.row([
                one.algorithm.word().into(),
                hours(one.best.window),
                hours(one.best.milestone),
                one.area_all.into(),
                one.area_any.into(),
                one.gap_to_optimal.into(),
                one.gap_to_random.into(),
                one.safe_at_half.into(),
            ]);
        }
        table
    }
}

fn curve_columns() -> [(&'static str, Column); 6] {
    [
        ("algorithm", Column::TEXT),
        ("window_h", Column::INTEGER),
        ("milestone_h", Column::INTEGER),
        ("measure", Column::TEXT),
        ("skip_rate", Column::INTEGER),
        ("share", Column::NUMBER),
    ]
}

fn add_curve(table: &mut Table, configuration: &Configuration, measure: Measure, curve: &Curve) {
    for (rate, share) in curve.0.iter().enumerate() {
        table.row([
            configuration.algorithm.word().into(),
            hours(configuration.window),
            hours(configuration.milestone),
            measure.word().into(),
            (rate as i64).into(),
            (*share).into(),
        ]);
    }
}

fn hours(hours: Option<Hours>) -> Cell {
    hours.map(|hours| i64::from(hours.0)).into()
}
