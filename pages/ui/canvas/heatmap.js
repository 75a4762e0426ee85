// One heatmap: cells on a canvas, axes and colour bar as SVG above it, and a view that the reader can change.
//
// It draws what it is sent and computes no encoding: `figures/wire.py` says what a message holds. A new view is
// shown at once, from the cells that are here, and asked for; its own cells replace them as they come.

const TYPES = { float32: Float32Array, float64: Float64Array, uint16: Uint16Array };
const EMPTY = 65535; // the 16-bit step that stands for "no value"
const MARGIN = { top: 8, right: 88, bottom: 46 };
const FONT = 12;
const LINE = 16; // pixels for a line of text
const DRAG = 6; // fewer pixels are a click, or a drag along the other axis only
const MAX_LABEL = 16; // letters of a row's label that leave room for the cells on a phone
const PAUSE_MS = 150; // after the last move, before the cells of a view are asked for
const maps = new WeakMap();

// plotly, beside us on the page, rejects the promise of an animation that is stopped, and nobody waits for it.
addEventListener("unhandledrejection", (event) => event.reason === undefined && event.preventDefault());

export default function draw({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".heatmap");
  if (!maps.has(root)) maps.set(root, new Heatmap(root));
  const map = maps.get(root);
  map.ask = (view) => setTriggerValue("view", view); // a state would not be heard when it is the same again
  map.pick = (cell) => setTriggerValue("pick", cell);
  map.receive(unpack(data));
  // Streamlit also says so to a run that newer data overtook while the picture stays.
  return () => root.isConnected || map.end();
}

function unpack(bytes) {
  const head = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const picture = JSON.parse(new TextDecoder().decode(bytes.subarray(4, head)));
  let at = head;
  for (const [name, type, count] of picture.arrays) {
    const end = at + count * TYPES[type].BYTES_PER_ELEMENT;
    picture[name] = new TYPES[type](bytes.slice(at, end).buffer); // a copy: the message is not aligned
    at = end;
  }
  const { least, greatest } = picture;
  picture.mean ??= Float32Array.from(least, (step, k) => (step + greatest[k]) / 2); // both may be EMPTY: so is it
  return picture;
}

class Heatmap {
  constructor(root) {
    this.root = root;
    this.part = (name) => root.querySelector(`.${name}`);
    this.painted = 0;
    this.resized = new ResizeObserver(() => this.picture && this.paint());
    this.resized.observe(this.part("plot"));
    this.listen();
  }

  end() {
    clearTimeout(this.timer);
    this.resized.disconnect();
    maps.delete(this.root);
  }

  // -- data and view: [first row, end, first column, end], counted from 0 ---------------------------------

  receive(picture) {
    const same = this.picture && String(this.picture.shape) === String(picture.shape);
    // Cells of an earlier view may still come while the reader has moved on.
    if (!same || !this.wanted || String(this.wanted) === String(picture.view)) {
      this.view = picture.view;
      this.wanted = null;
    }
    this.picture = picture;
    this.cursor = null;
    this.bitmap = null;
    const { words } = picture;
    this.root.dataset.key = picture.key;
    this.part("plot").style.height = `${picture.height}px`;
    const surface = this.part("surface");
    surface.setAttribute("aria-label", picture.alt);
    surface.setAttribute("aria-describedby", this.part("keys").id ||= `keys-${picture.key}`);
    this.part("keys").textContent = words.keys;
    this.part("note").textContent = picture.note;
    for (const name of ["in", "out", "whole", "png", "svg"]) {
      const button = this.part(`do-${name}`);
      button.title = words[name];
      button.setAttribute("aria-label", words[name]);
    }
    this.part("range").firstElementChild.title = words.range;
    this.part("range").firstElementChild.setAttribute("aria-label", words.range);
    this.part("apply").textContent = words.apply;
    this.part("rows").textContent = picture.rows.name;
    this.part("columns").textContent = picture.columns.name;
    this.fields.forEach((field, i) => {
      const [axis, end] = [["rows", "columns"][i >> 1], i & 1];
      field.min = picture[axis].first;
      field.max = picture[axis].first + picture.shape[i >> 1] - 1;
      field.setAttribute("aria-label", `${picture[axis].name}: ${words[end ? "last" : "first"]}`);
    });
    this.hide();
    this.paint();
  }

  // Show a view; ask for its cells when the reader pauses.
  look(view) {
    const fit = (start, stop, size) => {
      const span = Math.max(1, Math.min(size, Math.round(stop - start)));
      const first = Math.max(0, Math.min(size - span, Math.round(start)));
      return [first, first + span];
    };
    const [n, m] = this.picture.shape;
    const next = [...fit(view[0], view[1], n), ...fit(view[2], view[3], m)];
    if (String(next) === String(this.view)) return;
    this.view = this.wanted = next;
    this.hide();
    this.paint();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(next), PAUSE_MS);
  }

  // Make the view `factor` times as large, with the cell at `at` = [row, column] kept where it is.
  zoom(factor, at = null) {
    const [r0, r1, c0, c1] = this.view;
    const [row, column] = at ?? [(r0 + r1) / 2, (c0 + c1) / 2];
    const about = (start, stop, still) => {
      const span = Math.max(1, (stop - start) * factor);
      const first = still - ((still - start) / (stop - start)) * span;
      return [first, first + span];
    };
    this.look([...about(r0, r1, row), ...about(c0, c1, column)]);
  }

  // Move on by half of what is in view, at least by one.
  pan(down, across) {
    const [r0, r1, c0, c1] = this.view;
    const [y, x] = [down * Math.ceil((r1 - r0) / 2), across * Math.ceil((c1 - c0) / 2)];
    this.look([r0 + y, r1 + y, c0 + x, c1 + x]);
  }

  whole() {
    this.look([0, this.picture.shape[0], 0, this.picture.shape[1]]);
  }

  // -- values ------------------------------------------------------------------------------------------------

  value(plane, index) {
    const { scale } = this.picture;
    const step = plane[index];
    return scale ? (step === EMPTY ? NaN : scale[0] + scale[1] * step) : step;
  }

  // Write a number with the digits that the message carries.
  number(value) {
    const { scale } = this.picture;
    if (!scale || !Number.isFinite(value)) return significant(value, 6);
    const decimals = Math.min(12, Math.floor(-Math.log10(scale[1])));
    return decimals > 0 ? minus(value.toFixed(decimals)) : significant(value, 5);
  }

  // The block that holds a row and a column, or null outside of what is here.
  block(row, column) {
    const { view, each, cells } = this.picture;
    const [i, j] = [Math.floor((row - view[0]) / each[0]), Math.floor((column - view[2]) / each[1])];
    const inside = row >= view[0] && row < view[1] && column >= view[2] && column < view[3];
    return inside && i < cells[0] && j < cells[1] ? [i, j] : null;
  }

  // What the hover says about a block, a line each.
  lines([i, j]) {
    const { picture } = this;
    const { rows, columns, cells, words, product } = picture;
    const at = i * cells[1] + j;
    const ends = [this.ends(0, i), this.ends(1, j)];
    const lines = [];
    for (const [axis, name, k, [first, last]] of [
      [rows, "rows", i, ends[0]],
      [columns, "columns", j, ends[1]],
    ]) {
      lines.push(`${axis.name} ${range(grouped(axis.first + first), grouped(axis.first + last))}`);
      if (axis.labels && first === last) lines.push(axis.labels[first]);
      axis.lines.forEach((line, place) => {
        const here = picture[`${name}${place}`];
        const texts = [here[2 * k], here[2 * k + 1]].map((v) => (line.words ? line.words[v] : significant(v, 6)));
        lines.push(`${line.name}: ${range(...texts)}`);
      });
    }
    const single = ends.every(([first, last]) => first === last);
    if (product && single) {
      lines.push(`${product}: ${significant((rows.first + ends[0][0]) * picture.factors[j], 6)}`);
    }
    lines.push([picture.value, this.number(this.value(picture.mean, at))]);
    if (picture.least && !single) {
      lines.push(`${words.least}: ${this.number(this.value(picture.least, at))}`);
      lines.push(`${words.greatest}: ${this.number(this.value(picture.greatest, at))}`);
    }
    return lines;
  }

  // First and last row (axis 0) or column (axis 1) of a block.
  ends(axis, index) {
    const { view, each } = this.picture;
    const first = view[2 * axis] + index * each[axis];
    return [first, Math.min(first + each[axis], view[2 * axis + 1]) - 1];
  }

  // -- drawing -----------------------------------------------------------------------------------------------

  paint() {
    const { picture, view } = this;
    const plot = this.part("plot");
    const width = plot.clientWidth;
    if (!width) return;
    this.place(width, picture.height);
    const { box } = this;
    const canvas = this.part("cells");
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(box.width * ratio));
    canvas.height = Math.max(1, Math.round(box.height * ratio));
    Object.assign(canvas.style, {
      left: `${box.left}px`,
      top: `${box.top}px`,
      width: `${box.width}px`,
      height: `${box.height}px`,
    });
    this.bitmap ??= this.colour(canvas.width, canvas.height);
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    const [x, y] = [canvas.width / (view[3] - view[2]), canvas.height / (view[1] - view[0])];
    const [r0, r1, c0, c1] = picture.view;
    context.beginPath(); // the last block of an axis may be shorter than the others
    context.rect((c0 - view[2]) * x, (r0 - view[0]) * y, (c1 - c0) * x, (r1 - r0) * y);
    context.clip();
    const { image, each } = this.bitmap;
    context.drawImage(
      image,
      (c0 - view[2]) * x,
      (r0 - view[0]) * y,
      image.width * each[1] * x,
      image.height * each[0] * y,
    );
    this.part("axes").innerHTML = this.axes(width);
    const { shape } = picture;
    this.part("do-whole").disabled = this.part("do-out").disabled =
      view[1] - view[0] === shape[0] && view[3] - view[2] === shape[1];
    this.part("do-in").disabled = view[1] - view[0] === 1 && view[3] - view[2] === 1;
    this.fields.forEach((field, i) => {
      field.value = picture[i < 2 ? "rows" : "columns"].first + view[i] - (i & 1);
    });
    this.root.dataset.view = `${view[0]}-${view[1]}x${view[2]}-${view[3]}`;
    this.root.dataset.painted = ++this.painted;
  }

  // Colour the blocks, one pixel each; where the screen has fewer pixels, several blocks share their mean.
  colour(width, height) {
    const { picture } = this;
    const [rows, columns] = picture.cells;
    const down = Math.ceil(rows / height);
    const across = Math.ceil(columns / width);
    const image = document.createElement("canvas");
    image.height = Math.ceil(rows / down);
    image.width = Math.ceil(columns / across);
    const colours = table(picture.colours);
    const [low, high] = picture.limits;
    const pixels = new ImageData(image.width, image.height);
    const out = new Uint32Array(pixels.data.buffer);
    for (let i = 0, k = 0; i < image.height; i++) {
      for (let j = 0; j < image.width; j++, k++) {
        let [sum, count] = [0, 0];
        for (let r = i * down; r < Math.min(rows, (i + 1) * down); r++) {
          for (let c = j * across; c < Math.min(columns, (j + 1) * across); c++) {
            const value = this.value(picture.mean, r * columns + c);
            if (value === value) {
              sum += value;
              count++;
            }
          }
        }
        if (count) {
          const share = (sum / count - low) / (high - low);
          out[k] = colours[Math.max(0, Math.min(255, Math.round(255 * share)))];
        }
      }
    }
    image.getContext("2d").putImageData(pixels, 0, 0);
    return { image, each: [picture.each[0] * down, picture.each[1] * across] };
  }

  // Decide where in the plot the cells go.
  place(width, height) {
    const { picture, view } = this;
    const context = this.part("cells").getContext("2d");
    context.font = `${FONT}px ${getComputedStyle(this.root).fontFamily}`;
    this.wide = (text) => context.measureText(text).width;
    const box = { top: MARGIN.top, height: height - MARGIN.top - MARGIN.bottom };
    this.rowTicks = this.ticks(0, box.height / LINE);
    const title = picture.rows.title ? 20 : 2;
    box.left = title + 10 + Math.max(...this.rowTicks.map(([, text]) => this.wide(text)), 12);
    box.width = Math.max(40, width - box.left - MARGIN.right);
    if (picture.square) {
      // As many pixels a row as a column.
      const [rows, columns] = [view[1] - view[0], view[3] - view[2]];
      const side = Math.min(box.width / columns, box.height / rows);
      // A part of a square matrix fills its frame; an image keeps its shape unless that is nearly a line.
      const image = picture.shape[0] !== picture.shape[1] && Math.max(rows, columns) <= 8 * Math.min(rows, columns);
      if (rows === columns || image) [box.width, box.height] = [side * columns, side * rows];
      this.part("plot").style.height = `${box.top + box.height + MARGIN.bottom}px`;
    }
    const last = grouped(picture.columns.first + view[3]);
    this.columnTicks = this.ticks(1, box.width / (this.wide(last) + 24));
    this.box = box;
  }

  // Where an axis says what: [[middle of a row or column, text], …], at most `room` of them.
  ticks(axis, room) {
    const { first, labels } = this.picture[axis ? "columns" : "rows"];
    const [start, stop] = this.view.slice(2 * axis, 2 * axis + 2);
    const most = Math.max(1, Math.floor(Math.min(room, labels ? 64 : 9)));
    const step = labels ? Math.ceil((stop - start) / most) : nice((stop - start) / most);
    const ticks = [];
    const offset = labels ? 0 : first;
    for (let at = Math.ceil((start + offset) / step) * step - offset; at < stop; at += step) {
      ticks.push([at + 0.5, labels ? shorten(labels[at]) : grouped(at + first)]);
    }
    return ticks;
  }

  axes(width) {
    const { picture, box, view } = this;
    const { rows, columns } = picture;
    const [right, bottom] = [box.left + box.width, box.top + box.height];
    const text = (x, y, words, rest = "") =>
      `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${rest}>${escape(words)}</text>`;
    const line = (x1, y1, x2, y2) => `<path d="M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}"/>`;
    const parts = [`<rect x="${box.left}" y="${box.top}" width="${box.width}" height="${box.height}" fill="none"/>`];
    for (const [at, words] of this.rowTicks) {
      const y = box.top + ((at - view[0]) / (view[1] - view[0])) * box.height;
      parts.push(line(box.left - 4, y, box.left, y), text(box.left - 7, y + 4, words, 'text-anchor="end"'));
    }
    for (const [at, words] of this.columnTicks) {
      const x = box.left + ((at - view[2]) / (view[3] - view[2])) * box.width;
      parts.push(line(x, bottom, x, bottom + 4), text(x, bottom + 17, words, 'text-anchor="middle"'));
    }
    const [x, y] = [12, box.top + box.height / 2];
    parts.push(text(x, y, rows.title, `text-anchor="middle" transform="rotate(-90 ${x} ${y})"`));
    parts.push(text(box.left + box.width / 2, bottom + 36, columns.title, 'text-anchor="middle"'));
    // The colour bar.
    const left = right + 12;
    const stops = picture.colours.map(([at, colour]) => `<stop offset="${at}" stop-color="${colour}"/>`).join("");
    const name = `colours-${picture.key}`;
    parts.push(`<defs><linearGradient id="${name}" x1="0" y1="1" x2="0" y2="0">${stops}</linearGradient></defs>`);
    parts.push(`<rect x="${left}" y="${box.top}" width="12" height="${box.height}" fill="url(#${name})"/>`);
    const [low, high] = picture.limits;
    for (const share of box.height > 90 ? [0, 0.25, 0.5, 0.75, 1] : [0, 0.5, 1]) {
      const at = bottom - share * box.height;
      parts.push(line(left + 12, at, left + 16, at));
      parts.push(text(left + 19, Math.max(at + 4, box.top + 10), significant(low + share * (high - low), 3)));
    }
    const end = Math.min(width, left + 76) - 4;
    parts.push(text(end, y, picture.value, `text-anchor="middle" transform="rotate(-90 ${end} ${y})"`));
    return parts.join("");
  }

  // -- the reader's hand -------------------------------------------------------------------------------------

  listen() {
    const surface = this.part("surface");
    this.fields = [...this.root.querySelectorAll("input")];
    const doing = {
      in: () => this.zoom(0.5, this.cursor && this.middle()),
      out: () => this.zoom(2),
      whole: () => this.whole(),
      png: () => this.save("png"),
      svg: () => this.save("svg"),
    };
    for (const [name, act] of Object.entries(doing)) this.part(`do-${name}`).addEventListener("click", act);
    this.root.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      const { rows, columns } = this.picture;
      const [r0, r1, c0, c1] = this.fields.map((field) => field.valueAsNumber);
      if (Number.isNaN(r0 + r1 + c0 + c1)) return; // a field is empty
      this.look([r0 - rows.first, r1 - rows.first + 1, c0 - columns.first, c1 - columns.first + 1]);
      this.part("range").open = false;
    });
    surface.addEventListener("pointerdown", (event) => this.press(event));
    surface.addEventListener("pointermove", (event) => this.move(event));
    surface.addEventListener("pointerup", (event) => this.release(event));
    surface.addEventListener("pointercancel", () => this.drop());
    surface.addEventListener("pointerleave", () => this.start || this.hide());
    surface.addEventListener("blur", () => this.hide());
    surface.addEventListener("dblclick", () => this.whole());
    surface.addEventListener("keydown", (event) => this.key(event));
    surface.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return; // else the page scrolls
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.at(event));
      },
      { passive: false },
    );
  }

  // The row and the column under the pointer, with fractions.
  at(event) {
    const { box, view } = this;
    const edge = this.part("plot").getBoundingClientRect();
    const share = (at, start, size) => Math.max(0, Math.min(1 - 1e-9, (at - start) / size));
    return [
      view[0] + share(event.clientY - edge.top, box.top, box.height) * (view[1] - view[0]),
      view[2] + share(event.clientX - edge.left, box.left, box.width) * (view[3] - view[2]),
    ];
  }

  press(event) {
    if (event.button !== 0) return;
    this.start = { x: event.clientX, y: event.clientY, at: this.at(event), view: this.view };
    if (event.pointerType !== "touch") this.part("surface").setPointerCapture(event.pointerId); // touch scrolls
  }

  move(event) {
    if (!this.start || event.pointerType === "touch") return this.hover(this.at(event), event);
    const moved = [Math.abs(event.clientY - this.start.y) >= DRAG, Math.abs(event.clientX - this.start.x) >= DRAG];
    if (!moved[0] && !moved[1]) return;
    this.hide();
    if (event.shiftKey) {
      const [r0, r1, c0, c1] = this.start.view;
      const down = ((this.start.y - event.clientY) / this.box.height) * (r1 - r0);
      const across = ((this.start.x - event.clientX) / this.box.width) * (c1 - c0);
      this.look([r0 + down, r1 + down, c0 + across, c1 + across]);
      return;
    }
    this.box.drag = this.chosen(event, moved);
    const [r0, r1, c0, c1] = this.box.drag;
    this.frame("drag", r0, r1, c0, c1);
  }

  // The rows and columns between where a drag began and where it is; all of them along an axis not moved along.
  chosen(event, moved) {
    const [from, to] = [this.start.at, this.at(event)];
    const span = (axis) => {
      if (!moved[axis]) return this.view.slice(2 * axis, 2 * axis + 2);
      return [Math.floor(Math.min(from[axis], to[axis])), Math.floor(Math.max(from[axis], to[axis])) + 1];
    };
    return [...span(0), ...span(1)];
  }

  release(event) {
    const { start, box } = this;
    this.drop();
    if (!start) return;
    if (box.drag) this.look(box.drag);
    else if (start.view === this.view) {
      const [row, column] = this.at(event);
      this.choose(row, column);
    }
    box.drag = null;
  }

  choose(row, column) {
    if (this.picture.pick) this.pick([Math.floor(row), Math.floor(column)]);
  }

  drop() {
    this.start = null;
    this.part("drag").hidden = true;
  }

  key(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const step = steps[event.key];
    if (step && event.shiftKey) this.pan(...step);
    else if (step) this.step(step);
    else if (event.key === "+" || event.key === "=") this.zoom(0.5, this.cursor && this.middle());
    else if (event.key === "-") this.zoom(2, this.cursor && this.middle());
    else if (event.key === "0") this.whole();
    else if (event.key === "Enter" && this.cursor) this.choose(...this.middle());
    else if (event.key === "Escape") this.hide();
    else return;
    event.preventDefault();
  }

  middle() {
    return [0, 1].map((axis) => {
      const [first, last] = this.ends(axis, this.cursor[axis]);
      return (first + last + 1) / 2;
    });
  }

  // Move the cursor one block on, and say what is there.
  step([down, across]) {
    const { cells } = this.picture;
    const [i, j] = this.cursor ?? [-down, -across];
    const within = (at, size) => Math.max(0, Math.min(size - 1, at));
    this.cursor = [within(i + down, cells[0]), within(j + across, cells[1])];
    const [row, column] = this.middle();
    this.hover([row, column], null);
    this.part("said").textContent = this.lines(this.cursor).flat().join(", ");
  }

  hover([row, column], event) {
    const block = this.block(row, column);
    if (!block) return this.hide();
    this.cursor = block;
    const tip = this.part("tip");
    tip.innerHTML = this.lines(block)
      .map((line) => (Array.isArray(line) ? `${escape(line[0])}: <b>${escape(line[1])}</b>` : escape(line)))
      .join("<br>");
    tip.hidden = false;
    const [[r0, r1], [c0, c1]] = [this.ends(0, block[0]), this.ends(1, block[1])];
    const edge = this.frame("cursor", r0, r1 + 1, c0, c1 + 1);
    const plot = this.part("plot");
    const where = plot.getBoundingClientRect();
    const [x, y] = event ? [event.clientX - where.left, event.clientY - where.top] : [edge.right, edge.bottom];
    const room = plot.clientWidth - x > tip.offsetWidth + 20;
    tip.style.left = `${Math.max(0, room ? x + 14 : x - tip.offsetWidth - 14)}px`;
    tip.style.top = `${Math.max(0, Math.min(y + 10, plot.clientHeight - tip.offsetHeight))}px`;
  }

  // Put one of the frames around rows and columns, as far as they are in view.
  frame(name, r0, r1, c0, c1) {
    const { box, view } = this;
    const share = (at, start, stop) => Math.max(0, Math.min(1, (at - start) / (stop - start)));
    const left = box.left + share(c0, view[2], view[3]) * box.width;
    const right = box.left + share(c1, view[2], view[3]) * box.width;
    const top = box.top + share(r0, view[0], view[1]) * box.height;
    const bottom = box.top + share(r1, view[0], view[1]) * box.height;
    const element = this.part(name);
    Object.assign(element.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${right - left}px`,
      height: `${bottom - top}px`,
    });
    element.hidden = false;
    return { right, bottom };
  }

  hide() {
    this.part("tip").hidden = this.part("cursor").hidden = true;
    this.cursor = null;
  }

  // -- taking it away ----------------------------------------------------------------------------------------

  save(kind) {
    const { box } = this;
    const [width, height] = [this.part("plot").clientWidth, this.picture.height];
    const { color, fontFamily } = getComputedStyle(this.root);
    const cells = this.part("cells").toDataURL();
    const svg =
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" style="color:${color};background:` +
      `${getComputedStyle(this.part("tip")).backgroundColor}" font-family="${escape(fontFamily.replaceAll('"', "'"))}" ` +
      `font-size="${FONT}" fill="currentColor" stroke="none"><style>path,rect{stroke:currentColor;stroke-opacity:.4}</style>` +
      `<image x="${box.left}" y="${box.top}" width="${box.width}" height="${box.height}" href="${cells}"/>` +
      `${this.part("axes").innerHTML}</svg>`;
    const address = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    if (kind === "svg") return download(address, `${this.picture.key}.svg`);
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [2 * width, 2 * height];
      const context = canvas.getContext("2d");
      context.fillStyle = getComputedStyle(this.part("tip")).backgroundColor;
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      download(canvas.toDataURL(), `${this.picture.key}.png`);
    };
    image.src = address;
  }
}

function download(address, name) {
  const link = document.createElement("a");
  [link.href, link.download] = [address, name];
  link.click();
}

// The next number of the series 1, 2, 5, 10, 20, … that is not less.
function nice(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return power * [1, 2, 5, 10].find((digit) => digit * power >= least);
}

function table(stops) {
  const rgb = stops.map(([at, hex]) => [at, ...[1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16))]);
  return Uint32Array.from({ length: 256 }, (_, k) => {
    const at = k / 255;
    const next = Math.max(1, rgb.findIndex(([stop]) => stop >= at));
    const [a, b] = [rgb[next - 1], rgb[next]];
    const share = (at - a[0]) / (b[0] - a[0]);
    const [red, green, blue] = [1, 2, 3].map((c) => Math.round(a[c] + share * (b[c] - a[c])));
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}

const minus = (text) => text.replace("-", "−");
const grouped = (number) => minus(number.toLocaleString("en-US"));
const range = (first, last) => (first === last ? first : `${first} – ${last}`);
const shorten = (text) => (text.length <= MAX_LABEL ? text : `${text.slice(0, MAX_LABEL - 1)}…`);
const significant = (value, digits) => (Number.isFinite(value) ? minus(String(+value.toPrecision(digits))) : "—");
const escape = (text) =>
  String(text).replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
