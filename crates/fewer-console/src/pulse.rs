//! A sign of life where nobody sees a progress bar, such as in the log of a CI: every ten seconds a line with the phase, how
//! far it has come, and the time since the command began. What the phases are is told by who works.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// What is going on, for a line now and then.
#[derive(Clone, Default)]
pub struct Pulse {
    status: Arc<Mutex<Status>>,
}

#[derive(Default)]
struct Status {
    /// The innermost last.
    phases: Vec<&'static str>,
    done: usize,
    total: usize,
    /// What began last.
    at: String,
}

impl Pulse {
    /// Tells every so often, until the process ends.
    pub fn start(every: Duration, tell: impl Fn(&str) + Send + 'static) -> Pulse {
        let pulse = Pulse::default();
        let (seen, began) = (pulse.clone(), Instant::now());
        thread::spawn(move || {
            loop {
                thread::sleep(every);
                tell(&seen.line(began.elapsed()));
            }
        });
        pulse
    }

    pub fn enter(&self, phase: &'static str) {
        self.with(|status| status.phases.push(phase));
    }

    pub fn leave(&self, phase: &'static str) {
        self.with(|status| {
            if let Some(at) = status.phases.iter().rposition(|known| *known == phase) {
                status.phases.remove(at);
            }
        });
    }

    pub(crate) fn begin(&self, total: usize) {
        self.with(|status| (status.done, status.total, status.at) = (0, total, String::new()));
    }

    pub(crate) fn at(&self, name: &str) {
        self.with(|status| name.clone_into(&mut status.at));
    }

    pub(crate) fn advance(&self) {
        self.with(|status| status.done += 1);
    }

    fn line(&self, elapsed: Duration) -> String {
        let mut line = String::new();
        self.with(|status| {
            line = format!("fewer: {}", status.phases.last().unwrap_or(&"at work"));
            if status.total > 0 {
                line.push_str(&format!(", {} of {}", status.done, status.total));
            }
            if !status.at.is_empty() {
                line.push_str(&format!(" (at {})", status.at));
            }
        });
        format!("{line}, {} s", elapsed.as_secs())
    }

    fn with(&self, change: impl FnOnce(&mut Status)) {
        // What a panic left is as good as anything for a line.
        change(&mut self.status.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_line_tells_the_phase_how_far_it_is_and_the_time() {
        let pulse = Pulse::default();
        let line = || pulse.line(Duration::from_secs(20));
        assert_eq!(line(), "fewer: at work, 20 s");
        pulse.enter("build");
        assert_eq!(line(), "fewer: build, 20 s");
        pulse.leave("build");
        pulse.enter("run tests");
        pulse.begin(7);
        (0..3).for_each(|_| pulse.advance());
        assert_eq!(line(), "fewer: run tests, 3 of 7, 20 s");
        pulse.at("core_test::Radix.Reads");
        assert_eq!(line(), "fewer: run tests, 3 of 7 (at core_test::Radix.Reads), 20 s");
        pulse.begin(0);
        assert_eq!(line(), "fewer: run tests, 20 s");
    }

    #[test]
    fn it_goes_on_telling() {
        let (tell, told) = mpsc::channel();
        let _pulse = Pulse::start(Duration::from_millis(1), move |line| drop(tell.send(line.to_string())));
        for _ in 0..2 {
            assert!(told.recv_timeout(Duration::from_secs(60)).unwrap().starts_with("fewer: at work"));
        }
    }
}
