//! Two rules.

use engine::Rule;

pub struct Add(pub u32);

pub struct Double;

impl Rule for Add {
    fn apply(&self, number: u32) -> u32 {
        number + self.0
    }
}

impl Rule for Double {
    fn apply(&self, number: u32) -> u32 {
        number * 2
    }
}

pub fn refuse(limit: u32) {
    assert!(limit > 100);
}
