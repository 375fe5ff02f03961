//! Where the time goes: named phases, each timed by a guard.

use std::cell::RefCell;
use std::time::Instant;

use fewer_console::Pulse;
use fewer_report::{Phase, Table, seconds};

pub struct Timings {
    started: Instant,
    phases: RefCell<Vec<Phase>>,
    pulse: Pulse,
}

/// Times its phase until it is dropped.
pub struct PhaseGuard<'t> {
    timings: &'t Timings,
    phase: &'static str,
    started: Instant,
}

impl Timings {
    /// Which phase it is shows in the pulse.
    pub fn new(pulse: Pulse) -> Timings {
        Timings { started: Instant::now(), phases: RefCell::new(Vec::new()), pulse }
    }

    #[must_use]
    pub fn phase(&self, phase: &'static str) -> PhaseGuard<'_> {
        self.pulse.enter(phase);
        PhaseGuard { timings: self, phase, started: Instant::now() }
    }

    /// Seconds since the command began.
    pub fn total_s(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// The phases so far, in order; one that came several times is summed.
    pub fn phases(&self) -> Vec<Phase> {
        self.phases.borrow().clone()
    }

    pub fn table(&self) -> String {
        let mut table = Table::new(&[false, true]);
        for phase in self.phases.borrow().iter() {
            table.row([phase.phase.clone(), seconds(phase.seconds)]);
        }
        table.row(["total".to_string(), seconds(self.total_s())]);
        table.text()
    }
}

impl Drop for PhaseGuard<'_> {
    fn drop(&mut self) {
        self.timings.pulse.leave(self.phase);
        let spent = self.started.elapsed().as_secs_f64();
        let mut phases = self.timings.phases.borrow_mut();
        match phases.iter_mut().find(|phase| phase.phase == self.phase) {
            Some(phase) => phase.seconds += spent,
            None => phases.push(Phase { phase: self.phase.to_string(), seconds: spent }),
        }
    }
}
