//! A program with tests of its own.

mod rules;

fn main() {
    println!("{}", engine::chain(&[rules::Add(1)], engine::limit()));
}

#[cfg(test)]
mod tests {
    use crate::rules::{Add, Double};

    #[test]
    fn holds() {
        assert_eq!(engine::chain(&[Add(2)], 1), 3);
    }

    #[test]
    fn chains_what_is_not_known() {
        assert_eq!(engine::chain_any(&[&Double], 1), 4);
    }

    #[test]
    #[should_panic]
    fn refuses() {
        crate::rules::refuse(engine::limit());
    }

    #[test]
    #[ignore]
    fn waits() {
        assert_eq!(engine::chain_any(&[&Double], 2), 8);
    }
}
