//! Checks the table of [`jdk`](crate::jdk) against the JDK's own code.
//!
//! For every method whose row says that none of its arguments escapes to other threads, its code and the code of all callees
//! that cannot be overridden are analysed. Calls through interfaces or of overridable methods are assumed to do what their
//! rows say: those rows are checked against the code of their classes in turn, or the callee is code of the program, which
//! the main analysis covers. If the code does more than its row says, the row is wrong, or the code is known to be harmless
//! ([`HARMLESS`]).

mod calls;
mod summary;

use fissure_classfile::{AccessFlags, flow::types};

use crate::{
    ClassSource,
    graph::Level,
    jdk,
    world::{Follow, MethodId, World},
};
use summary::{STATIC, Set, Summaries, Summary, bits, is_inert};

/// Code that seems to do more than its row says but does no harm: the reason, and prefixes of the methods or of the sites where
/// references escape.
const HARMLESS: &[(&str, &[&str])] = &[
    (
        "class members, method types and lookups hold only classes and names, and are not invoked here",
        &[
            "java.lang.Class.",
            "java.lang.Enum.lambda$describeConstable",
            "java.lang.invoke.MemberName.",
            "java.lang.invoke.MethodHandles",
            "java.lang.invoke.MethodType.",
            "java.lang.reflect.",
        ],
    ),
    (
        "only the JVM calls bootstrap methods, with constants",
        &["java.lang.runtime.", "new java.lang.runtime.", "java.util.FormatProcessor."],
    ),
    (
        "only characters, bytes and lengths are copied",
        &[
            "java.lang.StringBu",
            "new java.lang.String",
            "java.lang.StringCoding.",
            "java.lang.reflect.Array.newInstance",
        ],
    ),
    (
        "for a program that creates class loaders the analysis assumes anything already",
        &["java.lang.ClassLoader.get"],
    ),
    ("URLs are compared and not stored", &["java.lang.Package.isSealed"]),
    (
        "formats share constants, field positions that store nothing, and formats that they created themselves and clone",
        &[
            "java.text.Bidi.",
            "java.text.CollationElementIterator.",
            "java.text.CompactNumberFormat.",
            "java.text.DateFormat.format",
            "java.text.DateFormatSymbols.equals",
            "java.text.DecimalFormat.",
            "java.text.ListFormat.",
            "java.text.MessageFormat.",
            "java.text.NumberFormat.",
            "java.text.SimpleDateFormat.",
            "java.time.temporal.WeekFields.of",
            "java.util.Calendar.createCalendar",
            "java.util.GregorianCalendar.",
            "java.util.Locale$",
            "new java.text.Bidi",
            "sun.util.locale.LocaleMatcher.",
        ],
    ),
    (
        "only attributes of exactly the JDK's classes are registered",
        &["new java.text.AttributedCharacterIterator$Attribute"],
    ),
    (
        "a file descriptor references the streams that use it and never returns them; permissions are checked by number or name",
        &[
            "java.io.FileCleanable.",
            "java.io.FileInputStream.",
            "java.io.FileOutputStream.",
            "java.io.RandomAccessFile.close",
            "new java.io.FileInputStream",
            "new java.io.FileOutputStream",
            "new java.io.RandomAccessFile",
            "new sun.nio.ch.FileChannelImpl",
        ],
    ),
    (
        "the result is new or an empty constant; the time zone of a calendar has its own row",
        &[
            "java.nio.ByteBuffer.allocateDirect",
            "java.nio.charset.CoderResult.",
            "java.security.MessageDigest.getInstance",
            "java.time.temporal.IsoFields$",
            "java.util.Base64.",
            "java.util.Calendar.getInstance",
            "java.util.stream.FindOps.",
        ],
    ),
    (
        "time zones are only compared and their names read",
        &["java.text.DateFormat.equals", "java.util.Calendar.equals", "java.util.Formatter$FormatSpecifier."],
    ),
    ("the hook restores the terminal", &["java.io.Console."]),
    (
        "only `toString` of arguments is called; `Formattable` classes of the program are handled by the analysis",
        &["java.io.PrintStream.format", "java.io.PrintWriter.format"],
    ),
    (
        "readers and writers of a channel wrap it",
        &[
            "java.nio.file.FileChannelLinesSpliterator",
            "java.util.Scanner.makeReadable",
            "sun.nio.cs.StreamEncoder.writeBytes",
        ],
    ),
    (
        "file systems of the JDK store no options and no visitors; for those of the program the analysis assumes anything already",
        &["java.nio.file.FileSystems.", "java.nio.file.Files.", "java.nio.file.Path.of"],
    ),
    (
        "cleanup actions hold numbers and files, and run no code of the program",
        &[
            "java.util.jar.JarFile.",
            "java.util.zip.ZipFile$",
            "jdk.internal.ref.Cleaner.",
            "new java.util.zip.Deflater$DeflaterZStreamRef",
            "new java.util.zip.Inflater$InflaterZStreamRef",
            "new java.util.zip.ZipFile$",
        ],
    ),
    (
        "a lock holds only threads, and the blocker that it sets has no accessible methods",
        &[
            "java.util.concurrent.ConcurrentHashMap$TreeBin.contendedLock",
            "java.util.concurrent.locks.AbstractQueuedLongSynchronizer.",
            "java.util.concurrent.locks.AbstractQueuedSynchronizer.",
            "java.util.concurrent.locks.ReentrantReadWriteLock$",
        ],
    ),
    (
        "a new copy sets one of its own fields by reflection",
        &[
            "java.util.concurrent.ConcurrentSkipListSet.setMap",
            "java.util.concurrent.CopyOnWriteArrayList.resetLock",
        ],
    ),
    (
        "tasks of operations that are parallel only on request, by calls that have their own rows",
        &[
            "java.util.ArraysParallelSortHelpers$",
            "java.util.Collections$CopiesList.stream",
            "java.util.concurrent.CountedCompleter.",
            "java.util.concurrent.ForkJoinTask.",
            "java.util.stream.DoublePipeline.",
            "java.util.stream.GathererOp$",
            "java.util.stream.IntPipeline.",
            "java.util.stream.LongPipeline.",
            "java.util.stream.ReferencePipeline.",
            "java.util.stream.SliceOps$",
            "java.util.stream.SortedOps$",
            "java.util.stream.WhileOps$",
            "new java.util.ArrayPrefixHelpers$",
            "new java.util.ArraysParallelSortHelpers$",
            "new java.util.DualPivotQuicksort$",
            "new java.util.concurrent.ConcurrentHashMap$BulkTask",
            "new java.util.stream.AbstractTask",
            "new java.math.BigInteger$RecursiveOp",
            "new java.util.stream.ForEachOps$",
            "new java.util.stream.GathererOp$",
            "new java.util.stream.Nodes$",
        ],
    ),
    (
        "parts of the loading of services, bundles and time-zone rules or of deserialization, whose callers have their own rows",
        &[
            "java.lang.management.DefaultPlatformMBeanProvider$",
            "java.time.Ser.",
            "java.time.chrono.Ser.",
            "java.time.zone.",
            "java.util.Calendar$1.",
            "java.util.ResourceBundle$",
            "java.util.ServiceLoader$",
            "java.util.TimerThread.",
            "jdk.internal.module.",
            "new java.io.ClassCache$",
            "new java.time.zone.",
            "new java.util.ResourceBundle$",
        ],
    ),
    (
        "date texts and time-zone names are cached",
        &["java.time.chrono.ChronoZonedDateTimeImpl.", "java.time.format.DateTime"],
    ),
    (
        "matches are passed to a consumer, and digits to method handles of the JDK",
        &[
            "java.util.DecimalDigits.",
            "java.util.FormatItem",
            "java.util.HexDigits.",
            "java.util.OctalDigits.",
            "java.util.Scanner$FindSpliterator.",
            "java.util.regex.Matcher$",
        ],
    ),
    (
        "a comparator is reversed",
        &[
            "java.util.ReverseOrderListView.sort",
            "java.util.TreeMap$AscendingSubMap.descendingMap",
            "java.util.concurrent.CopyOnWriteArrayList$Reversed.sort",
        ],
    ),
    (
        "code sources are compared, and keys are created",
        &[
            "java.util.jar.JarVerifier$",
            "new sun.security.util.ManifestDigester",
            "sun.net.util.URLUtil.",
            "sun.security.x509.",
        ],
    ),
    ("a stream is passed only for deserialization", &["java.util.TreeMap.buildFromSorted"]),
    (
        "the shared sets contain only characteristics or the constants of an enumeration",
        &["java.nio.file.attribute.AclEntry$", "java.util.EnumSet.of", "java.util.stream.Collector"],
    ),
    ("names of attributes are shared", &["java.util.jar.Attributes.", "java.util.jar.Manifest.read"]),
    (
        "providers count as instantiated by unknown code",
        &[
            "java.security.SecureRandom.",
            "java.util.UUID.nameUUIDFromBytes",
            "java.util.random.RandomGeneratorFactory.",
            "sun.security.jca.",
        ],
    ),
    (
        "thread-local coders and their keys",
        &["java.util.regex.Matcher.appendExpandedReplacement", "sun.nio.cs.ThreadLocalCoders."],
    ),
    (
        "a proxy holds the connection that it was created for, and type descriptions are compared",
        &[
            "java.lang.management.ManagementFactory.",
            "new javax.management.MBeanServerInvocationHandler",
            "sun.management.",
        ],
    ),
    ("the parser's own handler gets the parser's errors", &["jdk.internal.util.xml.impl.ParserSAX."]),
];

/// Prefixes of classes that name classes of modules that the core of the JDK cannot use, and why that does no harm.
const NAMING: &[(&str, &str)] = &[
    (
        "com/sun/jmx/mbeanserver/JavaBeansAccessor",
        "it has no row, and the analysis assumes anything where it calls by reflection",
    ),
    ("java/security/Security", "of the security providers only digests and random numbers have rows"),
    ("java/security/Signature", "it only compares a name"),
    ("jdk/internal/icu/text/BidiBase$", "the shaper of numbers is final and holds nothing"),
    ("jdk/internal/module/SystemModules", "it describes the modules themselves"),
    ("jdk/internal/logger/SimpleConsoleLogger$", "it only compares a name"),
    ("sun/launcher/LauncherHelper", "agents count as called by unknown code"),
    ("sun/net/ext/ExtendedSocketOptions", "socket options hold names and numbers"),
    ("sun/net/www/protocol/http/Negotiator", "the negotiator of a connection is not passed on"),
    ("sun/security/provider/certpath/RevocationChecker", "it only compares names"),
    ("sun/security/tools/KeyStoreUtil", "it is part of a tool"),
    ("sun/text/bidi/BidiBase$", "the shaper of numbers is final and holds nothing"),
];

/// Types whose objects are empty constants when a static method returns them from a static field.
const GIVEN: &[&str] = &[
    "java/util/Comparator",
    "java/util/Enumeration",
    "java/util/Iterator",
    "java/util/List",
    "java/util/ListIterator",
    "java/util/Map",
    "java/util/NavigableMap",
    "java/util/NavigableSet",
    "java/util/Set",
    "java/util/SortedMap",
    "java/util/SortedSet",
    "java/util/Spliterator",
    "java/util/Spliterator$OfDouble",
    "java/util/Spliterator$OfInt",
    "java/util/Spliterator$OfLong",
    "java/util/stream/DoubleStream",
    "java/util/stream/IntStream",
    "java/util/stream/LongStream",
    "java/util/stream/Stream",
];

/// The result of comparing the table with the code of a JDK.
#[derive(Debug, Default)]
pub struct TableCheck {
    /// Methods whose code agrees with their rows.
    pub agreed: usize,
    /// Methods that pass their arguments to code that cannot be analysed.
    pub undecided: usize,
    /// Methods that do more than their rows say but are known to be harmless.
    pub harmless: usize,
    /// Native methods, which have no bytecode.
    pub native: usize,
    /// Methods whose code was analysed, including callees.
    pub looked_into: usize,
    /// The errors in the table, one sentence each.
    pub contradictions: Vec<String>,
}

/// Finds classes that the core of the JDK names although the analysis assumes that it cannot use their modules. One sentence
/// for each.
pub fn check_modules(source: &mut dyn ClassSource, names: &[String]) -> Vec<String> {
    let mut world = World::new(source, Follow::Undescribed);
    let mut found = Vec::new();
    for class in names {
        let is_known = NAMING.iter().any(|(prefix, _)| class.starts_with(prefix));
        if is_known || world.is_inner(class) != Some(true) {
            continue;
        }
        for named in world.names_in(class) {
            if world.is_inner(&named) == Some(false) {
                found.push(format!("{class} names {named}"));
            }
        }
    }
    found
}

/// Compares the table with these classes of the JDK, given by their internal names. For the `doubted` classes all methods are
/// checked, as if their rows said `KEEPS`.
pub fn check_table(source: &mut dyn ClassSource, names: &[String], doubted: &[&str]) -> TableCheck {
    let mut world = World::new(source, Follow::Everything);
    let mut check = TableCheck::default();
    let mut methods: Vec<MethodId> = Vec::new();
    for name in names.iter().filter(|name| jdk::is_described(name)) {
        let class = world.load(name);
        let flow = world.class(class).flow.clone();
        for (index, method) in flow.methods.iter().enumerate() {
            let row = jdk::effect(name, &method.name, &method.descriptor);
            let is_claim = row.level == Level::Local && !row.opens.is_anything();
            let is_claim = is_claim || doubted.contains(&name.as_str());
            if !is_claim || !method.access.intersects(AccessFlags::PUBLIC | AccessFlags::PROTECTED) {
                continue;
            }
            match &method.body {
                Some(_) => methods.push(world.declared(class, index as u32)),
                None => check.native += usize::from(method.access.contains(AccessFlags::NATIVE)),
            }
        }
    }
    let mut summaries = Summaries::new(&mut world);
    methods.iter().for_each(|&method| summaries.request(method));
    summaries.run();
    check.looked_into = summaries.len();
    for method in methods {
        let summary = summaries.get(method);
        match compare(summaries.world, method, &summary) {
            Some(_) if is_harmless(&summaries.world.describe(method), &summary) => check.harmless += 1,
            Some(text) => check.contradictions.push(text),
            None if summary.is_open => check.undecided += 1,
            None => check.agreed += 1,
        }
    }
    check
}

fn is_harmless(method: &str, summary: &Summary) -> bool {
    let site = summary.escape_site.as_deref().unwrap_or(method);
    let prefixes = HARMLESS.iter().flat_map(|(_, prefixes)| prefixes.iter());
    prefixes.into_iter().any(|prefix| site.starts_with(prefix) || method.starts_with(prefix))
}

/// Whether an object of that type may be of a class of the program.
fn may_be_own(world: &mut World<'_>, descriptor: &str) -> bool {
    let Some(name) = descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';')) else {
        return false;
    };
    let class = world.load(name);
    !is_inert(descriptor)
        && !GIVEN.contains(&name)
        && !world.class(class).flow.access.contains(AccessFlags::FINAL)
}

/// Where a method does more than its row says, in one sentence.
fn compare(world: &mut World<'_>, method: MethodId, summary: &Summary) -> Option<String> {
    let info = world.method(method).clone();
    let (class_name, flow) = (world.class(info.class).name.clone(), world.class(info.class).flow.clone());
    let declared = &flow.methods[info.index? as usize];
    let (parameters, result) = types(&declared.descriptor);
    let receiver = format!("L{class_name};");
    let is_static = declared.access.contains(AccessFlags::STATIC);
    let mut kinds: Vec<&str> = if is_static { Vec::new() } else { vec![&receiver] };
    kinds.extend(parameters.into_iter().filter(|kind| kind.starts_with(['L', '['])));
    // The analysis treats exceptions, with all that they hold, and threads as shared anyway.
    if jdk::is_throwable(&receiver) {
        return None;
    }
    let is_counted = |kind: &str| !is_inert(kind) && !jdk::is_throwable(kind) && kind != "Ljava/lang/Thread;";
    let counted = kinds.iter().enumerate().filter(|(_, kind)| is_counted(kind));
    let counted: Set = counted.fold(0, |all, (formal, _)| all | 1 << formal);
    let name = format!("{class_name}.{}{}", declared.name, declared.descriptor);
    let describe = |set: Set| {
        let which = bits(set).map(|formal| kinds.get(formal).copied().unwrap_or_default().to_owned());
        which.collect::<Vec<_>>().join(", ")
    };
    let escaped = summary.escapes & counted;
    if escaped != 0 {
        let site = summary.escape_site.as_deref().unwrap_or_default();
        let escaped = describe(escaped);
        return Some(format!("{name} passes {escaped} to static fields or other threads: {site}"));
    }
    if summary.returns & STATIC != 0 && is_static && may_be_own(world, result) {
        return Some(format!("{name} returns objects from static fields"));
    }
    if jdk::effect(&class_name, &declared.name, &declared.descriptor).links {
        return None;
    }
    for (formal, held) in summary.holds.iter().enumerate() {
        let kept = held & counted & !(1 << formal);
        if kept != 0 {
            return Some(format!("{name} stores {} in {}", describe(kept), describe(1 << formal)));
        }
    }
    let returned = summary.returns & counted & !STATIC;
    (returned != 0 && !is_inert(result)).then(|| format!("{name} returns {}", describe(returned)))
}
