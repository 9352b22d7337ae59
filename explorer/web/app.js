// The page: three listings and a drawing, linked by the lines of the source that they come from.

const TABS = ["forward", "gradient", "plan", "native"];
const state = { tab: "forward", stage: { forward: 0, gradient: 0 }, drawing: false, at: null, row: null };

byId("title").textContent = model.title;
byId("signature").textContent = model.signature;
summarizeLines();

const listener = {
  hover(list, row) { light(row < 0 ? null : list.rows[row]); },
  choose(list, row) { choose(list, row); },
  hoverNode(node) { light(node ? { ...right.rows[node.row] } : null); },
  chooseNode(node) { choose(right, node.row); },
};
const source = new Listing(document.querySelector("#source .listing"), "Source", listener);
const code = new Listing(document.querySelector("#code .listing"), "Generated code", listener);
const right = new Listing(document.querySelector("#forms .listing"), "Graph", listener);
const lists = [source, code, right];
const drawing = new Drawing(byId("paper"), byId("drawn"), listener);

// Linking

function light(row) {
  const at = row?.at ?? null;
  for (const list of lists) {
    list.lit = at;
    list.paint();
  }
  drawing.mark(at, state.at);
  showDetails(byId("details"), row ?? chosenRow());
}

function chosenRow() { return state.row && state.row.list.rows[state.row.index]; }

function choose(list, index) {
  const row = list.rows[index];
  state.row = { list, index };
  state.at = row.at ?? null;
  for (const each of lists) {
    each.current = each === list ? index : -1;
    each.chosen = state.at;
    if (each === list) each.reveal(index);
    else if (state.at !== null) each.revealOrigin(state.at);
    each.paint();
  }
  if (state.drawing && isGraph()) {
    const wanted = list === right ? index : right.rows.findIndex((each) => each.at === state.at && each.kind === "op");
    if (state.at !== null || list === right) drawing.focus(wanted);
    drawing.mark(null, state.at);
  }
  showDetails(byId("details"), row);
  remember();
}

function clear() {
  state.row = state.at = null;
  for (const list of lists) {
    list.current = -1;
    list.chosen = list.lit = null;
    list.paint();
  }
  drawing.mark(null, null);
  showDetails(byId("details"), null);
  remember();
}

// The right pane

const isGraph = () => state.tab === "forward" || state.tab === "gradient";
const stages = () => model.graphs[state.tab];

function showForm() {
  pressTabs();
  const drawn = state.drawing && isGraph() && stages().length > 0;
  byId("view").hidden = !isGraph() || !stages().length;
  byId("view").setAttribute("aria-pressed", state.drawing);
  byId("stages").hidden = !isGraph() || !stages().length;
  byId("drawing").classList.toggle("hidden", !drawn);
  byId("drawing").toggleAttribute("hidden", !drawn);
  right.holder.hidden = drawn;
  right.show(formRows());
  right.chosen = state.at;
  if (state.row?.list === right) state.row = null;
  if (!byId("stages").hidden) showStages();
  if (drawn) {
    const rows = right.rows.map((row) => ({ ...row.row, kind: row.kind === "added" ? row.row.kind : row.kind, op: row.op }));
    drawing.show(rows).then(() => drawing.heat((node) => shareOf(model.times[node.op])));
    drawing.mark(null, state.at);
  } else {
    const change = right.rows.findIndex(({ kind }) => kind === "added" || kind === "ghost");
    if (change >= 0) right.reveal(change); else if (state.at !== null) right.revealOrigin(state.at);
  }
  right.paint();
  remember();
}

// The form that is shown; in narrow windows, the pane as well.
function pressTabs() {
  const pane = document.querySelector("main").dataset.pane;
  const isShown = ({ dataset }) => (!dataset.tab || dataset.tab === state.tab) && (!dataset.pane || dataset.pane === pane);
  for (const button of document.querySelectorAll("button[data-tab], button[data-pane]")) button.setAttribute("aria-pressed", isShown(button));
}

function formRows() {
  const note = (text) => [{ text, kind: "title" }];
  if (isGraph()) return stages().length ? stageRows(stages(), state.stage[state.tab]) : note(`No gradient. ${model.gradient_note}`);
  if (state.tab === "plan") return planRows();
  if (model.native === null) return note("Native code is not in this page: agc explore --native-ir adds it.");
  return nativeRows();
}

function showStages() {
  const all = stages(), current = state.stage[state.tab];
  const dots = all.map(({ name, same }, index) => {
    const input = element("input", { type: "radio", name: "stage", value: index, checked: index === current, "aria-label": same ? `${name}, no change` : name, title: same ? `${name}: no change` : name });
    return element("label", { class: same ? "same" : "" }, input, element("i"));
  });
  byId("dots").replaceChildren(...dots);
  const { name, same, changes } = all[current];
  const label = current ? ["after ", element("b", { textContent: name })] : [element("b", { textContent: "as traced" })];
  const sum = (end, first) => (changes ?? []).reduce((total, change) => total + change[end] - change[first], 0);
  const said = !current ? "" : same ? ": no change" : `: ${counted(sum(1, 0), "line")} removed, ${sum(3, 2)} added`;
  byId("stage").replaceChildren(...label, said);
}

function goToStage(index) {
  state.stage[state.tab] = index;
  showForm();
}

function step(direction) {
  if (!isGraph() || !stages().length) return;
  let index = state.stage[state.tab] + direction;
  while (stages()[index]?.same) index += direction;
  if (stages()[index]) goToStage(index);
}

byId("dots").addEventListener("change", (event) => {
  goToStage(Number(event.target.value));
  byId("dots").querySelector("input:checked").focus();
});

function goToTab(tab) {
  state.tab = tab;
  showForm();
}

function toggleDrawing() {
  state.drawing = !state.drawing;
  showForm();
}

// Search

let hits = [];
let hit = -1;

function search() {
  const wanted = byId("query").value.toLowerCase();
  hits = [];
  hit = -1;
  for (const list of lists) {
    list.hits = new Set();
    if (wanted) {
      list.rows.forEach((row, index) => {
        if (!row.text.toLowerCase().includes(wanted)) return;
        list.hits.add(index);
        hits.push([list, index]);
      });
    }
    list.paint();
  }
  byId("hits").textContent = wanted ? (hits.length ? counted(hits.length, "hit") : "none") : "";
}

function nextHit(direction) {
  if (!hits.length) return;
  hit = (hit + direction + hits.length) % hits.length;
  byId("hits").textContent = `${hit + 1} of ${hits.length}`;
  const [list, index] = hits[hit];
  showPane(list === source ? "source" : list === code ? "code" : "forms");
  choose(list, index);
}

byId("query").addEventListener("input", search);
byId("search").addEventListener("submit", (event) => {
  event.preventDefault();
  nextHit(1);
});

// Narrow windows show one pane.

function showPane(name) {
  document.querySelector("main").dataset.pane = name;
  pressTabs();
  for (const list of lists) list.later();
}

for (const button of document.querySelectorAll("button[data-pane]")) button.addEventListener("click", () => showPane(button.dataset.pane));
for (const button of document.querySelectorAll("[data-tab]")) button.addEventListener("click", () => goToTab(button.dataset.tab));
for (const button of document.querySelectorAll("[data-zoom]")) {
  button.addEventListener("click", () => ({ in: () => drawing.zoom(1.25), out: () => drawing.zoom(0.8), fit: () => drawing.fit() })[button.dataset.zoom]());
}

// Theme: that of the system, until it is switched

const system = matchMedia("(prefers-color-scheme: dark)");
const dark = (on) => document.documentElement.classList.toggle("dark", on);
dark(system.matches);
system.addEventListener("change", () => dark(system.matches));
const switchTheme = () => dark(!document.documentElement.classList.contains("dark"));

// Deep links: #tab=plan&at=model.py:7

function remember() {
  const place = places.get(state.at);
  const parts = new URLSearchParams();
  if (state.tab !== "forward") parts.set("tab", state.tab);
  if (isGraph() && state.stage[state.tab]) parts.set("pass", stages()[state.stage[state.tab]].name);
  if (state.drawing) parts.set("view", "drawing");
  if (place) parts.set("at", `${place.file}:${place.line}`);
  const text = parts.toString();
  if (text === location.hash.slice(1)) return;
  try {
    history.replaceState(null, "", text ? `#${text}` : "#");
  } catch {
    // A frame of a notebook has no address of its own.
  }
}

function restore() {
  const parts = new URLSearchParams(location.hash.slice(1));
  if (TABS.includes(parts.get("tab"))) state.tab = parts.get("tab"); else state.tab = "forward";
  state.drawing = parts.get("view") === "drawing";
  if (isGraph()) state.stage[state.tab] = Math.max(0, stages().findIndex(({ name }) => name === parts.get("pass")));
  const wanted = [...places].find(([, { file, line }]) => `${file}:${line}` === parts.get("at"));
  showForm();
  const row = wanted ? source.rows.findIndex(({ at }) => at === wanted[0]) : -1;
  if (row >= 0) choose(source, row); else clear();
}

// Keyboard

byId("theme").addEventListener("click", switchTheme);
byId("view").addEventListener("click", toggleDrawing);
byId("help").addEventListener("click", () => byId("keys").showModal());

const KEYS = {
  "?": () => byId("keys").showModal(), "/": () => byId("query").focus(), "[": () => step(-1), "]": () => step(1),
  1: () => goToTab("forward"), 2: () => goToTab("gradient"), 3: () => goToTab("plan"), 4: () => goToTab("native"),
  g: toggleDrawing, d: switchTheme, "+": () => drawing.zoom(1.25), "-": () => drawing.zoom(0.8),
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !byId("keys").open) {
    byId("query").blur();
    clear();
    return;
  }
  if (event.target === document.body && event.key.startsWith("Arrow") && !right.holder.hidden) {
    right.holder.focus();
    right.key(event);
    return;
  }
  const typing = event.target.matches("input[type=search]") || byId("keys").open;
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});

source.show(sourceRows());
code.show(codeRows());
restore();
window.addEventListener("hashchange", restore);
