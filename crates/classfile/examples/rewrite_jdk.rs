//! Rewrites a folder of class files at full instrumentation, to see that the JVM still accepts them and how
//! long it takes.
//!
//! `rewrite_jdk INPUT OUTPUT`: INPUT is, for instance, what `jimage extract` makes of a JDK; OUTPUT gets the
//! same tree with every class rewritten. Prints how many there were, which methods were left alone, and the
//! average time.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fissure_classfile::{
    ClassSummary, Environment, FieldSummary, Foreign, Plan, Site, read_summary, rewrite,
};

const FINAL_OR_VOLATILE: u16 = 0x0010 | 0x0040;

/// Packages whose classes the JVM knows the layout of, or whose code runs before anything can be called.
const WITHOUT_FIELDS: [&str; 4] = ["java/lang/", "java/lang/ref/", "java/lang/invoke/", "java/lang/reflect/"];

/// All classes that are rewritten, by internal name.
struct World {
    classes: HashMap<String, ClassSummary>,
    sites: u32,
    cells: u32,
}

impl World {
    /// The class that declares a field and the field, as the JVM would find it from `class`.
    fn declaration(
        &self,
        class: &str,
        name: &str,
        descriptor: &str,
    ) -> Option<(&ClassSummary, &FieldSummary)> {
        let mut class = self.classes.get(class);
        while let Some(summary) = class {
            let field =
                summary.fields.iter().find(|field| field.name == name && field.descriptor == descriptor);
            if let Some(field) = field {
                return Some((summary, field));
            }
            class = summary.super_name.as_ref().and_then(|name| self.classes.get(name));
        }
        None
    }
}

impl Environment for World {
    fn site(&mut self, _site: Site<'_>) -> u32 {
        self.sites += 1;
        self.sites
    }

    fn cell(&mut self, _field: &str, _descriptor: &str) -> u32 {
        self.cells += 1;
        self.cells
    }

    fn foreign(&mut self, class: &str, name: &str, descriptor: &str, is_static: bool) -> Foreign {
        match self.declaration(class, name, descriptor) {
            None => Foreign::Resolve,
            Some((_, field)) if field.access & FINAL_OR_VOLATILE != 0 => Foreign::Ignore,
            Some(_) if is_static => Foreign::Resolve,
            Some((declaring, _)) if !gets_fields(&declaring.name) => Foreign::Resolve,
            Some((declaring, _))
                if declaring.fields.iter().filter(|field| field.name == name).count() > 1 =>
            {
                Foreign::Ignore
            }
            Some(_) => Foreign::Shadowed,
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [input, output] = arguments.as_slice() else { return Err("usage: rewrite_jdk INPUT OUTPUT".into()) };
    let mut paths = Vec::new();
    find_classes(input, &mut paths)?;
    let mut files = Vec::new();
    let mut world = World { classes: HashMap::new(), sites: 0, cells: 0 };
    for path in paths {
        let bytes = std::fs::read(&path)?;
        let summary = read_summary(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        if summary.name != "java/lang/Object" {
            files.push((path, bytes, summary.name.clone()));
            world.classes.insert(summary.name.clone(), summary);
        }
    }
    let (mut time, mut slowest) = (Duration::ZERO, (Duration::ZERO, String::new()));
    let (mut rewritten, mut methods) = (0, 0);
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, bytes, name) in &files {
        let fields = gets_fields(name);
        let plan = Plan {
            monitors: true,
            waits: true,
            fields,
            arrays: true,
            ..Plan::empty("java/lang/FissureHook")
        };
        let start = Instant::now();
        let outcome = rewrite(bytes, &plan, &mut world).map_err(|error| format!("{name}: {error}"))?;
        let taken = start.elapsed();
        time += taken;
        if taken > slowest.0 {
            slowest = (taken, name.clone());
        }
        let Some(outcome) = outcome else { continue };
        rewritten += 1;
        methods += outcome.methods_rewritten;
        for left in outcome.left_alone {
            reasons.entry(left.reason).or_default().push(format!("{name}.{}{}", left.name, left.descriptor));
        }
        let target = output.join(path.strip_prefix(input)?);
        std::fs::create_dir_all(target.parent().ok_or("a file without a folder")?)?;
        std::fs::write(target, outcome.bytes)?;
    }
    println!("{} classes, {rewritten} rewritten, {methods} methods rewritten", files.len());
    println!("{} sites, {} cells", world.sites, world.cells);
    println!("{:.1} µs per class", time.as_secs_f64() * 1e6 / files.len().max(1) as f64);
    println!("slowest: {} in {:.0} µs", slowest.1, slowest.0.as_secs_f64() * 1e6);
    println!("left alone: {}", reasons.values().map(Vec::len).sum::<usize>());
    for (reason, methods) in reasons {
        println!("  {reason}: {}", methods.len());
        methods.iter().for_each(|method| println!("    {method}"));
    }
    Ok(())
}

fn gets_fields(class: &str) -> bool {
    let package = class.rfind('/').map_or("", |end| &class[..=end]);
    !WITHOUT_FIELDS.contains(&package) && !class.starts_with("jdk/internal/vm/")
}

fn find_classes(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find_classes(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "class") {
            found.push(path);
        }
    }
    found.sort();
    Ok(())
}
