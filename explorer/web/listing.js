// A list of lines of which only the visible ones are elements. Lines fold by their indentation.
//
//   rows: [{text, parts, at, op, number, kind}]     at: the number of a source line, op: of an operation
//
// For assistive technology it is a tree: each line is an item, and its level is its indentation.

const LINE = 20;
const AROUND = 12; // lines rendered outside of the view, so that scrolling shows no gaps

class Listing {
  constructor(holder, label, listener) {
    this.holder = holder;
    this.listener = listener;
    this.canvas = element("div", { class: "canvas", role: "none" });
    holder.append(this.canvas);
    holder.tabIndex = 0;
    holder.setAttribute("role", "tree");
    holder.setAttribute("aria-label", label);
    this.id = `list-${label.toLowerCase().replace(/\W+/g, "-")}`;
    this.rows = [];
    this.folded = new Set();
    this.current = -1;
    this.hits = new Set();
    this.lit = null; // a number of a source line
    this.chosen = null;
    holder.addEventListener("scroll", () => this.later());
    holder.addEventListener("pointermove", (event) => this.hover(this.rowAt(event)));
    holder.addEventListener("pointerleave", () => this.hover(-1));
    holder.addEventListener("click", (event) => this.click(event));
    holder.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.later()).observe(holder);
  }

  show(rows) {
    this.rows = rows;
    this.folded.clear();
    this.hits.clear();
    this.current = -1;
    this.hovered = -1;
    const depth = depths(rows.map((row) => row.text));
    this.ends = new Int32Array(rows.length); // after the lines that a line folds
    const open = [];
    for (let i = 0; i <= rows.length; i++) {
      while (open.length && (i === rows.length || depth[i] <= depth[open.at(-1)])) this.ends[open.pop()] = i;
      if (i < rows.length) open.push(i);
    }
    for (let i = 0; i < rows.length; i++) {
      if (rows[i].kind === "title") this.ends[i] = i + 1;
      while (this.ends[i] > i + 1 && !rows[this.ends[i] - 1].text.trim()) this.ends[i]--;
    }
    this.depth = depth;
    const longest = rows.reduce((most, row) => Math.max(most, row.text.length), 0);
    this.canvas.style.minWidth = `calc(${longest + 2}ch + 66px)`;
    this.holder.scrollTop = 0;
    this.unfold();
  }

  unfold() {
    this.visible = [];
    for (let i = 0; i < this.rows.length; i = this.folded.has(i) ? this.ends[i] : i + 1) this.visible.push(i);
    this.canvas.style.height = `${this.visible.length * LINE + 12}px`;
    this.render();
  }

  foldable(row) { return this.ends[row] > row + 1; }

  fold(row, folded = !this.folded.has(row)) {
    if (!this.foldable(row) || folded === this.folded.has(row)) return;
    if (folded) this.folded.add(row); else this.folded.delete(row);
    this.unfold();
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.render(); });
  }

  render() {
    const first = Math.max(0, Math.floor(this.holder.scrollTop / LINE) - AROUND);
    const count = Math.ceil(this.holder.clientHeight / LINE) + 2 * AROUND;
    const made = this.visible.slice(first, first + count).map((row, i) => this.element(row, first + i));
    this.canvas.replaceChildren(...made);
    this.paint();
  }

  element(index, place) {
    const row = this.rows[index];
    const foldable = this.foldable(index);
    const made = element("div", {
      class: "row", role: "treeitem", id: `${this.id}-${index}`, "aria-level": 1 + (this.depth[index] >> 1),
      "aria-posinset": place + 1, "aria-setsize": this.visible.length, "aria-selected": index === this.current,
    });
    made.style.top = `${place * LINE}px`;
    made.dataset.row = index;
    if (row.share > 0.005) {
      const heat = element("span", { class: "heat" });
      heat.style.background = `rgba(var(--hot), ${0.15 + 0.85 * Math.sqrt(row.share)})`;
      made.append(heat);
    }
    if (row.number !== undefined) made.append(element("span", { class: "number", textContent: row.number }));
    if (foldable) {
      const folded = this.folded.has(index);
      made.setAttribute("aria-expanded", !folded);
      made.append(element("span", { class: "fold", textContent: folded ? "▶" : "▼", "aria-hidden": "true" }));
    }
    const text = element("span", { class: "text" });
    paint(text, row.text, row.parts ?? []);
    made.append(text);
    if (!row.text) made.setAttribute("aria-label", "empty line");
    if (this.folded.has(index)) made.append(element("span", { class: "more", textContent: ` … ${this.ends[index] - index - 1} lines` }));
    return made;
  }

  // Set the classes of the rendered lines.
  paint() {
    for (const made of this.canvas.children) {
      const index = Number(made.dataset.row), row = this.rows[index];
      const is = (name, on) => made.classList.toggle(name, on);
      is("title", row.kind === "title");
      is("added", row.kind === "added");
      is("ghost", row.kind === "ghost");
      is("hit", this.hits.has(index));
      is("lit", this.lit !== null && row.at === this.lit);
      is("chosen", this.chosen !== null && row.at === this.chosen);
      is("current", index === this.current);
      made.setAttribute("aria-selected", index === this.current);
    }
    if (this.current >= 0) this.holder.setAttribute("aria-activedescendant", `${this.id}-${this.current}`);
    else this.holder.removeAttribute("aria-activedescendant");
  }

  rowAt(event) {
    const made = event.target.closest(".row");
    return made ? Number(made.dataset.row) : -1;
  }

  hover(row) {
    if (row === this.hovered) return;
    this.hovered = row;
    this.listener.hover(this, row);
  }

  click(event) {
    const row = this.rowAt(event);
    if (row < 0) return;
    if (event.target.classList.contains("fold")) this.fold(row);
    else this.listener.choose(this, row);
  }

  key(event) {
    const at = this.visible.indexOf(this.current);
    const page = Math.max(1, Math.floor(this.holder.clientHeight / LINE) - 1);
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps) {
      const next = Math.max(0, Math.min(this.visible.length - 1, at + steps[event.key]));
      this.listener.choose(this, this.visible[next]);
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      if (this.current >= 0) this.fold(this.current, event.key === "ArrowLeft");
    } else if (event.key === "Enter" && this.current >= 0) {
      this.listener.choose(this, this.current);
    } else return;
    event.preventDefault();
  }

  // Scroll to a line, and unfold what hides it.
  reveal(row) {
    for (const folded of [...this.folded]) if (folded < row && row < this.ends[folded]) this.folded.delete(folded);
    this.unfold();
    const top = this.visible.indexOf(row) * LINE, { scrollTop, clientHeight } = this.holder;
    if (top < scrollTop + LINE || top > scrollTop + clientHeight - 2 * LINE) {
      this.holder.scrollTop = Math.max(0, top - clientHeight / 3);
      this.render();
    }
  }

  // Bring a line of this origin into view, unless one is in view.
  revealOrigin(at) {
    const first = Math.floor(this.holder.scrollTop / LINE), count = Math.floor(this.holder.clientHeight / LINE);
    const inView = this.visible.slice(first, first + count).some((row) => this.rows[row].at === at);
    const row = inView ? -1 : this.rows.findIndex((each) => each.at === at && each.kind !== "ghost");
    if (row >= 0) this.reveal(row);
  }
}
