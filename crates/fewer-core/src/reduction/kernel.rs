//! What is left of a minimum cover when everything that is plain has been decided: tests that must be taken,
//! requirements that are satisfied along with others, tests that another test replaces.

use std::collections::HashSet;

use super::matrix::Matrix;

/// The undecided rest. Tests and requirements have numbers of their own here.
#[derive(Clone, Debug, Default)]
pub(super) struct Kernel {
    /// Per requirement the tests that satisfy it, at least two each.
    pub(super) columns: Vec<Vec<u32>>,
    /// Per test the requirements that it satisfies.
    pub(super) rows: Vec<Vec<u32>>,
    /// The row of each test in the matrix.
    pub(super) tests: Vec<usize>,
}

/// The tests that a smallest cover can be made with in any case, and the rest. Where `go_on` says no, less is
/// decided; what is decided stays right.
pub(super) fn kernel(
    matrix: &Matrix,
    ranks: &[u32],
    go_on: &mut dyn FnMut() -> bool,
) -> (Vec<usize>, Kernel) {
    let transposed = matrix.transposed();
    let distinct: HashSet<&[u32]> = (0..transposed.tests())
        .map(|column| transposed.row(column))
        .filter(|tests| !tests.is_empty())
        .collect();
    let mut columns: Vec<Vec<u32>> = distinct.into_iter().map(<[u32]>::to_vec).collect();
    columns.sort_unstable();
    let mut taken = Vec::new();
    loop {
        let essential: HashSet<u32> = columns
            .iter()
            .filter_map(|tests| if let [only] = tests[..] { Some(only) } else { None })
            .collect();
        taken.extend(essential.iter().map(|&test| test as usize));
        columns.retain(|tests| !tests.iter().any(|test| essential.contains(test)));
        let before = (columns.len(), columns.iter().map(Vec::len).sum::<usize>());
        drop_satisfied_along(&mut columns, matrix.tests(), go_on);
        drop_replaced(&mut columns, ranks, go_on);
        if before == (columns.len(), columns.iter().map(Vec::len).sum()) || !go_on() {
            break;
        }
    }
    taken.sort_unstable();
    (taken, Kernel::of(columns, matrix.tests()))
}

impl Kernel {
    /// With columns that name tests by their rows in the matrix.
    fn of(mut columns: Vec<Vec<u32>>, tests: usize) -> Kernel {
        let all_rows = rows_of(&columns, tests);
        let kept: Vec<usize> = (0..tests).filter(|&test| !all_rows[test].is_empty()).collect();
        let mut numbers = vec![0; tests];
        kept.iter().enumerate().for_each(|(number, &test)| numbers[test] = number as u32);
        columns.iter_mut().flatten().for_each(|test| *test = numbers[*test as usize]);
        let rows = kept.iter().map(|&test| all_rows[test].clone()).collect();
        Kernel { columns, rows, tests: kept }
    }

    /// The parts that have no test in common, each a problem of its own.
    pub(super) fn components(self) -> Vec<Kernel> {
        let mut component = vec![u32::MAX; self.columns.len()];
        let mut count = 0;
        for start in 0..self.columns.len() {
            if component[start] != u32::MAX {
                continue;
            }
            component[start] = count;
            let mut open = vec![start];
            while let Some(column) = open.pop() {
                for &next in self.columns[column].iter().flat_map(|&test| &self.rows[test as usize]) {
                    if component[next as usize] == u32::MAX {
                        component[next as usize] = count;
                        open.push(next as usize);
                    }
                }
            }
            count += 1;
        }
        let mut parts: Vec<Vec<Vec<u32>>> = vec![Vec::new(); count as usize];
        for (column, part) in self.columns.into_iter().zip(component) {
            parts[part as usize].push(column);
        }
        let total = self.tests.len();
        let outer = self.tests;
        let renamed = |columns| {
            let mut part = Kernel::of(columns, total);
            part.tests.iter_mut().for_each(|test| *test = outer[*test]);
            part
        };
        parts.into_iter().map(renamed).collect()
    }
}

/// A requirement whose tests include all those of another is satisfied along with it.
fn drop_satisfied_along(columns: &mut Vec<Vec<u32>>, tests: usize, go_on: &mut dyn FnMut() -> bool) {
    columns.sort_by_key(Vec::len);
    columns.dedup();
    let rows = rows_of(columns, tests);
    let mut dropped = vec![false; columns.len()];
    for column in 0..columns.len() {
        if !go_on() {
            break;
        }
        let rarest = columns[column].iter().min_by_key(|&&test| rows[test as usize].len());
        for &other in rarest.map_or(&[][..], |&test| &rows[test as usize]) {
            let other = other as usize;
            // Of equal ones the first stays.
            if other > column
                && !dropped[other]
                && !dropped[column]
                && is_subset(&columns[column], &columns[other])
            {
                dropped[other] = true;
            }
        }
    }
    let mut index = 0;
    columns.retain(|_| {
        index += 1;
        !dropped[index - 1]
    });
}

/// A test that satisfies nothing that another one does not is replaced by it.
fn drop_replaced(columns: &mut [Vec<u32>], ranks: &[u32], go_on: &mut dyn FnMut() -> bool) {
    let rows = rows_of(columns, ranks.len());
    let mut dropped = vec![false; rows.len()];
    for (test, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
        if !go_on() {
            break;
        }
        let rarest = row.iter().min_by_key(|&&column| columns[column as usize].len());
        dropped[test] = rarest.is_some_and(|&column| {
            columns[column as usize].iter().any(|&other| {
                let other = other as usize;
                let is_better = rows[other].len() > row.len()
                    || rows[other].len() == row.len() && ranks[other] < ranks[test];
                is_better && !dropped[other] && is_subset(row, &rows[other])
            })
        });
    }
    columns.iter_mut().for_each(|tests| tests.retain(|&test| !dropped[test as usize]));
}

fn rows_of(columns: &[Vec<u32>], tests: usize) -> Vec<Vec<u32>> {
    let mut rows = vec![Vec::new(); tests];
    for (column, tests) in columns.iter().enumerate() {
        tests.iter().for_each(|&test| rows[test as usize].push(column as u32));
    }
    rows
}

/// Both sorted.
fn is_subset(small: &[u32], large: &[u32]) -> bool {
    let mut rest = large.iter();
    small.len() <= large.len()
        && small.iter().all(|wanted| rest.by_ref().find(|&found| found >= wanted) == Some(wanted))
}
