//! What a piece of work costs: CPU time (user and system, descendants included) and peak memory of a child
//! process, CPU time of a closure, and the summary of repeated measurements.
//! What is measured, and against which target, is not decided here.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use wait4::Wait4;

/// What one child process and everything it waited for used.
///
/// The peak counts the child from its `fork` on, when it still is a copy of this process: measure memory only
/// while this process is small. The benchmark therefore does all heavy work in children.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    pub cpu: Duration,
    /// Of it what the kernel has no part in.
    pub user: Duration,
    pub peak_bytes: u64,
}

/// Runs a command to its end. Its output goes to stderr; a failure is an error that names the command.
pub fn child(command: &mut Command) -> Result<Usage> {
    finish(command.stdout(std::io::stderr())).map(|(usage, _)| usage)
}

/// The same, with the command's output as a result.
pub fn child_output(command: &mut Command) -> Result<(Usage, Vec<u8>)> {
    finish(command.stdout(Stdio::piped()))
}

fn finish(command: &mut Command) -> Result<(Usage, Vec<u8>)> {
    let shown = format!("{command:?}");
    let mut started = command
        .stdin(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {shown}; is it installed?"))?;
    let mut output = Vec::new();
    if let Some(pipe) = &mut started.stdout {
        pipe.read_to_end(&mut output).with_context(|| format!("cannot read the output of {shown}"))?;
    }
    let used = started.wait4().with_context(|| format!("cannot wait for {shown}"))?;
    if !used.status.success() {
        bail!("{shown} failed ({}); its output is above", used.status);
    }
    let (user, system) = (used.rusage.utime, used.rusage.stime);
    Ok((Usage { cpu: user + system, user, peak_bytes: used.rusage.maxrss }, output))
}

/// The CPU time this process spends in `work`, all threads together.
pub fn closure<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let before = process_cpu();
    let value = work();
    (process_cpu() - before, value)
}

/// The median of repeated measurements, with the least and the greatest of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Spread {
    /// Of at least one sample.
    pub fn of(samples: impl IntoIterator<Item = f64>) -> Spread {
        let mut sorted: Vec<f64> = samples.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            0 => (sorted[middle - 1] + sorted[middle]) / 2.0,
            _ => sorted[middle],
        };
        Spread { median, low: sorted[0], high: sorted[sorted.len() - 1] }
    }

    pub fn of_seconds(samples: &[Duration]) -> Spread {
        Spread::of(samples.iter().map(Duration::as_secs_f64))
    }

    /// The ratio of measurements taken in turn, each pair under the same conditions.
    pub fn of_paired_ratios(these: &[Duration], others: &[Duration]) -> Spread {
        Spread::of(these.iter().zip(others).map(|(this, other)| this.as_secs_f64() / other.as_secs_f64()))
    }
}

fn process_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_time_of_grandchildren_is_counted() {
        let script = "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; exit 0";
        let usage = child(Command::new("sh").args(["-c", script])).unwrap();
        assert!(usage.cpu > Duration::from_millis(20), "{usage:?}");
    }

    #[test]
    fn a_failing_child_is_an_error_that_names_it() {
        let error = child(Command::new("sh").args(["-c", "exit 3"])).unwrap_err().to_string();
        assert!(error.contains("exit 3") && error.contains("exit status: 3"), "{error}");
    }

    #[test]
    fn a_spread_is_the_median_between_the_extremes() {
        assert_eq!(Spread::of([3.0, 1.0, 9.0]), Spread { median: 3.0, low: 1.0, high: 9.0 });
        assert_eq!(Spread::of([3.0, 1.0]), Spread { median: 2.0, low: 1.0, high: 3.0 });
    }

    #[test]
    fn paired_ratios_ignore_what_slows_down_both() {
        let seconds = |values: [u64; 3]| values.map(Duration::from_secs);
        let ratio = Spread::of_paired_ratios(&seconds([2, 20, 4]), &seconds([1, 10, 2]));
        assert_eq!(ratio, Spread { median: 2.0, low: 2.0, high: 2.0 });
    }
}
