//! Which test satisfies which requirement, as a sparse matrix of dense numbers: one list of requirements per test,
//! four bytes per entry. Names and durations are the suite's.

use fixedbitset::FixedBitSet;

/// The satisfied requirements of every test, sorted and without repetitions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matrix {
    /// Where each row begins; one more than there are rows.
    offsets: Vec<usize>,
    entries: Vec<u32>,
    columns: u32,
}

/// A matrix that is filled row by row.
#[derive(Debug)]
pub struct MatrixBuilder {
    matrix: Matrix,
}

impl Matrix {
    /// How many tests there are.
    pub fn tests(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many requirements there are, satisfied or not.
    pub fn requirements(&self) -> usize {
        self.columns as usize
    }

    /// How many pairs of a test and a requirement that it satisfies there are.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// The requirements that a test satisfies, sorted.
    pub fn row(&self, test: usize) -> &[u32] {
        &self.entries[self.offsets[test]..self.offsets[test + 1]]
    }

    /// `req(T)`.
    pub fn satisfied(&self, tests: impl IntoIterator<Item = usize>) -> FixedBitSet {
        let mut satisfied = FixedBitSet::with_capacity(self.requirements());
        for test in tests {
            self.row(test).iter().for_each(|&requirement| satisfied.insert(requirement as usize));
        }
        satisfied
    }

    /// `req(O)`.
    pub fn all_satisfied(&self) -> FixedBitSet {
        self.satisfied(0..self.tests())
    }

    /// The same with tests and requirements exchanged: one sorted list of tests per requirement.
    pub fn transposed(&self) -> Matrix {
        let mut offsets = vec![0; self.requirements() + 1];
        for &requirement in &self.entries {
            offsets[requirement as usize + 1] += 1;
        }
        for index in 1..offsets.len() {
            offsets[index] += offsets[index - 1];
        }
        let mut entries = vec![0; self.entries.len()];
        let mut next = offsets.clone();
        for test in 0..self.tests() {
            for &requirement in self.row(test) {
                entries[next[requirement as usize]] = test as u32;
                next[requirement as usize] += 1;
            }
        }
        Matrix { offsets, entries, columns: self.tests() as u32 }
    }
}

impl MatrixBuilder {
    /// For tests over so many requirements.
    pub fn new(requirements: u32) -> MatrixBuilder {
        MatrixBuilder { matrix: Matrix { offsets: vec![0], entries: Vec::new(), columns: requirements } }
    }

    /// With room for so many entries, so that no more memory is asked for than they take.
    pub fn with_capacity(requirements: u32, tests: usize, entries: usize) -> MatrixBuilder {
        let mut builder = MatrixBuilder::new(requirements);
        builder.matrix.offsets.reserve_exact(tests);
        builder.matrix.entries.reserve_exact(entries);
        builder
    }

    /// The next test, with what it satisfies in any order; what is said twice counts once.
    ///
    /// # Panics
    /// Where a requirement is not below the number of requirements.
    pub fn test(&mut self, satisfied: &mut Vec<u32>) {
        satisfied.sort_unstable();
        satisfied.dedup();
        assert!(satisfied.last().is_none_or(|&last| last < self.matrix.columns), "no such requirement");
        self.matrix.entries.extend_from_slice(satisfied);
        self.matrix.offsets.push(self.matrix.entries.len());
    }

    pub fn finish(self) -> Matrix {
        self.matrix
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[&[u32]]) -> Matrix {
        let mut builder = MatrixBuilder::new(5);
        rows.iter().for_each(|row| builder.test(&mut row.to_vec()));
        builder.finish()
    }

    #[test]
    fn rows_are_sorted_sets() {
        let matrix = matrix(&[&[3, 1, 3], &[]]);
        assert_eq!((matrix.row(0), matrix.row(1)), (&[1, 3][..], &[][..]));
        assert_eq!((matrix.tests(), matrix.requirements(), matrix.entries()), (2, 5, 2));
    }

    #[test]
    fn transposing_twice_changes_nothing() {
        let matrix = matrix(&[&[3, 1], &[], &[0, 1, 4]]);
        let transposed = matrix.transposed();
        assert_eq!((transposed.row(1), transposed.row(2)), (&[0, 2][..], &[][..]));
        assert_eq!(transposed.transposed(), matrix);
    }

    #[test]
    #[should_panic(expected = "no such requirement")]
    fn a_requirement_out_of_range_is_refused() {
        matrix(&[&[5]]);
    }
}
