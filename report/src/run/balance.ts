// SPDX-License-Identifier: MIT
import { h } from "../dom";
import type { Result } from "../data";
import { figure } from "../figure";
import * as format from "../format";
import type { Table } from "../table";
import { spans } from "../charts/bars";
import { largest, listedSteps } from "./steps";

const kShown = 25;

export function balance(result: Result): HTMLElement {
  const steps = listedSteps(result).filter(({ step }) => step.tile_cycles && step.tile_cycles.max > 0);
  if (steps.length === 0) {
    return h("p", {}, "No step took cycles of a tile.");
  }
  const shown = largest(steps, ({ step }) => step.cycles, kShown);
  const table = (): Table => ({
    name: "balance",
    columns: [
      { head: "step" }, { head: "kind" }, { head: "tiles", isNumber: true }, { head: "least", isNumber: true }, { head: "mean of all", isNumber: true },
      { head: "mean of those that take part", isNumber: true }, { head: "most", isNumber: true }, { head: "bound", isNumber: true }, { head: "slowest over mean", isNumber: true },
      { head: "slowest tile", isNumber: true },
    ],
    rows: steps.map(({ step, kind }) => [
      step.name, kind.word, step.active_tiles, step.tile_cycles.min, step.tile_cycles.mean, step.mean_cycles, step.tile_cycles.max, step.bound_cycles,
      step.mean_cycles > 0 ? step.slowest_cycles / step.mean_cycles : null, step.slowest_tile,
    ]),
    sort: -7,
  });
  const tiles = Object.entries(result.tiles ?? {});
  const byKind = figure({
    title: "Tiles by kind of cycles",
    note: "The six kinds of a tile sum to the run.",
    draw: () => spans(tiles.map(([key, range]) => ({
      name: key.replace(/_cycles$/, ""), least: range.min, mean: range.mean, most: range.max, bound: null,
      tip: `${key}: least ${format.number(range.min)}, mean ${format.number(range.mean)}, most ${format.number(range.max)}`,
    })), "cycles of a tile", 100),
    table: () => ({
      name: "tiles", columns: [{ head: "kind" }, { head: "least", isNumber: true }, { head: "mean", isNumber: true }, { head: "most", isNumber: true }],
      rows: tiles.map(([key, range]) => [key, range.min, range.mean, range.max]),
    }),
  });
  return h("div", {},
    figure({
      title: "Tiles of each step",
      note: `Cycles of the least and the busiest tile over all executions${steps.length > shown.length ? `; the ${shown.length} steps with most cycles of ${format.number(steps.length)}, the table has all` : ""}. The bound is of the busiest tile.`,
      draw: () => spans(shown.map(({ step }) => ({
        name: step.name, least: step.tile_cycles.min, mean: step.mean_cycles, most: step.tile_cycles.max, bound: step.bound_cycles,
        tip: `${step.name}: ${step.sentence}`,
      })), "cycles of a tile"),
      table,
    }),
    byKind);
}
