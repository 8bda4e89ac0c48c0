//! Which part of a hunt's seeds this machine has. Systems that start the same command many times number the copies in environment variables,
//! which are read if `--shard` is not given.

use fissure_hunt::Shard;

use crate::error::Error;

/// Fissure's variable for the number of shards, for systems that give each copy its index but not the number of copies.
const SHARDS: &str = "FISSURE_SHARDS";

/// The variables in which systems number copies of a command.
const SYSTEMS: [System; 6] = [
    System {
        name: "Slurm",
        index: "SLURM_ARRAY_TASK_ID",
        count: "SLURM_ARRAY_TASK_COUNT",
        base: Base::Slurm,
    },
    System { name: "Kubernetes", index: "JOB_COMPLETION_INDEX", count: SHARDS, base: Base::Number(0) },
    System { name: "GitLab", index: "CI_NODE_INDEX", count: "CI_NODE_TOTAL", base: Base::Number(1) },
    System {
        name: "CircleCI",
        index: "CIRCLE_NODE_INDEX",
        count: "CIRCLE_NODE_TOTAL",
        base: Base::Number(0),
    },
    System {
        name: "Buildkite",
        index: "BUILDKITE_PARALLEL_JOB",
        count: "BUILDKITE_PARALLEL_JOB_COUNT",
        base: Base::Number(0),
    },
    System { name: "GNU parallel", index: "PARALLEL_SEQ", count: SHARDS, base: Base::Number(1) },
];

/// How a system numbers the copies of a command.
#[derive(Debug)]
struct System {
    name: &'static str,
    index: &'static str,
    count: &'static str,
    base: Base,
}

/// Where a system starts to count.
#[derive(Debug, Clone, Copy)]
enum Base {
    Number(u64),
    /// The user chooses the indices of a Slurm array; other variables give its range.
    Slurm,
}

impl System {
    /// The shard that the variables name; `None` if one of them is missing.
    fn shard(&self, variable: &impl Fn(&str) -> Option<String>) -> Option<Result<Shard, String>> {
        let value = |name: &str| variable(name).filter(|text| !text.is_empty());
        let (index, count) = (value(self.index)?, value(self.count)?);
        let number = |name: &str| value(name)?.parse::<u64>().ok();
        let shard = || {
            let (index, count) = (index.parse::<u64>().ok()?, count.parse::<u64>().ok()?);
            match self.base {
                Base::Number(base) => Shard::new(index.checked_sub(base)?, count),
                Base::Slurm => {
                    let least = number("SLURM_ARRAY_TASK_MIN")?;
                    let step = number("SLURM_ARRAY_TASK_STEP").unwrap_or(1);
                    let position = |index: u64| {
                        let distance = index.checked_sub(least)?;
                        (distance.checked_rem(step)? == 0).then_some(distance / step)
                    };
                    // The position of a task in an array with gaps, such as 1,3,7, is not known.
                    let is_dense = match number("SLURM_ARRAY_TASK_MAX") {
                        Some(most) => position(most)?.checked_add(1)? == count,
                        None => true,
                    };
                    Shard::new(position(index)?, count).filter(|_| is_dense)
                }
            }
        };
        Some(shard().ok_or_else(|| {
            format!(
                "{} {index} and {} {count} do not name one of N shards, so they were not used: give --shard I/N to share the seeds",
                self.index, self.count
            )
        }))
    }
}

/// The shard that the environment names, with notes about it. Invalid variables are noted and ignored, and a single copy has all seeds.
pub(crate) fn from_environment(
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(Shard, Vec<String>), Error> {
    let mut found: Option<(&System, Shard)> = None;
    let mut notices = Vec::new();
    for system in &SYSTEMS {
        match system.shard(&variable) {
            Some(Ok(shard)) if shard != Shard::WHOLE => match found {
                Some((other, _)) => return Err(Error::TwoShards(other.name, system.name)),
                None => found = Some((system, shard)),
            },
            Some(Err(notice)) => notices.push(notice),
            _ => {}
        }
    }
    let Some((System { name, index, count, .. }, shard)) = found else { return Ok((Shard::WHOLE, notices)) };
    notices.push(format!(
        "shard {shard} was taken from {index} and {count} ({name}); --shard 1/1 runs all seeds"
    ));
    Ok((shard, notices))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The environment is written as `NAME=value` with blanks between.
    fn read(environment: &str) -> Result<(Shard, Vec<String>), Error> {
        from_environment(|name| {
            let mut pairs = environment.split(' ').filter_map(|pair| pair.split_once('='));
            pairs.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
        })
    }

    /// Expects a shard, and a note that contains this text; no note if the text is empty.
    fn check(environment: &str, expected: &str, notice: &str) {
        let (shard, notices) = read(environment).unwrap();
        assert_eq!(shard.to_string(), expected, "{environment}");
        assert_eq!(notices.is_empty(), notice.is_empty(), "{environment}: {notices:?}");
        assert!(notices.iter().all(|text| text.contains(notice)), "{environment}: {notices:?}");
    }

    #[test]
    fn systems_number_their_copies_each_in_its_own_way() {
        check("", "1/1", "");
        let slurm = "SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=";
        check(&format!("{slurm}0 SLURM_ARRAY_TASK_ID=0"), "1/4", "(Slurm)");
        check(
            &format!("{slurm}1 SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_ID=4"),
            "4/4",
            "SLURM_ARRAY_TASK_ID",
        );
        let stepped = format!("{slurm}1 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_STEP=2");
        check(&format!("{stepped} SLURM_ARRAY_TASK_ID=5"), "3/4", "(Slurm)");
        check("JOB_COMPLETION_INDEX=0 FISSURE_SHARDS=3", "1/3", "(Kubernetes)");
        check("CI_NODE_INDEX=3 CI_NODE_TOTAL=3", "3/3", "(GitLab)");
        check("CIRCLE_NODE_INDEX=2 CIRCLE_NODE_TOTAL=3", "3/3", "(CircleCI)");
        check("BUILDKITE_PARALLEL_JOB=1 BUILDKITE_PARALLEL_JOB_COUNT=3", "2/3", "(Buildkite)");
        check("PARALLEL_SEQ=1 FISSURE_SHARDS=2", "1/2", "(GNU parallel)");
    }

    #[test]
    fn incomplete_variables_and_a_single_copy_change_nothing() {
        for environment in [
            "SLURM_ARRAY_TASK_ID=3",
            "JOB_COMPLETION_INDEX=3",
            "PARALLEL_SEQ=2",
            "FISSURE_SHARDS=2",
            "CI_NODE_TOTAL=4",
            "CI_NODE_INDEX= CI_NODE_TOTAL=4",
            "CI_NODE_INDEX=1 CI_NODE_TOTAL=1",
            "CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=1",
        ] {
            check(environment, "1/1", "");
        }
    }

    #[test]
    fn invalid_variables_are_noted_and_not_used() {
        for environment in [
            "CI_NODE_INDEX=0 CI_NODE_TOTAL=4",
            "CI_NODE_INDEX=5 CI_NODE_TOTAL=4",
            "CIRCLE_NODE_INDEX=4 CIRCLE_NODE_TOTAL=4",
            "PARALLEL_SEQ=3 FISSURE_SHARDS=2",
            "PARALLEL_SEQ=1 FISSURE_SHARDS=many",
            "PARALLEL_SEQ=1 FISSURE_SHARDS=0",
            "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=4",
            "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=4",
            "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_COUNT=3",
            "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_STEP=0 SLURM_ARRAY_TASK_COUNT=3",
        ] {
            check(environment, "1/1", "were not used");
        }
    }

    #[test]
    fn variables_of_two_systems_are_an_error() {
        let both = "CI_NODE_INDEX=1 CI_NODE_TOTAL=3 PARALLEL_SEQ=1 FISSURE_SHARDS=2";
        let error = read(both).unwrap_err().to_string();
        assert!(error.contains("GitLab and GNU parallel") && error.contains("--shard I/N"), "{error}");
        check("CI_NODE_INDEX=1 CI_NODE_TOTAL=1 PARALLEL_SEQ=1 FISSURE_SHARDS=2", "1/2", "(GNU parallel)");
    }
}
