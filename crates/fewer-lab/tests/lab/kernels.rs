//! The kernels over Arrow streams give bit by bit what the embedded engine gives, however rows are cut into batches
//! and partitions.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_select::concat::concat_batches;
use arrow_select::take::take;
use fewer_lab::engine::embedded::read_directories;
use fewer_lab::generate::Shape;
use fewer_lab::kernel::{CommitKernel, Kernel, Survey, TargetKernel, TargetKernelOptions, pipe, tallies};
use fewer_lab::{Experiment, Label, Tally};

use crate::workbench::Workbench;

/// All rows of a history in one batch.
fn all_rows(workbench: &Workbench) -> RecordBatch {
    let executions = workbench.history().executions;
    let columns = ["position", "time", "author", "target", "result", "pre_submit"];
    let batches = executions.pieces(1 << 20).into_iter().flat_map(|piece| {
        executions.batches(&piece, &columns).unwrap().map(Result::unwrap).collect::<Vec<_>>()
    });
    let batches: Vec<RecordBatch> = batches.collect();
    concat_batches(&batches[0].schema(), &batches).unwrap()
}

fn sorted_by_key<K: Ord>(batch: &RecordBatch, key: impl Fn(usize) -> K) -> RecordBatch {
    let mut order: Vec<u32> = (0..batch.num_rows() as u32).collect();
    order.sort_by_key(|&row| key(row as usize));
    let order = UInt32Array::from(order);
    let columns: Vec<ArrayRef> =
        batch.columns().iter().map(|column| take(column, &order, None).unwrap()).collect();
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

fn by_target(batch: &RecordBatch) -> RecordBatch {
    let targets = batch.column_by_name("target").unwrap().as_dictionary::<Int32Type>();
    let names = targets.values().as_string::<i32>();
    let positions = batch.column_by_name("position").unwrap().as_primitive::<Int32Type>();
    sorted_by_key(batch, |row| {
        (names.value(targets.keys().value(row) as usize).to_string(), positions.value(row))
    })
}

fn by_position(batch: &RecordBatch) -> RecordBatch {
    let positions = batch.column_by_name("position").unwrap().as_primitive::<Int32Type>();
    sorted_by_key(batch, |row| positions.value(row))
}

/// Through Arrow IPC, in batches of so many rows.
fn through(kernel: &mut impl Kernel, batch: &RecordBatch, rows: usize) -> RecordBatch {
    let mut input = Vec::new();
    let mut writer = StreamWriter::try_new(&mut input, &batch.schema()).unwrap();
    for start in (0..batch.num_rows()).step_by(rows) {
        writer.write(&batch.slice(start, rows.min(batch.num_rows() - start))).unwrap();
    }
    writer.finish().unwrap();
    let mut output = Vec::new();
    pipe(kernel, &input[..], &mut output).unwrap();
    let reader = StreamReader::try_new(&output[..], None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

#[test]
fn piped_kernels_give_the_tallies_of_the_embedded_engine() {
    let shape = Shape { commits: 200, targets: 150, breaks: 0.2, ..Shape::of_rows(8_000, 11) };
    let workbench = Workbench::generated(&shape);
    for experiment in [Experiment::default(), Experiment { sample: Some(5), ..Experiment::default() }] {
        let embedded = workbench.run(&experiment);
        let rows = by_target(&all_rows(&workbench));
        let directories = read_directories(&workbench.history().modified_files().unwrap()).unwrap();
        let options =
            TargetKernelOptions { configurations: experiment.scored(), ..TargetKernelOptions::default() };
        let scored = through(&mut TargetKernel::new(options, Some(&directories)), &rows, 999);
        let scored = by_position(&scored);
        // Two partitions, cut between commits.
        let positions = scored.column_by_name("position").unwrap().as_primitive::<Int32Type>();
        let cut = positions.values().partition_point(|&position| position < 77);
        let parts = [scored.slice(0, cut), scored.slice(cut, scored.num_rows() - cut)];
        let parts = parts.map(|part| through(&mut CommitKernel::new(&experiment), &part, 1000));
        let piped = tallies(&experiment, &parts).unwrap();
        let expected: Vec<Tally> = embedded.tallies.into_iter().map(|(_, tally)| tally).collect();
        assert!(piped == expected);
    }
}

#[test]
fn labels_alone_account_for_every_row_and_tell_which_commits_to_score() {
    let shape = Shape { commits: 150, targets: 100, breaks: 0.05, ..Shape::of_rows(4_000, 13) };
    let workbench = Workbench::generated(&shape);
    let experiment = Experiment { windows: vec![], milestones: vec![], ..Experiment::default() };
    let embedded = workbench.run(&experiment);
    let rows = by_target(&all_rows(&workbench));
    let labels = through(&mut TargetKernel::new(TargetKernelOptions::default(), None), &rows, 512);
    let column = labels.column_by_name("label").unwrap().as_primitive::<Int8Type>();
    let count = |label: Label| column.values().iter().filter(|&&found| found == label as i8).count() as u64;
    let counts = embedded.counts;
    assert_eq!(
        Label::ALL.map(count),
        [
            counts.safe,
            counts.maybe_unsafe,
            counts.unsafe_rows,
            counts.no_earlier_result,
            counts.after_last_result
        ]
    );
    let positions = labels.column_by_name("position").unwrap().as_primitive::<Int32Type>();
    let marked = column.values().iter().zip(positions.values()).filter(|(label, _)| matches!(label, 1 | 2));
    let commits = marked.map(|(_, &position)| position as u32).collect();
    // Scores of these commits alone give the same tallies.
    let options =
        TargetKernelOptions { configurations: experiment.scored(), commits: Some(commits), is_survey: false };
    let directories = read_directories(&workbench.history().modified_files().unwrap()).unwrap();
    let scored = through(&mut TargetKernel::new(options, Some(&directories)), &rows, 4096);
    assert!(scored.num_rows() < labels.num_rows() * 9 / 10);
    let part = through(&mut CommitKernel::new(&experiment), &by_position(&scored), 4096);
    let piped = tallies(&experiment, &[part]).unwrap();
    assert!(piped == embedded.tallies.into_iter().map(|(_, tally)| tally).collect::<Vec<_>>());
}

#[test]
fn surveys_of_parts_say_together_what_the_embedded_engine_says() {
    let workbench = Workbench::generated(&Shape { commits: 150, targets: 100, ..Shape::of_rows(4_000, 17) });
    let embedded =
        workbench.run(&Experiment { windows: vec![], milestones: vec![], ..Experiment::default() });
    let rows = by_target(&all_rows(&workbench));
    let targets = rows.column_by_name("target").unwrap().as_dictionary::<Int32Type>();
    let names = targets.values().as_string::<i32>();
    let name = |row: usize| names.value(targets.keys().value(row) as usize);
    // Between two targets.
    let cut = (rows.num_rows() / 2..).find(|&row| name(row) != name(row - 1)).unwrap();
    let surveyed = [rows.slice(0, cut), rows.slice(cut, rows.num_rows() - cut)].map(|part| {
        let options = TargetKernelOptions { is_survey: true, ..TargetKernelOptions::default() };
        let survey = through(&mut TargetKernel::new(options, None), &part, 100);
        survey.column(0).as_string::<i32>().value(0).to_string()
    });
    let survey = Survey::read(&surveyed.join("\n")).unwrap();
    assert_eq!(survey.labelled.counts, embedded.counts);
    assert_eq!((survey.labelled.targets, survey.commits.len()), (embedded.targets, embedded.commits));
    assert_eq!(survey.labelled.example, embedded.example);
    let transitions = embedded.tallies[0].1.unsafe_commits + embedded.tallies[0].1.maybe_commits;
    assert_eq!(survey.labelled.transitions.len(), transitions);
}

#[test]
fn input_that_is_no_stream_or_lacks_a_column_is_refused_in_words() {
    let mut kernel = CommitKernel::new(&Experiment::default());
    let error = pipe(&mut kernel, &b"position,label\n1,2\n"[..], Vec::new()).unwrap_err();
    assert!(error.to_string().contains("an Arrow IPC stream is needed"), "{error}");
    let shape = Shape { commits: 20, targets: 20, ..Shape::of_rows(200, 1) };
    let rows = all_rows(&Workbench::generated(&shape));
    let without = rows.project(&[0, 1, 2]).unwrap();
    let mut kernel = TargetKernel::new(TargetKernelOptions::default(), None);
    let error = kernel.push(&without).unwrap_err();
    assert!(error.to_string().contains("no column 'target'"), "{error}");
    let unsorted = sorted_by_key(&by_target(&rows), std::cmp::Reverse);
    let error = TargetKernel::new(TargetKernelOptions::default(), None).push(&unsorted).unwrap_err();
    assert!(error.to_string().contains("not sorted by position"), "{error}");
}
