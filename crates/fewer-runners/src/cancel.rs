//! A flag that stops builds and tests. Who raises it (Ctrl-C, a failed sibling) is the caller's business.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Clones share one flag. Once raised it stays raised: children are killed within a fraction of a second.
#[derive(Clone, Default, Debug)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub fn new() -> Cancel {
        Cancel::default()
    }

    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Raised with a flag that somebody else raises: what signals raise.
    pub fn with(flag: Arc<AtomicBool>) -> Cancel {
        Cancel(flag)
    }
}
