"use strict";
const D = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const U = D.units, C = D.counts, R = D.changes, E = D.edges, N = U.name.length, LINE = 44, BARS = 240;
const OPS = ["insert", "update", "delete", "other"];
const timed = N > 0 && U.time.every(t => t !== null);
const X = Float64Array.from(U.name, (_, n) => timed ? U.time[n] : n);
const first = N ? X.reduce((a, b) => Math.min(a, b), Infinity) : 0;
const last = N ? X.reduce((a, b) => Math.max(a, b), -Infinity) : 1;
const opOf = C.op.names.map(name => { const at = OPS.indexOf(name); return at < 0 ? 3 : at; });
const sums = new Int32Array(N);
C.unit.forEach((unit, n) => { sums[unit] += C.changes[n]; });
const several = (count, one) => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
const lasts = Float64Array.from(U.name, (_, n) => timed && U.began[n] !== null ? Math.max(0, U.time[n] - U.began[n]) : 0);
const asked = decodeURIComponent(location.hash);  // #unit=URID/MEMBER, #dependencies
const at = (column, n) => column.names[column.at[n]] ?? "";

// ---- rows and dependencies, by unit
function lists(keys, values) {  // values of one unit stand together, from start[unit] to start[unit + 1]
  const start = new Int32Array(N + 1);
  keys.forEach(unit => start[unit + 1]++);
  for (let n = 0; n < N; n++) start[n + 1] += start[n];
  const next = start.slice(), held = new Int32Array(keys.length);
  keys.forEach((unit, n) => { held[next[unit]++] = values ? values[n] : n; });
  return unit => held.subarray(start[unit], start[unit + 1]);
}
const changesOf = R ? lists(R.unit) : () => [];
const countsOf = lists(C.unit);
const builtOn = E ? lists(E.to) : () => [], builtBy = E ? lists(E.from) : () => [];
let words = null;  // lower-case text of each change, made when it is first searched
function textOf(n) {
  return (R.key[n] + " " + R.values[n].map(v => v.map(x => x ?? "").join(" ")).join(" ")).toLowerCase();
}

// ---- what is chosen
const chosen = { user: "", job: "", plan: "", table: "", op: "", text: "", span: null };
const marked = new Set();  // units that one command shall undo
let shown = new Int32Array(0), picked = -1;  // the units of the list, and the one in the pane
const place = unit => shown.indexOf(unit);
const wanted = (names, name) => { const code = names.indexOf(name); return name ? n => n === code : () => true; };
function counted() {  // which counts the filters mean: those of a table and an operation
  const table = wanted(C.table.names, chosen.table), op = wanted(C.op.names, chosen.op);
  return n => table(C.table.at[n]) && op(C.op.at[n]);
}
function matches() {
  const keep = new Uint8Array(N).fill(1);
  for (const name of ["user", "job", "plan"]) if (chosen[name]) {
    const code = U[name].names.indexOf(chosen[name]);
    for (let n = 0; n < N; n++) if (U[name].at[n] !== code) keep[n] = 0;
  }
  if (chosen.table || chosen.op) {
    const counts = counted(), has = new Uint8Array(N);
    C.unit.forEach((unit, n) => { if (counts(n)) has[unit] = 1; });
    for (let n = 0; n < N; n++) keep[n] &= has[n];
  }
  if (chosen.text) {
    const text = chosen.text.toLowerCase(), has = new Uint8Array(N);
    for (let n = 0; n < N; n++)
      if ([U.name[n], at(U.user, n), at(U.plan, n), at(U.job, n)].some(one => one.toLowerCase().includes(text))) has[n] = 1;
    if (R) {
      words ??= R.key.map((_, n) => textOf(n));
      words.forEach((one, n) => { if (one.includes(text)) has[R.unit[n]] = 1; });
    }
    for (let n = 0; n < N; n++) keep[n] &= has[n];
  }
  return keep;
}
function update() {
  const keep = matches(), inside = [];
  const [low, high] = chosen.span ?? [-Infinity, Infinity];
  const counts = counted();
  let changes = 0;
  for (let n = 0; n < N; n++) if (keep[n] && X[n] >= low && X[n] <= high) {
    inside.push(n);
    for (const count of countsOf(n)) if (counts(count)) changes += C.changes[count];
  }
  const size = { changes: sums, duration: lasts }[$("sort").value];
  if (size) inside.sort((a, b) => size[b] - size[a] || a - b);
  days.clear();
  if (!size && timed) for (const n of inside) days.set(day(n), (days.get(day(n)) ?? 0) + 1);
  if (days.size < 2) days.clear();  // one day stands in each line
  shown = Int32Array.from(inside);
  const span = chosen.span ? `, ${moment(low)} to ${moment(high)}` : "";
  $("count").textContent = `${shown.length.toLocaleString("en")} of ${N.toLocaleString("en")} units, `
    + `${changes.toLocaleString("en")} changes${span}`;
  chart.setData(bars(keep));
  $("height").style.height = shown.length * LINE + "px";
  if (place(picked) < 0) showFirst();
  reveal(Math.max(0, place(picked)));
  refresh();
}
const days = new Map(), day = unit => moment(U.time[unit]).slice(0, 10);  // of the list by time: units of each day
function showFirst() {
  if (shown.length) { showUnit(shown[0], false); return; }
  picked = -1;
  $("detail").replaceChildren(); draw();
  element("p", "No unit of recovery is selected.", $("detail"));
}
function moment(x) { return timed ? new Date(x * 1000).toISOString().replace("T", " ").slice(0, 23) : "unit " + (Math.round(x) + 1); }

// ---- timeline
const width = Math.max((last - first) / BARS, timed ? 0.001 : 1);
function bars(keep) {
  const sum = OPS.map(() => new Float64Array(BARS + 1)), x = new Float64Array(BARS + 1);
  for (let n = 0; n <= BARS; n++) x[n] = first + (n + 0.5) * width;
  const counts = counted();
  C.unit.forEach((unit, n) => { if (keep[unit] && counts(n)) sum[opOf[C.op.at[n]]][Math.floor((X[unit] - first) / width)] += C.changes[n]; });
  for (let s = OPS.length - 2; s >= 0; s--) for (let n = 0; n <= BARS; n++) sum[s][n] += sum[s + 1][n];
  return [x, ...sum];
}
const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
let chart;
function build() {
  const box = $("timeline"), span = chosen.span;
  box.replaceChildren();
  const clock = splits => {  // 24 hours, the date where it is another one
    const texts = splits.map(x => moment(x)), fine = splits.length > 1 && splits[1] - splits[0] < 60;
    return texts.map((text, n) => (n && texts[n - 1].slice(0, 10) === text.slice(0, 10) ? "" : text.slice(0, 10) + "\n")
      + text.slice(11, fine ? 19 : 16));
  };
  const axis = { stroke: () => colour("ink"), grid: { stroke: () => colour("line") }, ticks: { stroke: () => colour("line") } };
  chart = new uPlot({
    width: Math.max(280, box.clientWidth), height: 160, ms: 1e-3, tzDate: t => uPlot.tzDate(new Date(t * 1e3), "Etc/UTC"),
    scales: { x: { time: timed, range: [first, last + width] }, y: { range: (_, low, high) => [0, high || 1] } },
    axes: [timed ? { ...axis, values: (_, splits) => clock(splits) } : axis, { ...axis, label: "changes", labelSize: 18, size: 60 }],
    cursor: { drag: { x: true, y: false, setScale: false } },
    legend: { live: false },
    series: [{ label: timed ? "committed" : "unit in order of commit" }, ...OPS.map(op => ({
      label: op, stroke: () => colour(op), fill: () => colour(op), width: 0, points: { show: false },
      paths: uPlot.paths.bars({ size: [1, 12], gap: 0 }) }))],
    hooks: { setSelect: [u => {
      if (u.select.width > 1) setSpan([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")], false);
    }] },
  }, bars(new Uint8Array(N).fill(1)), box);
  chart.over.addEventListener("dblclick", () => setSpan(null));
  if (span) setSpan(span);
}
function setSpan(span, mark = true) {
  chosen.span = span && [Math.max(first, span[0]), Math.min(last + width, span[1])];
  if (mark) {
    const left = span ? chart.valToPos(chosen.span[0], "x") : 0, right = span ? chart.valToPos(chosen.span[1], "x") : 0;
    chart.setSelect({ left, width: right - left, top: 0, height: span ? chart.over.clientHeight : 0 }, false);
  }
  update();
}
$("timeline").addEventListener("keydown", event => {
  const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (event.key === "Escape") setSpan(null);
  if (!way) return;
  event.preventDefault();
  const step = width * 4 * way, [low, high] = chosen.span ?? (way > 0 ? [first, first + width * 8] : [last - width * 7, last + width]);
  if (!chosen.span) setSpan([low, high]);
  else setSpan(event.shiftKey ? [low, Math.max(low + width, high + step)] : [low + step, high + step]);
});

// ---- list of units
function element(tag, text, parent, kind) {
  const made = document.createElement(tag);
  if (text !== "") made.textContent = text;
  if (kind) made.className = kind;
  parent?.append(made);
  return made;
}
function summary(unit) {
  const parts = new Map();
  for (const n of countsOf(unit)) {
    const name = at(C.table, n).replace(/^.*\./, "") + " " + at(C.op, n);
    parts.set(name, (parts.get(name) ?? 0) + C.changes[n]);
  }
  return [...parts].map(([name, count]) => `${name} ${count}`).join(", ");
}
function state(unit) {
  const ended = at(U.ended, unit);
  return [ended === "committed" ? "" : ended, U.incomplete[unit] ? "incomplete" : ""].filter(Boolean).join(", ");
}
function draw() {
  const box = $("units"), from = Math.max(0, Math.floor(box.scrollTop / LINE) - 5);
  const to = Math.min(shown.length, from + Math.ceil(box.clientHeight / LINE) + 10), made = [];
  for (let n = from; n < to; n++) {
    const unit = shown[n], line = element("div", "", null, "unit");
    line.id = "unit" + n; line.style.top = n * LINE + "px"; line.role = "option";
    line.ariaSelected = String(unit === picked); line.ariaPosInSet = n + 1; line.ariaSetSize = shown.length;
    const mark = element("input", "", line);
    mark.type = "checkbox"; mark.checked = marked.has(unit); mark.ariaLabel = "mark unit " + U.name[unit]; mark.tabIndex = -1;
    mark.onclick = event => { event.stopPropagation(); setMark(unit, mark.checked); };
    if (days.size && (n === 0 || day(shown[n - 1]) !== day(unit))) element("b", `${day(unit)}: ${several(days.get(day(unit)), "unit")}`, line, "day");
    element("span", `${timed ? moment(U.time[unit]) : unit + 1}  ${[U.user, U.plan, U.job].map(c => at(c, unit)).filter(Boolean).join(" ")} `, line);
    if (state(unit)) element("span", state(unit), line, "state");
    element("small", `${several(sums[unit], "change")}${lasts[unit] ? ` in ${lasts[unit].toFixed(1)} s` : ""}: ${summary(unit)}`, line);
    line.onclick = () => { go(n); document.body.classList.add("open"); };
    made.push(line);
  }
  $("height").replaceChildren(...made);
  const here = place(picked);
  box.setAttribute("aria-activedescendant", here < 0 ? "" : "unit" + here);
}
function go(n) {
  if (!shown.length) return;
  const row = Math.max(0, Math.min(shown.length - 1, n));
  reveal(row);
  showUnit(shown[row]);
}
function reveal(row) {  // scroll the list to where it is seen
  const box = $("units"), top = row * LINE;
  if (top < box.scrollTop) box.scrollTop = top;
  if (top + LINE > box.scrollTop + box.clientHeight) box.scrollTop = top + LINE - box.clientHeight;
  draw();
}
$("units").addEventListener("scroll", draw);
$("units").addEventListener("keydown", event => {
  const page = Math.max(1, Math.floor($("units").clientHeight / LINE) - 1), active = place(picked);
  const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: shown.length - 1 }[event.key];
  if (event.key === " " && active >= 0) { event.preventDefault(); setMark(picked, !marked.has(picked)); return; }
  if (to === undefined) { if (event.key === "Enter") { document.body.classList.add("open"); $("detail").focus(); } return; }
  event.preventDefault(); go(to);
});

function setMark(unit, on) {
  if (on) marked.add(unit); else marked.delete(unit);
  const box = $("marked"), names = [...marked].sort((a, b) => a - b).flatMap(one => ["--ur", U.name[one]]);
  box.hidden = !marked.size;
  box.replaceChildren();
  propose("marked", box, names);
  element("button", "mark none", box).onclick = () => { marked.clear(); setMark(-1, false); };
  draw();
}
function csv() {  // the units of the list, as they are sorted
  const cell = value => /[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value;
  const lines = [["unit", "committed", "user", "plan", "job", "changes", "seconds", "state"], ...Array.from(shown, unit =>
    [U.name[unit], timed ? moment(U.time[unit]) : "", at(U.user, unit), at(U.plan, unit), at(U.job, unit), sums[unit], lasts[unit], state(unit) || "committed"])];
  return lines.map(line => line.map(cell).join(",") + "\n").join("");
}
$("csv").onclick = () => {
  const link = element("a", "");
  link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" })); link.download = "units.csv"; link.click();
};
$("close").onclick = () => document.body.classList.remove("open");
$("sort").onchange = () => { update(); go(0); };

// ---- the chosen unit, the chosen row
const quoted = word => /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", `'"'"'`) + "'";
function command(what, parent, name, ...more) {
  element("div", what, parent);
  const line = element("div", "", parent, "command"), text = ["logreplay", name, ...D.command, ...more].map(quoted).join(" ");
  const code = element("code", text, line), button = element("button", "copy", line);
  button.ariaLabel = "copy: " + what;
  button.onclick = async () => {
    try { await navigator.clipboard.writeText(text); button.textContent = "copied"; }
    catch { getSelection().selectAllChildren(code); button.textContent = "selected"; }
  };
}
function propose(about, parent, chosen) {  // the undo commands that the program made, with what is chosen in them
  for (const [what, words] of D.proposed[about]) command(what, parent, ...words.flatMap(word => word === "{chosen}" ? chosen : [word]));
}
function facts(unit, parent) {
  const list = element("dl", "", parent);
  const entries = [["committed", timed ? moment(U.time[unit]) : ""], ["began at", U.began[unit] === null ? "" : moment(U.began[unit])],
    ["position", U.commit[unit]], ["user", at(U.user, unit)], ["plan", at(U.plan, unit)], ["job", at(U.job, unit)],
    ["connection", at(U.connection, unit)], ["ended", at(U.ended, unit)], ["changes", sums[unit].toLocaleString("en")]];
  for (const [name, value] of entries) if (value) { element("dt", name, list); element("dd", value, list); }
}
function dependents(unit) {  // whose work hangs on it, the nearest first
  const seen = new Set([unit]), found = [];
  for (let todo = [unit]; todo.length;) {
    const next = [];
    for (const one of todo) for (const edge of builtBy(one)) {
      const other = E.to[edge];
      if (!seen.has(other)) { seen.add(other); found.push([other, edge]); next.push(other); }
    }
    todo = next;
  }
  return found;
}
function linkTo(unit, text, parent) {
  const button = element("button", text, element("div", "", parent));
  button.onclick = () => showUnit(unit);
}
const who = unit => `${timed ? moment(U.time[unit]) : "unit " + (unit + 1)} ${at(U.user, unit)} ${U.name[unit]}`;
function more(items, count, parent, make) {  // the first ones, and a button for the others
  items.slice(0, count).forEach(one => make(one, parent));
  if (items.length > count) {
    const button = element("button", `${(items.length - count).toLocaleString("en")} more`, parent);
    button.onclick = () => { button.remove(); more(items.slice(count), count * 5, parent, make); };
  }
}
function change(n, parent, withUnit) {
  const head = element("h2", "", parent);
  element("span", at(R.op, n) + " ", head, at(R.op, n)); element("span", at(R.table, n) + " " + R.key[n], head);
  const notes = [at(R.origin, n), at(R.fate, n)].filter(one => one && one !== "direct" && one !== "committed");
  if (notes.length) element("span", " (" + notes.join(", ") + ")", head, "state");
  if (withUnit) linkTo(R.unit[n], who(R.unit[n]), parent);
  else if (R.key[n]) { const button = element("button", "history of this row", parent); button.onclick = () => showRow(n); }
  const table = element("table", "", parent), top = element("tr", "", element("thead", "", table)), body = element("tbody", "", table);
  ["column", "before", "after"].forEach(name => { element("th", name, top).scope = "col"; });
  for (const [name, before, after] of R.values[n]) {
    const line = element("tr", "", body);
    element("td", name, line); element("td", before ?? "", line); element("td", after ?? "", line);
  }
}
function showUnit(unit, named = true) {
  picked = unit;
  if (named) try { history.replaceState(null, "", "#unit=" + U.name[unit]); } catch { /* where the page may not */ }
  draw();
  const box = $("detail"), name = U.name[unit];
  box.replaceChildren(); box.scrollTop = 0;
  element("h2", "Unit " + name, box);
  if (state(unit)) element("p", state(unit), box, "state");
  facts(unit, box);
  if (R) {
    element("h2", "Changes", box);
    more([...changesOf(unit)], 20, element("div", "", box), (n, parent) => change(n, parent, false));
  } else element("p", summary(unit), box);
  const committed = at(U.ended, unit) === "committed";
  if (E && committed) {
    const after = dependents(unit), before = new Map([...builtOn(unit)].map(edge => [E.from[edge], edge]));
    element("h2", "What depends on this unit", box);
    element("p", after.length ? `${several(after.length, "later unit")}, directly or through others.` : "No later unit: it can be undone alone.", box);
    related(after, box);
    if (before.size) element("h2", "What it depends on", box);
    related([...before], box);
  }
  element("h2", "Commands", box);
  command("what it did", box, "history", "--ur", name);
  if (committed) {
    propose("unit", box, ["--ur", name]);
    command("redo everything except this unit", box, "redo", "--except", name, "--out", "redo-without");
  }
  const job = [["--user", U.user], ["--job", U.job], ["--plan", U.plan]].flatMap(([option, c]) => at(c, unit) ? [option, at(c, unit).replace(/[*?[]/g, "[$&]")] : []);
  if (job.length) propose("job", box, job);
}
function related(units, parent) {  // a table: who, when, how many changes, and why
  if (!units.length) return;
  const table = element("table", "", parent), top = element("tr", "", element("thead", "", table)), body = element("tbody", "", table);
  ["unit", "user", "changes", "why"].forEach(name => { element("th", name, top).scope = "col"; });
  more(units, 20, body, ([other, edge], rows) => {
    const line = element("tr", "", rows);
    linkTo(other, `${timed ? moment(U.time[other]) : "unit " + (other + 1)} ${U.name[other]}`, element("td", "", line));
    for (const text of [at(U.user, other), sums[other].toLocaleString("en")]) element("td", text, line, "whole");
    element("td", at(E.why, edge), line);
  });
}
function showRow(n) {
  const box = $("detail"), same = [];
  R.key.forEach((key, m) => { if (key === R.key[n] && R.table.at[m] === R.table.at[n]) same.push(m); });
  picked = R.unit[n];
  draw();
  box.replaceChildren(); box.scrollTop = 0;
  element("h2", `${at(R.table, n)} ${R.key[n]}: ${several(same.length, "change")}`, box);
  const table = ["--table", at(R.table, n)], back = element("button", "back to the unit", box);
  back.onclick = () => showUnit(R.unit[n]);
  command("full history (follows key changes)", box, "history", ...table, "--where", R.key[n].replaceAll(", ", " and "));
  more(same, 100, element("div", "", box), (m, parent) => change(m, parent, true));
  box.focus();
}

// ---- start
const ends = timed ? [first, last].map(x => moment(x).slice(0, 16)) : [];
$("log").textContent = `${D.log || "A log"}: changes ${timed ? `${ends[0]} to ${ends[0].slice(0, 10) === ends[1].slice(0, 10) ? ends[1].slice(11) : ends[1]}` : ""}`;
document.title = $("log").textContent;
function totals() {  // files, and the ten with most
  const add = (title, entries, text) => {
    const part = element("div", "", $("tops"));
    element("h2", title, part);
    const body = element("tbody", "", element("table", "", part));
    for (const [one, number] of entries.sort((a, b) => b[1] - a[1]).slice(0, 10)) {
      const line = element("tr", "", body), cell = element("td", typeof one === "string" ? one : "", line);
      if (typeof one === "number") linkTo(one, U.name[one], cell);
      element("td", text(number), line);
    }
  };
  const summed = (count, name, number) => {
    const found = new Map();
    for (let n = 0; n < count; n++) found.set(name(n), (found.get(name(n)) ?? 0) + number(n));
    found.delete("");
    return [...found];
  };
  const changes = n => several(n, "change"), units = [...U.name.keys()];
  add("Users", summed(N, n => at(U.user, n), n => sums[n]), changes);
  add("Jobs", summed(N, n => at(U.job, n), n => sums[n]), changes);
  add("Tables", summed(C.unit.length, n => at(C.table, n), n => C.changes[n]), changes);
  add("Largest units", units.map(n => [n, sums[n]]), changes);
  add("Longest units", units.filter(n => lasts[n]).map(n => [n, lasts[n]]), n => n.toFixed(1) + " s");
  add("Files", D.files.map(name => [name, 0]), () => "");
  element("p", `Made by ${D.program}, file of ${document.lastModified}: ${["logreplay report page", ...D.command.map(quoted)].join(" ")}`, $("tops"));
}
totals();
for (const text of [...D.warnings.map(w => "Warning: " + w), ...D.notes]) element("li", text, $("warnings"));
for (const [id, names] of [["user", U.user.names], ["job", U.job.names], ["plan", U.plan.names], ["table", C.table.names], ["op", C.op.names]]) {
  const first_ = element("option", "all", $(id)); first_.value = "";
  names.filter(Boolean).sort().forEach(name => { element("option", name, $(id)).value = name; });
  $(id).onchange = () => { chosen[id] = $(id).value; update(); };
}
let waiting = 0;
$("text").oninput = () => { clearTimeout(waiting); waiting = setTimeout(() => { chosen.text = $("text").value.trim(); update(); }, 120); };
$("filters").onsubmit = event => event.preventDefault();
$("filters").onreset = () => { Object.assign(chosen, { user: "", job: "", plan: "", table: "", op: "", text: "" }); setSpan(null); };
function follow(hash) {
  const unit = hash.startsWith("#unit=") ? U.name.indexOf(hash.slice(6)) : -1;
  if (unit >= 0) if (place(unit) < 0) showUnit(unit); else go(place(unit));  // a filter may hide it
}
build(); update(); startGraph(); follow(asked);
if (asked.startsWith("#unit=")) document.body.classList.add("open");
addEventListener("hashchange", () => follow(decodeURIComponent(location.hash)));
new ResizeObserver(() => { chart.setSize({ width: Math.max(280, $("timeline").clientWidth), height: 160 }); draw(); }).observe($("timeline"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { build(); update(); });
