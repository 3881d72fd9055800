// SPDX-License-Identifier: MIT
// The sections of a store of a sweep.
import { h, select } from "../dom";
import { cell, type Listing, type Store, type StoreColumn } from "../data";
import { figure, redraw } from "../figure";
import * as format from "../format";
import { tableElement, type Table, type Value } from "../table";
import type { Section } from "../main";
import { bars } from "../charts/bars";
import { parallel, type ParallelAxis } from "../charts/parallel";
import { points, type Point } from "../charts/points";

function column(store: Store, path: string): StoreColumn | undefined {
  return store.columns.find((one) => one.path === path);
}

function isOk(store: Store): (row: number) => boolean {
  const status = column(store, "status")!;
  return (row) => cell(status, row) === "ok";
}

function valueOf(store: Store, path: string, row: number): Value {
  const one = column(store, path);
  return one ? cell(one, row) : null;
}

/// What a point is called: what it changes.
function nameOf(store: Store, row: number): string {
  return ["machine", "workload", ...store.changed]
    .map((path) => ({ path, value: valueOf(store, path, row) }))
    .filter(({ value }) => value !== null)
    .map(({ path, value }) => (path === "machine" || path === "workload" ? String(value) : `${path} = ${typeof value === "number" ? format.number(value) : value}`))
    .join(", ");
}

const kUnits: [RegExp, string][] = [
  [/(^|[._])cycles$|^phases\./, "cycles"], [/seconds$|_s$/, "s"], [/tflops$/, "TFLOP/s"], [/gbytes_per_s$/, "GB/s"], [/bytes$/, "B"], [/_hz$/, "Hz"], [/_j$/, "J"], [/_w$/, "W"], [/pj_per_flop$/, "pJ"],
  [/mm2$/, "mm2"],
];

/// Nothing where the path says it.
function unitOf(path: string): string {
  const unit = kUnits.find(([pattern]) => pattern.test(path))?.[1] ?? "";
  return path.endsWith(unit) ? "" : unit;
}

/// Whether points differ there.
function differs(one: StoreColumn): boolean {
  const values = one.numbers ?? one.indices ?? [];
  return values.some((value) => value !== values[0]);
}

function pointTable(store: Store, rows: number[]): Table {
  const shown = store.columns.filter((one) => one.path !== "mode" || differs(one));
  return {
    name: "points",
    columns: shown.map((one) => ({ head: one.path, unit: unitOf(one.path), isNumber: one.numbers !== undefined })),
    rows: rows.map((row) => shown.map((one) => cell(one, row))),
  };
}

function listingTable(name: string, listing: Listing): Table {
  return {
    name,
    columns: listing.head.map((head, i) => ({ head, isNumber: listing.rows.some((row) => typeof row[i] === "number") })),
    rows: listing.rows,
  };
}

function overview(store: Store): HTMLElement {
  const told = [
    store.seed === null
      ? `All ${format.counted(store.points, "point")} of the store are here.`
      : `The store has ${format.number(store.points)} points. ${format.number(store.rows)} are here: the front, the best, the base and a sample of the others, drawn with seed ${store.seed}.`,
    store.objectives.length > 0 ? `What is good: ${store.objectives.map((one) => `${one.is_max ? "the most" : "the least"} ${one.path}`).join(", ")}.` : "",
    store.constraints.length > 0 ? `Constraints: ${store.constraints.join("; ")}.` : "",
  ].filter(Boolean).join(" ");
  return h("div", {},
    h("p", { id: "told" }, told),
    ...store.warnings.map((warning) => h("p", { class: "warning" }, warning)),
    tableElement({
      name: "statuses", columns: [{ head: "status" }, { head: "points", isNumber: true }],
      rows: Object.entries(store.statuses), sort: -2,
    }),
    store.reasons.length > 0 ? h("h3", {}, "Why points are not ok or not compared") : "",
    store.reasons.length > 0 ? h("ul", {}, ...store.reasons.map((reason) => h("li", {}, reason))) : "");
}

/// Columns with numbers of some row that is ok.
function numberColumns(store: Store): StoreColumn[] {
  return store.columns.filter((one) => one.numbers?.some((value) => value !== null));
}

export function front(all: Point[], downX: boolean, downY: boolean): Point[] {
  const sign = (down: boolean, value: number): number => (down ? -value : value);
  const sorted = [...all].sort((a, b) => sign(downX, a.x) - sign(downX, b.x) || sign(downY, a.y) - sign(downY, b.y));
  const made: Point[] = [];
  let least = Infinity;
  for (const point of sorted) {
    if (sign(downY, point.y) < least) {
      least = sign(downY, point.y);
      made.push(point);
    }
  }
  return made;
}

function scatter(store: Store): HTMLElement {
  const all = numberColumns(store);
  if (all.length < 1) {
    return h("p", {}, "No point has numbers to be shown over each other.");
  }
  const paths = all.map((one) => one.path);
  const objective = (path: string): boolean => store.objectives.find((one) => one.path === path)?.is_max ?? false;
  const start = [store.objectives[0]?.path, store.objectives[1]?.path ?? store.changed.find((path) => paths.includes(path)) ?? paths.find((path) => path !== store.objectives[0]?.path)];
  let y = start[0] !== undefined && paths.includes(start[0]) ? start[0] : paths[0]!;
  let x = start[1] !== undefined && paths.includes(start[1]) ? start[1] : paths[0]!;
  const goals = ["least x", "most x"];
  let isMostX = objective(x);
  let isMostY = objective(y);
  let isLog = false;
  const ok = isOk(store);
  const best = new Set(store.best);
  const base = new Set(store.base);
  const place = (row: number): { x: number; y: number } | null => {
    const at = { x: column(store, x)!.numbers![row]!, y: column(store, y)!.numbers![row]! };
    return ok(row) && at.x !== null && at.y !== null ? at : null;
  };
  const rowsShown = (): number[] => Array.from({ length: store.rows }, (_, row) => row).filter((row) => place(row) !== null);
  const made: HTMLElement = figure({
    title: "Two figures of each point",
    note: "The line is the front: points that no other shown point beats in both figures. Large: best (filled) and base (hollow).",
    controls: [
      select("x", paths, x, (path) => { x = path; isMostX = objective(path); redraw(made); }),
      select("good is", goals, goals[isMostX ? 1 : 0]!, (_, i) => { isMostX = i === 1; redraw(made); }),
      select("y", paths, y, (path) => { y = path; isMostY = objective(path); redraw(made); }),
      select("good is", ["least y", "most y"], isMostY ? "most y" : "least y", (_, i) => { isMostY = i === 1; redraw(made); }),
      select("scale", ["linear", "by powers"], "linear", (_, i) => { isLog = i === 1; redraw(made); }),
    ],
    draw: () => {
      const shown = rowsShown().map((row): Point => ({
        ...place(row)!, color: best.has(row) ? "mark" : base.has(row) ? "ink" : "compute", size: best.has(row) || base.has(row) ? 7 : 3.5, isHollow: base.has(row) && !best.has(row),
        tip: `${nameOf(store, row)}: ${x} ${format.number(place(row)!.x)}, ${y} ${format.number(place(row)!.y)}`,
      }));
      shown.sort((a, b) => (a.size ?? 0) - (b.size ?? 0)); // the large ones on top
      return points({ points: shown, xLabel: labelOf(x), yLabel: labelOf(y), isLog, line: front(shown, isMostX, isMostY),
        legend: [["points", "var(--compute)"], ["best", "var(--mark)"], ["base", "var(--ink)"]] });
    },
    table: () => {
      const rows = rowsShown();
      const onFront = new Set(front(rows.map((row) => ({ ...place(row)!, color: "", tip: String(row) })), isMostX, isMostY).map((point) => Number(point.tip)));
      return {
        name: "scatter",
        columns: [{ head: "point" }, { head: x, isNumber: true }, { head: y, isNumber: true }, { head: "on the front" }],
        rows: rows.map((row) => [nameOf(store, row), place(row)!.x, place(row)!.y, onFront.has(row) ? "yes" : ""]), sort: 3,
      };
    },
  });
  return made;
}

function labelOf(path: string): string {
  const unit = unitOf(path);
  return unit ? `${path} (${unit})` : path;
}

function parallels(store: Store): HTMLElement {
  const objectives = store.objectives.map((one) => one.path).filter((path) => column(store, path)?.numbers);
  const varied = (path: string): boolean => !path.endsWith("seed") && column(store, path) !== undefined && differs(column(store, path)!);
  const paths = [...store.changed.filter(varied), ...objectives];
  for (const path of ["machine", "workload"]) {
    if ((column(store, path)?.words?.length ?? 0) > 1) {
      paths.unshift(path);
    }
  }
  const ok = isOk(store);
  const rows = Array.from({ length: store.rows }, (_, row) => row).filter(ok);
  if (paths.length < 2 || rows.length === 0) {
    return h("p", {}, rows.length === 0 ? "No point is ok." : "The points differ in nothing that has an axis.");
  }
  const axes = paths.map((path): ParallelAxis => {
    const one = column(store, path)!;
    return { label: labelOf(path), words: one.words ?? null, values: rows.map((row) => (one.numbers ? (one.numbers[row] ?? null) : one.indices![row]! < 0 ? null : one.indices![row]!)) };
  });
  const colored = objectives[0] ?? paths[paths.length - 1]!;
  return figure({
    title: "Parallel coordinates",
    note: `A line a point, coloured by ${colored}: blue is the least, orange the most. A click on an axis keeps only lines that pass near there; another click lets all through.`,
    draw: () => parallel(axes, paths.indexOf(colored), rows.map((row) => nameOf(store, row))),
    table: () => ({
      name: "parallel coordinates", columns: paths.map((path) => ({ head: path, isNumber: column(store, path)!.numbers !== undefined })),
      rows: rows.map((row): Value[] => paths.map((path) => cell(column(store, path)!, row))),
    }),
  });
}

function tornado(store: Store): HTMLElement {
  const listing = store.tables.sensitivity;
  if (listing.rows.length === 0) {
    return h("p", {}, "No effect to be seen: what the points differ in has the same value in all that can be compared.");
  }
  const at = (name: string): number => listing.head.indexOf(name);
  const several = new Set(listing.rows.map((row) => row[at("objective")])).size > 1;
  const all = listing.rows
    .filter((row) => !String(row[at("mean by value")]).startsWith("spread ")) // of seeds
    .map((row) => ({
      name: (several ? `${row[at("objective")]}: ` : "") + String(row[at("path")]),
      ratio: Number(row[at("largest over smallest")]),
      means: String(row[at("mean by value")]),
    }))
    .sort((one, other) => other.ratio - one.ratio);
  return figure({
    title: "Tornado: what each parameter does",
    note: "How far the objective's mean moves over the values of a parameter, of its least mean; the longest bar matters most.",
    draw: () => bars({
      bars: all.map((effect) => ({
        name: effect.name, parts: [100 * (effect.ratio - 1)], tip: `${effect.name}: mean by value ${effect.means}`,
      })),
      parts: [{ name: "effect", color: "exchange" }], label: "percent from the least to the most mean", nameWidth: 260,
    }),
    table: () => listingTable("sensitivity", listing),
  });
}

function bestAgainstBase(store: Store): HTMLElement {
  if (store.tables.best.rows.length === 0) {
    return h("p", {}, "No point can be compared.");
  }
  const best = store.best[0];
  const base = store.base[0];
  const parts: HTMLElement[] = [tableElement(listingTable("best", store.tables.best))];
  if (best !== undefined && base !== undefined && best !== base) {
    parts.push(h("h3", {}, "Figures of the first best beside the base"), tableElement({
      name: "best against base",
      columns: [{ head: "figure" }, { head: "base", isNumber: true }, { head: "best", isNumber: true }, { head: "best of base", isNumber: true, text: (value) => format.percent(value as number | null) }],
      rows: store.columns.filter((one) => one.numbers).map((one) => {
        const [from, to] = [one.numbers![base] ?? null, one.numbers![best] ?? null];
        return [one.path, from, to, from && to !== null ? to / from : null];
      }),
    }));
  }
  return h("div", {}, ...parts);
}

export function storeSections(store: Store): Section[] {
  const rows = Array.from({ length: store.rows }, (_, row) => row);
  const hasOk = rows.some(isOk(store));
  const compared: Section[] = [
    { title: "Best against base", make: () => bestAgainstBase(store) },
    { title: "Front", make: () => h("div", {}, scatter(store), store.tables.front.rows.length > 0 ? tableElement(listingTable("front", store.tables.front)) : "") },
    { title: "Parallel coordinates", make: () => parallels(store) },
    { title: "Sensitivity", make: () => tornado(store) },
  ];
  return [
    { title: "Overview", make: () => overview(store) },
    ...(hasOk ? compared : [{ title: "Comparison", make: () => h("p", {}, store.points === 0 ? "The store has no point." : "No point is ok, so there is nothing to compare.") }]),
    { title: "Points", make: () => tableElement(pointTable(store, rows), { filter: true }) },
  ];
}
