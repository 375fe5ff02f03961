//! Sets of linked files, as bits: which programs an object or an element can be part of.

/// A set of images by index.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ImageSet(Vec<u64>);

impl ImageSet {
    pub fn empty(images: usize) -> ImageSet {
        ImageSet(vec![0; images.div_ceil(64)])
    }

    pub fn full(images: usize) -> ImageSet {
        let mut set = ImageSet::empty(images);
        (0..images).for_each(|image| set.insert(image));
        set
    }

    pub fn insert(&mut self, image: usize) {
        self.0[image / 64] |= 1 << (image % 64);
    }

    pub fn contains(&self, image: usize) -> bool {
        self.0[image / 64] & 1 << (image % 64) != 0
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    pub fn intersects(&self, other: &ImageSet) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    pub fn extend(&mut self, other: &ImageSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.0.len() * 64).filter(|&image| self.contains(image))
    }
}
