// SPDX-License-Identifier: MIT
// Tile memory: kinds, steps, tiles and the largest buffers.
import { h, select } from "../dom";
import { tilesOf, type MemoryReport, type Result } from "../data";
import { figure, kSeries, redraw } from "../figure";
import * as format from "../format";
import { tableElement } from "../table";
import { bars } from "../charts/bars";
import { lines } from "../charts/lines";
import { tileMap } from "../charts/tiles";

const kKinds = ["tensor", "code", "metadata", "exchange_row", "vertex_state", "stack"];
const kBytes = { isNumber: true, text: (value: unknown) => format.bytes(value as number | null) };

function byKind(memory: NonNullable<Result["memory"]>): HTMLElement {
  const rows: [string, Record<string, number>][] = [
    [`tile ${memory.worst_tile}, the fullest`, memory.worst_tile_bytes_by_kind],
    ["each kind's most of any tile", memory.max_bytes_by_kind],
  ];
  return figure({
    title: "Tile memory by kind",
    note: `The fullest tile has ${format.bytes(memory.max_bytes)} of ${format.bytes(memory.tile_bytes)} in step '${memory.peak_step}'; tiles have ${format.bytes(memory.mean_bytes)} in theirs on average.`,
    draw: () => bars({
      bars: rows.map(([name, kinds]) => ({
        name, parts: kKinds.map((kind) => kinds[kind] ?? 0), lines: [memory.tile_bytes],
        tip: `${name}: ${kKinds.filter((kind) => kinds[kind]).map((kind) => `${kind} ${format.bytes(kinds[kind])}`).join(", ")}`,
      })),
      parts: kKinds.map((kind, i) => ({ name: kind, color: kSeries[i]! })), lines: "a tile's memory", label: "bytes", isBytes: true,
    }),
    table: () => ({
      name: "memory by kind", columns: [{ head: "kind" }, { head: "fullest tile", ...kBytes }, { head: "most of any tile", ...kBytes }],
      rows: kKinds.map((kind) => [kind, memory.worst_tile_bytes_by_kind[kind] ?? 0, memory.max_bytes_by_kind[kind] ?? 0]), sort: -2,
    }),
  });
}

function overSteps(memory: MemoryReport): HTMLElement {
  const steps: { name: string; row: MemoryReport["steps"][number] }[] = [];
  for (const row of memory.steps) {
    for (const step of tilesOf(row.steps)) {
      steps[step] = { name: row.name, row };
    }
  }
  return figure({
    title: "Tile memory by step",
    note: "Bytes that are kept in each step of the program, on the fullest tile and on average.",
    draw: () => lines({
      xLabel: "step of the program", yLabel: "bytes", isStep: true, isBytes: true,
      curves: [{ name: "fullest tile", color: "compute", values: steps.map((one) => one.row.max_bytes) }, { name: "mean", color: "exchange", values: steps.map((one) => one.row.mean_bytes) }],
      across: [{ name: "a tile's memory", value: memory.tile_bytes }],
      tip: (i) => `step ${i}, ${steps[i]!.name}: ${format.bytes(steps[i]!.row.max_bytes)} on tile ${steps[i]!.row.worst_tile}, mean ${format.bytes(steps[i]!.row.mean_bytes)}`,
    }),
    table: () => ({
      name: "memory by step",
      columns: [{ head: "step", isNumber: true }, { head: "name" }, { head: "fullest tile", isNumber: true }, { head: "most", ...kBytes }, { head: "mean", ...kBytes }, ...kKinds.map((kind) => ({ head: `most ${kind}`, ...kBytes }))],
      rows: steps.map((one, i) => [i, one.name, one.row.worst_tile, one.row.max_bytes, one.row.mean_bytes, ...kKinds.map((kind) => one.row.max_bytes_by_kind[kind] ?? 0)]),
    }),
  });
}

function map(memory: MemoryReport, result: Result): HTMLElement {
  const tiles = result.machine.chip.tiles;
  const always = new Float64Array(tiles);
  const peak = new Float64Array(tiles);
  for (const row of memory.tiles) {
    for (const tile of tilesOf(row.tiles)) {
      always[tile] = row.always_bytes;
      peak[tile] = row.peak_bytes;
    }
  }
  const words = ["in the tile's fullest step", "always"];
  let chosen = 0;
  const control = select("bytes", words, words[0]!, (_, index) => {
    chosen = index;
    redraw(made);
  });
  const made: HTMLElement = figure({
    title: "Map of tile memory",
    note: "Tiles as they stand on the chip.",
    controls: [control],
    draw: () => tileMap(chosen === 0 ? peak : always, result.machine.chip.generation, memory.tile_bytes, "a tile's memory", format.bytes),
    table: () => ({
      name: "memory by tile", columns: [{ head: "tile", isNumber: true }, { head: "fullest step", ...kBytes }, { head: "always", ...kBytes }],
      rows: Array.from(peak, (value, tile) => [tile, value, always[tile]!]), sort: -2,
    }),
  });
  return made;
}

export function memory(result: Result, report: MemoryReport | null | undefined): HTMLElement {
  if (!result.memory) {
    return h("p", {}, "An estimate has no memory of tiles.");
  }
  return h("div", {},
    byKind(result.memory),
    report ? map(report, result) : h("p", { class: "note" }, "A map of tiles, steps and buffers comes from the memory report: run with --report, or with --memory DIR/memory.json beside --out DIR."),
    report ? overSteps(report) : "",
    report ? h("h3", {}, "Buffers") : "",
    report ? tableElement({
      name: "buffers",
      columns: [{ head: "buffer" }, { head: "kind" }, { head: "bytes", ...kBytes }, { head: "tiles", isNumber: true }, { head: "on tiles" }, { head: "first step", isNumber: true }, { head: "last step", isNumber: true }],
      rows: report.buffers.map((one) => [one.name, one.kind, one.bytes, tilesOf(one.tiles).length, format.shortened(one.tiles, 40), one.first_step, one.last_step]),
      sort: -3,
    }, { filter: true, most: 20 }) : "");
}
