//! The layout of the drawing of an interleaving: one lane per thread, time to the right.
//!
//! This module computes coordinates and labels; the page's template draws them.

use std::collections::{BTreeMap, HashMap};

use fissure_model::{
    finding::Finding,
    interleaving::{Action, Interleaving},
};
use serde::Serialize;

use crate::{
    names,
    steps::{self, Row},
    words,
};

/// From one step to the next.
const STEP: u64 = 46;
/// The room for a note about folded steps.
const GAP: u64 = 66;
/// Before the first step.
const LEFT: u64 = 34;
/// After the last step.
const RIGHT: u64 = 40;
/// Above the lanes, for the numbers of the sites.
const TOP: u64 = 12;
/// The name of a lane.
const LABEL: u64 = 30;
/// One level of nested blocks.
const BLOCK: u64 = 22;
/// The line with the marks.
const AXIS: u64 = 36;
/// One lock.
const LOCK: u64 = 16;
/// Between lanes.
const SPACE: u64 = 14;
/// Interleavings with more steps are drawn without those that do not matter.
const MOST: usize = 240;

/// A drawing of an interleaving.
#[derive(Debug, Serialize)]
pub(crate) struct Timeline {
    width: u64,
    height: u64,
    lanes: Vec<Lane>,
    blocks: Vec<Span>,
    locks: Vec<Span>,
    folds: Vec<Fold>,
    switches: Vec<Line>,
    arrows: Vec<Arrow>,
    /// The coordinates of the steps with a role, as the points of an SVG polyline.
    trail: String,
    pub(crate) marks: Vec<Mark>,
}

#[derive(Debug, Serialize)]
struct Lane {
    name: String,
    thread: usize,
    top: u64,
    height: u64,
    axis: u64,
}

#[derive(Debug, Serialize)]
struct Span {
    name: String,
    title: String,
    color: usize,
    x: u64,
    y: u64,
    width: u64,
}

#[derive(Debug, Serialize)]
struct Fold {
    x: u64,
    text: String,
}

#[derive(Debug, Serialize)]
struct Line {
    x: u64,
    from: u64,
    to: u64,
}

#[derive(Debug, Serialize)]
struct Arrow {
    path: String,
    title: String,
}

/// One step.
#[derive(Debug, Serialize)]
pub(crate) struct Mark {
    /// Its number in the interleaving, from 0.
    pub(crate) step: usize,
    shape: &'static str,
    thread: usize,
    x: u64,
    y: u64,
    title: String,
    number: Option<usize>,
    role: bool,
    important: bool,
}

/// Computes the layout of an interleaving.
pub(crate) fn lay_out(finding: &Finding, interleaving: &Interleaving) -> Timeline {
    let important = steps::important(finding, interleaving);
    let numbers = steps::site_numbers(finding, interleaving);
    let rows = steps::rows(finding, interleaving, interleaving.steps.len() <= MOST);
    let mut x = LEFT;
    let mut positions: BTreeMap<usize, u64> = BTreeMap::new();
    let mut folds = Vec::new();
    let mut switched = Vec::new();
    for row in &rows {
        match row {
            Row::Folded(count) => {
                let text = words::count(*count, "step", "steps");
                folds.push(Fold { x: x + GAP / 2 - STEP / 2, text });
                x += GAP;
            }
            Row::Switch(from, to) => switched.push((x - STEP / 2, *from, *to)),
            Row::Step(at) => {
                positions.insert(*at, x);
                x += STEP;
            }
        }
    }
    let end = x - STEP / 2;
    let spans = Spans::new(interleaving, &positions, end);
    let lanes = lanes(interleaving, &positions, &spans);
    let lane = |thread: usize| lanes.iter().find(|lane| lane.thread == thread);
    let axis = |thread: usize| lane(thread).map_or(0, |lane| lane.axis);
    let marks: Vec<Mark> = positions
        .iter()
        .map(|(&at, &x)| {
            let step = &interleaving.steps[at];
            Mark {
                step: at,
                shape: shape(step.action),
                thread: step.thread,
                x,
                y: axis(step.thread),
                title: words::clean(&names::step(step)),
                number: numbers[at],
                role: step.role.is_some(),
                important: important[at],
            }
        })
        .collect();
    let trail = marks.iter().filter(|mark| mark.role).map(|mark| format!("{},{}", mark.x, mark.y));
    let arrows = orders(interleaving).into_iter().filter_map(|(from, to)| {
        let (&from_x, &to_x) = (positions.get(&from)?, positions.get(&to)?);
        let (a, b) = (&interleaving.steps[from], &interleaving.steps[to]);
        let title = format!("{} happens before {}", names::step(a), names::step(b));
        let path = curve((from_x, axis(a.thread)), (to_x, axis(b.thread)));
        Some(Arrow { path, title: words::clean(&title) })
    });
    let height = lanes.last().map_or(0, |lane| lane.top + lane.height) + 8;
    Timeline {
        width: end + RIGHT,
        height,
        blocks: spans.place(
            &spans.blocks,
            |span| lane(span.thread).map_or(0, |lane| lane.top + LABEL),
            BLOCK,
        ),
        locks: spans.place(&spans.locks, |span| axis(span.thread) + AXIS / 2, LOCK),
        folds,
        switches: switched
            .into_iter()
            .map(|(x, from, to)| Line { x, from: axis(from), to: axis(to) })
            .collect(),
        arrows: arrows.collect(),
        trail: trail.collect::<Vec<_>>().join(" "),
        marks,
        lanes,
    }
}

fn lanes(interleaving: &Interleaving, positions: &BTreeMap<usize, u64>, spans: &Spans) -> Vec<Lane> {
    let mut threads: Vec<usize> = positions.keys().map(|&at| interleaving.steps[at].thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut top = TOP;
    threads
        .into_iter()
        .map(|thread| {
            let depth = |list: &[RawSpan]| {
                list.iter().filter(|span| span.thread == thread).map(|span| span.level + 1).max().unwrap_or(0)
            };
            let axis = top + LABEL + depth(&spans.blocks) * BLOCK + AXIS / 2;
            let height = LABEL + depth(&spans.blocks) * BLOCK + AXIS + depth(&spans.locks) * LOCK + 4;
            let name = match interleaving.threads.get(thread).map(String::as_str) {
                Some("") | None => format!("thread {}", thread + 1),
                Some(name) => words::clean(name),
            };
            let lane = Lane { name, thread, top, height, axis };
            top += height + SPACE;
            lane
        })
        .collect()
}

/// A block or a lock from its beginning to its end.
struct RawSpan {
    thread: usize,
    object: String,
    from: u64,
    to: u64,
    /// The row within the lane, from 0: blocks nest, and locks that are held together need separate rows.
    level: u64,
}

struct Spans {
    blocks: Vec<RawSpan>,
    locks: Vec<RawSpan>,
    /// A colour for every lock.
    colors: HashMap<String, usize>,
}

impl Spans {
    fn new(interleaving: &Interleaving, positions: &BTreeMap<usize, u64>, end: u64) -> Self {
        let mut spans = Spans { blocks: Vec::new(), locks: Vec::new(), colors: HashMap::new() };
        let mut open_blocks: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut open_locks: HashMap<(usize, &str), usize> = HashMap::new();
        for (&at, &x) in positions {
            let step = &interleaving.steps[at];
            let new =
                |level| RawSpan { thread: step.thread, object: step.object.clone(), from: x, to: end, level };
            match step.action {
                Action::BlockEnter => {
                    let open = open_blocks.entry(step.thread).or_default();
                    spans.blocks.push(new(open.len() as u64));
                    open.push(spans.blocks.len() - 1);
                }
                Action::BlockExit => {
                    if let Some(at) = open_blocks.entry(step.thread).or_default().pop() {
                        spans.blocks[at].to = x;
                    }
                }
                Action::Acquire => {
                    let number = spans.colors.len();
                    spans.colors.entry(step.object.clone()).or_insert(number);
                    let used: Vec<u64> = open_locks
                        .iter()
                        .filter(|((thread, _), _)| *thread == step.thread)
                        .map(|(_, &at)| spans.locks[at].level)
                        .collect();
                    let level = (0..).find(|level| !used.contains(level)).unwrap_or_default();
                    spans.locks.push(new(level));
                    open_locks.insert((step.thread, &step.object), spans.locks.len() - 1);
                }
                Action::Release | Action::Wait => {
                    if let Some(at) = open_locks.remove(&(step.thread, step.object.as_str())) {
                        spans.locks[at].to = x;
                    }
                }
                _ => {}
            }
        }
        spans
    }

    fn place(&self, spans: &[RawSpan], top: impl Fn(&RawSpan) -> u64, height: u64) -> Vec<Span> {
        spans
            .iter()
            .map(|span| {
                let width = (span.to - span.from + 16).max(16);
                let name = words::clean(names::innermost(&span.object));
                Span {
                    // Seven units a letter is generous, so that a name never runs over the end of its bar.
                    name: if width > 40 {
                        words::cut(&name, (width as usize - 10) / 7)
                    } else {
                        String::new()
                    },
                    title: words::clean(&span.object),
                    color: self.colors.get(&span.object).copied().unwrap_or_default() % 6,
                    x: span.from - 8,
                    y: top(span) + span.level * height,
                    width,
                }
            })
            .collect()
    }
}

/// Pairs of steps of different threads of which the first happens before the second: release and acquire of a lock, start
/// and begin of a thread, end and join, successive atomic operations on one object.
fn orders(interleaving: &Interleaving) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut released: HashMap<&str, usize> = HashMap::new();
    let mut atomics: HashMap<&str, usize> = HashMap::new();
    let mut started: HashMap<&str, usize> = HashMap::new();
    let mut ended: HashMap<usize, usize> = HashMap::new();
    let name = |thread: usize| interleaving.threads.get(thread).map(String::as_str).unwrap_or_default();
    for (at, step) in interleaving.steps.iter().enumerate() {
        let other = |from: Option<usize>| from.filter(|&from| interleaving.steps[from].thread != step.thread);
        let from = match step.action {
            Action::Acquire => other(released.get(step.object.as_str()).copied()),
            Action::Atomic => other(atomics.insert(&step.object, at)),
            Action::Begin => other(started.remove(name(step.thread))),
            Action::Join => (0..interleaving.threads.len())
                .find(|&thread| name(thread) == step.object)
                .and_then(|thread| other(ended.get(&thread).copied())),
            Action::Release | Action::Wait => {
                released.insert(&step.object, at);
                None
            }
            Action::Start => {
                started.insert(&step.object, at);
                None
            }
            Action::End | Action::Throw => {
                ended.insert(step.thread, at);
                None
            }
            _ => None,
        };
        pairs.extend(from.map(|from| (from, at)));
    }
    pairs
}

/// An SVG path that leaves and arrives horizontally.
fn curve((from_x, from_y): (u64, u64), (to_x, to_y): (u64, u64)) -> String {
    let bend = ((to_x - from_x) / 2).clamp(20, 60);
    // The arrow ends at the rim of the mark.
    let (start, end) = (from_x + 8, to_x - 9);
    format!("M{start} {from_y} C{} {from_y} {} {to_y} {end} {to_y}", start + bend, end - bend.min(end))
}

fn shape(action: Action) -> &'static str {
    match action {
        Action::Acquire => "acquire",
        Action::Release | Action::Wait => "release",
        Action::BlockEnter => "enter",
        Action::BlockExit => "exit",
        Action::Read => "read",
        Action::Write => "write",
        Action::Atomic => "atomic",
        Action::Throw => "throw",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::tests::interleaving;
    use fissure_model::finding::{Kind, Status};

    fn check_orders(lines: &[&str], expected: &[(usize, usize)]) {
        assert_eq!(orders(&interleaving(lines)), expected, "{lines:?}");
    }

    #[test]
    fn arrows_show_happens_before() {
        check_orders(&["0 acquire x", "0 release x", "1 acquire x", "1 release x"], &[(1, 2)]);
        check_orders(&["0 acquire x", "0 release x", "0 acquire x"], &[]);
        check_orders(&["0 start b", "0 read y", "1 begin _"], &[(0, 2)]);
        check_orders(&["1 end _", "0 join b"], &[(0, 1)]);
        check_orders(&["0 atomic v", "1 atomic v", "1 atomic v"], &[(0, 1)]);
        check_orders(&["0 wait m", "1 acquire m"], &[(0, 1)]);
    }

    #[test]
    fn everything_is_inside_the_drawing() {
        let steps = interleaving(&[
            "0 block-enter A.m entered",
            "0 acquire x",
            "0 acquire y",
            "1 read z violated",
            "0 release x",
            "0 block-exit A.m",
        ]);
        let finding = Finding::new(Kind::AtomicityViolation, Status::Bug, "x", "A.m");
        let timeline = lay_out(&finding, &steps);
        assert_eq!((timeline.lanes.len(), timeline.marks.len(), timeline.switches.len()), (2, 6, 2));
        for mark in &timeline.marks {
            assert!(mark.x < timeline.width && mark.y < timeline.height);
        }
        for span in timeline.blocks.iter().chain(&timeline.locks) {
            assert!(span.x + span.width <= timeline.width && span.y < timeline.height, "{span:?}");
        }
        // Locks that are held together are drawn in different rows.
        assert_ne!(timeline.locks[0].y, timeline.locks[1].y);
        assert_ne!(timeline.locks[0].color, timeline.locks[1].color);
    }

    #[test]
    fn odd_interleavings_are_drawn_too() {
        let finding = Finding::new(Kind::AtomicityViolation, Status::Bug, "x", "A.m");
        for lines in [&[][..], &["9 block-exit _", "9 release x", "9 join unknown"], &["0 throw E"; 500]] {
            let timeline = lay_out(&finding, &interleaving(lines));
            assert!(timeline.marks.len() <= lines.len());
        }
    }
}
