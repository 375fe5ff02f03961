//! Distinct authors of the commits within a window, in constant time per row and window: an author counts once from
//! the first of his commits in the window to the last.

const NONE: u32 = u32::MAX;

/// Which rows of the target at hand have the same author next to each other.
#[derive(Default)]
pub struct Authors {
    /// The row before with the same author.
    previous: Vec<u32>,
    /// The row after with the same author.
    next: Vec<u32>,
    /// By author: his latest row so far. Wiped after each target.
    latest: Vec<u32>,
}

impl Authors {
    /// Looks at a target's rows.
    pub fn link(&mut self, authors: &[u32]) {
        self.previous.clear();
        self.next.clear();
        self.next.resize(authors.len(), NONE);
        for (row, &author) in authors.iter().enumerate() {
            let author = author as usize;
            if author >= self.latest.len() {
                self.latest.resize(author + 1, NONE);
            }
            let previous = std::mem::replace(&mut self.latest[author], row as u32);
            if previous != NONE {
                self.next[previous as usize] = row as u32;
            }
            self.previous.push(previous);
        }
        authors.iter().for_each(|&author| self.latest[author as usize] = NONE);
    }

    /// The scores of the wanted rows of the target that was looked at.
    pub fn count(&self, times: &[i64], before: &[u32], window: i64, wanted: &[u32], column: &mut Vec<u32>) {
        let (mut left, mut right, mut distinct) = (0, 0, 0);
        for &row in wanted {
            let row = row as usize;
            let horizon = times[row] - window;
            while right < before[row] {
                let previous = self.previous[right as usize];
                distinct += u32::from(previous == NONE || previous < left);
                right += 1;
            }
            while left < right && times[left as usize] <= horizon {
                // NONE is greater than every row.
                distinct -= u32::from(self.next[left as usize] >= right);
                left += 1;
            }
            column.push(distinct);
        }
    }
}
