//! Holds the table of [`jdk`](crate::jdk) against the JDK's own code.
//!
//! Of every method whose row says that nothing of what it is given gets to other threads, the code is looked into, and all that it
//! certainly calls. What it calls by interfaces or by methods that may be overridden does what the table says: those rows
//! are held against the code of the classes that have them in turn, or are the program's own code, which the analysis follows.
//! Where the code does more than the row says, the row is wrong, or the code is known to be harmless ([`HARMLESS`]).

mod calls;
mod summary;

use fissure_classfile::flow::types;

use crate::{
    ClassSource,
    graph::Level,
    jdk,
    world::{Follow, MethodId, World},
};
use summary::{STATIC, Set, Summaries, Summary, bits, is_inert};

const PUBLIC_OR_PROTECTED: u16 = 0x0005;
const STATIC_METHOD: u16 = 0x0008;
const FINAL: u16 = 0x0010;

/// Why what looks like more than a row says is no harm, and where that is so: methods, or places in the code, by how their names begin.
const HARMLESS: &[(&str, &[&str])] = &[
    (
        "members of classes, types of methods and lookups hold classes and names, and are not used here",
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
        "the JVM alone calls bootstrap methods, with constants",
        &["java.lang.runtime.", "new java.lang.runtime.", "java.util.FormatProcessor."],
    ),
    (
        "characters, bytes and lengths are copied",
        &[
            "java.lang.StringBu",
            "new java.lang.String",
            "java.lang.StringCoding.",
            "java.lang.reflect.Array.newInstance",
        ],
    ),
    ("whoever makes class loaders has given up already", &["java.lang.ClassLoader.get"]),
    ("addresses are compared, and not kept", &["java.lang.Package.isSealed"]),
    (
        "formats share constants, field positions that ignore what they are told, and formats that they have made themselves and clone",
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
        "only attributes of exactly the JDK's own classes are registered",
        &["new java.text.AttributedCharacterIterator$Attribute"],
    ),
    (
        "a descriptor knows the streams that use it and tells nobody, and who may use it is asked by number or name",
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
        "what is given out is new, or a constant without contents; the time zone of a calendar has a row of its own",
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
        "time zones are compared and asked for their names",
        &["java.text.DateFormat.equals", "java.util.Calendar.equals", "java.util.Formatter$FormatSpecifier."],
    ),
    ("the hook restores the terminal", &["java.io.Console."]),
    (
        "arguments are asked for their texts; where the program's own write theirs, the analysis says so",
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
        "file systems, which the program cannot bring along without giving up, keep no options and no visitors",
        &["java.nio.file.FileSystems.", "java.nio.file.Files.", "java.nio.file.Path.of"],
    ),
    (
        "what cleans up knows numbers and files, and runs no code of the program",
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
        "a lock holds nothing but threads, and what it says to wait for has no method that anybody could call",
        &[
            "java.util.concurrent.ConcurrentHashMap$TreeBin.contendedLock",
            "java.util.concurrent.locks.AbstractQueuedLongSynchronizer.",
            "java.util.concurrent.locks.AbstractQueuedSynchronizer.",
            "java.util.concurrent.locks.ReentrantReadWriteLock$",
        ],
    ),
    (
        "a copy sets one of its own fields by reflection",
        &[
            "java.util.concurrent.ConcurrentSkipListSet.setMap",
            "java.util.concurrent.CopyOnWriteArrayList.resetLock",
        ],
    ),
    (
        "tasks of what is parallel only where it is asked for, by calls that have rows of their own",
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
        "parts of what loads services, bundles and rules of time zones, or reads objects, for which those who ask have rows of their own",
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
        "texts of dates and names of time zones are kept to be found again",
        &["java.time.chrono.ChronoZonedDateTimeImpl.", "java.time.format.DateTime"],
    ),
    (
        "what was found is given to a consumer, and digits to handles that the JDK has made for them",
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
        "a comparator is turned round",
        &[
            "java.util.ReverseOrderListView.sort",
            "java.util.TreeMap$AscendingSubMap.descendingMap",
            "java.util.concurrent.CopyOnWriteArrayList$Reversed.sort",
        ],
    ),
    (
        "where code is from is compared, and keys are made",
        &[
            "java.util.jar.JarVerifier$",
            "new sun.security.util.ManifestDigester",
            "sun.net.util.URLUtil.",
            "sun.security.x509.",
        ],
    ),
    ("a stream is given only where objects are read from one", &["java.util.TreeMap.buildFromSorted"]),
    (
        "sets of characteristics and of all constants of an enumeration are shared, and hold nothing else",
        &["java.nio.file.attribute.AclEntry$", "java.util.EnumSet.of", "java.util.stream.Collector"],
    ),
    ("names of attributes are shared", &["java.util.jar.Attributes.", "java.util.jar.Manifest.read"]),
    (
        "providers count as made by anybody",
        &[
            "java.security.SecureRandom.",
            "java.util.UUID.nameUUIDFromBytes",
            "java.util.random.RandomGeneratorFactory.",
            "sun.security.jca.",
        ],
    ),
    (
        "coders of a thread, and what they are recognised by",
        &["java.util.regex.Matcher.appendExpandedReplacement", "sun.nio.cs.ThreadLocalCoders."],
    ),
    (
        "a proxy holds the connection that it was made for, and descriptions of types are compared",
        &[
            "java.lang.management.ManagementFactory.",
            "new javax.management.MBeanServerInvocationHandler",
            "sun.management.",
        ],
    ),
    ("the parser's own handler gets its own errors", &["jdk.internal.util.xml.impl.ParserSAX."]),
];

/// Classes, by how their names begin, that name others of modules that the core of the JDK does not know, and why that is no harm.
const NAMING: &[(&str, &str)] = &[
    ("com/sun/jmx/mbeanserver/JavaBeansAccessor", "it has no row, and gives up where it calls by reflection"),
    ("java/security/Security", "providers of security, of which only digests and random numbers have rows"),
    ("java/security/Signature", "a name is compared"),
    ("jdk/internal/icu/text/BidiBase$", "what shapes numbers is final and holds nothing"),
    ("jdk/internal/module/SystemModules", "the modules themselves are described"),
    ("jdk/internal/logger/SimpleConsoleLogger$", "a name is compared"),
    ("sun/launcher/LauncherHelper", "agents count as called by anybody"),
    ("sun/net/ext/ExtendedSocketOptions", "options of sockets have names and numbers"),
    ("sun/net/www/protocol/http/Negotiator", "what negotiates for a connection is given to nobody"),
    ("sun/security/provider/certpath/RevocationChecker", "names are compared"),
    ("sun/security/tools/KeyStoreUtil", "it belongs to a tool"),
    ("sun/text/bidi/BidiBase$", "what shapes numbers is final and holds nothing"),
];

/// Types whose objects are constants where a static method gives them out of a static field: empty, or without any contents.
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

/// How the table compares to the code of a JDK.
#[derive(Debug, Default)]
pub struct TableCheck {
    /// Methods whose code agrees with their rows.
    pub agreed: usize,
    /// Methods that hand what they are given to something that cannot be followed.
    pub undecided: usize,
    /// Methods that do more than their rows say, and are known to do no harm.
    pub harmless: usize,
    /// Native methods, which have no code to look into.
    pub native: usize,
    /// Methods of which code was looked into, those that others call included.
    pub looked_into: usize,
    /// Where the table is wrong, a sentence each.
    pub contradictions: Vec<String>,
}

/// Looks for classes of the JDK that the code of its core names, though they are of modules that the analysis takes it not to know. A
/// sentence for each.
pub fn check_modules(source: &mut dyn ClassSource, names: &[String]) -> Vec<String> {
    let mut world = World::new(source, Follow::Undescribed);
    let mut found = Vec::new();
    for class in names {
        let is_known = NAMING.iter().any(|(begin, _)| class.starts_with(begin));
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

/// Compares the table with these classes of the JDK, by their internal names. Of those that are `doubted`, all methods are
/// looked at, as if their rows said that they keep what they are given and no more.
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
            if !is_claim || method.access & PUBLIC_OR_PROTECTED == 0 {
                continue;
            }
            match &method.body {
                Some(_) => methods.push(world.declared(class, index as u32)),
                None => check.native += usize::from(method.access & 0x0100 != 0),
            }
        }
    }
    let mut summaries = Summaries::new(&mut world);
    methods.iter().for_each(|&method| summaries.ask(method));
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
    let place = summary.place.as_deref().unwrap_or(method);
    let begins = HARMLESS.iter().flat_map(|(_, begins)| begins.iter());
    begins.into_iter().any(|begin| place.starts_with(begin) || method.starts_with(begin))
}

/// Whether an object of that type may be one of the program's own classes.
fn may_be_own(world: &mut World<'_>, descriptor: &str) -> bool {
    let Some(name) = descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';')) else {
        return false;
    };
    let class = world.load(name);
    !is_inert(descriptor) && !GIVEN.contains(&name) && world.class(class).flow.access & FINAL == 0
}

/// What a method does beyond its row.
fn compare(world: &mut World<'_>, method: MethodId, summary: &Summary) -> Option<String> {
    let info = world.method(method).clone();
    let (class_name, flow) = (world.class(info.class).name.clone(), world.class(info.class).flow.clone());
    let declared = &flow.methods[info.index? as usize];
    let (parameters, result) = types(&declared.descriptor);
    let receiver = format!("L{class_name};");
    let is_static = declared.access & STATIC_METHOD != 0;
    let mut kinds: Vec<&str> = if is_static { Vec::new() } else { vec![&receiver] };
    kinds.extend(parameters.into_iter().filter(|kind| kind.starts_with(['L', '['])));
    // Whatever can be thrown is everybody's anyway, and what it holds; so are threads.
    if jdk::is_throwable(&receiver) {
        return None;
    }
    let is_counted = |kind: &str| !is_inert(kind) && !jdk::is_throwable(kind) && kind != "Ljava/lang/Thread;";
    let counted = kinds.iter().enumerate().filter(|(_, kind)| is_counted(kind));
    let counted: Set = counted.fold(0, |all, (formal, _)| all | 1 << formal);
    let name = format!("{class_name}.{}{}", declared.name, declared.descriptor);
    let tell = |set: Set| {
        let which = bits(set).map(|formal| kinds.get(formal).copied().unwrap_or_default().to_owned());
        which.collect::<Vec<_>>().join(", ")
    };
    let escaped = summary.escapes & counted;
    if escaped != 0 {
        let place = summary.place.as_deref().unwrap_or_default();
        let escaped = tell(escaped);
        return Some(format!("{name} hands {escaped} to static fields or other threads: {place}"));
    }
    if summary.returns & STATIC != 0 && is_static && may_be_own(world, result) {
        return Some(format!("{name} gives out what static fields hold"));
    }
    if jdk::effect(&class_name, &declared.name, &declared.descriptor).links {
        return None;
    }
    for (formal, held) in summary.holds.iter().enumerate() {
        let kept = held & counted & !(1 << formal);
        if kept != 0 {
            return Some(format!("{name} keeps {} in {}", tell(kept), tell(1 << formal)));
        }
    }
    let given_back = summary.returns & counted & !STATIC;
    (given_back != 0 && !is_inert(result)).then(|| format!("{name} gives back {}", tell(given_back)))
}
