//! Reads goals as the version before wrote them: text with bars and slashes on the command line, and objects without a kind in reports.
//! To be removed with the next release.

use serde::Deserialize;

use super::{
    AccessGoal, AccessPoints, AcquireGoal, Act, ExpectedAccess, Gate, Goal, GoalAccesses, GoalError,
    GoalSite, RaceGoal, Role, SetGoal, Shape, checked,
};

/// A goal in a report of the version before.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Object {
    Acquires {
        again: String,
        between: String,
        #[serde(default)]
        is_order: bool,
        after: Option<String>,
    },
    Set(SetGoal),
    Race(RaceGoal),
    Accesses {
        points: AccessPoints,
        #[serde(default)]
        is_calm: bool,
        #[serde(default)]
        inside: Vec<String>,
        first: Option<GoalSite>,
        between: Option<GoalSite>,
        last: GoalSite,
        after: Option<String>,
    },
}

impl TryFrom<Object> for Goal {
    type Error = GoalError;

    fn try_from(object: Object) -> Result<Self, GoalError> {
        Ok(match object {
            Object::Acquires { again, between, is_order, after } => {
                Goal::Acquires(AcquireGoal { local: again, remote: between, is_order, prefix: after })
            }
            Object::Set(goal) => Goal::Set(checked(goal)?),
            Object::Race(goal) => Goal::Race(goal),
            Object::Accesses { points, is_calm, inside, first, between, last, after } => {
                Goal::Accesses(AccessGoal {
                    points,
                    is_sequential: is_calm,
                    instrumented: inside,
                    accesses: shaped(first, between, last)?,
                    prefix: after,
                })
            }
        })
    }
}

/// Reads the text of a goal: `LOCAL/REMOTE`, `race|…`, `random|…`, `sequential|…`, or a pattern's number and a bar.
pub(super) fn parse(text: &str) -> Result<Goal, GoalError> {
    match text.split('|').collect::<Vec<_>>()[..] {
        [text] => acquires(text),
        ["race", text] => {
            let accesses = expected(text)?.try_into().map_err(|_| GoalError)?;
            Ok(Goal::Race(RaceGoal { accesses }))
        }
        [kind @ ("random" | "between" | "sequential" | "calmly"), points, first, remote, last] => {
            let is_sequential = matches!(kind, "sequential" | "calmly");
            accesses(is_sequential, points, [first, remote, last], None)
        }
        [kind @ ("random" | "between" | "sequential" | "calmly"), points, first, remote, last, prefix] => {
            let is_sequential = matches!(kind, "sequential" | "calmly");
            accesses(is_sequential, points, [first, remote, last], Some(prefix.to_owned()))
        }
        [pattern, set, first, second, events, windows, gate] => {
            let sites =
                |window: &str| window.split(',').filter(|site| !site.is_empty()).map(str::to_owned).collect();
            let gate = match gate.split_once(' ') {
                Some((site, context)) => Some(Gate { site: site.to_owned(), context: context.to_owned() }),
                None if gate.is_empty() => None,
                None => return Err(GoalError),
            };
            let goal = SetGoal {
                pattern: pattern.parse().map_err(|_| GoalError)?,
                set: set.to_owned(),
                units: [first.to_owned(), second.to_owned()],
                events: expected(events)?,
                windows: windows.split(';').map(sites).collect(),
                gate,
            };
            checked(goal).map(Goal::Set)
        }
        _ => Err(GoalError),
    }
}

/// Reads `LOCAL/REMOTE` or `LATER//EARLIER`, optionally followed by `@CHOICES`.
fn acquires(text: &str) -> Result<Goal, GoalError> {
    let (sites, prefix) = match text.split_once('@') {
        Some((sites, prefix)) => (sites, Some(prefix.to_owned())),
        None => (text, None),
    };
    let (local, remote) = sites.split_once('/').ok_or(GoalError)?;
    let (remote, is_order) = remote.strip_prefix('/').map_or((remote, false), |rest| (rest, true));
    if local.is_empty() || remote.is_empty() || remote.contains('/') {
        return Err(GoalError);
    }
    Ok(Goal::Acquires(AcquireGoal { local: local.to_owned(), remote: remote.to_owned(), is_order, prefix }))
}

/// Reads the parts of a goal at accesses: `fields,CLASS`, the three sites, the choices that come first.
fn accesses(
    is_sequential: bool,
    points: &str,
    sites: [&str; 3],
    prefix: Option<String>,
) -> Result<Goal, GoalError> {
    let mut words = points.split(',');
    let points = match words.next().unwrap_or_default() {
        "locks" => AccessPoints::None,
        "fields" => AccessPoints::Fields,
        "elements" => AccessPoints::All,
        _ => return Err(GoalError),
    };
    let instrumented: Vec<String> = words.map(str::to_owned).collect();
    if instrumented.iter().any(String::is_empty) {
        return Err(GoalError);
    }
    let optional = |text: &str| if text.is_empty() { Ok(None) } else { site(text).map(Some) };
    let [first, remote, last] = sites;
    let accesses = shaped(optional(first)?, optional(remote)?, site(last)?)?;
    Ok(Goal::Accesses(AccessGoal { points, is_sequential, instrumented, accesses, prefix }))
}

/// The accesses of the shape that has just these.
fn shaped(
    first: Option<GoalSite>,
    remote: Option<GoalSite>,
    last: GoalSite,
) -> Result<GoalAccesses, GoalError> {
    let shape = match (&first, &remote) {
        (None, None) => Shape::Delay,
        (None, Some(_)) => Shape::Reordering,
        (Some(_), Some(_)) => Shape::Interleaving,
        (Some(_), None) => return Err(GoalError),
    };
    let site = |role| match role {
        Role::First => first.clone(),
        Role::Remote => remote.clone(),
        Role::Last => Some(last.clone()),
        Role::Second => None,
    };
    GoalAccesses::new(shape, site).ok_or(GoalError)
}

/// Reads `W SITE` or `W SITE NAME`.
fn site(text: &str) -> Result<GoalSite, GoalError> {
    let (act, site, name) = match text.split(' ').collect::<Vec<_>>()[..] {
        [act, site] if !site.is_empty() => (act, site, ""),
        [act, site, name] if !site.is_empty() && !name.is_empty() => (act, site, name),
        _ => return Err(GoalError),
    };
    let act = match act {
        "R" => Act::Read,
        "W" => Act::Write,
        "L" => Act::Acquire,
        _ => return Err(GoalError),
    };
    Ok(GoalSite { site: site.to_owned(), act, name: name.to_owned() })
}

/// Reads accesses `W SITE FIELD CONTEXT` with commas between them.
fn expected(text: &str) -> Result<Vec<ExpectedAccess>, GoalError> {
    let access = |text: &str| match text.split(' ').collect::<Vec<_>>()[..] {
        [kind @ ("R" | "W"), site, field, context] if !site.is_empty() => Ok(ExpectedAccess {
            site: site.to_owned(),
            field: field.to_owned(),
            write: kind == "W",
            context: context.to_owned(),
        }),
        _ => Err(GoalError),
    };
    text.split(',').map(access).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The former text means the same as the text of this version.
    fn check(former: &str, now: &str) {
        assert_eq!(former.parse::<Goal>().map(|goal| goal.to_string()).as_deref(), Ok(now), "{former}");
    }

    fn refuse(former: &str) {
        assert_eq!(former.parse::<Goal>(), Err(GoalError), "{former}");
    }

    #[test]
    fn texts_about_acquires_are_read() {
        check("a.B.c:1/a.B.d:2", r#"{"acquires":{"local":"a.B.c:1","remote":"a.B.d:2"}}"#);
        check("a//b@0*3 1", r#"{"acquires":{"local":"a","remote":"b","order":true,"prefix":"0*3 1"}}"#);
        for text in ["a.B.c", "/a.B.c", "a.B.c/", "a/b/c", "a///b", ""] {
            refuse(text);
        }
    }

    #[test]
    fn texts_about_accesses_are_read() {
        check(
            "between|fields||W a.B.d:2|W a.B.c:1",
            r#"{"reordering":{"points":"fields","remote":{"site":"a.B.d:2","act":"write"},"last":{"site":"a.B.c:1","act":"write"}}}"#,
        );
        check(
            "calmly|elements,a.B|||L a.B.c:1|0*3 1",
            r#"{"delay":{"points":"all","sequential":true,"instrumented":["a.B"],"last":{"site":"a.B.c:1","act":"acquire"},"prefix":"0*3 1"}}"#,
        );
        check(
            "random|fields|R p x|W q x|W r x",
            r#"{"interleaving":{"points":"fields","first":{"site":"p","act":"read","name":"x"},"remote":{"site":"q","act":"write","name":"x"},"last":{"site":"r","act":"write","name":"x"}}}"#,
        );
        check(
            "sequential|locks|||L p",
            r#"{"delay":{"points":"none","sequential":true,"last":{"site":"p","act":"acquire"}}}"#,
        );
        refuse("random|elements,|||W a.B.c:1 x");
        refuse("random|elements|||W a.B.c:1 x y");
        refuse("random|elements|R a.B.c:1||W a.B.c:1");
        refuse("random|nowhere||W a.B.d:2|W a.B.c:1");
        refuse("random|fields||X a.B.d:2|W a.B.c:1");
        refuse("random|fields|R a.B.c:1|W a.B.d:2|");
    }

    #[test]
    fn texts_about_predictions_are_read() {
        check(
            "race|R p a.B.x ,W q a.B.x 1f",
            r#"{"race":{"accesses":[{"site":"p","field":"a.B.x"},{"site":"q","field":"a.B.x","write":true,"context":"1f"}]}}"#,
        );
        let event = r#"{"site":"p","field":"f","context":"1"}"#;
        check(
            "9|a.B|u|v|R p f 1,R p f 1,R p f 1|s,t;;|g 2",
            &format!(
                r#"{{"atomic-set":{{"pattern":9,"set":"a.B","units":["u","v"],"events":[{event},{event},{event}],"windows":[["s","t"],[],[]],"gate":{{"site":"g","context":"2"}}}}}}"#
            ),
        );
        refuse("race|R a.B.c:1 a.B.x ");
        refuse("9|a.B|u|v|R p f 1,W p f 2,W p f 1|;|a.B.d:1");
        refuse("12|a.B|u|v|R p f 1,W p f 2,W p f 1|;|");
        refuse("1|a.B|u|v|R p f 1|;|");
        refuse("1|a.B|u|v");
    }

    #[test]
    fn objects_of_reports_are_read() {
        let check = |former: &str, now: &str| {
            let goal: Goal = serde_json::from_str(former).unwrap();
            assert_eq!(goal, now.parse().unwrap(), "{former}");
        };
        check(r#"{"again":"a","between":"b","is_order":true}"#, "a//b");
        check(r#"{"again":"a","between":"b","after":"0 1"}"#, "a/b@0 1");
        check(
            r#"{"points":"all","is_calm":true,"inside":["a.B"],"between":{"place":"p","act":"read"},"last":{"place":"q","act":"write","name":"x"}}"#,
            "sequential|elements,a.B||R p|W q x",
        );
        check(
            r#"{"points":"fields","first":{"place":"p","act":"read"},"between":{"place":"p","act":"write"},"last":{"place":"q","act":"write"},"after":"0"}"#,
            "random|fields|R p|W p|W q|0",
        );
        check(
            r#"{"accesses":[{"place":"p","field":"f","write":false},{"place":"q","field":"f","write":true,"context":"1"}]}"#,
            "race|R p f ,W q f 1",
        );
        check(
            r#"{"pattern":1,"set":"S","units":["u","v"],"events":[{"place":"p","field":"f","write":false,"context":"1"},{"place":"q","field":"f","write":true,"context":"2"},{"place":"r","field":"f","write":true,"context":"1"}],"windows":[[],["w"]],"gate":{"place":"g","context":"2"}}"#,
            "1|S|u|v|R p f 1,W q f 2,W r f 1|;w|g 2",
        );
    }
}
