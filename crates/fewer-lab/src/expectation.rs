//! The exact expectation over all orders of equally scored targets, at every skip rate: the second of the two
//! kernels. Per commit it needs the groups only, never a sort of the targets or a pass per rate.
//!
//! At skip count k all groups below are skipped, and j targets of the group that k cuts are drawn without
//! replacement: none of u marked ones among s with the chance C(s - u, j) / C(s, j).

use crate::groups::{Group, Totals};
use crate::random::Draws;

/// Skip rates in percent, 0 and 100 included.
pub const RATES: usize = 101;

/// How a selection at one commit and one rate turns out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Chances {
    /// No unsafe and no maybe-unsafe target is skipped.
    pub safe: f64,
    /// An unsafe target is skipped.
    pub unsafe_skipped: f64,
    /// Every unsafe and maybe-unsafe target is skipped: not even one of them tells of the commit.
    pub all_skipped: f64,
}

/// How many of `size` targets are skipped at a rate.
pub fn skipped(size: u32, rate: usize) -> u32 {
    (u64::from(size) * rate as u64 / 100) as u32
}

/// The chances at every rate, for groups in the order in which they are skipped.
pub fn expect(groups: &[Group], totals: &Totals) -> [Chances; RATES] {
    let mut cut = Cut::default();
    each_rate(totals.size, |count| cut.at(count, groups, totals))
}

/// The same for one order that is drawn among all: chances are 0 or 1.
pub fn draw(groups: &[Group], totals: &Totals, draws: &mut Draws) -> [Chances; RATES] {
    let (mut first_unsafe, mut first_marked, mut last_marked) = (u32::MAX, u32::MAX, 0);
    let mut place = 0;
    for group in groups {
        let (mut unsafe_left, mut maybe_left) = (group.unsafe_ones, group.maybe_ones);
        for left in (1..=group.size).rev() {
            // Which of those left stands here.
            let one = draws.below(u64::from(left)) as u32;
            if one < unsafe_left + maybe_left {
                if one < unsafe_left {
                    unsafe_left -= 1;
                    first_unsafe = first_unsafe.min(place);
                } else {
                    maybe_left -= 1;
                }
                first_marked = first_marked.min(place);
                last_marked = place + 1;
            }
            place += 1;
        }
    }
    let chance = |is_so: bool| if is_so { 1.0 } else { 0.0 };
    each_rate(totals.size, |count| Chances {
        safe: chance(count <= first_marked),
        unsafe_skipped: chance(count > first_unsafe),
        all_skipped: chance(totals.has_transition() && count >= last_marked),
    })
}

/// The chance that none of `marked` among `size` is drawn when `drawn` are.
pub fn none_drawn(size: u32, marked: u32, drawn: u32) -> f64 {
    debug_assert!(marked <= size && drawn <= size);
    if marked + drawn > size {
        return 0.0;
    }
    // C(size - marked, drawn) / C(size, drawn), which is symmetric in marked and drawn: the shorter product.
    let (few, many) = (marked.min(drawn), marked.max(drawn));
    let mut chance = 1.0;
    for taken in 0..few {
        chance *= f64::from(size - many - taken) / f64::from(size - taken);
        if chance < NOTHING {
            return 0.0;
        }
    }
    chance
}

/// Far below what a tally can tell from nothing.
const NOTHING: f64 = 1e-18;

/// Where a skip count cuts the groups, as it grows.
#[derive(Default)]
struct Cut {
    /// Groups that are skipped as a whole, and what was in them.
    whole: usize,
    below: Totals,
}

impl Cut {
    fn at(&mut self, count: u32, groups: &[Group], totals: &Totals) -> Chances {
        while let Some(group) = groups.get(self.whole)
            && self.below.size + group.size <= count
        {
            self.below.size += group.size;
            self.below.unsafe_ones += group.unsafe_ones;
            self.below.maybe_ones += group.maybe_ones;
            self.whole += 1;
        }
        let nothing = Group { score: 0, size: 0, unsafe_ones: 0, maybe_ones: 0 };
        let group = groups.get(self.whole).copied().unwrap_or(nothing);
        let drawn = count - self.below.size;
        let marked = group.unsafe_ones + group.maybe_ones;
        let marked_below = self.below.unsafe_ones + self.below.maybe_ones;
        let none = |below: u32, marked: u32| {
            if below > 0 { 0.0 } else { none_drawn(group.size, marked, drawn) }
        };
        let is_last = marked_below + marked == totals.unsafe_ones + totals.maybe_ones;
        Chances {
            safe: none(marked_below, marked),
            unsafe_skipped: 1.0 - none(self.below.unsafe_ones, group.unsafe_ones),
            // All marked ones are drawn if none of them is among those that are not.
            all_skipped: if is_last && totals.has_transition() {
                none_drawn(group.size, marked, group.size - drawn)
            } else {
                0.0
            },
        }
    }
}

/// Rates that skip equally many have equal chances.
fn each_rate(size: u32, mut at: impl FnMut(u32) -> Chances) -> [Chances; RATES] {
    let mut last: Option<(u32, Chances)> = None;
    std::array::from_fn(|rate| {
        let count = skipped(size, rate);
        let chances = match last {
            Some((same, chances)) if same == count => chances,
            Some(_) | None => at(count),
        };
        last = Some((count, chances));
        chances
    })
}

#[cfg(test)]
mod tests;
