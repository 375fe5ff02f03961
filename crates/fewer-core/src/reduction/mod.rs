//! Reducing a test suite, carrying the reduced suite to later revisions, combining it with selection, and telling
//! what is lost by it. Pure: where requirements come from and what is done with a reduced suite is told elsewhere.

mod change_related;
mod comparison;
mod distribution;
mod evolution;
mod exact;
mod greedy;
mod hgs;
mod kernel;
mod lagrange;
mod matrix;
mod reduced;
mod suite;
mod wilcoxon;

pub use change_related::{GoneBack, Loss, change_related, go_back, loss, traditional_loss};
pub use comparison::{Choice, LossTable, RevisionChoice, Revisions, Run, Sizes, compare_choices, loss_table};
pub use distribution::Distribution;
pub use evolution::{Evolved, evolve};
pub use exact::{Exact, exact};
pub use greedy::{cost_aware_greedy, greedy, plain_cost_aware_greedy, plain_greedy};
pub use hgs::hgs;
pub use matrix::{Matrix, MatrixBuilder};
pub use reduced::{Algorithm, Kept, Reduction, Redundant, explain_reduction};
pub use suite::{Names, NumberedNames, RequirementKind, Suite, SuiteBuilder};
pub use wilcoxon::{SignedRank, signed_rank};
