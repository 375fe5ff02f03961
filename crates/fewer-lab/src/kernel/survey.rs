//! What kernel A says of many targets together: where their rows went, which commits have transitions. One row of
//! text, so that surveys of parts of a history can be brought together anywhere.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use crate::engine::ExampleRow;
use crate::engine::embedded::Labelled;
use crate::error::LabError;
use crate::label::{Label, Outcome};

const COLUMN: &str = "survey";

/// Of some targets.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Survey {
    pub labelled: Labelled,
    /// Positions of commits with rows.
    #[serde(with = "crate::positions")]
    pub commits: RoaringBitmap,
}

impl Survey {
    /// Adds a target's rows, reruns merged.
    pub fn add(&mut self, target: &str, positions: &[u32], outcomes: &[Outcome], labels: &[Label]) {
        let labelled = &mut self.labelled;
        labelled.targets += 1;
        labelled.counts.rows += positions.len() as u64;
        labels.iter().for_each(|&label| labelled.counts.count(label));
        self.commits.extend(positions);
        let rows = positions.iter().zip(outcomes).zip(labels);
        let rows = rows.map(|((&position, &outcome), &label)| ExampleRow { position, outcome, label });
        let transitions = rows.clone().filter(|row| row.label.is_transition());
        labelled.transitions.extend(transitions.map(|row| row.position));
        labelled.offer(target, labels, rows);
    }

    /// A further execution at one commit.
    pub fn add_rerun(&mut self) {
        self.labelled.counts.rows += 1;
        self.labelled.counts.reruns += 1;
    }

    /// Adds other targets' survey.
    pub fn merge(&mut self, other: Survey) {
        self.labelled.merge(other.labelled);
        self.commits |= other.commits;
    }

    pub fn batch(&self) -> Result<RecordBatch, LabError> {
        let text = serde_json::to_string(self)
            .map_err(|error| LabError::Kernel(format!("the survey cannot be written: {error}")))?;
        let column: ArrayRef = Arc::new(StringArray::from(vec![text]));
        RecordBatch::try_from_iter([(COLUMN, column)]).map_err(|error| LabError::Kernel(error.to_string()))
    }

    /// Brings the surveys of parts together, a JSON document a line.
    pub fn read(lines: &str) -> Result<Survey, LabError> {
        let mut all = Survey::default();
        for line in lines.lines() {
            let part = serde_json::from_str(line)
                .map_err(|error| LabError::Kernel(format!("a survey cannot be read: {error}")))?;
            all.merge(part);
        }
        Ok(all)
    }
}
