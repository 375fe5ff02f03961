//! The affected targets of one commit, grouped by score: all that an exact expectation needs to know of them.

use crate::label::Label;

/// Targets of one commit with the same score.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    pub score: u32,
    pub size: u32,
    pub unsafe_ones: u32,
    pub maybe_ones: u32,
}

/// How many targets of a commit are evaluated, unsafe and maybe-unsafe.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    pub size: u32,
    pub unsafe_ones: u32,
    pub maybe_ones: u32,
}

impl Totals {
    pub fn of(labels: &[Label]) -> Totals {
        let mut totals = Totals::default();
        for &label in labels {
            let [size, unsafe_ones, maybe_ones] = counts(label);
            totals.size += size;
            totals.unsafe_ones += unsafe_ones;
            totals.maybe_ones += maybe_ones;
        }
        totals
    }

    /// Skipping can go wrong at this commit.
    pub fn has_transition(&self) -> bool {
        self.unsafe_ones + self.maybe_ones > 0
    }

    /// All in any order.
    pub fn random(&self) -> Vec<Group> {
        vec![Group { score: 0, size: self.size, unsafe_ones: self.unsafe_ones, maybe_ones: self.maybe_ones }]
    }

    /// Safe, then maybe-unsafe, then unsafe ones.
    pub fn optimal(&self) -> Vec<Group> {
        let safe = self.size - self.unsafe_ones - self.maybe_ones;
        let groups = [
            Group { score: 0, size: safe, unsafe_ones: 0, maybe_ones: 0 },
            Group { score: 1, size: self.maybe_ones, unsafe_ones: 0, maybe_ones: self.maybe_ones },
            Group { score: 2, size: self.unsafe_ones, unsafe_ones: self.unsafe_ones, maybe_ones: 0 },
        ];
        groups.into_iter().filter(|group| group.size > 0).collect()
    }

    /// The reverse.
    pub fn pessimal(&self) -> Vec<Group> {
        let mut groups = self.optimal();
        groups.reverse();
        groups
    }
}

/// Groups one commit after the other; keeps its memory between them.
#[derive(Default)]
pub struct Grouper {
    /// By score: counts. All zero between commits.
    dense: Vec<[u32; 3]>,
    /// Score and label of each target, for scores too far apart.
    sparse: Vec<u64>,
    groups: Vec<Group>,
}

impl Grouper {
    /// The groups of a commit's targets in the order in which they are skipped. Excluded targets are left out.
    pub fn group(&mut self, scores: &[u32], labels: &[Label]) -> &[Group] {
        self.groups.clear();
        let greatest = scores.iter().copied().max().unwrap_or(0) as usize;
        if greatest < 1024.max(2 * scores.len()) {
            self.count(scores, labels, greatest);
        } else {
            self.sort(scores, labels);
        }
        &self.groups
    }

    fn count(&mut self, scores: &[u32], labels: &[Label], greatest: usize) {
        if self.dense.len() <= greatest {
            self.dense.resize(greatest + 1, [0; 3]);
        }
        for (&score, &label) in scores.iter().zip(labels) {
            let group = &mut self.dense[score as usize];
            for (sum, count) in group.iter_mut().zip(counts(label)) {
                *sum += count;
            }
        }
        for (score, group) in self.dense[..=greatest].iter_mut().enumerate() {
            let [size, unsafe_ones, maybe_ones] = std::mem::take(group);
            if size > 0 {
                self.groups.push(Group { score: score as u32, size, unsafe_ones, maybe_ones });
            }
        }
    }

    fn sort(&mut self, scores: &[u32], labels: &[Label]) {
        self.sparse.clear();
        let evaluated = scores.iter().zip(labels).filter(|(_, label)| !label.is_excluded());
        self.sparse.extend(evaluated.map(|(&score, &label)| u64::from(score) << 8 | label as u64));
        self.sparse.sort_unstable();
        for &entry in &self.sparse {
            let score = (entry >> 8) as u32;
            let [size, unsafe_ones, maybe_ones] = counts(Label::ALL[(entry & 0xff) as usize]);
            match self.groups.last_mut() {
                Some(group) if group.score == score => {
                    group.size += size;
                    group.unsafe_ones += unsafe_ones;
                    group.maybe_ones += maybe_ones;
                }
                Some(_) | None => self.groups.push(Group { score, size, unsafe_ones, maybe_ones }),
            }
        }
    }
}

/// What a target adds to its group: size, unsafe, maybe-unsafe.
fn counts(label: Label) -> [u32; 3] {
    match label {
        Label::Safe => [1, 0, 0],
        Label::MaybeUnsafe => [1, 0, 1],
        Label::Unsafe => [1, 1, 0],
        Label::NoEarlierResult | Label::AfterLastResult => [0, 0, 0],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counting_and_sorting_group_alike(targets in prop::collection::vec((0..9u32, 0..5usize), 0..40)) {
            let scores: Vec<u32> = targets.iter().map(|target| target.0).collect();
            let labels: Vec<Label> = targets.iter().map(|target| Label::ALL[target.1]).collect();
            let far: Vec<u32> = scores.iter().map(|score| score * 100_000_000).collect();
            let mut grouper = Grouper::default();
            let near = grouper.group(&scores, &labels).to_vec();
            let mut spread = grouper.group(&far, &labels).to_vec();
            spread.iter_mut().for_each(|group| group.score /= 100_000_000);
            prop_assert_eq!(&near, &spread);
            prop_assert!(near.is_sorted_by_key(|group| group.score));
            let totals = Totals::of(&labels);
            prop_assert_eq!(near.iter().map(|group| group.size).sum::<u32>(), totals.size);
            prop_assert_eq!(near.iter().map(|group| group.unsafe_ones).sum::<u32>(), totals.unsafe_ones);
        }
    }
}
