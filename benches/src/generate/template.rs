//! C++ text with `@holes@`, and what fills them.

use std::collections::BTreeMap;

/// What the holes of a template are filled with.
#[derive(Clone, Debug, Default)]
pub(super) struct Holes(BTreeMap<&'static str, String>);

impl Holes {
    pub(super) fn set(&mut self, hole: &'static str, text: impl ToString) -> &mut Self {
        self.0.insert(hole, text.to_string());
        self
    }

    /// Panics when the template has a hole that nothing fills: a mistake in the generator.
    pub(super) fn fill(&self, template: &str) -> String {
        let mut text = String::with_capacity(template.len() * 2);
        let mut parts = template.split('@');
        text.push_str(parts.next().unwrap_or_default());
        while let (Some(hole), Some(plain)) = (parts.next(), parts.next()) {
            let filling =
                self.0.get(hole).unwrap_or_else(|| panic!("nothing fills @{hole}@ in:\n{template}"));
            text.push_str(filling);
            text.push_str(plain);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hole_is_filled_wherever_it_is() {
        let mut holes = Holes::default();
        holes.set("a", 1).set("b", "two");
        assert_eq!(holes.fill("@a@ and @b@@a@."), "1 and two1.");
        assert_eq!(holes.fill("no hole"), "no hole");
    }

    #[test]
    #[should_panic(expected = "nothing fills @c@")]
    fn a_hole_without_filling_is_a_mistake() {
        Holes::default().fill("@c@");
    }
}
