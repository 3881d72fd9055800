// SPDX-License-Identifier: MIT
// What the page computes, by tables of bounds.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";

globalThis.addEventListener = () => {}; // modules that draw wait for the printer
const load = (name) => import(join(process.env.MODULES, `${name}.mjs`));
const format = await load("format");
const axis = await load("axis");
const data = await load("data");
const { parseRecording, colorOf, kNoPart } = await load("recording");
const { States } = await load("timeline/states");
const { TimeView } = await load("timeline/picture");
const { csv } = await load("table");
const { fileName } = await load("dom");
const { slotsOf } = await load("run/slots");
const { largest, listedSteps, sum } = await load("run/steps");
const { workOf } = await load("run/roofline");
const { front } = await load("store/store");

function table(of, rows) {
  for (const [expected, ...inputs] of rows) {
    assert.equal(of(...inputs), expected, JSON.stringify(inputs));
  }
}

test("numbers have as many digits as are of use", () => {
  table(format.number, [
    ["", null], ["", undefined], ["", NaN], ["", Infinity], ["0", 0], ["-1", -1], ["999", 999], ["1,000", 1000], ["-12,345,678", -12345678],
    ["999,999,999,999,999", 999999999999999], ["1000000000000000", 1e15], ["0.5", 0.5], ["1.235", 1.23456], ["12.35", 12.3456], ["1,234.6", 1234.56, 5],
    ["1,235", 1234.56], ["0.001", 0.001], ["0.000999", 0.000999], ["0.0001235", 0.00012345678], ["0.01235", 0.0123456], ["-0.25", -0.25], ["99.99", 99.994], ["100", 99.996],
    ["12,346", 12345.6], ["0.1", 0.10000001], ["1.5", 1.5, 2], ["2", 1.96, 2],
  ]);
});

test("units have prefixes from their thousandth on", () => {
  table(format.withPrefix, [
    ["", null, "s"], ["", NaN, "s"], ["0 s", 0, "s"], ["1 s", 1, "s"], ["999 s", 999, "s"], ["1 ks", 1000, "s"], ["999 ms", 0.999, "s"], ["1 ms", 0.001, "s"], ["1 us", 1e-6, "s"],
    ["1 ns", 1e-9, "s"], ["1 ps", 1e-12, "s"], ["0.5 ps", 5e-13, "s"], ["1.85 GHz", 1.85e9, "Hz"], ["1 MB", 1e6, "B"], ["1 TB", 1e12, "B"], ["1 PB", 1e15, "B"], ["-2.5 kW", -2500, "W"],
    ["1.23 s", 1.2345, "s"], ["1.235 s", 1.2345678, "s", 4],
  ]);
  table(format.bytes, [
    ["", null], ["0 B", 0], ["1,023 B", 1023], ["1 KiB", 1024], ["1,023 KiB", 1023 * 1024], ["1 MiB", 1 << 20], ["1 GiB", 2 ** 30], ["1 TiB", 2 ** 40], ["1,024 TiB", 2 ** 50], ["1.5 KiB", 1536],
    ["-1 KiB", -1024],
  ]);
  table(format.percent, [["", null], ["", NaN], ["0.0 %", 0], ["12.3 %", 0.1234], ["100 %", 1, 0], ["12.34 %", 0.1234, 2]]);
  table(format.counted, [["0 tiles", 0, "tile"], ["1 tile", 1, "tile"], ["2 tiles", 2, "tile"], ["1,000 tiles", 1000, "tile"]]);
  table(format.tick, [
    ["0", 0], ["999", 999], ["1k", 1000], ["1.5M", 1.5e6], ["0.001", 0.001], ["0.5", 0.5], ["900u", 0.0009], ["1e-13", 1e-13], ["1p", 1e-12], ["1e+18", 1e18], ["999P", 9.99e17], ["-2k", -2000], ["0.333333", 1 / 3],
  ]);
});

test("long names are cut where they say least", () => {
  table(format.shortened, [["abc", "abc", 3], ["ab…", "abcd", 3], ["", "", 3]]);
  table(format.shortenedStep, [["abc", "abc", 3], ["…cd", "abcd", 3]]);
  table(fileName, [["a_b.svg", "A b", ".svg"], ["chart.csv", "…", ".csv"], ["x".repeat(60) + ".svg", "x".repeat(61), ".svg"], ["a.b", "--a--", ".b"]]);
});

test("scales have room, and ticks at round numbers", () => {
  const domain = (scale) => scale.domain().join(" ");
  assert.equal(domain(axis.linear(0, 10, 0, 100, false)), "0 10");
  assert.equal(domain(axis.linear(5, 5, 0, 100, false)), "4.5 5.5");
  assert.equal(domain(axis.linear(0, 0, 0, 100, false)), "0 1");
  assert.equal(domain(axis.linear(-2, -2, 0, 100, false)), "-2.2 -1.8");
  assert.equal(domain(axis.linear(0.3, 9.7, 0, 100)), "0 10");
  assert.equal(axis.linear(0, 10, 0, 100)(5), 50);
  assert.equal(domain(axis.logarithmic(4, 4, 0, 100, false)), "2 8");
  assert.equal(axis.logarithmic(1, 100, 0, 100)(10), 50);
  assert.deepEqual(axis.logarithmic(1, 1000, 0, 100).ticks(), [1, 10, 100, 1000]);
  assert.ok(axis.logarithmic(2, 8, 0, 100, false).ticks().length > 2); // with no two powers of ten
  assert.deepEqual(axis.ofWholes(axis.linear(0, 2, 0, 100)).ticks(8), [0, 1, 2]);
  assert.deepEqual(axis.inBytes(axis.linear(0, 4096, 0, 100, false)).ticks(8), [0, 512, 1024, 1536, 2048, 2560, 3072, 3584, 4096]);
  assert.deepEqual(axis.inBytes(axis.linear(100, 1100, 0, 100, false)).ticks(4), [256, 512, 768, 1024]);
  assert.deepEqual(axis.inBytes(axis.linear(0, 1, 0, 100, false)).ticks(8), [0, 1]);
});

test("a legend takes a line more where a name would leave the chart", () => {
  const name = "x".repeat(50); // of 360 units
  assert.equal(axis.legendRoom([], 0), 10);
  assert.equal(axis.legendRoom([[name, ""]], 0), 30);
  assert.equal(axis.legendRoom([[name, ""], [name, ""]], 140), 30); // they end at 860
  assert.equal(axis.legendRoom([[name, ""], [name, ""]], 141), 48);
  assert.equal(axis.legendRoom([["x".repeat(500), ""]], 0), 30); // no empty line before a long one
});

test("cells and tiles of a store and a memory report", () => {
  assert.deepEqual([0, 1, 2].map((row) => data.cell({ path: "a", numbers: [0, null] }, row)), [0, null, null]);
  assert.deepEqual([0, 1, 2].map((row) => data.cell({ path: "a", indices: [0, -1], words: ["no"] }, row)), ["no", null, null]);
  assert.deepEqual(data.tilesOf("0-3,7"), [0, 1, 2, 3, 7]);
  assert.deepEqual(data.tilesOf("5"), [5]);
  assert.deepEqual(data.tilesOf(""), []);
  const columns = [{ head: "a, b" }, { head: "c", unit: "B" }];
  assert.equal(csv({ name: "t", columns, rows: [['say "x"', 1], ["two\nlines", null], ["plain", 0]] }),
    '"a, b",c (B)\r\n"say ""x""",1\r\n"two\nlines",\r\nplain,0\r\n');
});

test("the front is what no other point beats in both figures", () => {
  const points = [[1, 5], [2, 3], [2, 4], [3, 3], [4, 1], [0, 6], [4, 0]].map(([x, y]) => ({ x, y }));
  const text = (downX, downY) => front(points, downX, downY).map(({ x, y }) => `${x},${y}`).join(" ");
  assert.equal(text(false, false), "0,6 1,5 2,3 4,0");
  assert.equal(text(true, false), "4,0");
  assert.equal(text(false, true), "0,6");
  assert.equal(text(true, true), "4,1 3,3 2,4 1,5 0,6");
});

test("steps are of the kernel with the longest name", () => {
  const step = (name, owner) => ({ name, owner });
  const kernels = (...names) => names.map((name) => ({ name }));
  const of = (step, kernels) => listedSteps({ compute_sets: [step], kernels })[0].kernel;
  assert.equal(of(step("a: b: c"), kernels("a", "a: b")), "a: b");
  assert.equal(of(step("a: b: c"), kernels("a", "a: b: c")), "a: b: c");
  assert.equal(of(step("a: b"), kernels("x", "y")), "");
  assert.equal(of(step("a: b"), kernels("x", "control program")), "x");
  assert.equal(of(step("a: b", "own"), kernels("a")), "own");
  const listed = listedSteps({ exchanges: [step("e0"), step("e1")], compute_sets: [step("c")] });
  assert.deepEqual(listed.map(({ kind, index }) => `${kind.kind} ${index}`), ["compute_set 0", "exchange 0", "exchange 1"]);
  assert.deepEqual(largest([1, 3, 2], (one) => one, 2), [3, 2]);
  assert.equal(sum(undefined), 0);
  assert.equal(sum({ a: 1, b: 2 }), 3);
});

test("operations of a roofline", () => {
  assert.deepEqual(workOf(undefined), { matrixFlops: 0, vectorFlops: 0, bytes: 0 });
  assert.deepEqual(workOf({ matrix_steps: { f16v4hihov4: 2, f32siso: 1, unknown: 9 }, vector_operations: { f16v4: 3, f32: 5 }, memory_bytes: { loaded: 8, stored: 4 } }),
    { matrixFlops: 2 * (2 * 64 + 8), vectorFlops: 17, bytes: 12 });
});

test("issue slots sum up, and none is told twice", () => {
  const result = { machine: { chip: { tiles: 2 }, tile: { workers: 4, pipeline_cycles: 6 } } };
  const step = { tile_cycles: { mean: 100 }, busiest_worker_cycles: { mean: 60 },
    counts: { worker_issues: { matrix: 20, memory: 10, float: 12, logic: 4 }, worker_bundles: { matrix: 5, memory: 8, float: 12, logic: 6 }, supervisor_instructions: { all: 7 } } };
  // 120 slots in which the busiest worker has work; 80 of them are turns of workers
  const slots = slotsOf(step, result);
  assert.deepEqual(slots, { issued: 29, matrix: 15, memory: 2, other: 0, supervisor: 7, unowned: 40, unequal: 34, rest: 73, slots: 200 });
  const few = slotsOf({ ...step, tile_cycles: { mean: 20 } }, result); // less than it counts: what comes first has it
  assert.deepEqual([few.issued, few.matrix, few.rest, few.slots], [29, 11, 0, 40]);
  const wide = slotsOf({ tile_cycles: { mean: 10 }, busiest_worker_cycles: { mean: 5 } }, { machine: { chip: { tiles: 1 }, tile: { workers: 8 } } });
  assert.deepEqual([wide.unowned, wide.unequal, wide.rest], [0, 5, 5]);
  const usual = slotsOf({ tile_cycles: { mean: 12 }, busiest_worker_cycles: { mean: 6 } }, { machine: { chip: { tiles: 1 }, tile: { pipeline_cycles: 12 } } });
  assert.deepEqual([usual.unowned, usual.unequal, usual.rest], [3, 3, 6]); // of six workers
  assert.equal(slotsOf({ tile_cycles: { mean: 12 } }, result).rest, 24);
});

test("a view of cycles stays within the run", () => {
  const view = new TimeView(1000);
  const at = () => [view.from, view.to];
  view.show(-50, 50);
  assert.deepEqual(at(), [0, 100]);
  view.show(950, 1050);
  assert.deepEqual(at(), [900, 1000]);
  view.show(10, 10.5);
  assert.deepEqual(at(), [10, 11]);
  view.show(100, 200);
  view.zoom(0.5, 0.25);
  assert.deepEqual(at(), [112.5, 162.5]);
  view.pan(0.5);
  assert.deepEqual(at(), [137.5, 187.5]);
  view.zoom(1000, 0.5);
  assert.deepEqual(at(), [0, 1000]);
});

/// Bytes of a recording whose header has these keys, and whose arrays are 32-bit and 64-bit numbers.
function recording(header, arrays = new Uint8Array(0), { magic = "TSRECORD", version = 2, cut = 0 } = {}) {
  const text = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify({ schema_version: version, tiles: 2, clock_hz: 1e9, cycles: 100, last: 0, ...header }));
  const bytes = new Uint8Array(12 + text.length + arrays.length);
  bytes.set(new TextEncoder().encode(magic));
  new DataView(bytes.buffer).setUint32(8, text.length, true);
  bytes.set(text, 12);
  bytes.set(arrays, 12 + text.length);
  return bytes.buffer.slice(0, bytes.length - cut);
}

class Arrays {
  bytes = [];
  add(type, ...numbers) {
    const offset = this.bytes.length;
    this.bytes.push(...new Uint8Array((type === "u32" ? Uint32Array : Float64Array).from(numbers).buffer));
    return { type, offset };
  }
  chip(chip) {
    const none = { count: 0, step: 0, begin: 0, end: 0, times: 0 };
    return { chip: 0, cycles: 100, steps: [], executions: none, ...chip };
  }
}

/// Two steps: the first runs at 0 to 40 (four rounds of 10) and at 60 to 80, the second at 40 to 60, on tile 1 alone.
function scene(more = {}) {
  const arrays = new Arrays();
  const steps = [
    { kind: "compute_set", index: 0, name: "multiply", executions: 5, columns: { cycles: arrays.add("u32", 25, 40), begin: arrays.add("u32", 1, 2), first: arrays.add("u32", 5, 8), slowest: 7 } },
    { kind: "exchange", index: 0, name: "move", executions: 1, columns: { cycles: arrays.add("u32", 0, 20), begin: arrays.add("u32", kNoPart, 0) }, pairs: { count: 1, from: 0, to: 1, words: arrays.add("f64", 77) } },
  ];
  // out of order, which the page sorts
  const executions = { count: 3, step: arrays.add("u32", 0, 0, 1), begin: arrays.add("f64", 60, 0, 40), end: arrays.add("f64", 80, 40, 60), times: arrays.add("u32", 1, 4, 1) };
  const chip = arrays.chip({ steps, executions, releases: { count: 2, last_arrival: arrays.add("f64", 40, 60), cycle: arrays.add("f64", 41, 61), critical: arrays.add("u32", 1, 0) },
    tiles_by_kind: { compute: arrays.add("f64", 25, 40), idle: 3 }, ...more(arrays) });
  return parseRecording(recording({ chips: [chip] }, new Uint8Array(arrays.bytes)));
}

test("a recording has the numbers of its columns", () => {
  const { chips, last } = scene(() => ({}));
  assert.equal(last, 0);
  const [chip] = chips;
  assert.deepEqual([chip.isLast, chip.tiles, chip.blockTiles, chip.cycles], [true, 2, 1, 100]);
  assert.deepEqual([...chip.executions.begin], [0, 40, 60]);
  assert.deepEqual([...chip.executions.step], [0, 1, 0]);
  assert.deepEqual([...chip.executions.end], [40, 60, 80]);
  assert.deepEqual([...chip.executions.times], [4, 1, 1]);
  assert.deepEqual([...chip.releases.critical], [1, 0]);
  assert.deepEqual([...chip.kinds.idle], [3, 3]);
  const [multiply, move] = chip.steps;
  assert.deepEqual([...multiply.column("first").all()], [5, 8]);
  assert.deepEqual([multiply.column("slowest").at(1), multiply.column("slowest").sum()], [7, 14]);
  assert.equal(multiply.column("cycles").sum(), 65);
  assert.equal(multiply.column("absent").sum(), 0);
  assert.deepEqual([...move.column("most").all()], [0, 20]); // of one execution: that of all
  assert.deepEqual([multiply.has("first"), move.has("first")], [true, false]);
  assert.equal(multiply.pairs(), null);
  assert.equal(move.pairs().words[0], 77);
  assert.deepEqual(["compute_set", "link_exchange", "x"].map(colorOf), ["compute", "link", "other"]);
});

test("tiles are busy from their begin on, in each round, and not at the end", () => {
  const [chip] = scene(() => ({})).chips;
  const states = new States(chip);
  const busy = (moment, tile) => states.busy(states.at(moment), tile);
  // [0, 40) has rounds of 10: tile 0 is busy in [1, 6) of each, tile 1 in [2, 10)
  table(busy, [[-1, 0, 0], [0, 1, 0], [0, 5.9, 0], [-1, 6, 0], [-1, 10, 0], [0, 11, 0], [-1, 1.9, 1], [0, 2, 1], [0, 9.9, 1], [-1, 10, 1], [0, 39.9, 1],
    [-1, 45, 0], [1, 40, 1], [1, 59.9, 1], [-1, 60, 1], [0, 61, 0], [-1, 80, 0], [-1, 99, 1]]);
  table((moment) => states.step(states.at(moment)), [[0, 0], [1, 40], [1, 59.9], [0, 60], [-1, 80]]);
  states.draw("slowest");
  table(busy, [[0, 7.9, 0], [-1, 8, 0]]);
  states.draw("mean"); // 25 / 5 and 40 / 5
  table(busy, [[0, 5.9, 0], [-1, 6, 0], [0, 9.9, 1], [1, 59.9, 1]]);
});

test("single executions of a window are exact", () => {
  const window = (leftOut) => (arrays) => ({ window: { from: 40, to: 70, count: 2, left_out: leftOut, step: arrays.add("u32", 1, 0), begin: arrays.add("f64", 40, 60), times: arrays.add("u32", 1, 1),
    tile_begin: arrays.add("u32", kNoPart, 5, 3, 4), tile_cycles: arrays.add("u32", 0, 10, 2, 6) } });
  const [chip] = scene(window(0)).chips;
  const states = new States(chip);
  table((moment) => states.at(moment).isExact, [[false, 39.9], [true, 40], [true, 69.9], [false, 70]]);
  table((moment, tile) => states.busy(states.at(moment), tile), [[-1, 44.9, 1], [1, 45, 1], [1, 54.9, 1], [-1, 55, 1], [-1, 50, 0], [0, 63, 0], [-1, 65, 0], [0, 69, 1]]);
  assert.deepEqual([...chip.window.end], [60, 80]);
  assert.equal(new States(scene(window(1)).chips[0]).at(50).isExact, false);
});

test("what is no whole recording is refused", () => {
  const refused = (buffer, why) => assert.throws(() => parseRecording(buffer), { message: why });
  const arrays = new Arrays();
  const chips = [arrays.chip({})];
  assert.equal(parseRecording(recording({ chips })).chips.length, 1);
  refused(recording({ chips }, undefined, { magic: "TSRECORE" }), "it is no recording");
  refused(new ArrayBuffer(11), "it is no recording");
  refused(recording({ chips }, undefined, { cut: 1 }), "it is damaged: its header is cut off");
  refused(recording("{"), "it is damaged: its header is no JSON");
  refused(recording({ chips }, undefined, { version: 3 }), "it is of another version: 3, and this page knows 2");
  for (const header of [{ chips: [] }, { chips, last: 1 }, { chips, tiles: 0 }, { chips, tiles: 1.5 }, { chips: 3 }]) {
    refused(recording(header), "it is damaged: it has no chips or no tiles");
  }
  assert.equal(parseRecording(recording({ chips, tiles: 1 })).chips[0].tiles, 1);
  refused(recording({ chips: [{ chip: 0 }] }), "it is damaged: its header is not whole");
  const step = (place) => recording({ chips: [arrays.chip({ steps: [{ kind: "exchange", columns: { cycles: place } }] })] }, new Uint8Array(8));
  const missing = "it is damaged: an array is not there";
  assert.equal(parseRecording(step({ type: "u32", offset: 0 })).chips[0].steps.length, 1);
  refused(step({ type: "u32", offset: 1 }), missing);
  refused(step({ type: "u32", offset: -1 }), missing);
  refused(step({ type: "u32", offset: 0.5 }), missing);
  refused(step({ type: "f64", offset: 0 }), missing);
  refused(step({ type: "u8", offset: 0 }), missing);
  const executions = (count, step) => recording({ chips: [arrays.chip({ steps: [{ kind: "exchange", columns: {} }], executions: { count, step, begin: 0, end: 0, times: 1 } })] });
  assert.equal(parseRecording(executions(1, 0)).chips[0].executions.count, 1);
  refused(executions(1, 1), "it is damaged: an execution is of no step");
  refused(executions(-1, 0), "it is damaged: a length is none");
  refused(executions(0.5, 0), "it is damaged: a length is none");
});
