//! Sets of linked files, as bits: which programs an object or an element can be part of.

/// A set of images by index. Up to 64 of them need no memory of their own: there is one set per element.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ImageSet {
    first: u64,
    /// Not an empty slice where there is none: comparing two of them costs more than all else.
    rest: Option<Box<[u64]>>,
}

impl ImageSet {
    pub fn empty(images: usize) -> ImageSet {
        ImageSet::of_rest(images.saturating_sub(1) / 64)
    }

    fn of_rest(words: usize) -> ImageSet {
        ImageSet { first: 0, rest: (words > 0).then(|| vec![0; words].into_boxed_slice()) }
    }

    fn rest(&self) -> &[u64] {
        self.rest.as_deref().unwrap_or_default()
    }

    fn rest_mut(&mut self) -> &mut [u64] {
        self.rest.as_deref_mut().unwrap_or_default()
    }

    pub fn full(images: usize) -> ImageSet {
        let mut set = ImageSet::empty(images);
        (0..images).for_each(|image| set.insert(image));
        set
    }

    /// How many images the set has room for.
    pub fn capacity(&self) -> usize {
        64 + self.rest().len() * 64
    }

    /// An empty set over the same images.
    pub fn without_members(&self) -> ImageSet {
        ImageSet::of_rest(self.rest().len())
    }

    pub fn insert(&mut self, image: usize) {
        let word = if image < 64 { &mut self.first } else { &mut self.rest_mut()[image / 64 - 1] };
        *word |= 1 << (image % 64);
    }

    pub fn remove(&mut self, image: usize) {
        let word = if image < 64 { &mut self.first } else { &mut self.rest_mut()[image / 64 - 1] };
        *word &= !(1 << (image % 64));
    }

    pub fn contains(&self, image: usize) -> bool {
        let word = if image < 64 { self.first } else { self.rest()[image / 64 - 1] };
        word & 1 << (image % 64) != 0
    }

    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.rest().iter().all(|&word| word == 0)
    }

    pub fn intersects(&self, other: &ImageSet) -> bool {
        self.first & other.first != 0 || self.rest().iter().zip(other.rest()).any(|(a, b)| a & b != 0)
    }

    pub fn extend(&mut self, other: &ImageSet) {
        self.first |= other.first;
        self.rest_mut().iter_mut().zip(other.rest()).for_each(|(a, b)| *a |= b);
    }

    /// The bits, lowest images first; [`ImageSet::of_words`] is the inverse.
    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        [self.first].into_iter().chain(self.rest().iter().copied())
    }

    /// `None` if the words are not those of a set of so many images.
    pub fn of_words(images: usize, mut words: impl Iterator<Item = Option<u64>>) -> Option<ImageSet> {
        let mut set = ImageSet::empty(images);
        set.first = words.next()??;
        for word in set.rest_mut() {
            *word = words.next()??;
        }
        let highest = |word: u64| u64::BITS - word.leading_zeros();
        let is_within =
            |(place, word): (usize, u64)| word == 0 || place * 64 + highest(word) as usize <= images;
        let is_set = set.words().enumerate().all(is_within);
        is_set.then_some(set)
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words().enumerate().flat_map(|(place, word)| bits(word).map(move |bit| place * 64 + bit))
    }
}

/// The bits that are set, the lowest first.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        lowest
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_any_size_hold_what_was_put_in() {
        for images in [1, 63, 64, 65, 128, 129, 300] {
            let mut set = ImageSet::empty(images);
            assert!(set.is_empty());
            set.insert(images - 1);
            set.insert(0);
            assert_eq!(set.iter().last(), Some(images - 1));
            assert!(set.intersects(&ImageSet::full(images)));
            assert_eq!(ImageSet::full(images).iter().collect::<Vec<_>>(), (0..images).collect::<Vec<_>>());
            let read = |images, set: &ImageSet| ImageSet::of_words(images, set.words().map(Some));
            assert_eq!(read(images, &set), Some(set.clone()));
            let has_same_words = ImageSet::empty(images - 1).capacity() == set.capacity();
            assert!(!has_same_words || read(images - 1, &set).is_none());
        }
    }
}
