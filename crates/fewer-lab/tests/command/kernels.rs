//! The kernels as pipes between Arrow streams, and Parquet files as CSV: what other programs start.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use parquet::arrow::ArrowWriter;

use crate::desk::Desk;

/// What a kernel of the real program makes of a stream.
fn piped(desk: &Desk, arguments: &[&str], input: &Path) -> RecordBatch {
    let output = desk
        .command(&[&["kernel"], arguments].concat())
        .stdin(fs::File::open(input).unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut batches = StreamReader::try_new(&output.stdout[..], None).unwrap();
    let batch = batches.next().unwrap().unwrap();
    assert!(batches.next().is_none());
    batch
}

fn stream(desk: &Desk, name: &str, batch: &RecordBatch) -> PathBuf {
    let path = desk.file(name);
    let mut writer = StreamWriter::try_new(fs::File::create(&path).unwrap(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    path
}

fn text(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

#[test]
fn kernels_are_pipes_between_arrow_streams() {
    let desk = Desk::new();
    let hour = 3_600_000_000;
    let times = TimestampMicrosecondArray::from(vec![hour, 2 * hour, hour, 2 * hour]);
    let rows = RecordBatch::try_from_iter([
        ("target", text(&["x", "x", "y", "y"])),
        ("position", Arc::new(Int32Array::from(vec![0, 1, 0, 1])) as ArrayRef),
        ("time", Arc::new(times)),
        ("author", text(&["ann", "bob", "ann", "bob"])),
        ("result", text(&["pass", "fail", "pass", "pass"])),
        ("pre_submit", text(&["unknown"; 4])),
    ])
    .unwrap();
    let rows = stream(&desk, "rows.arrows", &rows);
    let labels = piped(&desk, &["a", "--labels-only"], &rows);
    assert_eq!(labels.column_by_name("label").unwrap().as_primitive::<Int8Type>().values(), &[3, 2, 3, 0]);
    let experiment = ["--algorithm", "author-count", "--window", "4"];
    desk.write("commits.txt", "1\n");
    let scored = piped(&desk, &[&["a", "--commits", "commits.txt"], &experiment[..]].concat(), &rows);
    assert_eq!(
        scored.column_by_name("author-count/4h").unwrap().as_primitive::<Int32Type>().values(),
        &[1, 1]
    );
    let scored = stream(&desk, "scored.arrows", &scored);
    let tallies = piped(&desk, &[&["b"], &experiment[..]].concat(), &scored);
    // Four configurations at 101 rates; one of two targets skipped is safe half of the time, in units of 2^-40.
    assert_eq!(tallies.num_rows(), 404);
    let safe = tallies.column_by_name("safe_at_unsafe").unwrap().as_primitive::<Int64Type>();
    let at_half = |configuration: usize| safe.value(101 * configuration + 50);
    assert_eq!([0, 1, 2, 3].map(at_half), [1 << 39, 1 << 40, 0, 1 << 39]);
    let refused = desk.lab(&["kernel", "b"]).refused();
    assert!(refused.contains("an Arrow IPC stream is needed"), "{refused}");
}

#[test]
fn any_parquet_file_is_printed_as_csv() {
    let desk = Desk::new();
    let rows = RecordBatch::try_from_iter([
        ("test", text(&["a, b", "c"])),
        ("kills", Arc::new(BooleanArray::from(vec![Some(true), None])) as ArrayRef),
        ("seconds", Arc::new(Float64Array::from(vec![0.25, 3.0]))),
    ])
    .unwrap();
    for (name, rows) in [("some.parquet", &rows), ("none.parquet", &rows.slice(0, 0))] {
        let file = fs::File::create(desk.file(name)).unwrap();
        let mut writer = ArrowWriter::try_new(file, rows.schema(), None).unwrap();
        writer.write(rows).unwrap();
        writer.close().unwrap();
    }
    let csv = desk.lab(&["rows", "some.parquet"]).expect(0);
    assert_eq!(csv, "test,kills,seconds\n\"a, b\",true,0.25\nc,,3\n");
    assert_eq!(desk.lab(&["rows", "none.parquet"]).expect(0), "test,kills,seconds\n");
    let whole = fs::read(desk.file("some.parquet")).unwrap();
    fs::write(desk.file("half.parquet"), &whole[..whole.len() / 2]).unwrap();
    let refused = desk.lab(&["rows", "half.parquet"]).refused();
    assert!(refused.contains("half.parquet is no whole Parquet file"), "{refused}");
    let refused = desk.lab(&["rows", "nowhere.parquet"]).refused();
    assert!(refused.contains("cannot read nowhere.parquet"), "{refused}");
}
