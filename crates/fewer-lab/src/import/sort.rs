//! Bringing imported rows into the order of time once all commits are known: a range of positions after the other, as
//! much as fits memory. Rows that came nearly sorted are read once or twice.

use std::fs;

use arrow_array::RecordBatch;

use super::intake::Commit;
use crate::error::LabError;
use crate::records::{ExecutionBatch, ExecutionsFile, HistoryWriter, Piece, integers, schema};

/// Rows in memory at a time.
const ROWS: u64 = 2 << 20;
const PIECE: usize = 1 << 17;

/// Rewrites the executions: `positions` has the place of each commit by its number, which rows have so far.
pub fn sort(writer: &mut HistoryWriter, positions: &[u32], commits: &[Commit]) -> Result<(), LabError> {
    let aside = writer.set_aside()?;
    let file = ExecutionsFile::open(&aside)?;
    let mut rows = vec![0u64; positions.len()];
    let mut pieces = Vec::new();
    for piece in file.pieces(PIECE) {
        let reach = reach(&file, &piece, positions, &mut rows)?;
        pieces.push((piece, reach));
    }
    for range in ranges(&rows) {
        let in_range = pieces.iter().filter(|(_, (least, most))| *least < range.1 && *most >= range.0);
        let in_range: Vec<Piece> = in_range.map(|(piece, _)| *piece).collect();
        write_range(writer, &file, &in_range, range, positions, commits)?;
    }
    fs::remove_file(&aside).map_err(LabError::io("remove", &aside))
}

/// The least and the greatest position of a piece; counts its rows.
fn reach(
    file: &ExecutionsFile,
    piece: &Piece,
    positions: &[u32],
    rows: &mut [u64],
) -> Result<(u32, u32), LabError> {
    let (mut least, mut most, mut numbers) = (u32::MAX, 0, Vec::new());
    for batch in file.batches(piece, &[schema::POSITION])? {
        integers(batch?.column(0), &mut numbers);
        for &number in &numbers {
            let position = positions[number as usize];
            (least, most) = (least.min(position), most.max(position));
            rows[position as usize] += 1;
        }
    }
    Ok((least, most))
}

/// Ranges of positions with so many rows, or one commit.
fn ranges(rows: &[u64]) -> Vec<(u32, u32)> {
    let (mut ranges, mut start, mut sum) = (Vec::new(), 0, 0);
    for (position, &more) in (0..).zip(rows) {
        if sum > 0 && sum + more > ROWS {
            ranges.push((start, position));
            (start, sum) = (position, 0);
        }
        sum += more;
    }
    ranges.push((start, rows.len() as u32));
    ranges
}

fn write_range(
    writer: &mut HistoryWriter,
    file: &ExecutionsFile,
    pieces: &[Piece],
    (start, end): (u32, u32),
    positions: &[u32],
    commits: &[Commit],
) -> Result<(), LabError> {
    let columns = ExecutionBatch::columns(file);
    let mut batches: Vec<RecordBatch> = Vec::new();
    for piece in pieces {
        for batch in file.batches(piece, &columns)? {
            batches.push(batch?);
        }
    }
    let readers: Vec<ExecutionBatch<'_>> = batches.iter().map(ExecutionBatch::of).collect();
    let bad = |problem| LabError::Contradiction { path: file.path.clone(), problem };
    let mut order = Vec::new();
    for (number, reader) in readers.iter().enumerate() {
        for row in 0..batches[number].num_rows() {
            let position = positions[reader.position(row).map_err(bad)? as usize];
            if (start..end).contains(&position) {
                order.push((position, number as u32, row as u32));
            }
        }
    }
    // Within a commit, rows stay as they came.
    order.sort_unstable();
    for (position, number, row) in order {
        let mut execution = readers[number as usize].get(row as usize).map_err(bad)?;
        execution.time = commits[execution.position as usize].time;
        execution.position = position;
        writer.push(&execution)?;
    }
    Ok(())
}
