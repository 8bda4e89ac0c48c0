//! Measures the static analysis on a generated program of many classes: services that call each other through interfaces,
//! store each other in collections, use lambdas and exceptions, and pass work to threads.

use std::{
    fmt::Write,
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use clap::Args;

use super::positive;
use crate::{
    jdk,
    workspace::{cargo, fresh_folder, line, succeed, target},
};

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The number of classes; the time limit applies to the default
    #[arg(long, default_value = "1000", value_parser = positive::<u32>)]
    classes: u32,
}

/// The time limit, in seconds.
const TIME_LIMIT: f64 = 60.0;

/// Builds, generates, measures and prints.
pub(crate) fn run(options: &Options) -> Result<()> {
    let classes = options.classes as usize;
    let jdk = jdk::set_up()?;
    succeed(&mut cargo(&["build", "--release"]))?;
    let folder = fresh_folder("bench-static")?;
    let (sources, binaries, cache) = (folder.join("src"), folder.join("classes"), folder.join("cache"));
    for folder in [&sources, &binaries, &cache] {
        fs::create_dir_all(folder)?;
    }
    for (name, text) in generate(classes) {
        fs::write(sources.join(format!("{name}.java")), text)?;
    }
    let files: Vec<_> =
        fs::read_dir(&sources)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    succeed(jdk.tool("javac").args(["--release", "11", "-g", "-nowarn", "-d"]).arg(&binaries).args(files))?;
    let fissure = target()?.join("release/fissure");
    let report = folder.join("report.json");
    let run_detect = |options: &[&str]| -> Result<Duration> {
        let mut command = Command::new(&fissure);
        command.args(["detect", "--analysis", "racer", "--json"]).arg(&report).args(options).arg("--");
        command.arg(jdk.bin().join("java")).arg("-cp").arg(&binaries).arg("Main");
        command.env("XDG_CACHE_HOME", &cache);
        let started = Instant::now();
        let output = command.output().with_context(|| format!("cannot start {}", line(&command)))?;
        if !output.stdout.starts_with(b"done") {
            bail!("{} failed: {}", line(&command), String::from_utf8_lossy(&output.stderr));
        }
        Ok(started.elapsed())
    };
    let without = run_detect(&[])?.as_secs_f64();
    let first = run_detect(&["--static"])?.as_secs_f64();
    let again = run_detect(&["--static"])?.as_secs_f64();
    let (fields, instrumented) = counts(&report)?;
    println!("{classes} generated classes; all times are those of whole runs");
    println!("without --static         {without:>7.2} s");
    println!("with --static, first run {first:>7.2} s   (at most {TIME_LIMIT} s)");
    println!("with --static, again     {again:>7.2} s");
    println!("fields instrumented      {instrumented} of {fields}");
    if first > TIME_LIMIT {
        bail!("the analysis takes too long");
    }
    Ok(())
}

fn counts(report: &Path) -> Result<(u64, u64)> {
    let report: serde_json::Value = serde_json::from_slice(&fs::read(report)?)?;
    let count = |name: &str| report["coverage"]["static"][name].as_u64().context("the report has no counts");
    Ok((count("fields")?, count("fields_watched")?))
}

/// The sources, by the names of their classes.
fn generate(classes: usize) -> Vec<(String, String)> {
    let mut sources = vec![("Step".to_owned(), STEP.to_owned()), ("Main".to_owned(), main(classes))];
    sources.extend((0..classes).map(|number| (format!("Service{number}"), service(number, classes))));
    sources
}

const STEP: &str = "\
public interface Step {
    int run(Step caller, Object data, int depth);

    default Step other() {
        return this;
    }
}
";

fn main(classes: usize) -> String {
    let mut text = String::from(
        "import java.util.*;\npublic class Main {\n    static final List<Step> STEPS = new ArrayList<>();\n",
    );
    for part in 0..classes.div_ceil(100) {
        let _ = writeln!(text, "    static void make{part}() {{");
        for number in (part * 100..classes).take(100) {
            let _ = writeln!(text, "        STEPS.add(new Service{number}({number}));");
        }
        text.push_str("    }\n");
    }
    text.push_str("    public static void main(String[] args) throws Exception {\n");
    for part in 0..classes.div_ceil(100) {
        let _ = writeln!(text, "        make{part}();");
    }
    text.push_str(
        "        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            int begin = i;
            threads[i] = new Thread(() -> {
                for (int j = begin; j < STEPS.size(); j += 2) {
                    STEPS.get(j).run(null, new int[] {j}, 0);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(\"done\");
    }
}
",
    );
    text
}

/// One class: some of its objects are shared by threads, others are created and used by one thread.
fn service(number: usize, classes: usize) -> String {
    let (next, far) = ((number + 1) % classes, (number * 7 + 3) % classes);
    format!(
        "import java.util.*;
import java.util.function.*;
public class Service{number} implements Step {{
    static class Item {{
        int key;
        Item next;
        Object payload;
        Item(int key, Item next) {{
            this.key = key;
            this.next = next;
        }}
        int sum() {{
            int sum = 0;
            for (Item item = this; item != null; item = item.next) {{
                sum += item.key;
            }}
            return sum;
        }}
    }}
    private int id;
    private int calls;
    private Step last;
    private final Map<String, List<Item>> index = new HashMap<>();
    Service{number}(int id) {{
        this.id = id;
    }}
    private Item items(int count) {{
        Item first = null;
        for (int i = 0; i < count; i++) {{
            first = new Item(i, first);
        }}
        return first;
    }}
    private int local(int count) {{
        List<Item> list = new ArrayList<>();
        for (int i = 0; i < count; i++) {{
            list.add(new Item(i, null));
        }}
        Function<Item, Integer> keys = item -> item.key + count;
        int sum = 0;
        for (Item item : list) {{
            item.payload = list;
            sum += keys.apply(item);
        }}
        return sum;
    }}
    @Override
    public int run(Step caller, Object data, int depth) {{
        synchronized (this) {{
            calls++;
            last = caller;
            index.computeIfAbsent(\"k\" + depth, key -> new ArrayList<>()).add(items(2));
        }}
        if (depth > 1) {{
            return local(3) + items(3).sum();
        }}
        try {{
            Step far = Main.STEPS.get({far});
            Service{next} near = (Service{next}) Main.STEPS.get({next});
            return far.run(this, new Item(id, null), depth + 1) + near.run(far.other(), data, depth + 1);
        }} catch (IllegalStateException e) {{
            throw new IllegalStateException(\"in \" + id, e);
        }}
    }}
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_service_is_created_once() {
        let sources = generate(250);
        assert_eq!(sources.len(), 252);
        let main = &sources[1].1;
        assert!((0..250).all(|number| main.contains(&format!("new Service{number}({number})"))));
    }
}
