//! Progress of long work over rows: how many, how fast, how long still; and the flag that Ctrl-C raises.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use fewer_console::{Console, Interrupted, Progress};
use fewer_lab::LabError;
use fewer_lab::engine::{Stage, Watch};
use fewer_report::{Table, seconds};

/// Steps of a bar.
const STEPS: u64 = 200;

/// Shows on the console what the lab does.
pub struct Meter<'c> {
    console: &'c Console,
    cancelled: Arc<AtomicBool>,
    stage: Mutex<Option<StageProgress>>,
    /// What was done and how long it took, in seconds.
    spent: Mutex<Vec<(Stage, f64)>>,
}

struct StageProgress {
    stage: Stage,
    /// 0 where it is not known.
    total: u64,
    done: u64,
    steps: u64,
    started: Instant,
    bar: Progress,
}

impl<'c> Meter<'c> {
    /// From now on Ctrl-C raises a flag that the work looks at.
    pub fn new(console: &'c Console) -> anyhow::Result<Meter<'c>> {
        fewer_lifetime::end_in_order();
        let cancelled = fewer_lifetime::stopped();
        Ok(Meter { console, cancelled, stage: Mutex::new(None), spent: Mutex::default() })
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        let ended = self.stage.lock().expect("nobody panics with it in hand").take();
        let mut spent = self.spent.lock().expect("nobody panics with it in hand");
        spent.extend(ended.map(|ended| (ended.stage, ended.started.elapsed().as_secs_f64())));
    }

    /// The result of the work, with an interruption as the command line knows it.
    pub fn concluded<T>(&self, result: Result<T, LabError>) -> anyhow::Result<T> {
        self.finish();
        if self.console.shows_timings() {
            self.console.insist(self.timings().trim_end());
        }
        result.map_err(|error| match error {
            LabError::Interrupted => Interrupted.into(),
            error => error.into(),
        })
    }

    fn timings(&self) -> String {
        let mut table = Table::new(&[false, true]);
        for (stage, spent) in self.spent.lock().expect("nobody panics with it in hand").iter() {
            table.row([stage.word().to_string(), seconds(*spent)]);
        }
        table.text()
    }
}

impl Watch for Meter<'_> {
    fn begin(&self, stage: Stage, total: u64) {
        self.finish();
        let bar = self.console.progress(if total > 0 { STEPS as usize } else { 0 });
        let progress = StageProgress { stage, total, done: 0, steps: 0, started: Instant::now(), bar };
        *self.stage.lock().expect("nobody panics with it in hand") = Some(progress);
    }

    fn resumed(&self, stage: Stage) {
        self.finish();
        self.console.note(&format!("{} was done by an earlier run", stage.word()));
    }

    fn advance(&self, rows: u64) {
        let mut stage = self.stage.lock().expect("nobody panics with it in hand");
        let Some(progress) = stage.as_mut() else { return };
        progress.done += rows;
        let message = progress.message();
        let steps = (progress.done * STEPS).checked_div(progress.total).unwrap_or(0).min(STEPS);
        (progress.steps..steps).for_each(|_| progress.bar.advance(&message));
        progress.steps = steps;
        progress.bar.message(&message);
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl StageProgress {
    /// Example: `label: 12.3 M of 20.0 M rows, 3.1 M rows/s, 2 s left`.
    fn message(&self) -> String {
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        let speed = self.done as f64 / seconds;
        let stage = self.stage.word();
        let rows = rounded(self.done as f64);
        let speed_text = rounded(speed);
        if self.total == 0 || speed == 0.0 {
            return format!("{stage}: {rows} rows, {speed_text} rows/s");
        }
        let left = self.total.saturating_sub(self.done) as f64 / speed;
        format!(
            "{stage}: {rows} of {} rows, {speed_text} rows/s, {} left",
            rounded(self.total as f64),
            time(left)
        )
    }
}

fn rounded(number: f64) -> String {
    match number {
        small if small < 1e4 => format!("{small:.0}"),
        thousands if thousands < 1e6 => format!("{:.0} k", thousands / 1e3),
        millions if millions < 1e9 => format!("{:.1} M", millions / 1e6),
        billions => format!("{:.1} G", billions / 1e9),
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        short if short < 100.0 => format!("{short:.0} s"),
        minutes if minutes < 6000.0 => format!("{:.0} min", minutes / 60.0),
        hours => format!("{:.1} h", hours / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_for_people() {
        assert_eq!(
            [7.0, 9999.0, 12_345.0, 3_100_000.0, 4.2e9].map(rounded),
            ["7", "9999", "12 k", "3.1 M", "4.2 G"]
        );
        assert_eq!([7.4, 600.0, 7200.0].map(time), ["7 s", "10 min", "2.0 h"]);
    }
}
