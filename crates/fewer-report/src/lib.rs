//! Plans, runs and explanations as JSON, JUnit XML and text. It is given views and computes nothing: what is
//! shown is decided elsewhere, and where it goes (terminal, file) too. Colours are ANSI sequences; whoever prints
//! takes them out where they are not wanted.

mod csv;
mod history;
mod json;
mod junit;
pub mod plot;
pub mod style;
mod table;
mod text;
mod view;

pub use csv::csv;
pub use history::{
    AnalysedView, AutoMergesView, GenerateView, GeneratedView, HistoryStatsView, KindView, LeftOutView,
    MainBranchView, ReplayView, StepKind, StepView,
};
pub use json::{affected_json, document, plan_json, run_json, why_json};
pub use junit::junit_xml;
pub use table::Table;
pub use text::{evidence_text, failures_text, left_out_text, plan_text, seconds, summary_text, why_text};
pub use view::{
    AffectedView, CaseView, Counts, InputKind, InputView, Phase, ProcessFailureView, RankingView, ResultView,
    RunView, SavedView, StrategyView, WhyView,
};
