//! Transitions as milestones see them: at every multiple of the milestone's length since 1970 a target has the
//! result known last before it; where that differs from the milestone before, a transition was seen.

use super::TargetRows;
use crate::label::Outcome;

/// The times of the milestones at which a transition of the target is seen, rising.
pub fn at_milestones(rows: &TargetRows<'_>, every: i64, events: &mut Vec<i64>) {
    events.clear();
    let mut known = rows.outcomes.iter().zip(rows.times).filter(|(outcome, _)| outcome.is_known());
    let Some((mut latest, mut time)) = known.next() else { return };
    let mut seen: Option<Outcome> = None;
    for (outcome, at) in known {
        if at.div_euclid(every) != time.div_euclid(every) {
            note(&mut seen, *latest, milestone_after(*time, every), events);
        }
        (latest, time) = (outcome, at);
    }
    note(&mut seen, *latest, milestone_after(*time, every), events);
}

/// Whether two known results differ: otherwise no milestone sees anything, whatever its length.
pub fn has_any(outcomes: &[Outcome]) -> bool {
    let mut known = outcomes.iter().filter(|outcome| outcome.is_known());
    known.next().is_some_and(|first| known.any(|outcome| outcome != first))
}

/// How many events each wanted row sees in its window.
pub fn count(times: &[i64], events: &[i64], window: i64, wanted: &[u32], column: &mut Vec<u32>) {
    if events.is_empty() {
        column.resize(column.len() + wanted.len(), 0);
        return;
    }
    let (mut left, mut right) = (0, 0);
    for &row in wanted {
        let time = times[row as usize];
        while right < events.len() && events[right] < time {
            right += 1;
        }
        while left < right && events[left] <= time - window {
            left += 1;
        }
        column.push((right - left) as u32);
    }
}

fn note(seen: &mut Option<Outcome>, latest: Outcome, milestone: i64, events: &mut Vec<i64>) {
    if seen.replace(latest).is_some_and(|before| before != latest) {
        events.push(milestone);
    }
}

/// The first milestone that is strictly after a result.
fn milestone_after(time: i64, every: i64) -> i64 {
    (time.div_euclid(every) + 1) * every
}
