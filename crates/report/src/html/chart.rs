//! A chart of how likely a single run shows a finding, over the seeds that were tried.

use std::collections::HashSet;

use fissure_model::finding::Finding;
use serde::Serialize;

use crate::Report;

/// The drawing's size.
const WIDTH: f64 = 260.0;
const HEIGHT: f64 = 72.0;
/// Points of the curve; more cannot be seen.
const POINTS: u64 = 130;

/// The share of runs that showed a finding.
#[derive(Debug, Serialize)]
pub(crate) struct Chart {
    runs: u64,
    hits: u64,
    percent: String,
    low: String,
    high: String,
    /// After how many runs the finding is seen with a probability of 95 %.
    enough: Option<u64>,
    width: f64,
    height: f64,
    /// The share after each run, and the interval around it; empty if the order of the runs is not known.
    line: String,
    band: String,
}

/// The chart of a finding of a hunt; `None` if the runs had no seeds.
pub(crate) fn chart(report: &Report, finding: &Finding) -> Option<Chart> {
    let runs = report.seeds.iter().fold(0_u64, |sum, range| sum.saturating_add(range.count));
    if runs < 2 || finding.seeds.is_empty() {
        return None;
    }
    let hits = report.runs_with(finding).min(runs);
    let (low, high) = interval(hits, runs);
    let (line, band) = curve(report, finding, runs).unwrap_or_default();
    Some(Chart {
        runs,
        hits,
        percent: percent(hits as f64 / runs as f64),
        low: percent(low),
        high: percent(high),
        enough: enough(hits, runs),
        width: WIDTH,
        height: HEIGHT,
        line,
        band,
    })
}

/// Wilson's 95 % score interval, which stays within 0 and 1 even if no run or every run showed the finding.
fn interval(hits: u64, runs: u64) -> (f64, f64) {
    let (n, z) = (runs as f64, 1.96_f64);
    let share = hits as f64 / n;
    let middle = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    (((middle - spread) / scale).max(0.0), ((middle + spread) / scale).min(1.0))
}

/// How many runs are needed to see the finding with a probability of 95 %, estimated from the share of runs that showed it.
/// If no run or every run showed it, there is no estimate; the estimate is at least 2.
fn enough(hits: u64, runs: u64) -> Option<u64> {
    if hits == 0 || hits >= runs {
        return None;
    }
    let missed = 1.0 - hits as f64 / runs as f64;
    Some(((0.05_f64.ln() / missed.ln()).ceil() as u64).max(2))
}

/// The curve over the runs in the order of their seeds; `None` unless the seed of every hit is known.
fn curve(report: &Report, finding: &Finding, runs: u64) -> Option<(String, String)> {
    let hit: HashSet<u64> = finding.seeds.iter().copied().collect();
    if hit.len() as u64 != report.runs_with(finding) || runs > 1_000_000 {
        return None;
    }
    let mut seeds: Vec<u64> = report
        .seeds
        .iter()
        .flat_map(|range| (0..range.count).map(move |k| range.first.wrapping_add(k.wrapping_mul(range.step))))
        .collect();
    seeds.sort_unstable();
    let mut hits = 0;
    let stride = (runs / POINTS).max(1);
    let (mut line, mut upper, mut lower) = (Vec::new(), Vec::new(), Vec::new());
    for (at, seed) in seeds.iter().enumerate() {
        hits += u64::from(hit.contains(seed));
        let done = at as u64 + 1;
        if done.is_multiple_of(stride) || done == runs {
            let x = WIDTH * done as f64 / runs as f64;
            let y = |share: f64| format!("{x:.1},{:.1}", HEIGHT * (1.0 - share));
            let (low, high) = interval(hits, done);
            line.push(y(hits as f64 / done as f64));
            lower.push(y(low));
            upper.push(y(high));
        }
    }
    lower.reverse();
    let band: Vec<String> = upper.into_iter().chain(lower).collect();
    Some((line.join(" "), band.join(" ")))
}

fn percent(share: f64) -> String {
    let hundred = share * 100.0;
    if hundred > 0.0 && hundred < 1.0 { format!("{hundred:.2}") } else { format!("{hundred:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(hits: u64, runs: u64, low: f64, high: f64, needed: Option<u64>) {
        let (found_low, found_high) = interval(hits, runs);
        assert!(
            (found_low - low).abs() < 0.005 && (found_high - high).abs() < 0.005,
            "{found_low} {found_high}"
        );
        assert_eq!(enough(hits, runs), needed);
    }

    #[test]
    fn shares_have_intervals() {
        check(0, 10, 0.0, 0.278, None);
        check(10, 10, 0.722, 1.0, None);
        check(50, 100, 0.404, 0.596, Some(5));
        check(1, 100, 0.002, 0.054, Some(299));
    }
}
