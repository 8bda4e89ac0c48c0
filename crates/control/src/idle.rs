//! Detects pool threads that wait for work. Their time-out does not concern the program: it only ends an idle thread.

/// What a front end knows about the thread pools of its platform.
#[derive(Debug, Clone, Copy)]
pub struct IdlePools<'a> {
    /// The methods in which threads of a pool wait for work, by class and name.
    pub waiting: &'a [(&'a str, &'a str)],
    /// Prefixes of the classes of queues whose time-outs are the due times of their tasks.
    pub task_queues: &'a [&'a str],
}

impl IdlePools<'_> {
    /// Whether these frames (class and method, innermost first) are those of a pool thread that waits for work.
    pub fn is_waiting(&self, frames: impl Iterator<Item = (String, String)>) -> bool {
        for (class, method) in frames {
            if self.task_queues.iter().any(|queue| class.starts_with(queue)) {
                return false;
            }
            if self.waiting.contains(&(class.as_str(), method.as_str())) {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_pool_threads_are_recognized() {
        let pools = IdlePools { waiting: &[("Pool", "getTask")], task_queues: &["DelayQueue"] };
        let check = |frames: &[(&str, &str)], expected: bool| {
            let frames = frames.iter().map(|(class, method)| ((*class).to_owned(), (*method).to_owned()));
            assert_eq!(pools.is_waiting(frames), expected);
        };
        check(&[("Queue", "poll"), ("Pool", "getTask"), ("Pool", "run")], true);
        check(&[("Queue", "poll"), ("Pool", "submit")], false);
        check(&[("Queue", "poll"), ("Main", "main")], false);
        // This time-out ends when the next task is due.
        check(&[("DelayQueue$Inner", "take"), ("Pool", "getTask")], false);
    }
}
