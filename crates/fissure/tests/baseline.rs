//! A baseline across an edit of the program, with a real JVM: known findings stay known when lines shift and local
//! variables get other names, and new ones are reported.

mod common;

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

const FIRST: &str = "
public class Shared {
    static int counter;

    static void run() throws InterruptedException {
        int[] numbers = new int[4];
        Thread first = new Thread(() -> { numbers[0]++; counter++; });
        Thread second = new Thread(() -> { numbers[0]++; counter++; });
        first.start();
        second.start();
        first.join();
        second.join();
    }

    public static void main(String[] arguments) throws InterruptedException {
        run();
    }
}
";

/// The same with other lines, another lambda before, and another name for the array.
const EDITED: &str = "
// A comment that
// takes some
// lines.
public class Shared {
    static int counter;
    static int added;

    static void run() throws InterruptedException {
        Runnable nothing = () -> { };
        nothing.run();
        int[] values = new int[4];

        Thread first = new Thread(() -> {
            values[0]++;
            counter++;
            NEW
        });
        Thread second = new Thread(() -> {
            values[0]++;
            counter++;
            NEW
        });
        first.start();
        second.start();
        first.join();
        second.join();
    }

    public static void main(String[] arguments) throws InterruptedException {
        run();
    }
}
";

fn compile(folder: &Path, source: &str) {
    fs::write(folder.join("Shared.java"), source).unwrap();
    let javac = Command::new("javac").args(["-g", "Shared.java"]).current_dir(folder).output();
    let output = javac.expect("javac is not there; run `cargo xtask setup`");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn fissure(folder: &Path, line: &str) -> Output {
    let mut command = common::fissure();
    command.args(line.split(' ')).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn check(output: &Output, code: i32, texts: &[&str]) {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let flat = String::from_utf8_lossy(&text).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(code), "{flat}");
    for text in texts {
        assert!(flat.contains(text), "no '{text}' in: {flat}");
    }
}

#[test]
fn known_findings_stay_known_across_an_edit() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    compile(folder, FIRST);
    check(&fissure(folder, "detect --json found.json -- java -cp . Shared"), 1, &["found 2 data races"]);
    let update = "report found.json --update-baseline --baseline known.json";
    check(&fissure(folder, update), 0, &["the baseline known.json has 2 findings now"]);

    let again = "detect --baseline known.json -- java -cp . Shared";
    compile(folder, &EDITED.replace("NEW", ""));
    check(&fissure(folder, again), 0, &["found nothing new; 2 in the baseline"]);

    compile(folder, &EDITED.replace("NEW", "added++;"));
    check(
        &fissure(folder, again),
        1,
        &["int Shared.added is accessed by two threads", "found 1 new data race; 2 in the baseline"],
    );
}
