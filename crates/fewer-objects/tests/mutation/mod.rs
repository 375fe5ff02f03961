//! The parts of the mutation gate: the tokens of C++ text, the mutants made from them, the tree they are built in,
//! and what becomes of the tests there. Judging the outcome is the gate's own part.

pub mod examination;
pub mod mutants;
pub mod tokens;
pub mod workshop;
