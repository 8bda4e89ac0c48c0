//! The paper's results: the 87 rows of its Tables 1 and 2, for comparison.
//!
//! The class ConcurrentSkipListSet calls `pollFirst` what the paper's table calls `poll`.

use fissure_object::{Schema, enumerate::Rank};

const ROWS: &str = include_str!("published.tsv");

/// One method that the paper found not to be atomic in JDK 8u121, on four cores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// The class, with its package.
    pub(crate) class: String,
    /// The method.
    pub(crate) method: String,
    /// The rank whose harnesses were enumerated.
    pub(crate) rank: Rank,
    /// How many harnesses were executed until the violation was seen, in hundreds.
    pub(crate) explored: u64,
    /// How many harnesses the rank had, as the paper counts them.
    pub(crate) generated: u64,
    /// The harness that shows the violation.
    pub(crate) harness: Schema,
    /// How often it was seen.
    pub(crate) hits: u64,
    /// In how many executions.
    pub(crate) executions: u64,
    /// The time it took to find it.
    pub(crate) seconds: u64,
}

impl Row {
    /// How many harnesses the paper executed, of how many of which rank.
    pub(crate) fn effort(&self) -> String {
        let Rank { invocations, sequences, values } = self.rank;
        format!("{}00/{} ({invocations},{sequences},{values})", self.explored, self.generated)
    }
}

/// The rows in the paper's order.
pub(crate) fn rows() -> Vec<Row> {
    ROWS.lines().filter(|line| !line.starts_with('#')).filter_map(row).collect()
}

/// Parses a row. A test checks the whole table, so no row is dropped here.
fn row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [
        class,
        method,
        invocations,
        sequences,
        values,
        explored,
        generated,
        harness,
        _outcome,
        hits,
        executions,
        seconds,
    ] = cells.as_slice()
    else {
        return None;
    };
    Some(Row {
        class: format!("java.util.concurrent.{class}"),
        method: (*method).to_owned(),
        rank: Rank {
            invocations: invocations.parse().ok()?,
            sequences: sequences.parse().ok()?,
            values: values.parse().ok()?,
        },
        explored: explored.parse().ok()?,
        generated: generated.parse().ok()?,
        harness: harness.parse().ok()?,
        hits: hits.parse().ok()?,
        executions: executions.parse().ok()?,
        seconds: seconds.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        let rows = rows();
        assert_eq!(rows.len(), 87);
        for row in &rows {
            let names = row.harness.sequences.iter().flatten().filter(|one| one.method == row.method);
            assert_eq!(names.count(), 1, "{row:?}");
            assert_eq!(row.harness.invocations(), row.rank.invocations, "{row:?}");
            assert_eq!(row.harness.sequences.len(), row.rank.sequences, "{row:?}");
        }
        let seconds: u64 = rows.iter().map(|row| row.seconds).sum();
        assert_eq!(seconds / 87, 352, "the paper's mean time");
    }
}
