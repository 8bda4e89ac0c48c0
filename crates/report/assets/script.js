"use strict";
// What makes the page move: choosing a finding, stepping through its interleaving, filtering. Without it the page still
// shows everything, one finding after the other.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const articles = all("article");
  const items = all("#list li");
  const root = document.documentElement;

  // Light or dark: as the system says, until somebody chooses.
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const remembered = () => { try { return localStorage.getItem("fissure-theme"); } catch { return null; } };
  const paint = theme => { root.dataset.theme = theme; };
  paint(remembered() || (dark.matches ? "dark" : "light"));
  dark.addEventListener("change", event => { if (!remembered()) paint(event.matches ? "dark" : "light"); });
  function turn() {
    const theme = root.dataset.theme === "dark" ? "light" : "dark";
    paint(theme);
    try { localStorage.setItem("fissure-theme", theme); } catch { /* Files opened from disk may have no storage. */ }
  }
  document.getElementById("theme").addEventListener("click", turn);

  // One player a finding: timeline, list of steps and source always show the same step.
  function player(section) {
    const steps = data.findings[Number(section.dataset.finding)];
    const rows = new Map(all(".steps li[data-step]", section).map(row => [Number(row.dataset.step), row]));
    const marks = new Map(all(".mark", section).map(mark => [Number(mark.dataset.step), mark]));
    const order = Array.from(rows.keys());
    const svg = section.querySelector(".timeline svg");
    const pane = section.querySelector(".code");
    const stackbox = section.querySelector(".stackbox");
    const used = new Set(Object.values(steps).map(step => `${step.source}:${step.line}`));
    let at = -1, shown, scale = 1;

    function element(name, className, text) {
      const made = document.createElement(name);
      if (className) made.className = className;
      if (text !== undefined) made.textContent = text;
      return made;
    }

    function showFile(source) {
      if (shown === source) return;
      shown = source;
      pane.replaceChildren();
      section.querySelector(".file").textContent = source === null ? "" : data.sources[source].name;
      if (source === null) {
        pane.append(element("p", "none", "The source was not found; --sources DIR names its folder."));
        return;
      }
      let before = null;
      const line = (number, text) => {
        const row = element("div", used.has(`${source}:${number}`) ? "used" : "");
        row.dataset.line = number;
        row.append(element("span", "no", String(number)), element("span", "", text));
        pane.append(row);
      };
      for (const [key, text] of Object.entries(data.sources[source].lines)) {
        const number = Number(key);
        if (before !== null && number - before > 4) pane.append(element("div", "gap", "⋯"));
        // Blank lines are not worth their place in the data.
        else for (let blank = (before ?? number) + 1; blank < number; blank++) line(blank, "");
        line(number, text);
        before = number;
      }
    }

    function into(view, target, axis) {
      const [start, size, offset] = axis === "x"
        ? ["scrollLeft", "clientWidth", target.x] : ["scrollTop", "clientHeight", target.y];
      if (offset < view[start] + 40 || offset > view[start] + view[size] - 60) {
        view[start] = Math.max(0, offset - view[size] / 2);
      }
    }

    function select(index, scroll = true) {
      if (index < 0 || index >= order.length) return;
      at = index;
      const number = order[index];
      const step = steps[number];
      for (const [key, row] of rows) row.classList.toggle("current", key === number);
      for (const [key, mark] of marks) mark.classList.toggle("current", key === number);
      const position = section.querySelector(".position");
      position.className = `position t${step.color}`;
      position.replaceChildren(`${index + 1} of ${order.length}: `, element("b", "", step.thread || "a thread"), ` ${step.text}`);
      showFile(step.source);
      for (const row of all(".now", pane)) row.className = row.className.replace(/ ?now t\d/, "");
      const row = pane.querySelector(`[data-line="${step.line}"]`);
      if (row && step.source !== null) {
        row.className += ` now t${step.color}`;
        into(pane, { y: row.offsetTop }, "y");
      }
      const place = step.number && section.closest("article").querySelector(`.sites > li:nth-child(${step.number})`);
      const callers = place ? all(".stack li", place).map(frame => frame.textContent) : [];
      stackbox.hidden = callers.length === 0;
      stackbox.querySelector("ol").replaceChildren(...[step.place, ...callers].map(frame => element("li", "", frame)));
      const mark = marks.get(number);
      if (mark) {
        const cursor = svg.querySelector(".cursor");
        cursor.classList.add("on");
        cursor.setAttribute("x1", mark.dataset.x);
        cursor.setAttribute("x2", mark.dataset.x);
        into(svg.parentElement, { x: Number(mark.dataset.x) * scale }, "x");
      }
      if (scroll) into(rows.get(number).parentElement, { y: rows.get(number).offsetTop - rows.get(number).parentElement.offsetTop }, "y");
    }

    function zoom(how) {
      if (!svg) return;
      const width = Number(svg.dataset.width), height = Number(svg.dataset.height);
      if (how === "in") scale = Math.min(4, scale * 1.25);
      else if (how === "out") scale = Math.max(.25, scale / 1.25);
      else scale = Math.min(1, Math.max(.25, (svg.parentElement.clientWidth - 2) / width));
      svg.setAttribute("width", width * scale);
      svg.setAttribute("height", height * scale);
    }

    // The names of the lanes stay in view.
    svg?.parentElement.addEventListener("scroll", () => {
      for (const name of all(".lane text", svg)) name.setAttribute("x", svg.parentElement.scrollLeft / scale + 12);
    });
    for (const [number, row] of rows) row.firstElementChild.addEventListener("click", () => select(order.indexOf(number), false));
    for (const [number, mark] of marks) mark.addEventListener("click", () => {
      select(order.indexOf(number));
      stackbox.open = !stackbox.hidden;
    });
    const moves = { first: () => select(0), back: () => select(at - 1), on: () => select(at + 1), last: () => select(order.length - 1) };
    for (const button of all("[data-go]", section)) button.addEventListener("click", () => moves[button.dataset.go]());
    for (const button of all("[data-zoom]", section)) button.addEventListener("click", () => zoom(button.dataset.zoom));
    if (svg) svg.parentElement.addEventListener("wheel", event => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? "in" : "out");
    }, { passive: false });

    // The timeline begins at the first marked step, not at the start of the program.
    const first = order.findIndex(number => rows.get(number).querySelector(".place"));
    return { ...moves, zoom, begin: () => { if (at < 0) { if (svg && window.innerWidth > 992) zoom("fit"); select(Math.max(0, first)); } } };
  }

  const players = new Map(all(".player").map(section => [section.closest("article"), player(section)]));
  let current = null;

  function open(article, jump = true) {
    if (!article) return;
    current = article;
    for (const other of articles) other.hidden = other !== article;
    for (const item of items) item.classList.toggle("selected", item.dataset.number === article.dataset.number);
    players.get(article)?.begin();
    const item = items.find(item => item.classList.contains("selected"));
    const list = item?.closest(".list");
    if (list) {
      const [top, bottom] = [item.offsetTop - list.offsetTop, item.offsetTop - list.offsetTop + item.offsetHeight];
      if (top < list.scrollTop || bottom > list.scrollTop + list.clientHeight) list.scrollTop = top - 20;
    }
    if (!jump) return;
    article.scrollIntoView({ block: "nearest" });
    try { history.replaceState(null, "", `#${article.id}`); } catch { /* Some viewers forbid it. */ }
  }

  for (const item of items) item.firstElementChild.addEventListener("click", event => {
    event.preventDefault();
    open(document.getElementById(`f${item.dataset.number}`));
    if (window.innerWidth <= 992) current.scrollIntoView();
  });

  const search = document.getElementById("search");
  const chips = all(".chip");
  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = name => chips.filter(chip => chip.dataset.filter === name && chip.getAttribute("aria-pressed") === "true").map(chip => chip.dataset.value);
    const [standings, kinds] = [wanted("standing"), wanted("kind")];
    let count = 0;
    for (const item of items) {
      const fits = words.every(word => item.dataset.search.includes(word))
        && (!standings.length || standings.includes(item.dataset.standing))
        && (!kinds.length || kinds.includes(item.dataset.kind));
      item.hidden = !fits;
      count += fits ? 1 : 0;
    }
    document.getElementById("shown").textContent = count;
    document.getElementById("nothing").hidden = count > 0;
    const selected = items.find(item => item.classList.contains("selected"));
    const visible = items.filter(item => !item.hidden);
    if (visible.length && (!selected || selected.hidden)) open(document.getElementById(`f${visible[0].dataset.number}`), false);
  }
  if (search) {
    search.addEventListener("input", filter);
    for (const chip of chips) chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", chip.getAttribute("aria-pressed") !== "true");
      filter();
    });
    document.getElementById("clear").addEventListener("click", () => {
      search.value = "";
      for (const chip of chips) chip.setAttribute("aria-pressed", "false");
      filter();
    });
  }

  for (const button of all(".copy")) button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = "press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "copy"; }, 2000);
  });

  function neighbour(distance) {
    const visible = items.filter(item => !item.hidden);
    const at = visible.findIndex(item => item.classList.contains("selected"));
    const next = visible[at + distance];
    if (next) open(document.getElementById(`f${next.dataset.number}`));
  }

  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search) {
      if (event.key === "Escape") { search.value = ""; filter(); search.blur(); }
      return;
    }
    const now = players.get(current);
    const keys = {
      ArrowRight: now?.on, ArrowLeft: now?.back, Home: now?.first, End: now?.last,
      j: () => neighbour(1), k: () => neighbour(-1),
      "+": () => now?.zoom("in"), "=": () => now?.zoom("in"), "-": () => now?.zoom("out"), 0: () => now?.zoom("fit"),
      "/": () => search?.focus(), d: turn,
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  window.addEventListener("hashchange", () => open(articles.find(article => `#${article.id}` === location.hash)));
  open(articles.find(article => `#${article.id}` === location.hash) || articles[0], false);
})();
