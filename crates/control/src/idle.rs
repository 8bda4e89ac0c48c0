//! Detects pool threads that wait for work. Their time-out does not concern the program: it only ends an idle thread.

/// What a front end knows about the thread pools of its platform.
#[derive(Debug, Clone, Copy)]
pub struct IdlePools {
    /// Whether threads of a pool wait for work in a method, given its class and name.
    pub is_waiting: fn(&str, &str) -> bool,
    /// Whether a class is that of a queue whose time-outs are the due times of its tasks.
    pub is_task_queue: fn(&str) -> bool,
}

impl IdlePools {
    /// Whether these frames (class and method, innermost first) are those of a pool thread that waits for work.
    pub fn is_waiting(&self, frames: impl Iterator<Item = (String, String)>) -> bool {
        for (class, method) in frames {
            if (self.is_task_queue)(&class) {
                return false;
            }
            if (self.is_waiting)(&class, &method) {
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
        let pools = IdlePools {
            is_waiting: |class, method| (class, method) == ("Pool", "getTask"),
            is_task_queue: |class| class.starts_with("DelayQueue"),
        };
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
