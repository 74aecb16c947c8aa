"use strict";
// The page's only script. Everything from the data becomes text nodes, never markup.
(() => {
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;

  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // ---- dark and light ----
  const theme = byId("theme");
  const remembered = {
    read() { try { return localStorage.getItem("gme-theme"); } catch { return null; } },
    write(value) { try { localStorage.setItem("gme-theme", value); } catch { /* private windows have no storage */ } },
  };
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  function paint(value) {
    if (value === "dark" || value === "light") root.dataset.theme = value;
    theme.textContent = dark() ? "Light" : "Dark";
  }
  theme.hidden = false;
  theme.addEventListener("click", () => { const next = dark() ? "light" : "dark"; remembered.write(next); paint(next); });
  paint(remembered.read());

  // ---- tables sorted by a column ----
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const falling = before === "none" ? column > 0 : before === "ascending"; // numbers: the largest first
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const sign = falling ? -1 : 1;
      const key = (row) => row.cells[column].dataset.value;
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === "" || y === "") return (x === "") - (y === ""); // what is not known comes last either way
        return sign * (column ? x - y : x < y ? -1 : x > y ? 1 : 0);
      });
      table.tBodies[0].append(...rows);
    }));
  }

  // ---- question by question ----
  const data = JSON.parse(byId("data").textContent);
  if (!data.questions.length) return;
  const PAGE = 200;
  const controls = { find: byId("find"), family: byId("family"), change: byId("change"), run: byId("run"), order: byId("order"), whole: byId("whole") };
  const list = byId("list"), detail = byId("detail"), more = byId("more"), count = byId("count");
  let limit = PAGE, shown = [], current = null;

  data.questions.forEach((question) => {
    const gold = new Set(question.gold);
    question.shares = question.runs.map(([nodes]) => nodes.filter((node) => gold.has(node)).length / gold.size);
    question.words = [question.question, question.id, question.family, ...question.gold.map((node) => data.nodes[node].join(" "))].join(" ").toLowerCase();
  });
  const percent = (share) => (100 * share).toFixed(0) + " %";
  const change = (question) => data.baseline === null ? 0 : question.shares[+controls.run.value] - question.shares[data.baseline];
  const signed = (difference) => (difference > 0 ? "+" : "") + (100 * difference).toFixed(0);
  const tone = (difference) => difference > 1e-9 ? "gain" : difference < -1e-9 ? "loss" : "same";
  const orders = {
    size: (a, b) => Math.abs(change(b)) - Math.abs(change(a)),
    gains: (a, b) => change(b) - change(a),
    losses: (a, b) => change(a) - change(b),
    id: (a, b) => (a.id < b.id ? -1 : 1),
  };

  function filter() {
    const words = controls.find.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = data.questions.filter((question) =>
      words.every((word) => question.words.includes(word)) &&
      (controls.family.value === "" || question.family === controls.family.value) &&
      (controls.change.value === "" || tone(change(question)) === controls.change.value));
    shown.sort(orders[controls.order.value]);
    const gained = shown.filter((question) => tone(change(question)) === "gain").length;
    const lost = shown.filter((question) => tone(change(question)) === "loss").length;
    count.textContent = `${shown.length} question${shown.length === 1 ? "" : "s"}` + (data.baseline === null ? "" : `: ${gained} gained, ${lost} lost`);
    list.replaceChildren(...shown.slice(0, limit).map(entry));
    more.hidden = shown.length <= limit;
  }

  function entry(question) {
    const badge = data.baseline === null
      ? element("b", {}, percent(question.shares[+controls.run.value]))
      : element("b", { className: tone(change(question)) }, signed(change(question)));
    const button = element("button", { type: "button" }, badge, question.question, element("small", {}, question.family || question.id));
    if (question === current) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => { open(question); location.hash = "q=" + encodeURIComponent(question.id); });
    return element("li", {}, button);
  }

  function open(question) {
    current = question;
    const button = list.children[shown.indexOf(question)]?.firstChild;
    list.querySelectorAll("[aria-current]").forEach((other) => other.removeAttribute("aria-current"));
    button?.setAttribute("aria-current", "true");
    const facts = [question.id, question.family, question.group, question.hops ? `${question.hops} hop${question.hops === 1 ? "" : "s"}` : ""].filter(Boolean).join(" · ");
    const chosen = [...new Set([data.baseline ?? +controls.run.value, +controls.run.value])];
    detail.replaceChildren(
      element("h3", {}, question.question),
      element("p", { className: "muted" }, facts),
      evidence(question),
      element("div", { className: "columns" }, ...chosen.map((run) => returned(question, run))));
  }

  function evidence(question) {
    const head = element("tr", {}, element("th", { scope: "col" }, "gold evidence, and the rank it was found at"),
      ...data.runs.map((run) => element("th", { scope: "col", className: run.color }, run.name)));
    const body = question.gold.map((node) => {
      const [id, , title, text] = data.nodes[node];
      const ranks = question.runs.map(([nodes]) => nodes.indexOf(node) + 1);
      return element("tr", {}, element("td", {}, element("strong", {}, title || id), " ", element("span", { className: "muted" }, text)),
        ...ranks.map((rank) => element("td", { className: rank ? "gain" : "loss" }, rank ? String(rank) : "missed")));
    });
    const sum = element("tr", {}, element("td", {}, "found"), ...question.shares.map((share) => element("td", {}, percent(share))));
    const region = element("div", { className: "scroll", tabIndex: 0 }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body, sum)));
    region.setAttribute("role", "region");
    region.setAttribute("aria-label", "Gold evidence by run");
    return region;
  }

  function returned(question, number) {
    const run = data.runs[number], [nodes, scores, layout] = question.runs[number];
    const gold = new Set(question.gold);
    const stages = run.layouts[layout].flatMap(([stage, length]) => Array(length).fill(stage));
    const items = nodes.map((node, place) => {
      const [id, type, title, text] = data.nodes[node];
      const meta = element("div", { className: "meta" }, element("span", { className: "rank" }, String(place + 1)));
      if (data.stages[stages[place]]) meta.append(element("span", { className: `stage s${stages[place] % 8}` }, data.stages[stages[place]]));
      if (scores[place] !== null) meta.append(element("span", {}, (scores[place] / 10 ** run.decimals).toFixed(run.decimals)));
      meta.append(element("span", { className: "muted" }, type), element("span", { className: "title" }, title || id));
      if (gold.has(node)) meta.append(element("span", { className: "gain" }, "✓ gold"));
      const item = element("li", { className: gold.has(node) ? "found" : "", title: id }, meta);
      if (text !== title) item.append(element("p", {}, text));
      return item;
    });
    return element("section", {},
      element("h3", {}, run.name + (number === data.baseline ? " (baseline)" : ""), `: ${percent(question.shares[number])}`),
      items.length ? element("ol", { className: "results" }, ...items) : element("p", { className: "muted" }, "returned nothing"));
  }

  data.runs.forEach((run, number) => {
    if (number !== data.baseline || data.runs.length === 1) controls.run.append(element("option", { value: String(number) }, run.name));
  });
  [...new Set(data.questions.map((question) => question.family))].filter(Boolean).sort()
    .forEach((family) => controls.family.append(element("option", { value: family }, family)));
  controls.family.closest("label").hidden = controls.family.options.length < 2;
  if (data.baseline === null || data.runs.length === 1) [controls.change, controls.order].forEach((control) => { control.closest("label").hidden = true; });
  if (data.baseline === null) controls.order.value = "id";
  byId("browser").hidden = false;
  for (const name of ["find", "family", "change", "order"]) controls[name].addEventListener("input", () => { limit = PAGE; filter(); });
  controls.run.addEventListener("input", () => { filter(); if (current) open(current); });
  controls.whole.addEventListener("input", () => detail.classList.toggle("whole", controls.whole.checked));
  more.addEventListener("click", () => { const next = limit; limit += PAGE; filter(); list.children[next]?.firstChild.focus(); });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const next = step && [...list.children].indexOf(document.activeElement.parentElement) + step;
    if (step && list.children[next]) { event.preventDefault(); list.children[next].firstChild.focus(); }
  });
  function follow() {
    const id = location.hash.startsWith("#q=") ? decodeURIComponent(location.hash.slice(3)) : null;
    const wanted = data.questions.find((question) => question.id === id);
    if (wanted && wanted !== current) { open(wanted); detail.scrollIntoView(); }
  }
  filter();
  open(shown[0]);
  addEventListener("hashchange", follow);
  try { follow(); } catch { /* a hash that is no address of ours */ }
})();
