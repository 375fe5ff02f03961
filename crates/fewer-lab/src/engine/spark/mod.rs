//! The engine on a Spark cluster: Spark reads the Parquet files, brings rows together, sorts, spills and recovers; the
//! same kernels run inside of it, in this program, which is shipped to the workers. What is added up are integers, so
//! that all numbers are those of the embedded engine, bit by bit.

mod driver;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use serde::Serialize;

use crate::algorithms::{Algorithm, Configuration, Experiment};
use crate::engine::{Simulation, Watch};
use crate::error::LabError;
use crate::kernel::{Survey, TALLY_COLUMNS, tallies};
use crate::records::{History, absolute};
use driver::{Driver, Told};

/// Where the cluster is and what is needed to use it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// As Spark writes it.
    ///
    /// Example: `spark://127.0.0.1:7077`, `local[4]`, `yarn`.
    pub master: String,
    /// The Python with pyspark and pyarrow, here and at the workers.
    pub python: PathBuf,
    /// The program with the kernels, which is shipped to the workers.
    pub program: PathBuf,
    /// Into how many parts rows are shuffled; Spark's parallelism decides where none is given.
    pub partitions: Option<u32>,
    /// Further settings of Spark.
    pub settings: Vec<(String, String)>,
}

/// What the driver is told.
#[derive(Serialize)]
struct Job<'j> {
    master: &'j str,
    settings: &'j [(String, String)],
    program: &'j Path,
    partitions: Option<u32>,
    executions: PathBuf,
    modified_files: Option<PathBuf>,
    /// The experiment in the words of the kernels' command line.
    experiment: Vec<String>,
    scored: Vec<String>,
    sums: &'j [&'j str],
    survey: PathBuf,
    commits: PathBuf,
    tallies: PathBuf,
}

/// Runs an experiment over a history that all workers see under the same path.
pub fn run(
    history: &History,
    experiment: &Experiment,
    options: &Options,
    watch: &dyn Watch,
) -> Result<Simulation, LabError> {
    let place = tempfile::Builder::new().prefix("fewer-spark-").tempdir();
    let place = place.map_err(LabError::io("write into", &std::env::temp_dir()))?;
    let job = job(history, experiment, options, place.path())?;
    let mut driver = Driver::start(&options.python, place.path(), &job)?;
    let mut surveyed = None;
    loop {
        match driver.next(watch)? {
            Told::Stage(stage) => watch.begin(stage, 0),
            Told::Surveyed => {
                let survey = read_survey(&job.survey, history)?;
                let positions = survey.labelled.transitions.iter();
                let positions: String = positions.map(|position| format!("{position}\n")).collect();
                fs::write(&job.commits, positions).map_err(LabError::io("write", &job.commits))?;
                surveyed = Some(survey);
                driver.go_on()?;
            }
            Told::Done => break,
        }
    }
    let survey = surveyed.unwrap_or_default();
    let sums = tallies(experiment, &read_tallies(&job.tallies)?)?;
    Ok(Simulation {
        experiment: experiment.clone(),
        commits: survey.commits.len(),
        targets: survey.labelled.targets,
        counts: survey.labelled.counts,
        example: survey.labelled.example,
        tallies: experiment.configurations().into_iter().zip(sums).collect(),
    })
}

fn job<'j>(
    history: &History,
    experiment: &Experiment,
    options: &'j Options,
    place: &Path,
) -> Result<Job<'j>, LabError> {
    let scored = experiment.scored();
    let needs_files = scored.iter().any(|one| one.algorithm == Algorithm::SharedDirectories);
    let modified_files = history.modified_files().filter(|_| needs_files);
    Ok(Job {
        master: &options.master,
        settings: &options.settings,
        program: &options.program,
        partitions: options.partitions,
        executions: absolute(&history.executions.path)?,
        modified_files: modified_files.as_deref().map(absolute).transpose()?,
        experiment: words(experiment),
        scored: scored.iter().map(Configuration::to_string).collect(),
        sums: &TALLY_COLUMNS,
        survey: place.join("survey.jsonl"),
        commits: place.join("commits.txt"),
        tallies: place.join("tallies.arrows"),
    })
}

fn words(experiment: &Experiment) -> Vec<String> {
    let hours = |all: &[crate::Hours]| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let algorithms: Vec<&str> = experiment.algorithms.iter().map(|one| one.word()).collect();
    let mut words = vec![format!("--algorithm={}", algorithms.join(","))];
    words.push(format!("--window={}", hours(&experiment.windows)));
    words.push(format!("--milestone={}", hours(&experiment.milestones)));
    words.extend(experiment.sample.map(|seed| format!("--sample={seed}")));
    words
}

/// Every row must have come through.
fn read_survey(path: &Path, history: &History) -> Result<Survey, LabError> {
    let survey = Survey::read(&fs::read_to_string(path).map_err(LabError::io("read", path))?)?;
    let (counts, rows) = (survey.labelled.counts, history.executions.rows());
    if counts.is_balanced() && counts.rows == rows {
        return Ok(survey);
    }
    let problem = format!("{rows} rows went in, but these came out of Spark: {counts:?}");
    Err(LabError::Contradiction { path: history.directory.clone(), problem })
}

fn read_tallies(path: &Path) -> Result<Vec<RecordBatch>, LabError> {
    let file = File::open(path).map_err(LabError::io("read", path))?;
    let unreadable = |error| LabError::Kernel(format!("the sums of Spark: {error}"));
    StreamReader::try_new_buffered(file, None)
        .and_then(|batches| batches.collect::<Result<Vec<_>, _>>())
        .map_err(unreadable)
}
