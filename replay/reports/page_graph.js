"use strict";
// Dependencies over time, in lanes: units of recovery that stand close together are one cluster, so that
// thousands are a few marks, and looking closer at one takes it apart.
const G = { on: false, nodes: [], edges: [], order: [], picked: null, hover: null, open: new Set(), apart: new Set(), lanes: [], box: null };
const APART = 60, FOOT = 34, MOST_OPEN = 300, WHOLE = 500;

const ASKED = new Set(JSON.parse(document.getElementById("data").textContent).chosen ?? []);

function laneOf(unit, kind) {
  if (kind === "user") return at(U.user, unit) || "(no user)";
  if (kind === "table") {
    let best = -1;
    for (const n of countsOf(unit)) if (best < 0 || C.changes[n] > C.changes[best]) best = n;
    return best < 0 ? "(no table)" : at(C.table, best);
  }
  return [U.user, U.plan, U.job].map(column => at(column, unit)).filter(Boolean).join(" ") || "(no job)";
}
function mainOp(unit) {
  let best = -1;
  for (const n of countsOf(unit)) if (best < 0 || C.changes[n] > C.changes[best]) best = n;
  return best < 0 ? "other" : OPS[opOf[C.op.at[best]]];
}

// ---- places
function arrange() {
  const canvas = $("view"), wide = Math.max(240, canvas.clientWidth), high = Math.max(200, canvas.clientHeight);
  const gutter = Math.min(175, wide * 0.32), [low, top] = chosen.span ?? [first, last + width], across = wide - gutter - 30;
  const place = x => gutter + 12 + (x - low) / (top - low || 1) * across;
  const sizes = new Map(), kind = $("lanes").value, lane = new Map();
  for (const unit of shown) { const name = laneOf(unit, kind); lane.set(unit, name); sizes.set(name, (sizes.get(name) ?? 0) + 1); }
  const most = Math.max(2, Math.floor((high - FOOT) / 40)), names = [...sizes].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const kept = names.length > most ? names.slice(0, most - 1) : names, number = new Map(kept.map(([name], n) => [name, n]));
  const rest = names.length - kept.length;
  G.lanes = kept.map(([name, count]) => ({ name, count }));
  if (rest) G.lanes.push({ name: `${rest} others`, count: names.slice(kept.length).reduce((sum, one) => sum + one[1], 0) });
  const step = (high - FOOT) / Math.max(1, G.lanes.length), bins = Math.max(4, Math.floor(across / 46));
  const piles = new Map(), alone = shown.length <= APART;
  const whole = shown.length > WHOLE && !chosen.span;  // then a lane is one mark, until it is taken apart
  for (const unit of shown) {
    const row = number.get(lane.get(unit)) ?? kept.length, bin = Math.min(bins - 1, Math.floor((X[unit] - low) / (top - low || 1) * bins));
    const key = whole && !G.apart.has(row) ? row + "/all" : row + "/" + bin;
    if (!piles.has(key)) piles.set(key, { key, row, units: [] });
    piles.get(key).units.push(unit);
  }
  G.nodes = [];
  for (const { key, row, units } of piles.values()) {
    const middle = (row + 0.5) * step;
    if (alone || units.length === 1 || G.open.has(key)) {
      const rows = Math.max(1, Math.min(5, Math.floor(step / 14), units.length)), apart = Math.min(44, step / rows * 0.85);
      units.slice(0, MOST_OPEN).forEach((unit, n) => G.nodes.push({ key: "u" + unit, units: [unit], row,
        x: place(X[unit]) + Math.floor(n / rows) * 3, y: middle + (n % rows - (rows - 1) / 2) * apart }));
      const left = units.slice(MOST_OPEN);
      if (left.length) G.nodes.push({ key: key + "+", units: left, row, x: place(X[left[0]]), y: middle });
    } else {
      const mean = units.reduce((sum, unit) => sum + X[unit], 0) / units.length;
      G.nodes.push({ key, units, row, x: place(mean), y: middle });
    }
  }
  const nodeOf = new Int32Array(N).fill(-1);
  G.nodes.forEach((node, n) => {
    node.asked = node.units.some(unit => ASKED.has(U.name[unit]));
    node.incomplete = node.units.filter(unit => U.incomplete[unit]).length;
    node.radius = node.units.length === 1 ? 6 : 8 + Math.min(13, Math.log2(node.units.length) * 1.9);
    node.inner = 0;
    node.units.forEach(unit => { nodeOf[unit] = n; });
  });
  const pairs = new Map();
  if (E) E.from.forEach((from, n) => {
    const one = nodeOf[from], other = nodeOf[E.to[n]];
    if (one < 0 || other < 0) return;
    if (one === other) { G.nodes[one].inner++; return; }
    const key = one * G.nodes.length + other;
    if (!pairs.has(key)) pairs.set(key, { from: one, to: other, count: 0, why: new Map(), units: [from, E.to[n]] });
    const pair = pairs.get(key), why = at(E.why, n);
    pair.count++; pair.why.set(why, (pair.why.get(why) ?? 0) + 1);
  });
  G.edges = [...pairs.values()].sort((a, b) => b.count - a.count);
  G.order = G.nodes.map((_, n) => n).sort((a, b) => G.nodes[a].x - G.nodes[b].x || G.nodes[a].y - G.nodes[b].y);
  G.box = { wide, high, low, top, step, place, gutter };
  G.hover = null;
  if (G.picked !== null && !G.nodes.some(node => node.key === G.picked)) G.picked = null;
  const clusters = G.nodes.filter(node => node.units.length > 1).length;
  Object.assign(canvas.dataset, { nodes: G.nodes.length, clusters, edges: G.edges.length, incomplete: G.nodes.filter(one => one.incomplete).length });
  canvas.ariaLabel = `dependencies: ${shown.length.toLocaleString("en")} units as ${G.nodes.length} marks (${clusters} of them clusters)`
    + ` in ${G.lanes.length} lanes, ${G.edges.length} arrows. Left and Right go from mark to mark, Up and Down from lane to lane,`
    + " Enter takes a cluster apart, Escape shows all";
}

// ---- drawing
function drawnEdges() {  // those of what is chosen; else of units all, of clusters the strongest: the others would be a hairball
  const mine = G.nodes.findIndex(node => node.key === G.picked);
  if (mine >= 0) return G.edges.filter(edge => edge.from === mine || edge.to === mine);
  return G.edges.slice(0, shown.length <= APART ? 250 : Math.max(12, Math.floor(G.nodes.length / 2)));
}
function curve(edge) {
  const one = G.nodes[edge.from], other = G.nodes[edge.to], dx = other.x - one.x, dy = other.y - one.y, long = Math.hypot(dx, dy) || 1;
  const bend = Math.min(60, long / 4), cx = (one.x + other.x) / 2 - dy / long * bend * 0.5, cy = (one.y + other.y) / 2 - Math.abs(dx) / long * bend;
  const tip = Math.hypot(other.x - cx, other.y - cy) || 1, back = (other.radius + 3) / tip;
  return [one.x, one.y, cx, cy, other.x - (other.x - cx) * back, other.y - (other.y - cy) * back];
}
function wrapped(pen, text, width) {  // the whole name, in as many lines as it takes
  const lines = [""];
  for (const word of text.split(/(?<=[ .])/)) {
    if (lines.at(-1) && pen.measureText(lines.at(-1) + word).width > width) lines.push("");
    for (const letter of word) {
      if (pen.measureText(lines.at(-1) + letter).width > width) lines.push("");
      lines[lines.length - 1] += letter;
    }
  }
  return lines.map(line => line.trim());
}
function paint() {
  if (!G.on || !G.box) return;
  const canvas = $("view"), pen = canvas.getContext("2d"), ratio = devicePixelRatio || 1, { wide, high, low, top, step, place, gutter } = G.box;
  canvas.width = wide * ratio; canvas.height = high * ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, wide, high);
  const ink = colour("ink"), soft = colour("soft"), line = colour("line"), paper = colour("paper");
  pen.font = "12px system-ui, sans-serif"; pen.textBaseline = "middle";
  G.lanes.forEach((lane, n) => {
    pen.strokeStyle = line; pen.lineWidth = 1; pen.beginPath(); pen.moveTo(0, (n + 1) * step); pen.lineTo(wide, (n + 1) * step); pen.stroke();
    pen.save(); pen.beginPath(); pen.rect(0, n * step, gutter - 6, step); pen.clip();
    const lines = [...wrapped(pen, lane.name, gutter - 14), several(lane.count, "unit")], apart = Math.min(14, step / lines.length);
    pen.textAlign = "left";
    lines.forEach((text, m) => {
      pen.fillStyle = m < lines.length - 1 ? ink : soft;
      pen.fillText(text, 6, (n + 0.5) * step + (m - (lines.length - 1) / 2) * apart);
    });
    pen.restore();
  });
  pen.fillStyle = soft; pen.textAlign = "center";
  const ticks = Math.max(2, Math.floor((wide - gutter) / 110)), texts = [];
  for (let n = 0; n <= ticks; n++) {
    const x = low + (top - low) * n / ticks, spot = place(x), text = timed ? moment(x).slice(11, top - low < 5 ? 23 : 19) : String(Math.round(x) + 1);
    pen.strokeStyle = line; pen.beginPath(); pen.moveTo(spot, 0); pen.lineTo(spot, high - FOOT + 4); pen.globalAlpha = 0.5; pen.stroke(); pen.globalAlpha = 1;
    if (texts.at(-1) !== text) pen.fillText(text, Math.min(wide - 28, spot), high - FOOT + 12);
    texts.push(text);
  }
  pen.fillText(timed ? `committed, ${moment(low).slice(0, 10)} (as in the log)` : "units in order of commit", gutter + (wide - gutter) / 2, high - 8);
  const mine = G.nodes.findIndex(node => node.key === G.picked);
  const drawn = drawnEdges();
  const strongest = G.edges[0]?.count ?? 1;
  for (const edge of drawn) {
    const [x, y, cx, cy, u, v] = curve(edge), hot = edge.from === mine ? "delete" : edge.to === mine ? "update" : null;
    pen.strokeStyle = pen.fillStyle = hot ? colour(hot) : soft;
    pen.globalAlpha = hot || G.hover === edge ? 1 : 0.35 + 0.4 * edge.count / strongest;
    pen.lineWidth = 1 + 3 * Math.log1p(edge.count) / Math.log1p(Math.max(8, strongest));
    pen.beginPath(); pen.moveTo(x, y); pen.quadraticCurveTo(cx, cy, u, v); pen.stroke();
    const turn = Math.atan2(v - cy, u - cx);
    pen.beginPath(); pen.moveTo(u + 3 * Math.cos(turn), v + 3 * Math.sin(turn));
    for (const way of [2.6, -2.6]) pen.lineTo(u + 8 * Math.cos(turn + way), v + 8 * Math.sin(turn + way));
    pen.fill();
  }
  pen.globalAlpha = 1;
  const named = G.nodes.length <= APART, labels = [];  // a label that would lie over another is left to the tooltip
  const label = (node, text) => {
    const half = pen.measureText(text).width / 2 + 3, { x, y } = node;
    if (x - half < gutter || x + half > wide || labels.some(one => Math.abs(one.y - y) < 13 && Math.abs(one.x - x) < 2 * half)) return;
    labels.push({ x, y });
    pen.fillStyle = soft; pen.fillText(text, x, y + 15);
  };
  G.nodes.forEach((node, n) => {
    const single = node.units.length === 1, unit = node.units[0], ended = at(U.ended, unit) === "committed";
    pen.beginPath(); pen.arc(node.x, node.y, node.radius, 0, 7);
    pen.fillStyle = single && ended ? colour(mainOp(unit)) : paper; pen.fill();
    pen.lineWidth = n === mine ? 4 : 1.5; pen.strokeStyle = n === mine ? ink : single ? colour(mainOp(unit)) : ink; pen.stroke();
    if (node.asked) { pen.lineWidth = 2; pen.strokeStyle = colour("other"); pen.strokeRect(node.x - node.radius - 4, node.y - node.radius - 4, 2 * node.radius + 8, 2 * node.radius + 8); }
    if (node.incomplete) {
      pen.setLineDash([3, 3]); pen.lineWidth = 2; pen.strokeStyle = colour("delete");
      pen.beginPath(); pen.arc(node.x, node.y, node.radius + 4, 0, 7); pen.stroke(); pen.setLineDash([]);
      pen.fillStyle = colour("delete"); pen.textAlign = "left"; pen.fillText("!", node.x + node.radius + 6, node.y - 6);
    }
    pen.textAlign = "center"; pen.fillStyle = ink;
    if (single) {  // the operation is a letter too, not a colour alone
      pen.fillStyle = ended ? paper : ink; pen.font = "bold 9px system-ui, sans-serif";
      pen.fillText(mainOp(unit)[0].toUpperCase(), node.x, node.y + 0.5); pen.font = "12px system-ui, sans-serif";
    }
    if (!single) pen.fillText(node.units.length > 999 ? Math.round(node.units.length / 1000) + "k" : String(node.units.length), node.x, node.y + 0.5);
    else if (named) label(node, U.name[unit].slice(-8));
  });
  const note = [`marks: ${G.nodes.length.toLocaleString("en")}, arrows: ${G.edges.length.toLocaleString("en")}`];
  if (mine >= 0) note.push("those of what is chosen are drawn; Escape shows all");
  else if (drawn.length < G.edges.length) note.push(`showing the ${drawn.length} largest; select a group to see its dependencies`);
  $("drawn").textContent = note.join(", ");
}
function legend() {
  const list = $("legend");
  if (ASKED.size) element("li", "asked for", list, "asked");
  for (const op of OPS) element("li", `${op[0].toUpperCase()}: a unit, mostly ${op}`, list, op);
  for (const [kind, text] of [["cluster", "several units: Enter or a double click takes them apart"], ["hollow", "a unit that did not commit"],
    ["marked", "! incomplete"], ["later", "arrow: later work that depends on what is chosen"], ["earlier", "arrow: what it depends on"]]) element("li", text, list, kind);
}

// ---- what is under the pointer, and what is chosen
function nodeText(node) {
  const [unit] = node.units, inside = node.inner ? `, ${node.inner.toLocaleString("en")} dependencies among them` : "";
  const flagged = node.incomplete ? `, ${node.units.length === 1 ? "incomplete" : node.incomplete + " incomplete"}` : "";
  if (node.units.length > 1) return `${node.units.length.toLocaleString("en")} units, ${moment(X[unit])} to ${moment(X[node.units.at(-1)])}${inside}${flagged}`;
  return `${who(unit)} ${at(U.job, unit)}: ${summary(unit)}${state(unit) ? ", " + state(unit) : ""}`;
}
function edgeText(edge) {
  const one = G.nodes[edge.from], other = G.nodes[edge.to], name = node => node.units.length === 1 ? U.name[node.units[0]] : `${node.units.length} units`;
  return `${name(other)} built on ${name(one)}: ${[...edge.why].map(([why, count]) => `it ${why}${count > 1 ? " (" + count + ")" : ""}`).join("; ")}`;
}
function under(x, y) {
  const node = G.nodes.find(one => Math.hypot(one.x - x, one.y - y) <= one.radius + 3);
  if (node) return { node };
  for (const edge of drawnEdges()) {
    const [a, b, c, d, e, f] = curve(edge);
    for (let t = 0; t <= 1; t += 0.05) {
      const s = 1 - t, u = s * s * a + 2 * s * t * c + t * t * e, v = s * s * b + 2 * s * t * d + t * t * f;
      if (Math.hypot(u - x, v - y) < 5) return { edge };
    }
  }
  return {};
}
function tip(text, x, y) {
  const box = $("tip");
  box.textContent = text; box.hidden = !text;
  box.style.left = Math.max(0, Math.min(x + 14, $("view").clientWidth - 260)) + "px"; box.style.top = y + 16 + "px";
}
function pickNode(node, say) {
  G.picked = node.key;
  if (node.units.length === 1) showUnit(node.units[0]); else showCluster(node);
  if (say) tip(nodeText(node), node.x, node.y);
  paint();
}
function closer(node) {
  if (node.units.length === 1) { $("detail").focus(); return; }
  const low = node.units.reduce((a, n) => Math.min(a, X[n]), Infinity), high = node.units.reduce((a, n) => Math.max(a, X[n]), -Infinity);
  const [from, to] = chosen.span ?? [first, last + width];
  if (node.key.endsWith("/all")) { G.apart.add(node.row); refresh(); return; }
  if (node.units.length > APART && high - low < (to - from) * 0.8 && high > low) { G.open.clear(); setSpan([low, high + (high - low) / 50]); }
  else { G.open.add(node.key.replace(/\+$/, "")); refresh(); }
}
function showCluster(node) {
  const box = $("detail");
  picked = -1; draw();
  box.replaceChildren(); box.scrollTop = 0;
  element("h2", nodeText(node), box);
  const button = element("button", "take them apart", box);
  button.onclick = () => closer(node);
  element("h2", "Units", box);
  more(node.units, 40, element("div", "", box), (unit, parent) => linkTo(unit, `${who(unit)} ${at(U.job, unit)}`, parent));
}
function refresh() { if (G.on) { arrange(); paint(); } }
function view(graph) {
  G.on = graph;
  $("units").hidden = graph; $("graph").hidden = !graph;
  $("asList").ariaSelected = String(!graph); $("asGraph").ariaSelected = String(graph);
  if (graph) refresh(); else draw();
}
function startGraph() {
  const canvas = $("view"), spot = event => [event.offsetX, event.offsetY];
  legend();
  $("asList").onclick = () => view(false); $("asGraph").onclick = () => view(true);
  if (!E) { element("p", "Dependencies are not in this page: see the note above.", $("graph")); }
  $("lanes").onchange = () => { G.open.clear(); G.apart.clear(); refresh(); };
  canvas.onmousemove = event => {
    const { node, edge } = under(...spot(event)), before = G.hover;
    G.hover = edge ?? null;
    tip(node ? nodeText(node) : edge ? edgeText(edge) : "", ...spot(event));
    if (before !== G.hover) paint();
  };
  canvas.onmouseleave = () => tip("", 0, 0);
  canvas.onclick = event => { const { node, edge } = under(...spot(event)); if (node) pickNode(node, false); else if (edge) showEdge(edge); else { G.picked = null; paint(); } };
  canvas.ondblclick = event => { const { node } = under(...spot(event)); if (node) closer(node); };
  canvas.addEventListener("keydown", event => {
    const now = G.order.findIndex(n => G.nodes[n].key === G.picked), node = now < 0 ? null : G.nodes[G.order[now]];
    let next = null;
    if (event.key === "Escape") { G.open.clear(); G.apart.clear(); G.picked = null; tip("", 0, 0); setSpan(null); return; }
    if (event.key === "Enter" && node) { event.preventDefault(); closer(node); return; }
    if (event.key === "ArrowRight") next = G.nodes[G.order[Math.min(G.order.length - 1, now + 1)]];
    if (event.key === "ArrowLeft") next = G.nodes[G.order[Math.max(0, now - 1)]];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const way = event.key === "ArrowDown" ? 1 : -1, from = node ?? { row: way > 0 ? -1 : G.lanes.length, x: 0 };
      const beyond = G.nodes.filter(one => (one.row - from.row) * way > 0);
      next = beyond.sort((a, b) => (a.row - b.row) * way || Math.abs(a.x - from.x) - Math.abs(b.x - from.x))[0] ?? node;
    }
    if (next) { event.preventDefault(); pickNode(next, true); }
  });
  new ResizeObserver(() => requestAnimationFrame(refresh)).observe(canvas);
  if (asked === "#dependencies" || D.view === "graph") view(true);
}
function showEdge(edge) {  // the rows that both have touched, of a pair of units
  const one = G.nodes[edge.from], other = G.nodes[edge.to], box = $("detail");
  picked = -1; draw();
  box.replaceChildren(); box.scrollTop = 0;
  element("h2", edgeText(edge), box);
  if (one.units.length > 1 || other.units.length > 1 || !R) {
    element("p", `one of these pairs: ${who(edge.units[0])}; ${who(edge.units[1])}`, box);
    edge.units.forEach(unit => linkTo(unit, who(unit), box));
    return;
  }
  const name = n => at(R.table, n) + " " + R.key[n], early = [...changesOf(one.units[0])], names = new Set(early.map(name));
  const late = [...changesOf(other.units[0])].filter(n => names.has(name(n))), both = new Set(late.map(name));
  element("h2", "First", box); linkTo(one.units[0], who(one.units[0]), box);
  more(early.filter(n => both.has(name(n))), 20, element("div", "", box), (n, parent) => change(n, parent, false));
  element("h2", "Then", box); linkTo(other.units[0], who(other.units[0]), box);
  more(late, 20, element("div", "", box), (n, parent) => change(n, parent, false));
}
