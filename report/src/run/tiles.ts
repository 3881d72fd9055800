// SPDX-License-Identifier: MIT
// What the recording tells of single tiles: distributions of a step, maps, a tile's steps.
import { h, select } from "../dom";
import type { Result } from "../data";
import { figure, redraw } from "../figure";
import * as format from "../format";
import { kNoPart, type ChipRecording, type RecordedStep } from "../recording";
import { tableElement } from "../table";
import { lines } from "../charts/lines";
import { tileMap } from "../charts/tiles";
import { kStepKinds } from "./steps";

const kColumns: [name: string, word: string][] = [
  ["cycles", "cycles"], ["least", "least cycles of an execution"], ["most", "most cycles of an execution"], ["slowest", "cycles of the slowest execution"], ["issues", "issue slots used"],
  ["matrix_steps", "steps of the matrix unit"], ["received", "lane cycles receiving"], ["sent", "lane cycles sending"],
];

export function titleOf(step: RecordedStep): string {
  return step.executions > 1 ? `${step.name} (${format.number(step.executions)} times)` : step.name;
}

function mostOf(values: Float64Array): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

/// The tiles of a step in order of cycles, and on the chip.
export function stepDetail(chip: ChipRecording, step: RecordedStep, result: Result): HTMLElement {
  const kind = kStepKinds.find((one) => one.kind === step.kind);
  const told = kind && chip.isLast ? result[kind.key]?.[step.index] : undefined;
  const columns = kColumns.filter(([name]) => name === "cycles" || step.has(name));
  let chosen = columns[0]!;
  const values = (): Float64Array => step.column(chosen[0]).all();
  const curve: HTMLElement = figure({
    title: `Tiles of '${step.name}' in order`,
    note: told?.sentence ?? "",
    controls: [select("show", columns.map(([, word]) => word), chosen[1], (_, i) => {
      chosen = columns[i]!;
      redraw(curve);
      redraw(map);
    })],
    draw: () => {
      const sorted = values().sort().reverse();
      const mean = sorted.reduce((sum, value) => sum + value, 0) / Math.max(1, sorted.length);
      const across = [{ name: "mean", value: mean }];
      if (chosen[0] === "cycles" && told) {
        across.push({ name: "bound", value: told.bound_cycles });
      }
      return lines({
        xLabel: "tiles, the busiest first", yLabel: chosen[1], curves: [{ name: chosen[1], color: "compute", values: sorted }], across,
        tip: (i) => `place ${i}: ${format.number(sorted[i]!)} ${chosen[1]}`,
      });
    },
    table: () => ({
      name: "tiles of a step",
      columns: [{ head: "tile", isNumber: true }, { head: "begins at", isNumber: true }, ...columns.map(([, word]) => ({ head: word, isNumber: true }))],
      rows: Array.from({ length: chip.tiles }, (_, tile) => {
        const begin = step.column("begin").at(tile);
        return [tile, begin === kNoPart ? null : begin, ...columns.map(([name]) => step.column(name).at(tile))];
      }),
      sort: -3,
    }),
  });
  const map = figure({
    title: `Tiles of '${step.name}' on the chip`,
    draw: () => {
      const all = values();
      return tileMap(all, result.machine.chip.generation, mostOf(all), chosen[1], format.number);
    },
    table: () => ({ name: "map of a step", columns: [{ head: "tile", isNumber: true }, { head: chosen[1], isNumber: true }], rows: Array.from(values(), (value, tile) => [tile, value]), sort: -2 }),
  });
  return h("div", {}, curve, map);
}

/// What a tile did in each step.
export function tileDetail(chip: ChipRecording, tile: number): HTMLElement {
  const rows = chip.steps
    .map((step) => ({ step, cycles: step.column("cycles").at(tile), begin: step.column("begin").at(tile) }))
    .filter(({ cycles, begin }) => cycles > 0 && begin !== kNoPart);
  return h("div", {}, h("h3", {}, `Steps of tile ${tile}`), tableElement({
    name: `steps of tile ${tile}`,
    columns: [{ head: "step" }, { head: "kind" }, { head: "times", isNumber: true }, { head: "begins at", unit: "cycle of the step", isNumber: true }, { head: "cycles", isNumber: true },
      { head: "of the run", isNumber: true, text: (value) => format.percent(value as number, 2) }, { head: "issues", isNumber: true }, { head: "received", isNumber: true }, { head: "sent", isNumber: true }],
    rows: rows.map(({ step, cycles, begin }) => [step.name, step.kind.replace("_", " "), step.executions, begin, cycles, cycles / chip.cycles,
      ...["issues", "received", "sent"].map((name) => (step.has(name) ? step.column(name).at(tile) : null))]),
    sort: -5,
  }));
}

/// Cycles of each tile by kind.
export function kindsMap(chip: ChipRecording, result: Result): HTMLElement | null {
  const kinds = Object.keys(chip.kinds).filter((kind) => chip.kinds[kind]!.some((value) => value > 0));
  if (kinds.length === 0) {
    return null;
  }
  let chosen = kinds[0]!;
  const made: HTMLElement = figure({
    title: "Map of cycles by kind",
    note: "Tiles as they stand on the chip.",
    controls: [select("cycles of", kinds, chosen, (kind) => {
      chosen = kind;
      redraw(made);
    })],
    draw: () => tileMap(chip.kinds[chosen]!, result.machine.chip.generation, chip.cycles, "the run's cycles", format.number),
    table: () => ({
      name: "cycles by tile", columns: [{ head: "tile", isNumber: true }, ...kinds.map((kind) => ({ head: kind, isNumber: true }))],
      rows: Array.from({ length: chip.tiles }, (_, tile) => [tile, ...kinds.map((kind) => chip.kinds[kind]![tile]!)]),
    }),
  });
  return made;
}

/// Words of all exchanges by tile.
export function wordsMap(chip: ChipRecording, result: Result): HTMLElement | null {
  const exchanges = chip.steps.filter((step) => step.kind === "exchange");
  if (exchanges.length === 0) {
    return null;
  }
  const sums = ["received", "sent"].map((name) => {
    const all = new Float64Array(chip.tiles);
    for (const step of exchanges) {
      const column = step.column(name);
      for (let tile = 0; tile < chip.tiles; ++tile) {
        all[tile] += column.at(tile);
      }
    }
    return all;
  });
  const words = ["receiving", "sending"];
  let chosen = 0;
  const made: HTMLElement = figure({
    title: "Map of lane cycles",
    note: "Cycles in which a tile's lane carried words, over all exchanges; tiles as they stand on the chip.",
    controls: [select("lane", words, words[0]!, (_, i) => {
      chosen = i;
      redraw(made);
    })],
    draw: () => tileMap(sums[chosen]!, result.machine.chip.generation, mostOf(sums[chosen]!), `lane cycles ${words[chosen]}`, format.number),
    table: () => ({
      name: "lane cycles", columns: [{ head: "tile", isNumber: true }, { head: "receiving", isNumber: true }, { head: "sending", isNumber: true }],
      rows: Array.from({ length: chip.tiles }, (_, tile) => [tile, sums[0]![tile]!, sums[1]![tile]!]), sort: -2,
    }),
  });
  return made;
}
