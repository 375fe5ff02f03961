//! Kernel B over record batches: rows sorted by position in (label and scores, as kernel A gives them), the tally of
//! every configuration out, as integers.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};

use super::{Kernel, column, wrong_type};
use crate::algorithms::{Algorithm, Configuration, Experiment};
use crate::error::LabError;
use crate::expectation::{RATES, draw, expect};
use crate::groups::{Group, Grouper, Totals};
use crate::label::Label;
use crate::random::Draws;
use crate::records::{Strings, integers, schema};
use crate::tally::{Sums, Tally};

/// The columns that are added up, of each configuration and rate.
pub const TALLY_COLUMNS: [&str; 7] = [
    "unsafe_commits",
    "maybe_commits",
    "safe_at_unsafe",
    "safe_at_maybe",
    "unsafe_skipped",
    "all_skipped_at_unsafe",
    "all_skipped_at_maybe",
];

/// Kernel B.
pub struct CommitKernel {
    scored: Vec<Configuration>,
    evaluators: Vec<Evaluator>,
    position: Option<i64>,
    labels: Vec<Label>,
    scores: Vec<Vec<u32>>,
}

/// Tallies one configuration, commit by commit.
pub struct Evaluator {
    pub configuration: Configuration,
    number: u64,
    sample: Option<u64>,
    grouper: Grouper,
    pub tally: Tally,
}

impl Evaluator {
    /// One per configuration, in the experiment's order.
    pub fn all(experiment: &Experiment) -> Vec<Evaluator> {
        let configurations = experiment.configurations();
        let evaluator = |(number, configuration)| Evaluator {
            configuration,
            number,
            sample: experiment.sample,
            grouper: Grouper::default(),
            tally: Tally::default(),
        };
        (0..).zip(configurations).map(evaluator).collect()
    }

    /// Adds a commit with a transition; `scores` is empty for a baseline.
    pub fn add(&mut self, position: u32, totals: &Totals, labels: &[Label], scores: &[u32]) {
        let baseline: Vec<Group>;
        let groups = match self.configuration.algorithm {
            Algorithm::Random => {
                baseline = totals.random();
                &baseline
            }
            Algorithm::Optimal => {
                baseline = totals.optimal();
                &baseline
            }
            Algorithm::Pessimal => {
                baseline = totals.pessimal();
                &baseline
            }
            Algorithm::TransitionCount
            | Algorithm::AffectedCount
            | Algorithm::AuthorCount
            | Algorithm::PreSubmit
            | Algorithm::SharedDirectories => self.grouper.group(scores, labels),
        };
        let chances = match self.sample {
            None => expect(groups, totals),
            Some(seed) => draw(groups, totals, &mut Draws::new(&[seed, u64::from(position), self.number])),
        };
        self.tally.add(&chances, totals);
    }
}

impl CommitKernel {
    pub fn new(experiment: &Experiment) -> CommitKernel {
        let scored = experiment.scored();
        CommitKernel {
            evaluators: Evaluator::all(experiment),
            position: None,
            labels: Vec::new(),
            scores: vec![Vec::new(); scored.len()],
            scored,
        }
    }

    /// Evaluates the commit at hand.
    fn conclude(&mut self) {
        let totals = Totals::of(&self.labels);
        if let (Some(position), true) = (self.position, totals.has_transition()) {
            let baselines = self.evaluators.len() - self.scores.len();
            for (number, evaluator) in self.evaluators.iter_mut().enumerate() {
                let scores = number.checked_sub(baselines).map_or(&[][..], |scored| &self.scores[scored]);
                evaluator.add(position as u32, &totals, &self.labels, scores);
            }
        }
        self.labels.clear();
        self.scores.iter_mut().for_each(Vec::clear);
    }
}

impl Kernel for CommitKernel {
    fn push(&mut self, batch: &RecordBatch) -> Result<Option<RecordBatch>, LabError> {
        let mut positions = Vec::new();
        if !integers(column(batch, schema::POSITION)?, &mut positions) {
            return Err(wrong_type(batch, schema::POSITION, "an integer"));
        }
        let labels = column(batch, "label")?
            .as_primitive_opt::<Int8Type>()
            .ok_or_else(|| wrong_type(batch, "label", "an 8-bit integer"))?;
        let score_columns = self.scored.iter().map(|configuration| {
            let name = configuration.to_string();
            let scores = column(batch, &name)?.as_primitive_opt::<Int32Type>();
            scores.ok_or_else(|| wrong_type(batch, &name, "a 32-bit integer"))
        });
        let score_columns: Vec<&Int32Array> = score_columns.collect::<Result<_, LabError>>()?;
        for (row, &position) in positions.iter().enumerate() {
            if self.position != Some(position) {
                if self.position.is_some_and(|last| last > position) {
                    return Err(LabError::Kernel("its rows are not sorted by position".to_string()));
                }
                self.conclude();
                self.position = Some(position);
            }
            let label = usize::try_from(labels.value(row)).ok().and_then(|label| Label::ALL.get(label));
            let unknown = || LabError::Kernel(format!("{} is no label", labels.value(row)));
            self.labels.push(*label.ok_or_else(unknown)?);
            for (scores, column) in self.scores.iter_mut().zip(&score_columns) {
                scores.push(column.value(row) as u32);
            }
        }
        Ok(None)
    }

    fn finish(&mut self) -> Result<RecordBatch, LabError> {
        self.conclude();
        let tallies: Vec<(String, &Tally)> = self
            .evaluators
            .iter()
            .map(|evaluator| (evaluator.configuration.to_string(), &evaluator.tally))
            .collect();
        Ok(batch_of(&tallies))
    }
}

/// Reads tallies back and adds them up: rows of several partitions, in any order, give those of the whole.
pub fn tallies(experiment: &Experiment, batches: &[RecordBatch]) -> Result<Vec<Tally>, LabError> {
    let names: Vec<String> = experiment.configurations().iter().map(ToString::to_string).collect();
    let mut tallies = vec![Tally::default(); names.len()];
    for batch in batches {
        let configurations = Strings::of(column(batch, "configuration")?)
            .ok_or_else(|| wrong_type(batch, "configuration", "text"))?;
        let numbers = |name| {
            let numbers = column(batch, name)?.as_primitive_opt::<Int64Type>();
            numbers.ok_or_else(|| wrong_type(batch, name, "a 64-bit integer"))
        };
        let rates = numbers("rate")?;
        let columns = TALLY_COLUMNS.into_iter().map(numbers).collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let name = configurations.get(row).unwrap_or_default();
            let unknown = || LabError::Kernel(format!("'{name}' is no configuration of this experiment"));
            let tally = names.iter().position(|known| known == name).ok_or_else(unknown)?;
            let tally = &mut tallies[tally];
            let rate = rates.value(row) as usize;
            let value = |column: usize| columns[column].value(row);
            if rate == 0 {
                tally.unsafe_commits += value(0) as u64;
                tally.maybe_commits += value(1) as u64;
            }
            let sums =
                tally.sums.get_mut(rate).ok_or_else(|| LabError::Kernel(format!("{rate} is no rate")))?;
            sums.safe_at_unsafe += value(2);
            sums.safe_at_maybe += value(3);
            sums.unsafe_skipped += value(4);
            sums.all_skipped_at_unsafe += value(5);
            sums.all_skipped_at_maybe += value(6);
        }
    }
    Ok(tallies)
}

/// A row per configuration and rate.
fn batch_of(tallies: &[(String, &Tally)]) -> RecordBatch {
    let rows = || tallies.iter().flat_map(|(name, tally)| (0..RATES).map(move |rate| (name, tally, rate)));
    let integers = |value: &dyn Fn(&Tally, usize) -> i64| -> ArrayRef {
        Arc::new(rows().map(|(_, tally, rate)| value(tally, rate)).collect::<Int64Array>())
    };
    let sum = |value: fn(&Sums) -> i64| integers(&move |tally, rate| value(&tally.sums[rate]));
    let names = StringArray::from_iter_values(rows().map(|(name, _, _)| name));
    let added: [ArrayRef; 7] = [
        integers(&|tally, _| tally.unsafe_commits as i64),
        integers(&|tally, _| tally.maybe_commits as i64),
        sum(|sums| sums.safe_at_unsafe),
        sum(|sums| sums.safe_at_maybe),
        sum(|sums| sums.unsafe_skipped),
        sum(|sums| sums.all_skipped_at_unsafe),
        sum(|sums| sums.all_skipped_at_maybe),
    ];
    let mut columns: Vec<(&str, ArrayRef)> =
        vec![("configuration", Arc::new(names)), ("rate", integers(&|_, rate| rate as i64))];
    columns.extend(TALLY_COLUMNS.into_iter().zip(added));
    let fields = columns.iter().map(|(name, column)| {
        let kind = if *name == "configuration" { DataType::Utf8 } else { column.data_type().clone() };
        Field::new(*name, kind, false)
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    RecordBatch::try_new(schema, columns).expect("the columns are those of the schema")
}
