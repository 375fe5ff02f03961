//! Values that are made when somebody first looks at them: most analyses never look at what did not change.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock};

type Make<T> = Box<dyn FnOnce() -> Arc<T> + Send>;

/// A shared value that may not be made yet. Copies share it.
pub struct Lazy<T>(Arc<Inner<T>>);

struct Inner<T> {
    value: OnceLock<Arc<T>>,
    make: Mutex<Option<Make<T>>>,
}

impl<T> Lazy<T> {
    pub fn new(make: impl FnOnce() -> Arc<T> + Send + 'static) -> Lazy<T> {
        Lazy(Arc::new(Inner { value: OnceLock::new(), make: Mutex::new(Some(Box::new(make))) }))
    }

    pub fn share(&self) -> Arc<T> {
        let make = || {
            let mut make = self.0.make.lock().expect("nobody panics with the lock held");
            make.take().expect("a value is made once")
        };
        self.0.value.get_or_init(|| make()()).clone()
    }

    /// The value, if somebody has looked at it.
    pub fn if_made(&self) -> Option<&T> {
        self.0.value.get().map(|value| &**value)
    }

    /// The value itself; a copy where others share it.
    pub fn into_inner(self) -> T
    where
        T: Clone,
    {
        let shared = self.share();
        drop(self);
        Arc::unwrap_or_clone(shared)
    }
}

impl<T> From<T> for Lazy<T> {
    fn from(value: T) -> Lazy<T> {
        Lazy(Arc::new(Inner { value: OnceLock::from(Arc::new(value)), make: Mutex::new(None) }))
    }
}

impl<T> Deref for Lazy<T> {
    type Target = T;
    fn deref(&self) -> &T {
        if self.0.value.get().is_none() {
            self.share();
        }
        self.0.value.get().expect("it was made just now")
    }
}

impl<T> Clone for Lazy<T> {
    fn clone(&self) -> Lazy<T> {
        Lazy(self.0.clone())
    }
}

impl<T: Default> Default for Lazy<T> {
    fn default() -> Lazy<T> {
        Lazy::from(T::default())
    }
}

impl<T: PartialEq> PartialEq for Lazy<T> {
    fn eq(&self, other: &Lazy<T>) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Lazy<T> {}

impl<T: fmt::Debug> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_value_is_made_once_and_only_when_somebody_looks() {
        let made = Arc::new(AtomicUsize::new(0));
        let count = made.clone();
        let lazy = Lazy::new(move || Arc::new(count.fetch_add(1, Ordering::Relaxed) + 41));
        let copy = lazy.clone();
        assert_eq!((made.load(Ordering::Relaxed), lazy.if_made()), (0, None));
        assert_eq!((*lazy, *copy, made.load(Ordering::Relaxed)), (41, 41, 1));
        assert_eq!(copy.into_inner(), 41);
    }
}
