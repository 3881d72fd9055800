// SPDX-License-Identifier: MIT
// Where charts put what they show, and in what order tables stand, on elements that keep their attributes alone.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

class Element {
  attributes = {};
  children = [];
  listeners = {};
  style = { setProperty: () => {} };
  classList = { add: () => {} };
  constructor(name) {
    this.name = name;
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  append(...children) {
    this.children.push(...children);
  }
  replaceChildren(...children) {
    this.children = children;
  }
  addEventListener(event, act) {
    this.listeners[event] = act;
  }
  get textContent() {
    return this.children.map((child) => (typeof child === "string" ? child : child.textContent)).join("");
  }
  all(name) {
    return this.children.filter((child) => child instanceof Element).flatMap((child) => [...(child.name === name ? [child] : []), ...child.all(name)]);
  }
}
globalThis.addEventListener = () => {};
globalThis.document = { createElement: (name) => new Element(name), createElementNS: (_, name) => new Element(name) };

const load = (name) => import(join(process.env.MODULES, `${name}.mjs`));
const { tableElement } = await load("table");
const { bars, spans } = await load("charts/bars");
const { changes } = await load("charts/changes");
const { heat } = await load("charts/heat");
const { lines } = await load("charts/lines");
const { points } = await load("charts/points");
const { placeOf, shade, tileMap } = await load("charts/tiles");

const numbers = (elements, ...names) => elements.map(({ attributes }) => names.map((name) => Number(attributes[name])));
const marksOf = ({ marks }) => marks.map(({ x, y }) => [x, y]);

function table(rows, more = {}, options = {}) {
  const made = tableElement({ name: "t", columns: [{ head: "name" }, { head: "size", unit: "B", isNumber: true }], rows, ...more }, options);
  return {
    made,
    names: () => made.all("tbody")[0].all("tr").map((line) => line.children[0].textContent).join(" "),
    more: () => made.children[2].textContent,
    click: (label) => made.all("button").find((one) => one.textContent === label).listeners.click(),
    filter: (words) => {
      const [box] = made.all("input");
      box.value = words;
      box.listeners.input();
    },
  };
}

test("tables sort by a column either way, and what has nothing there comes last", () => {
  const rows = [["b10", 3], ["b9", null], ["a", 12], ["c", 3], ["d", null]];
  const shown = table(rows, { sort: -2 });
  assert.equal(shown.names(), "a b10 c b9 d");
  shown.click("size");
  assert.equal(shown.names(), "b10 c a b9 d");
  shown.click("name"); // texts from their begin on, numbers in them by size
  assert.equal(shown.names(), "a b9 b10 c d");
  shown.click("name");
  assert.equal(shown.names(), "d c b10 b9 a");
  shown.click("size"); // numbers the largest first
  assert.equal(shown.names(), "a b10 c b9 d");
  assert.deepEqual(shown.made.all("th").slice(0, 2).map((head) => head.attributes["aria-sort"]), ["none", "descending"]);
  assert.equal(table(rows).names(), "b10 b9 a c d");
});

test("tables keep rows that have all words, and show more on demand", () => {
  const rows = Array.from({ length: 130 }, (_, i) => [`row ${i}`, 1000 * i]);
  const shown = table(rows);
  assert.equal(shown.made.all("tr").length - 1, 100);
  assert.equal(shown.more(), "100 of 130 rows show more");
  shown.click("show more");
  assert.equal(shown.made.all("tr").length - 1, 130);
  assert.equal(shown.more(), "");
  shown.filter("9,000 ROW 12");
  assert.equal(shown.names(), "row 129");
  shown.filter(" ");
  assert.equal(shown.made.all("tr").length - 1, 100); // as many as at first
  shown.filter("absent");
  assert.equal(shown.more(), "no row has these words");
  assert.equal(table([]).more(), "no rows");
  assert.equal(table(rows.slice(0, 100)).more(), "");
  assert.equal(table(rows.slice(0, 25)).made.all("input").length, 0);
  assert.equal(table(rows.slice(0, 26)).made.all("input").length, 1);
  assert.equal(table(rows.slice(0, 3), {}, { most: 2 }).more(), "2 of 3 rows show more");
  const picked = [];
  const some = table(rows.slice(0, 3), { sort: -2 }, { pick: (row) => picked.push(row) });
  const [first] = some.made.all("tbody")[0].all("tr");
  first.listeners.click();
  first.listeners.keydown({ key: "Enter" });
  first.listeners.keydown({ key: "a" });
  assert.deepEqual(picked, [2, 2]); // the number of the row, not its place
});

test("parts of a bar follow each other on one scale", () => {
  const drawn = bars({ bars: [{ name: "a", parts: [10, null, 30], lines: [35], tip: "" }, { name: "b", parts: [0, 20, -5], tip: "" }], parts: ["p", "q", "r"].map((name) => ({ name, color: name })), label: "x", most: 50, nameWidth: 230 });
  const scale = (value) => 230 + (value * 600) / 50; // up to 860 - 30
  const rects = drawn.svg.all("rect").filter(({ attributes }) => attributes.height === "14");
  assert.deepEqual(numbers(rects, "x", "width"), [[scale(0), 120], [scale(10), 360], [scale(0), 240]]);
  assert.deepEqual(rects.map(({ attributes }) => attributes.fill), ["var(--p)", "var(--r)", "var(--q)"]);
  assert.deepEqual(marksOf(drawn).map(([x]) => x), [scale(40), scale(20)]);
  assert.equal(marksOf(drawn)[1][1] - marksOf(drawn)[0][1], 22);
  assert.deepEqual(numbers(drawn.svg.all("line").filter(({ attributes }) => attributes["stroke-width"] === "2"), "x1"), [[scale(35)]]);
  assert.equal(bars({ bars: [], parts: [], label: "x" }).marks.length, 0);
});

test("spans and changes stand where their values are", () => {
  const drawn = spans([{ name: "a", least: 10, mean: 20, most: 40, bound: 30, tip: "" }, { name: "b", least: 0, mean: 0, most: 100, bound: null, tip: "" }], "x", 230);
  const scale = (value) => 230 + value * 6;
  assert.deepEqual(numbers(drawn.svg.all("rect").filter(({ attributes }) => "fill-opacity" in attributes), "x", "width"), [[scale(10), 180], [scale(0), 600]]);
  assert.deepEqual(numbers(drawn.svg.all("circle"), "cx"), [[scale(20)], [scale(0)]]);
  assert.deepEqual(numbers(drawn.svg.all("line").filter(({ attributes }) => attributes["stroke-width"] === "2"), "x1"), [[scale(30)]]);
  const both = changes([{ name: "a", value: 50, tip: "" }, { name: "b", value: -50, tip: "" }, { name: "c", value: 0, tip: "" }], "x", 230);
  const rects = both.svg.all("rect").filter(({ attributes }) => attributes.height === "14");
  assert.deepEqual(numbers(rects, "x", "width"), [[530, 300], [230, 300], [530, 0.5]]);
  assert.deepEqual(rects.map(({ attributes }) => attributes.fill), ["var(--mark)", "var(--compute)", "var(--compute)"]);
  assert.deepEqual(marksOf(both).map(([x]) => x), [830, 230, 530]);
});

test("points stand by powers where all are above 0", () => {
  const of = (ys, more = {}) => points({ points: ys.map((y, i) => ({ x: 10 ** i, y, color: "ink", tip: "" })), xLabel: "x", yLabel: "y", isLog: true, ...more });
  const log = marksOf(of([1, 10, 100]));
  assert.ok(Math.abs(log[1][0] - (log[0][0] + log[2][0]) / 2) < 1e-6);
  assert.ok(Math.abs(log[1][1] - (log[0][1] + log[2][1]) / 2) < 1e-6);
  assert.ok(log[0][1] > log[2][1]); // up is more
  const linear = marksOf(of([0, 10, 100]));
  assert.ok(linear[1][0] < (linear[0][0] + linear[2][0]) / 3);
  assert.equal(of([]).marks.length, 0);
  const line = (many) => of([1, 10, 100], { line: Array.from({ length: many }, (_, i) => ({ x: 10 ** i, y: 10 })) }).svg.all("path").length;
  assert.deepEqual([line(1), line(2)], [0, 1]);
  const roof = of([1, 10, 100], { roofs: [{ name: "roof", color: "ink", at: (x) => Math.min(1000, x) }, { name: "near", color: "ink", at: (x) => Math.min(990, x) }] });
  const [one, other] = roof.svg.all("text").filter((text) => ["roof", "near"].includes(text.textContent)).map(({ attributes }) => Number(attributes.y));
  assert.ok(Math.abs(one - other) >= 13); // names do not stand on each other
});

test("curves have a mark a value, steps in the middle of theirs", () => {
  const of = (values, isStep) => lines({ xLabel: "x", yLabel: "y", curves: [{ name: "c", color: "ink", values }], tip: (i) => String(i), isStep, across: [{ name: "limit", value: 8 }] });
  const scale = (drawn) => marksOf(drawn).map(([x]) => x);
  assert.deepEqual(scale(of([1, 2, 4], false)), [80, 460, 840]);
  assert.deepEqual(scale(of([1, 2, 4], true)).map(Math.round), [207, 460, 713]);
  const ys = marksOf(of([0, 4, 8], false)).map(([, y]) => y);
  assert.ok(Math.abs(ys[1] - (ys[0] + ys[2]) / 2) < 1e-6);
  assert.equal(of([1], false).svg.all("circle").length, 1);
  assert.equal(of([1, 2], false).svg.all("circle").length, 0);
  assert.equal(of([], false).marks.length, 0);
});

test("cells are empty at 0, and as dark as their value is small", () => {
  const of = (values, isLog) => heat({ cells: 2, cellSize: 3, values, xLabel: "x", yLabel: "y", label: "l", write: String, tip: (row, column) => `${row} ${column}`, isLog });
  const drawn = of([0, 1, 100, 10], true);
  assert.deepEqual(drawn.marks.map(({ text }) => text), ["0 1", "1 0", "1 1"]);
  assert.deepEqual(marksOf(drawn), [[80 + 345, 20 + 115], [80 + 115, 20 + 345], [80 + 345, 20 + 345]]);
  const fills = drawn.svg.all("rect").slice(0, 3).map(({ attributes }) => attributes.fill);
  assert.deepEqual(fills, [shade(0.25), shade(1), shade(0.625)]);
  assert.deepEqual(of([0, 25, 100, 50], false).svg.all("rect").slice(0, 3).map(({ attributes }) => attributes.fill), [0.4375, 1, 0.625].map((part) => shade(part)));
  assert.equal(of([0, 0, 0, 0], true).marks.length, 0);
});

test("colours go from one end of a scale to the other", () => {
  const grey = ["#000000", "#808080", "#ffffff"];
  for (const [expected, part] of [["#000000", 0], ["#000000", -1], ["#404040", 0.25], ["#808080", 0.5], ["#c0c0c0", 0.75], ["#ffffff", 1], ["#ffffff", 2]]) {
    assert.equal(shade(part, grey), expected, part);
  }
});

test("each tile has a place of its own, beside the other of its pair or island", () => {
  for (const [generation, tiles] of [["ipu1", 1216], ["ipu2", 1472], ["ipu2", 64], ["ipu1", 64]]) {
    const places = Array.from({ length: tiles }, (_, tile) => placeOf(tile, tiles, generation));
    assert.equal(new Set(places.map(({ row, column }) => row * 64 + column)).size, tiles);
    assert.ok(places.every(({ row, column }) => row >= 0 && row < tiles / 64 && column >= 0 && column < 64));
    const side = generation === "ipu1" ? 4 : 2;
    assert.ok(places.every(({ row }, tile) => row === places[tile - (tile % side)].row));
  }
  const at = (tile, generation, tiles) => Object.values(placeOf(tile, tiles, generation)).join(" ");
  assert.deepEqual([0, 1, 2, 45, 46, 47, 92].map((tile) => at(tile, "ipu2", 1472)), ["0 0", "0 2", "1 0", "22 2", "22 1", "22 3", "0 4"]);
  assert.deepEqual([0, 3, 4, 76, 608].map((tile) => at(tile, "ipu1", 1216)), ["0 32", "0 35", "1 32", "0 36", "0 0"]);
  const map = tileMap([0, 5, 10], "ipu2", 10, "cycles", String);
  assert.deepEqual(map.svg.all("rect").slice(0, 3).map(({ attributes }) => attributes.fill), [shade(0), shade(0.5), shade(1)]);
  assert.equal(tileMap([0], "ipu2", 0, "cycles", String).svg.all("rect")[0].attributes.fill, shade(0));
});

/// An element a line, with numbers rounded to hundredths.
function textOf(element, indent = "") {
  const rounded = (value) => String(value).replace(/-?\d+\.\d+/g, (number) => String(Math.round(100 * Number(number)) / 100));
  const attributes = Object.entries(element.attributes).map(([name, value]) => ` ${name}=${rounded(value)}`).join("");
  const inside = element.children.map((child) => (typeof child === "string" ? `${indent}  ${child}\n` : textOf(child, indent + "  "))).join("");
  return `${indent}${element.name}${attributes}\n${inside}`;
}

// Rooms, letters and lines have no rule but that somebody has looked at them: DRAWN_UPDATE=1 writes the file anew.
test("charts are drawn as they were looked at", () => {
  const parts = ["compute", "sync"].map((name) => ({ name, color: name }));
  const drawn = {
    bars: bars({ bars: [{ name: "a step with a long name that is cut", parts: [1000, 500], lines: [1800], tip: "" }, { name: "b", parts: [null, 2000], tip: "" }], parts, label: "cycles", lines: "limit" }),
    bytes: bars({ bars: [{ name: "a", parts: [3000], tip: "" }], parts: parts.slice(1), label: "bytes", isBytes: true }),
    spans: spans([{ name: "a", least: 1, mean: 2, most: 4, bound: 3, tip: "" }], "cycles"),
    changes: changes([{ name: "a", value: 5, tip: "" }, { name: "b", value: -3, tip: "" }], "cycles"),
    heat: heat({ cells: 3, cellSize: 2, values: [0, 1, 2, 3, 4, 5, 6, 7, 8], xLabel: "from", yLabel: "to", label: "words", write: String, tip: String }),
    powers: heat({ cells: 2, cellSize: 1, values: [1, 10, 100, 1000], xLabel: "from", yLabel: "to", label: "words", write: String, tip: String, isLog: true }),
    lines: lines({ xLabel: "step", yLabel: "bytes", curves: parts.map(({ name, color }, i) => ({ name, color, values: [1024, 2048, 512 * (i + 1)] })), across: [{ name: "limit", value: 3000 }], tip: String, isStep: true, isBytes: true }),
    points: points({ points: [{ x: 1, y: 2, color: "ink", tip: "" }, { x: 100, y: 50, color: "mark", size: 7, isHollow: true, tip: "" }], xLabel: "x", yLabel: "y", isLog: true,
      roofs: [100, 120, 1000].map((most) => ({ name: `roof ${most}`, color: "compute", at: (x) => Math.min(most, 10 * x) })), legend: [["points", "var(--ink)"]] }),
    none: points({ points: [], xLabel: "x", yLabel: "y", isLog: true }),
    tiles: tileMap(Array.from({ length: 128 }, (_, tile) => tile % 7), "ipu2", 6, "cycles", String),
  };
  const text = Object.entries(drawn).map(([name, { svg, marks }]) => `${name}\n${textOf(svg, "  ")}${marks.map(({ x, y }) => `  mark ${Math.round(x)} ${Math.round(y)}\n`).join("")}`).join("");
  const file = join(import.meta.dirname, "drawn.txt");
  if (process.env.DRAWN_UPDATE) {
    writeFileSync(file, text);
  }
  assert.equal(text, readFileSync(file, "utf8"));
});
