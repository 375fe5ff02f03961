//! Lists by element of one object: what was found in the order of the file, put together per element.

use std::ops::Range;

/// What belongs to each element: added in any order, then gathered.
pub struct ByElement<T> {
    added: Vec<(u32, T)>,
    /// Per element the first of its items.
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> ByElement<T> {
    pub fn with_capacity(count: usize) -> ByElement<T> {
        ByElement { added: Vec::with_capacity(count), starts: Vec::new(), items: Vec::new() }
    }

    pub fn add(&mut self, element: u32, item: T) {
        self.added.push((element, item));
    }

    /// Puts together what belongs to each of the elements, in the order in which it was added.
    pub fn gather(&mut self, elements: usize) {
        self.starts = vec![0; elements + 1];
        self.added.iter().for_each(|(element, _)| self.starts[*element as usize + 1] += 1);
        (0..elements).for_each(|element| self.starts[element + 1] += self.starts[element]);
        let Some(&(_, any)) = self.added.first() else { return };
        let mut next = self.starts.clone();
        self.items = vec![any; self.added.len()];
        for &(element, item) in &self.added {
            let place = &mut next[element as usize];
            self.items[*place as usize] = item;
            *place += 1;
        }
    }

    fn range(&self, element: u32) -> Range<usize> {
        self.starts[element as usize] as usize..self.starts[element as usize + 1] as usize
    }

    /// Nothing before it is gathered.
    pub fn of(&self, element: u32) -> &[T] {
        if self.starts.is_empty() { &[] } else { &self.items[self.range(element)] }
    }

    pub fn of_mut(&mut self, element: u32) -> &mut [T] {
        let range = self.range(element);
        &mut self.items[range]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_belongs_to_an_element_is_gathered_in_the_order_it_was_added(
            added in proptest::collection::vec((0u32..6, 0u8..9), 0..40),
        ) {
            let mut list = ByElement::with_capacity(0);
            added.iter().for_each(|&(element, item)| list.add(element, item));
            prop_assert!(list.of(3).is_empty());
            list.gather(6);
            for element in 0..6 {
                let expected: Vec<u8> =
                    added.iter().filter(|(of, _)| *of == element).map(|(_, item)| *item).collect();
                prop_assert_eq!(list.of(element), expected);
            }
        }
    }
}
