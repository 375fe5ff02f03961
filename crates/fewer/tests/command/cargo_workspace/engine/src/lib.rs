//! What the other package builds on.

include!(concat!(env!("OUT_DIR"), "/limit.rs"));

pub fn fuel() -> &'static str {
    env!("ENGINE_FUEL")
}

pub fn volume() -> u32 {
    if cfg!(feature = "loud") { 11 } else { 5 }
}

pub trait Rule {
    fn apply(&self, number: u32) -> u32;

    fn apply_twice(&self, number: u32) -> u32 {
        self.apply(self.apply(number))
    }
}

/// Instantiated where it is used.
pub fn chain<R: Rule>(rules: &[R], number: u32) -> u32 {
    rules.iter().fold(number, |number, rule| rule.apply(number))
}

/// Does not know its rules.
pub fn chain_any(rules: &[&dyn Rule], number: u32) -> u32 {
    rules.iter().fold(number, |number, rule| rule.apply_twice(number))
}

#[cfg(test)]
mod tests {
    #[test]
    fn holds() {
        assert!(crate::limit() > 0);
    }

    #[test]
    fn knows_its_fuel() {
        assert_eq!(crate::fuel(), "diesel");
    }

    #[test]
    fn knows_its_volume() {
        assert_eq!(crate::volume(), if cfg!(feature = "loud") { 11 } else { 5 });
    }

    #[test]
    fn sees_the_variable_of_the_build_script() {
        assert_eq!(std::env::var("ENGINE_FUEL").as_deref(), Ok("diesel"));
    }

    #[test]
    fn opens_what_the_build_script_wrote() {
        let directory = std::path::PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
        let table = std::fs::read_to_string(directory.join("table.bin")).unwrap();
        assert_eq!(table, "QUICK");
    }
}
