//! What the user asks of the history: the flags of `run` and `select`, resolved in one step.

use anyhow::bail;

use crate::cli::{StrategyName, StrategyOptions};

/// The strategies that answer from records alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Foretelling {
    Predict,
    S0,
}

impl Foretelling {
    pub fn name(self) -> StrategyName {
        match self {
            Foretelling::Predict => StrategyName::Predict,
            Foretelling::S0 => StrategyName::S0,
        }
    }
}

/// Which tests are wanted, and by which strategy.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub all: bool,
    /// `None` where the user named none.
    pub strategy: Option<StrategyName>,
    pub base: Option<String>,
    /// Whether the build command has just run.
    pub has_built: bool,
}

impl Request {
    pub fn resolve(options: &StrategyOptions, all: bool) -> anyhow::Result<Request> {
        let StrategyOptions { base, strategy } = options;
        match (strategy, base) {
            (Some(StrategyName::SStar | StrategyName::Predict | StrategyName::S0), Some(_)) => bail!(
                "--base names the commit to compare with, and this strategy compares with none; leave it out, or use --strategy s1"
            ),
            (None | Some(StrategyName::Auto | StrategyName::S1 | StrategyName::Sk), Some(_)) | (_, None) => {}
        }
        Ok(Request { all, strategy: *strategy, base: base.clone(), has_built: false })
    }

    /// The strategy when the state at hand has been built.
    pub fn when_built(&self) -> StrategyName {
        match (self.strategy, &self.base) {
            (None | Some(StrategyName::Auto), Some(_)) => StrategyName::S1,
            (None | Some(StrategyName::Auto | StrategyName::Predict), None) => StrategyName::SStar,
            (Some(named), _) => named,
        }
    }

    /// The strategy that answers from records alone, if one was asked for.
    pub fn without_build(&self) -> Option<Foretelling> {
        match self.strategy.filter(|_| !self.all)? {
            StrategyName::Predict => Some(Foretelling::Predict),
            StrategyName::S0 => Some(Foretelling::S0),
            StrategyName::Auto | StrategyName::SStar | StrategyName::S1 | StrategyName::Sk => None,
        }
    }

    /// Whether the program is free to take another strategy where the state at hand is not what is built.
    pub fn is_open(&self) -> bool {
        !self.all && self.base.is_none() && matches!(self.strategy, None | Some(StrategyName::Auto))
    }
}
