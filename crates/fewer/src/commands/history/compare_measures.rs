//! The measures of FEST's evaluation for one version and for many: sets of test classes in, numbers out. A fault is a
//! test class that fails.

use std::collections::BTreeSet;

use serde::Serialize;

pub type TestClasses<'v> = BTreeSet<&'v str>;

/// What is known of one version.
#[derive(Clone, Debug, Default)]
pub struct VersionSets<'v> {
    /// What CI ran, and what of it failed.
    pub ci: TestClasses<'v>,
    pub ci_faults: TestClasses<'v>,
    /// Test classes that CI did not run here, and that failed when it first ran them later.
    pub late_faults: TestClasses<'v>,
    pub fest: TestClasses<'v>,
    pub class_srts: TestClasses<'v>,
    pub all: TestClasses<'v>,
}

/// Who found faults in a version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// CI and FEST (the paper's Dual_F).
    Both,
    /// FEST alone (FEST_F).
    OnlyFest,
    /// Neither (Dual_NF).
    Neither,
    /// CI alone (CI_F).
    OnlyCi,
}

impl Category {
    pub const ALL: [Category; 4] = [Category::Both, Category::OnlyFest, Category::Neither, Category::OnlyCi];

    pub fn words(self) -> &'static str {
        match self {
            Category::Both => "both",
            Category::OnlyFest => "only FEST",
            Category::Neither => "neither",
            Category::OnlyCi => "only CI",
        }
    }
}

/// How one approach does in one version, or on average.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Measures {
    pub tests: f64,
    pub faults: f64,
    /// The share of CI's faults that it finds, in percent.
    pub fcovg: f64,
    /// Faults that CI does not find.
    pub fenhm: f64,
    pub testscal: f64,
    pub riskcomp: f64,
}

/// All approaches in one version, or on average.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Comparison {
    /// What CI really ran; it compensates for nothing.
    pub ci: Measures,
    pub fest: Measures,
    pub class_srts: Measures,
    pub all: Measures,
    /// The share of the faults of ClassSRTS that FEST finds, in percent.
    pub fcovg_of_class_srts: f64,
    /// Faults that FEST finds and ClassSRTS does not.
    pub fenhm_over_class_srts: f64,
}

impl VersionSets<'_> {
    pub fn category(&self) -> Category {
        match (self.ci_faults.is_empty(), self.faults_in(&self.fest).is_empty()) {
            (false, false) => Category::Both,
            (true, false) => Category::OnlyFest,
            (true, true) => Category::Neither,
            (false, true) => Category::OnlyCi,
        }
    }

    pub fn compare(&self) -> Comparison {
        let fest_faults = self.faults_in(&self.fest);
        let class_srts_faults = self.faults_in(&self.class_srts);
        let known = &(&self.ci_faults | &fest_faults) | &class_srts_faults;
        let of = |tests: &TestClasses<'_>, faults: &TestClasses<'_>| Measures {
            tests: tests.len() as f64,
            faults: faults.len() as f64,
            fcovg: coverage(faults, &self.ci_faults),
            fenhm: faults.difference(&self.ci_faults).count() as f64,
            testscal: ratio(faults.len(), tests.len()) * ratio(faults.len(), known.len()),
            riskcomp: self.risk_compensation(tests),
        };
        Comparison {
            ci: Measures { riskcomp: 0.0, ..of(&self.ci, &self.ci_faults) },
            fest: of(&self.fest, &fest_faults),
            class_srts: of(&self.class_srts, &class_srts_faults),
            // Running everything finds what anybody finds; more is not known to be a fault of this version.
            all: of(&self.all, &known),
            fcovg_of_class_srts: coverage(&fest_faults, &class_srts_faults),
            fenhm_over_class_srts: fest_faults.difference(&class_srts_faults).count() as f64,
        }
    }

    fn faults_in<'v>(&self, selected: &TestClasses<'v>) -> TestClasses<'v> {
        let is_fault = |test: &&str| self.ci_faults.contains(test) || self.late_faults.contains(test);
        selected.iter().copied().filter(|test| is_fault(test)).collect()
    }

    fn risk_compensation(&self, selected: &TestClasses<'_>) -> f64 {
        let necessary = &self.fest | &self.class_srts;
        let run = necessary.intersection(&self.ci).count();
        match necessary.len() {
            0 => 0.0,
            count => (selected.len() as f64 - run as f64) / count as f64,
        }
    }
}

/// The means of some versions; zeros if there is none.
pub fn mean<'c>(comparisons: impl IntoIterator<Item = &'c Comparison>) -> Comparison {
    let comparisons: Vec<&Comparison> = comparisons.into_iter().collect();
    let of = |value: &dyn Fn(&Comparison) -> f64| {
        let sum: f64 = comparisons.iter().map(|comparison| value(comparison)).sum();
        sum / comparisons.len().max(1) as f64
    };
    let measures = |approach: fn(&Comparison) -> &Measures| Measures {
        tests: of(&|one| approach(one).tests),
        faults: of(&|one| approach(one).faults),
        fcovg: of(&|one| approach(one).fcovg),
        fenhm: of(&|one| approach(one).fenhm),
        testscal: of(&|one| approach(one).testscal),
        riskcomp: of(&|one| approach(one).riskcomp),
    };
    Comparison {
        ci: measures(|one| &one.ci),
        fest: measures(|one| &one.fest),
        class_srts: measures(|one| &one.class_srts),
        all: measures(|one| &one.all),
        fcovg_of_class_srts: of(&|one| one.fcovg_of_class_srts),
        fenhm_over_class_srts: of(&|one| one.fenhm_over_class_srts),
    }
}

/// Where there is nothing to find, everything is found.
fn coverage(found: &TestClasses<'_>, faults: &TestClasses<'_>) -> f64 {
    match faults.len() {
        0 => 100.0,
        count => 100.0 * found.intersection(faults).count() as f64 / count as f64,
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &'static str) -> TestClasses<'static> {
        names.split_whitespace().collect()
    }

    /// CI ran A to D; A and B failed; E and F were not run and failed later.
    fn version() -> VersionSets<'static> {
        VersionSets {
            ci: set("A B C D"),
            ci_faults: set("A B"),
            late_faults: set("E F"),
            fest: set("A B C E"),
            class_srts: set("A D G"),
            all: set("A B C D E F G H"),
        }
    }

    #[test]
    fn the_measures_are_those_of_the_paper() {
        // Faults: FEST A B E, ClassSRTS A, known A B E. Necessary: A B C D E G, of which CI ran A B C D.
        let comparison = version().compare();
        let expected = |tests, faults, fcovg, fenhm, testscal: f64, riskcomp: f64| Measures {
            tests,
            faults,
            fcovg,
            fenhm,
            testscal,
            riskcomp,
        };
        assert_eq!(comparison.ci, expected(4.0, 2.0, 100.0, 0.0, (2.0 / 4.0) * (2.0 / 3.0), 0.0));
        assert_eq!(comparison.fest, expected(4.0, 3.0, 100.0, 1.0, (3.0 / 4.0) * (3.0 / 3.0), 0.0 / 6.0));
        assert_eq!(
            comparison.class_srts,
            expected(3.0, 1.0, 50.0, 0.0, (1.0 / 3.0) * (1.0 / 3.0), -1.0 / 6.0)
        );
        assert_eq!(comparison.all, expected(8.0, 3.0, 100.0, 1.0, (3.0 / 8.0) * (3.0 / 3.0), 4.0 / 6.0));
        assert_eq!(comparison.fcovg_of_class_srts, 100.0);
        assert_eq!(comparison.fenhm_over_class_srts, 2.0);
    }

    #[test]
    fn where_nothing_can_be_divided_coverage_is_full_and_the_rest_is_nothing() {
        let nothing = VersionSets::default().compare();
        for measures in [nothing.ci, nothing.fest, nothing.class_srts, nothing.all] {
            assert_eq!(measures, Measures { fcovg: 100.0, ..Measures::default() });
        }
        assert_eq!(nothing.fcovg_of_class_srts, 100.0);
        let nothing_selected =
            VersionSets { fest: set(""), class_srts: set(""), late_faults: set(""), ..version() }.compare();
        assert_eq!(nothing_selected.fest, Measures::default(), "CI's two faults are covered by nobody");
        assert_eq!(nothing_selected.all.riskcomp, 0.0);
        let nothing_fails = VersionSets { ci_faults: set(""), late_faults: set(""), ..version() }.compare();
        assert_eq!(nothing_fails.fest.fcovg, 100.0);
        assert_eq!((nothing_fails.fest.testscal, nothing_fails.all.testscal), (0.0, 0.0));
    }

    #[test]
    fn the_category_tells_who_found_faults() {
        let with = |ci_faults, late_faults| {
            VersionSets { ci_faults: set(ci_faults), late_faults: set(late_faults), ..version() }.category()
        };
        assert_eq!(with("A", ""), Category::Both);
        assert_eq!(with("", "E"), Category::OnlyFest);
        assert_eq!(with("", "F"), Category::Neither, "nobody selected it");
        assert_eq!(with("D", ""), Category::OnlyCi);
    }

    #[test]
    fn means_are_over_versions() {
        let (first, second) = (version().compare(), VersionSets::default().compare());
        let mean_of_both = mean([&first, &second]);
        assert_eq!(mean_of_both.fest.tests, 2.0);
        assert_eq!(mean_of_both.class_srts.fcovg, 75.0);
        assert_eq!(mean_of_both.fenhm_over_class_srts, 1.0);
        assert_eq!(mean([]), Comparison::default());
    }
}
