//! The process that talks to Spark: a Python program that is part of this one. It tells of its stages line by line,
//! and is ended when the user wants to stop.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::Job;
use crate::engine::{Stage, Watch};
use crate::error::LabError;

const SCRIPT: &str = include_str!("driver.py");
/// Between looks at the flag of Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(100);
/// Lines of Spark's own words that are shown when it fails without a sentence of ours.
const LAST_LINES: usize = 5;
/// With which the driver ends when its last words are for people.
const EXPLAINED: i32 = 3;

/// The process at work.
pub struct Driver {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    said: Option<JoinHandle<String>>,
}

/// What it tells.
pub enum Told {
    Stage(Stage),
    /// The survey is written; it waits for the commits.
    Surveyed,
    Done,
}

impl Driver {
    pub fn start(python: &Path, place: &Path, job: &Job<'_>) -> Result<Driver, LabError> {
        let (script, description) = (place.join("driver.py"), place.join("job.json"));
        fs::write(&script, SCRIPT).map_err(LabError::io("write", &script))?;
        let text = serde_json::to_string(job).map_err(|error| failed(error.to_string()))?;
        fs::write(&description, text).map_err(LabError::io("write", &description))?;
        let mut command = Command::new(python);
        command.arg(&script).arg(&description);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| no_python(python, &error))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output), Some(mut errors)) = (input, output, child.stderr.take()) else {
            return Err(failed("its streams are not there".to_string()));
        };
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.take_while(|line| sender.send(line.clone()).is_ok()).for_each(drop);
        });
        let said = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was said until the stream broke is what there is.
            let _ = errors.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Ok(Driver { child, input, lines, said: Some(said) })
    }

    /// What it tells next, and an error once it has failed.
    pub fn next(&mut self, watch: &dyn Watch) -> Result<Told, LabError> {
        loop {
            watch.go_on()?;
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => match line.as_str() {
                    "label" => return Ok(Told::Stage(Stage::Label)),
                    "evaluate" => return Ok(Told::Stage(Stage::Evaluate)),
                    "surveyed" => return Ok(Told::Surveyed),
                    // Spark prints here too.
                    _ => {}
                },
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.conclude(),
            }
        }
    }

    /// Lets it use the file of commits.
    pub fn go_on(&mut self) -> Result<(), LabError> {
        let written = self.input.write_all(b"\n").and_then(|()| self.input.flush());
        written.map_err(|error| failed(error.to_string()))
    }

    fn conclude(&mut self) -> Result<Told, LabError> {
        let status = self.child.wait().map_err(|error| failed(error.to_string()))?;
        let said = self.said.take().and_then(|said| said.join().ok()).unwrap_or_default();
        if status.success() {
            return Ok(Told::Done);
        }
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        let shown = if status.code() == Some(EXPLAINED) { 1 } else { LAST_LINES };
        Err(LabError::Spark(lines[lines.len().saturating_sub(shown)..].join("\n")))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It has ended already, or nobody wants its result any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn no_python(python: &Path, error: &std::io::Error) -> LabError {
    LabError::Spark(format!(
        "cannot start {} ({error}): Spark needs Python 3 with pyspark and pyarrow; install it, or name one with --python",
        python.display()
    ))
}

fn failed(problem: String) -> LabError {
    LabError::Spark(format!("the driver of the Spark job failed: {problem}"))
}
