//! Kernel A over record batches: rows sorted by target and position in, positions with labels and scores out.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array, Int32Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::survey::Survey;
use super::{Kernel, column, wrong_type};
use crate::algorithms::Configuration;
use crate::error::LabError;
use crate::label::{Label, Outcome, label};
use crate::records::{PreSubmit, RowState, Strings, integers, merge_rerun, microseconds, schema};
use crate::scores::directories::{Directories, TargetDirectory};
use crate::scores::{Scorer, TargetRows};

/// Rows after which a batch is given out.
const BATCH: usize = 1 << 16;

/// What comes out.
#[derive(Clone, Debug, Default)]
pub struct TargetKernelOptions {
    /// None for labels alone: then excluded rows come out too.
    pub configurations: Vec<Configuration>,
    /// Only the rows of these commits, if given.
    pub commits: Option<RoaringBitmap>,
    /// What can be said of all rows together, instead of rows.
    pub is_survey: bool,
}

/// Kernel A.
pub struct TargetKernel<'d> {
    commits: Option<RoaringBitmap>,
    scorer: Scorer<'d>,
    directories: Option<&'d Directories>,
    authors: FxHashMap<Box<str>, u32>,
    target: Option<Box<str>>,
    rows: Rows,
    wanted: Vec<u32>,
    schema: SchemaRef,
    positions: Vec<i32>,
    labels: Vec<i8>,
    columns: Vec<Vec<u32>>,
    survey: Option<Survey>,
}

/// The target at hand.
#[derive(Default)]
struct Rows {
    positions: Vec<u32>,
    times: Vec<i64>,
    authors: Vec<u32>,
    outcomes: Vec<Outcome>,
    pre_submit: Vec<PreSubmit>,
    labels: Vec<Label>,
}

impl<'d> TargetKernel<'d> {
    pub fn new(options: TargetKernelOptions, directories: Option<&'d Directories>) -> TargetKernel<'d> {
        let mut fields = vec![
            Field::new(schema::POSITION, DataType::Int32, false),
            Field::new("label", DataType::Int8, false),
        ];
        let scores = options.configurations.iter().map(ToString::to_string);
        fields.extend(scores.map(|name| Field::new(name, DataType::Int32, false)));
        TargetKernel {
            columns: vec![Vec::new(); options.configurations.len()],
            scorer: Scorer::new(options.configurations, directories),
            commits: options.commits,
            directories,
            authors: FxHashMap::default(),
            target: None,
            rows: Rows::default(),
            wanted: Vec::new(),
            schema: Arc::new(Schema::new(fields)),
            positions: Vec::new(),
            labels: Vec::new(),
            survey: options.is_survey.then(Survey::default),
        }
    }

    fn row(&mut self, position: u32, time: i64, author: Option<&str>, state: RowState) {
        let next = self.authors.len() as u32;
        // No author is an author too, so that histories without any have equal ones.
        let author = match self.authors.get(author.unwrap_or_default()) {
            Some(&known) => known,
            None => *self.authors.entry(author.unwrap_or_default().into()).or_insert(next),
        };
        if !self.rows.push(position, time, author, state)
            && let Some(survey) = &mut self.survey
        {
            survey.add_rerun();
        }
    }

    /// Labels and scores the target at hand.
    fn conclude(&mut self) {
        let rows = &mut self.rows;
        rows.labels.clear();
        rows.labels.resize(rows.outcomes.len(), Label::Safe);
        label(&rows.outcomes, &mut rows.labels);
        if let Some(survey) = &mut self.survey {
            if let Some(target) = &self.target {
                survey.add(target, &rows.positions, &rows.outcomes, &rows.labels);
            }
            rows.clear();
            return;
        }
        let is_scored = !self.columns.is_empty();
        let is_wanted = |row: &u32| {
            let row = *row as usize;
            let position = rows.positions[row];
            (!is_scored || !rows.labels[row].is_excluded())
                && self.commits.as_ref().is_none_or(|commits| commits.contains(position))
        };
        self.wanted.clear();
        self.wanted.extend((0..rows.labels.len() as u32).filter(is_wanted));
        let wanted = self.wanted.iter().map(|&row| row as usize);
        self.positions.extend(wanted.clone().map(|row| rows.positions[row] as i32));
        self.labels.extend(wanted.map(|row| rows.labels[row] as i8));
        if is_scored && !self.wanted.is_empty() {
            let name = self.target.as_deref().unwrap_or_default();
            let directory: Option<TargetDirectory> = self.directories.map(|all| all.target(name));
            self.scorer.score(&rows.view(), directory.as_ref(), &self.wanted, &mut self.columns);
        }
        rows.clear();
    }

    fn take(&mut self) -> RecordBatch {
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(Int32Array::from(std::mem::take(&mut self.positions))),
            Arc::new(Int8Array::from(std::mem::take(&mut self.labels))),
        ];
        for column in &mut self.columns {
            let scores = std::mem::take(column).into_iter().map(|score| score as i32);
            columns.push(Arc::new(scores.collect::<Int32Array>()));
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns).expect("the columns are those of the schema")
    }
}

impl Kernel for TargetKernel<'_> {
    fn push(&mut self, batch: &RecordBatch) -> Result<Option<RecordBatch>, LabError> {
        let (mut positions, mut times) = (Vec::new(), Vec::new());
        if !integers(column(batch, schema::POSITION)?, &mut positions) {
            return Err(wrong_type(batch, schema::POSITION, "an integer"));
        }
        if !microseconds(column(batch, schema::TIME)?, &mut times) {
            return Err(wrong_type(batch, schema::TIME, "a timestamp"));
        }
        let text = |name| Strings::of(column(batch, name)?).ok_or_else(|| wrong_type(batch, name, "text"));
        let (targets, authors) = (text(schema::TARGET)?, text(schema::AUTHOR)?);
        let (results, states) = (text(schema::RESULT)?, text(schema::PRE_SUBMIT)?);
        for row in 0..batch.num_rows() {
            let target = targets.get(row).unwrap_or_default();
            if self.target.as_deref() != Some(target) {
                self.conclude();
                self.target = Some(target.into());
            }
            let outcome = schema::outcome(results.get(row)).map_err(LabError::Kernel)?;
            let pre_submit = schema::pre_submit(states.get(row)).map_err(LabError::Kernel)?;
            let position = u32::try_from(positions[row])
                .map_err(|_| LabError::Kernel(format!("position {} is below 0", positions[row])))?;
            if self.rows.positions.last().is_some_and(|&last| last > position) {
                return Err(LabError::Kernel(format!(
                    "the rows of target '{target}' are not sorted by position"
                )));
            }
            self.row(position, times[row], authors.get(row), RowState::new(outcome, pre_submit));
        }
        Ok((self.positions.len() >= BATCH).then(|| self.take()))
    }

    fn finish(&mut self) -> Result<RecordBatch, LabError> {
        self.conclude();
        match &self.survey {
            Some(survey) => survey.batch(),
            None => Ok(self.take()),
        }
    }
}

impl Rows {
    /// Adds a row; false where it was merged with the one before.
    fn push(&mut self, position: u32, time: i64, author: u32, state: RowState) -> bool {
        if self.positions.last() == Some(&position) {
            let last = self.outcomes.len() - 1;
            let merged = merge_rerun(RowState::new(self.outcomes[last], self.pre_submit[last]), state);
            (self.outcomes[last], self.pre_submit[last]) = (merged.outcome(), merged.pre_submit());
            return false;
        }
        self.positions.push(position);
        self.times.push(time);
        self.authors.push(author);
        self.outcomes.push(state.outcome());
        self.pre_submit.push(state.pre_submit());
        true
    }

    fn view(&self) -> TargetRows<'_> {
        TargetRows {
            positions: &self.positions,
            times: &self.times,
            authors: &self.authors,
            outcomes: &self.outcomes,
            pre_submit: &self.pre_submit,
        }
    }

    fn clear(&mut self) {
        self.positions.clear();
        self.times.clear();
        self.authors.clear();
        self.outcomes.clear();
        self.pre_submit.clear();
    }
}
