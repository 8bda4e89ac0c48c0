//! The HTML page in a real browser: it opens without an error, steps, filters and fits a phone.
//!
//! `cargo xtask browser` runs this with a Chromium that it finds or installs, and leaves screenshots behind. The tests
//! append a script to the page, which drives it and writes its observations into it.

mod common;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use fissure_report::{NoSources, Report, SourceFinder, html};

use common::{Sources, hunt};

/// The checks of the page, as a script; each line of its output gives an expectation and whether it was met.
const SCRIPT: &str = r##"
<script>
const lines = [];
const check = (what, fine) => lines.push(`${fine ? "ok" : "FAILED"}: ${what}`);
window.addEventListener("error", event => check(`no error: ${event.message}`, false));
const press = key => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const one = selector => document.querySelector(selector);
const visible = selector => Array.from(document.querySelectorAll(selector)).filter(element => element.getClientRects().length > 0);
const position = () => visible(".position")[0].textContent;
const now = () => visible(".code .now")[0]?.textContent ?? "";
try {
  check("one finding is open", visible("article").length === 1);
  check("the worst comes first", visible("article h2")[0].textContent.includes("Buffer.append should be atomic"));
  check("the timeline has three lanes", visible("article svg .lane").length === 3);
  check("four places have numbers", visible("article svg .badge").length === 4);
  check("stepping starts at the first place", position().includes("5 of 20: appender enters Buffer.append"));
  check("the source shows its line", now().includes("public synchronized Buffer append"));
  press("ArrowRight");
  check("the right arrow steps on", position().includes("6 of 20: appender acquires Buffer@2"));
  check("the source follows", now().includes("return count"));
  check("the mark is current", visible(".mark.current")[0]?.dataset.step === "5");
  check("the row is current", visible(".steps .current")[0]?.dataset.step === "5");
  press("ArrowLeft");
  check("the left arrow steps back", position().includes("5 of 20"));
  press("Home"); press("ArrowLeft");
  check("before the first there is nothing", position().includes("1 of 20: main starts appender"));
  check("another file is shown", visible(".file")[0].textContent.includes("Race.java") && now().includes("appender.start()"));
  press("End"); press("ArrowRight");
  check("after the last there is nothing", position().includes("20 of 20"));
  visible(".mark[data-step='10']")[0].dispatchEvent(new MouseEvent("click", { bubbles: true }));
  check("a click on a mark selects it", position().includes("11 of 20: eraser acquires Buffer@2"));
  check("and shows the stack", visible(".stackbox .stack li").length === 3);
  const width = Number(visible(".timeline svg")[0].getAttribute("width"));
  press("+");
  check("plus makes it larger", Number(visible(".timeline svg")[0].getAttribute("width")) > width);
  press("j");
  check("j opens the next finding", visible("article h2")[0].textContent.includes("waits for ever"));
  const search = one("#search");
  search.value = "hashmap CLEAR";
  search.dispatchEvent(new Event("input"));
  check("the search leaves one", visible("#list li").length === 1 && one("#shown").textContent === "1");
  check("and opens it", visible("article h2")[0].textContent.includes("ConcurrentHashMap.clear"));
  check("outcomes have bars", visible(".outcomes tr").length === 3 && visible(".outcomes .wrong").length === 1);
  search.value = "no such thing";
  search.dispatchEvent(new Event("input"));
  check("nothing found is said", visible("#nothing").length === 1);
  one("#clear").click();
  check("clearing brings all back", visible("#list li").length === 9);
  one("[data-filter='standing'][data-value='warning']").click();
  check("a status filters", visible("#list li").length === 2 && visible("article .tag")[0].textContent === "warning");
  one("[data-filter='standing'][data-value='warning']").click();
  one("[data-filter='kind'][data-value='data-race']").click();
  check("a kind filters", visible("#list li").length === 2 && visible("article h2")[0].textContent.includes("Buffer.count"));
  check("a hunt shows its chances", visible(".chart polyline").length === 1);
  const theme = document.documentElement.dataset.theme;
  press("d");
  check("d turns the lights", document.documentElement.dataset.theme !== theme);
  check("no text is wider than the page", document.documentElement.scrollWidth <= window.innerWidth);
} catch (error) {
  check(`no exception: ${error.stack}`, false);
}
document.body.replaceChildren(Object.assign(document.createElement("pre"), { id: "result", textContent: lines.join("\n") }));
</script>"##;

/// Checks of a page whose sources were not found.
const SOURCELESS: &str = r##"
<script>
const said = document.querySelector("article:not([hidden]) .code .none")?.textContent.includes("--sources");
document.body.replaceChildren(Object.assign(document.createElement("pre"), { id: "result", textContent: `${said ? "ok" : "FAILED"}: it says what to do` }));
</script>"##;

/// Checks of a page that only has to open.
const OPENS: &str = r##"
<script>
const fine = document.querySelectorAll("article:not([hidden])").length <= 1 && document.documentElement.dataset.theme;
const wide = document.documentElement.scrollWidth > window.innerWidth;
document.body.replaceChildren(Object.assign(document.createElement("pre"), { id: "result", textContent: `${fine ? "ok" : "FAILED"}: it opens\n${wide ? "FAILED" : "ok"}: it fits` }));
</script>"##;

fn browser() -> PathBuf {
    env::var_os("FISSURE_CHROMIUM")
        .expect("FISSURE_CHROMIUM must name Chromium; run `cargo xtask browser`")
        .into()
}

fn folder() -> PathBuf {
    let folder = env::var_os("FISSURE_SCREENSHOTS").map_or_else(env::temp_dir, PathBuf::from);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Starts the browser on a page of a certain size and returns its output.
fn start(page: &Path, size: (u32, u32), options: &[&str]) -> (String, String) {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(browser())
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"])
        .args([
            "--enable-logging=stderr",
            "--virtual-time-budget=4000",
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--window-size={},{}", size.0, size.1))
        .args(options)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// Opens a page, runs a script on it, and checks the output of the script and of the console.
fn check(name: &str, report: &Report, script: &str, size: (u32, u32)) {
    check_with(name, report, script, size, &Sources);
}

fn check_with(name: &str, report: &Report, script: &str, size: (u32, u32), sources: &dyn SourceFinder) {
    let page = html::render(report, "1.2.3", sources).unwrap();
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join(format!("{name}.html"));
    fs::write(&file, page.replace("</body>", &format!("{script}</body>"))).unwrap();
    let (document, errors) = start(&file, size, &["--dump-dom"]);
    let console: Vec<&str> = errors.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{name}: {console:#?}");
    let (_, result) = document.split_once("<pre id=\"result\">").expect("the script did not run");
    let (result, _) = result.split_once("</pre>").unwrap();
    let failed: Vec<&str> = result.lines().filter(|line| !line.starts_with("ok: ")).collect();
    assert!(failed.is_empty() && result.contains("ok: "), "{name}: {failed:#?}");
}

fn shoot(name: &str, page: &Path, size: (u32, u32), options: &[&str]) {
    let file = folder().join(format!("{name}.png"));
    let _ = fs::remove_file(&file);
    let screenshot = format!("--screenshot={}", file.display());
    start(page, size, &[&[screenshot.as_str()], options].concat());
    let bytes = fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 20_000, "{name}: {} bytes", bytes.len());
}

#[test]
#[ignore = "needs Chromium: run `cargo xtask browser`"]
fn the_page_works_in_a_browser() {
    check("desktop", &hunt(common::all_kinds()), SCRIPT, (1400, 1000));
    // The browser's windows are at least 500 pixels wide, so the narrowest layout starts above that.
    check("narrow", &hunt(common::all_kinds()), SCRIPT, (500, 900));
}

#[test]
#[ignore = "needs Chromium: run `cargo xtask browser`"]
fn odd_pages_open_too() {
    check("nothing", &hunt(Vec::new()), OPENS, (1200, 800));
    check_with("sourceless", &hunt(vec![common::append()]), SOURCELESS, (1200, 800), &NoSources);
    check("hostile", &hunt(vec![common::hostile()]), OPENS, (1200, 800));
    let many = (0..300).map(|at| {
        let mut finding = common::append();
        finding.id = format!("{at:016x}");
        finding
    });
    check("many", &hunt(many.collect()), OPENS, (1200, 800));
}

#[test]
#[ignore = "needs Chromium: run `cargo xtask browser`"]
fn screenshots_are_taken() {
    let page = folder().join("report.html");
    fs::write(&page, html::render(&hunt(common::all_kinds()), "1.2.3", &Sources).unwrap()).unwrap();
    shoot("light", &page, (1400, 1500), &[]);
    shoot("dark", &page, (1400, 1500), &["--force-dark-mode", "--blink-settings=preferredColorScheme=0"]);
    // A frame of a phone's width, because the browser's windows cannot be that narrow.
    let phone = folder().join("phone.html");
    let frame = "<!doctype html><body style='margin:0'><iframe src='report.html' style='border:0;width:390px;height:2400px'></iframe>";
    fs::write(&phone, frame).unwrap();
    shoot("phone", &phone, (500, 2400), &["--allow-file-access-from-files"]);
    // No finding overflows on the right when it is open.
    let measure = "<script>addEventListener('load', () => { const page = document.querySelector('iframe').contentDocument; \
         const widths = []; for (const link of page.querySelectorAll('#list a')) { link.click(); \
         widths.push(page.documentElement.scrollWidth); } \
         document.body.append(Object.assign(document.createElement('pre'), { id: 'result', textContent: widths.join(' ') })); });</script>";
    fs::write(&phone, format!("{frame}{measure}")).unwrap();
    let (document, _) = start(&phone, (500, 2400), &["--allow-file-access-from-files", "--dump-dom"]);
    assert!(document.contains("<pre id=\"result\">390 390 390 390 390 390 390 390 390</pre>"), "{document}");
}
