// The drawing of a graph: ELK computes the layout in a worker, this file makes SVG of it.

const SVG = "http://www.w3.org/2000/svg";
const MOST = 80; // nodes of a scope that are drawn at once
const COPIED = 5; // an input with more readers is drawn once for each reader
const OPEN = 120; // up to this size of a graph, all regions are open at first
const LABELS = 90; // up to this number of nodes, edges show types
const LETTER = 7.3;
const SMALL = 6.4;

function shape(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// The layout engine, unpacked at its first use: base64 of a gzip file in the page.
class Layout {
  constructor() { this.waiting = new Map(); this.number = 0; }

  async start() {
    const bytes = Uint8Array.from(atob(byId("elk").textContent), (letter) => letter.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = await new Response(unpacked).text();
    const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => {
      const [done, failed] = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.error) failed(new Error(data.error.message ?? String(data.error))); else done(data.data);
    };
    this.worker = worker;
    return this.ask({ cmd: "register", algorithms: ["layered"] });
  }

  ask(message) {
    const id = this.number++;
    this.worker.postMessage({ id, ...message });
    return new Promise((done, failed) => this.waiting.set(id, [done, failed]));
  }

  async of(graph) {
    this.started ??= this.start();
    await this.started;
    return this.ask({ cmd: "layout", graph, layoutOptions: {}, options: {} });
  }
}

const OPTIONS = {
  "elk.algorithm": "layered", "elk.direction": "DOWN", "elk.edgeRouting": "ORTHOGONAL",
  "elk.layered.spacing.nodeNodeBetweenLayers": "30", "elk.spacing.nodeNode": "22", "elk.spacing.edgeNode": "14",
  "elk.spacing.edgeLabel": "4", "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX", "elk.edgeLabels.placement": "CENTER",
};
const IN_ORDER = { "elk.layered.considerModelOrder.strategy": "PREFER_EDGES" };
const SIDE_BY_SIDE = { "elk.separateConnectedComponents": "false", "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES" };
const FEW = 16; // up to this number of nodes, those of a scope are in the order of the text if edges allow it

class Drawing {
  constructor(paper, status, listener) {
    this.paper = paper;
    this.status = status;
    this.listener = listener;
    this.layout = new Layout();
    this.turned = new Set(); // nodes that are open or closed against the default
    this.scale = 1;
    this.groups = new Map(); // node → its element
    paper.addEventListener("click", (event) => this.click(event));
    paper.addEventListener("pointermove", (event) => this.hover(event));
    paper.addEventListener("pointerleave", () => this.listener.hoverNode(null));
    paper.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15);
    }, { passive: false });
    this.drag();
  }

  show(rows) {
    this.rows = rows;
    this.graphs = structureOf(rows);
    this.size = this.graphs.reduce((sum, graph) => sum + sizeOf(graph), 0);
    this.turned.clear();
    this.center = null;
    return this.draw(true);
  }

  isOpen(node) { return node.regions.length > 0 && (this.size <= OPEN) !== this.turned.has(node); }

  async draw(fits = false) {
    const version = this.version = (this.version ?? 0) + 1;
    this.drawn = 0;
    this.all = 0;
    this.nodes = new Map();
    const children = this.graphs.map((graph, i) => this.scopeForElk(graph, `graph ${i}`));
    this.labeled = this.drawn <= LABELS;
    if (!this.labeled) for (const child of children) this.unlabel(child);
    this.status.textContent = `Laying out ${counted(this.drawn, "node")} …`;
    try {
      const done = await this.layout.of({ id: "root", layoutOptions: { ...OPTIONS, "elk.padding": "[top=4,left=4,bottom=4,right=4]" }, children, edges: [] });
      if (version !== this.version) return;
      this.put(done);
      if (fits) this.fit(0.8);
    } catch (error) {
      this.status.textContent = `The layout failed: ${error.message}`;
      return;
    }
    const hint = this.all > this.drawn ? ` of ${this.all.toLocaleString("en")}; select an operation to see its neighbors` : "";
    this.status.textContent = `${counted(this.drawn, "node")}${hint}`;
    this.mark(this.lit, this.chosen);
  }

  scopeForElk(scope, id) {
    const chosen = around(scope, scope.nodes.includes(this.center) ? this.center : null, MOST);
    this.all += scope.nodes.length;
    this.drawn += chosen.size;
    const children = [], edges = [];
    const copied = this.copied(chosen);
    for (const node of scope.nodes) {
      if (!chosen.has(node) || copied.has(node)) continue;
      this.nodes.set(node.id, node);
      children.push(this.nodeForElk(node));
      for (const [from, type] of new Map(node.from.filter((each) => chosen.has(each.node)).map((each) => [each.node, each.type]))) {
        const id = `${from.id}>${node.id}`;
        if (copied.has(from)) {
          const copy = { ...from, id };
          this.nodes.set(id, copy);
          children.push(this.nodeForElk(copy));
        }
        const labels = copied.has(from) ? [] : [{ text: type, width: type.length * SMALL, height: 13 }];
        edges.push({ id: `edge ${id}`, sources: [copied.has(from) ? id : from.id], targets: [node.id], labels });
      }
    }
    const top = scope.label.startsWith("graph") ? "30" : "26";
    return {
      id, scope, children, edges,
      layoutOptions: { ...OPTIONS, ...(children.length <= FEW ? IN_ORDER : {}), "elk.alignment": "TOP", "elk.padding": `[top=${top},left=12,bottom=12,right=12]`, "elk.nodeSize.constraints": "MINIMUM_SIZE", "elk.nodeSize.minimum": `(${scope.label.length * LETTER + 24},40)` },
    };
  }

  // Inputs with many readers: their edges would cover the drawing.
  copied(nodes) {
    const readers = new Map();
    for (const node of nodes) for (const { node: from } of node.from) readers.set(from, (readers.get(from) ?? 0) + 1);
    return new Set([...nodes].filter((node) => node.kind === "input" && readers.get(node) > COPIED));
  }

  nodeForElk(node) {
    if (this.isOpen(node)) {
      const regions = node.regions.map((region, i) => this.scopeForElk(region, `${node.id} region ${i}`));
      return {
        id: node.id, node, children: regions, edges: [],
        layoutOptions: { ...OPTIONS, ...SIDE_BY_SIDE, "elk.padding": "[top=32,left=10,bottom=10,right=10]" },
      };
    }
    const sub = this.subOf(node);
    const layoutOptions = node.kind === "output" ? { "elk.layered.layering.layerConstraint": "LAST" } : {};
    return { id: node.id, node, layoutOptions, width: Math.max(54, node.name.length * LETTER + 22, sub.length * SMALL + 22), height: sub ? 40 : 28 };
  }

  subOf(node) {
    const text = node.regions.length
      ? `▸ ${counted(node.regions.reduce((sum, each) => sum + sizeOf(each), 0), "node")}` : node.sub;
    return text.length > 30 ? `${text.slice(0, 29)}…` : text;
  }

  unlabel(scope) {
    for (const edge of scope.edges ?? []) edge.labels = [];
    for (const child of scope.children ?? []) this.unlabel(child);
  }

  put(root) {
    this.groups.clear();
    const arrow = shape("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, shape("path", { d: "M0 0.5 8 4 0 7.5z", class: "arrow" }));
    const content = this.group(root);
    this.width = root.width;
    this.height = root.height;
    this.svg = shape("svg", { viewBox: `0 0 ${root.width} ${root.height}`, "aria-hidden": "true" }, shape("defs", {}, arrow), content);
    this.paper.replaceChildren(this.svg);
    this.resize();
  }

  group(placed) {
    const { node, scope } = placed;
    const made = shape("g", { transform: `translate(${placed.x ?? 0} ${placed.y ?? 0})` });
    if (scope) {
      made.setAttribute("class", scope.label.startsWith("graph") ? "graph" : "region");
      made.append(shape("rect", { class: "box", width: placed.width, height: placed.height, rx: 8 }));
      made.append(this.text(12, 18, scope.label, "caption"));
    } else if (node) {
      const open = this.isOpen(node);
      made.setAttribute("class", `node ${node.kind}${open ? " open" : ""}`);
      made.dataset.node = node.id;
      this.groups.set(node, made);
      made.append(shape("rect", { class: "box", width: placed.width, height: placed.height, rx: node.kind === "op" ? 6 : 13 }));
      const sub = this.subOf(node);
      if (open) made.append(this.text(12, 20, `▾ ${node.name}`, "name"));
      else {
        const middle = { "text-anchor": "middle" };
        made.append(this.text(placed.width / 2, sub ? 17 : 18, node.name, "name", middle));
        if (sub) made.append(this.text(placed.width / 2, 31, sub, "sub", middle));
      }
    }
    for (const edge of placed.edges ?? []) made.append(this.edge(edge));
    for (const child of placed.children ?? []) made.append(this.group(child));
    for (const edge of placed.edges ?? []) {
      for (const label of edge.labels ?? []) if (label.x !== undefined) made.append(this.text(label.x, label.y + 10, label.text, "type label"));
    }
    return made;
  }

  text(x, y, content, kind, more = {}) { return shape("text", { x, y, class: kind, ...more }, content); }

  edge(edge) {
    const path = (edge.sections ?? []).map(({ startPoint, bendPoints = [], endPoint }) =>
      [startPoint, ...bendPoints, endPoint].map(({ x, y }, i) => `${i ? "L" : "M"}${x} ${y}`).join("")).join("");
    return shape("path", { class: "edge", d: path, "marker-end": "url(#arrow)" });
  }

  nodeAt(event) { return this.nodes?.get(event.target.closest?.(".node")?.dataset.node) ?? null; }

  hover(event) {
    const node = this.nodeAt(event);
    if (node !== this.hovered) this.listener.hoverNode(this.hovered = node);
  }

  click(event) {
    const node = this.nodeAt(event);
    if (!node || this.moved) return;
    this.listener.chooseNode(node);
    if (node.regions.length) this.turn(node);
  }

  turn(node) {
    if (this.turned.has(node)) this.turned.delete(node); else this.turned.add(node);
    this.draw();
  }

  // Draw the surroundings of a row, if not all nodes are drawn; bring it into view.
  async focus(row) {
    const found = this.find(this.graphs, row);
    if (!found) return;
    const hidden = !this.groups.has(found.at(-1));
    if (hidden) {
      for (const outer of found.slice(0, -1)) if (!this.isOpen(outer)) this.turned.has(outer) ? this.turned.delete(outer) : this.turned.add(outer);
      this.center = found.at(-1);
      await this.draw();
    }
    this.groups.get(found.at(-1))?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // The node of a row, after the nodes that enclose it.
  find(scopes, row) {
    for (const scope of scopes) {
      for (const node of scope.nodes) {
        if (node.row === row) return [node];
        const inner = this.find(node.regions, row);
        if (inner) return [node, ...inner];
      }
    }
    return null;
  }

  mark(lit, chosen) {
    this.lit = lit;
    this.chosen = chosen;
    for (const [node, made] of this.groups) {
      made.classList.toggle("lit", lit !== null && lit !== undefined && node.at === lit);
      made.classList.toggle("chosen", chosen !== null && chosen !== undefined && node.at === chosen);
    }
  }

  heat(shares) {
    for (const [node, made] of this.groups) {
      const share = shares(node);
      const box = made.firstChild;
      box.style.fill = share > 0.01 && !this.isOpen(node) ? `rgba(var(--hot), ${0.08 + 0.5 * share})` : "";
    }
  }

  zoom(factor) { this.scale = Math.max(0.1, Math.min(3, this.scale * factor)); this.resize(); }

  fit(least = 0.1) {
    const width = this.paper.clientWidth - 36, height = this.paper.clientHeight - 24;
    this.scale = Math.max(least, Math.min(1, width / this.width, height / this.height));
    this.resize();
    this.toFirst();
  }

  // Scroll to the first node, which may be far from the left border of a wide drawing.
  toFirst() {
    const [first] = this.groups.values();
    if (!first) return;
    const node = first.getBoundingClientRect(), paper = this.paper.getBoundingClientRect();
    this.paper.scrollLeft += node.left + node.width / 2 - paper.left - paper.width / 2;
  }

  resize() {
    if (!this.svg) return;
    this.svg.setAttribute("width", this.width * this.scale);
    this.svg.setAttribute("height", this.height * this.scale);
  }

  drag() {
    const paper = this.paper;
    let from = null;
    paper.addEventListener("pointerdown", (event) => {
      this.moved = false;
      if (event.button === 0 && event.pointerType === "mouse") from = [event.clientX + paper.scrollLeft, event.clientY + paper.scrollTop];
    });
    window.addEventListener("pointermove", (event) => {
      if (!from) return;
      const left = from[0] - event.clientX, top = from[1] - event.clientY;
      if (Math.abs(left - paper.scrollLeft) + Math.abs(top - paper.scrollTop) > 4) { this.moved = true; paper.classList.add("dragged"); }
      if (this.moved) { paper.scrollLeft = left; paper.scrollTop = top; }
    });
    window.addEventListener("pointerup", () => { from = null; paper.classList.remove("dragged"); });
  }
}
