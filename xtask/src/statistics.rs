//! Median and geometric mean of measurements.

/// The median: the middle value, or the mean of the two middle values. There must be at least one value.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// The geometric mean, which is the right mean for ratios; 1 if there are no values.
pub(crate) fn geometric_mean(values: &[f64]) -> f64 {
    let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
    (logarithms / values.len().max(1) as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-9, "{actual} is not {expected}");
    }

    #[test]
    fn medians_and_means() {
        check(median(&[3.0, 1.0, 2.0]), 2.0);
        check(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        check(geometric_mean(&[1.0, 4.0]), 2.0);
        check(geometric_mean(&[0.5, 2.0, 1.0]), 1.0);
        check(geometric_mean(&[]), 1.0);
    }
}
