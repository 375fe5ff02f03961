//! A distribution in the numbers that a violin plot is drawn from.

use serde::Serialize;

/// Example: the sizes of the selections of all commits, in percent.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Distribution {
    pub count: usize,
    pub least: f64,
    pub lower_quartile: f64,
    pub median: f64,
    pub mean: f64,
    pub upper_quartile: f64,
    pub greatest: f64,
}

impl Distribution {
    /// `None` where there is no value.
    pub fn of(values: &[f64]) -> Option<Distribution> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&least, &greatest) = (sorted.first()?, sorted.last()?);
        Some(Distribution {
            count: sorted.len(),
            least,
            lower_quartile: quantile(&sorted, 0.25),
            median: quantile(&sorted, 0.5),
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
            upper_quartile: quantile(&sorted, 0.75),
            greatest,
        })
    }
}

/// Between the two nearest values, as most statistics programs do by default.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_the_nearest_values() {
        let distribution = Distribution::of(&[4.0, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!((distribution.lower_quartile, distribution.median), (1.75, 2.5));
        assert_eq!((distribution.upper_quartile, distribution.mean), (3.25, 2.5));
        assert_eq!((distribution.least, distribution.greatest, distribution.count), (1.0, 4.0, 4));
        assert_eq!(Distribution::of(&[]), None);
    }
}
