// SPDX-License-Identifier: MIT
// Rooflines of compute sets, and ceilings of the run.
import { h } from "../dom";
import type { Result, StepCounts } from "../data";
import { figure } from "../figure";
import * as format from "../format";
import { bars } from "../charts/bars";
import { points, type Roof } from "../charts/points";
import { largest, listedSteps, sum } from "./steps";

/// Multiply-accumulates of a step of the matrix unit: 8 units a set, 8 FP8, 4 FP16 or 1 FP32 inputs each.
const kMacs: Record<string, number> = {
  f16v4hihov4: 64, f16v4siso: 32, f16v4hiho: 32, f16v4siho: 32, f32siso: 8, f32sisov2: 16, f8v8hihov4: 128,
};

function width(operation: string): number {
  return Number(/v(\d+)$/.exec(operation)?.[1] ?? 1);
}

export interface Work {
  matrixFlops: number;
  vectorFlops: number;
  bytes: number;
}

export function workOf(counts: StepCounts | undefined): Work {
  let matrixFlops = 0;
  let vectorFlops = 0;
  for (const [kind, steps] of Object.entries(counts?.matrix_steps ?? {})) {
    matrixFlops += 2 * (kMacs[kind] ?? 0) * steps;
  }
  for (const [kind, times] of Object.entries(counts?.vector_operations ?? {})) {
    vectorFlops += width(kind) * times;
  }
  return { matrixFlops, vectorFlops, bytes: sum(counts?.memory_bytes) };
}

interface Limits {
  matrix: number;
  vector: number;
  memory: number;
  exchange: number;
}

/// In FLOP/s and bytes a second, of all tiles.
function limits(result: Result): Limits {
  const { tiles, clock_hz: clock } = result.machine.chip;
  const unit = result.matrix_unit;
  const kinds = Object.entries(result.counts?.matrix_steps ?? {}).filter(([, steps]) => steps > 0).map(([kind]) => kMacs[kind] ?? 0);
  const macs = unit?.macs_per_cycle ?? (Math.max(0, ...kinds) || 64);
  const widest = Math.max(1, ...Object.entries(result.counts?.vector_operations ?? {}).filter(([, times]) => times > 0).map(([kind]) => width(kind)));
  return {
    matrix: 2 * macs * tiles * clock,
    vector: widest * tiles * clock,
    memory: (unit?.memory_bytes_per_cycle ?? 24) * tiles * clock,
    exchange: (result.machine.exchange?.lane_bytes ?? 4) * tiles * clock,
  };
}

export function roofline(result: Result): HTMLElement {
  const clock = result.machine.chip.clock_hz;
  const sets = (result.compute_sets ?? [])
    .map((step) => ({ step, work: workOf(step.counts), seconds: step.slowest_cycles / clock }))
    .filter(({ work, seconds }) => work.matrixFlops + work.vectorFlops > 0 && work.bytes > 0 && seconds > 0);
  if (sets.length === 0) {
    return h("p", {}, "No compute set has arithmetic and bytes of tile memory to be shown over each other.");
  }
  const most = limits(result);
  const received = sum(result.counts?.words ? { received: result.counts.words["received"] ?? 0 } : {}) * 4;
  const flopsOfAll = sets.reduce((total, { work }) => total + work.matrixFlops + work.vectorFlops, 0);
  const roofs: Roof[] = [
    { name: `matrix unit ${format.withPrefix(most.matrix, "FLOP/s")}`, color: "compute", at: (x) => Math.min(most.matrix, x * most.memory) },
    { name: `vector unit ${format.withPrefix(most.vector, "OP/s")}`, color: "stream", at: (x) => Math.min(most.vector, x * most.memory) },
  ];
  if (received > 0) {
    roofs.push({ name: `exchange at this run's operations a byte`, color: "exchange", at: () => (flopsOfAll / received) * most.exchange });
  }
  const totalBound = largest(sets, ({ step }) => step.cycles, 500);
  const rate = (one: (typeof sets)[number]): number => (one.work.matrixFlops + one.work.vectorFlops) / one.seconds;
  const intensity = (one: (typeof sets)[number]): number => (one.work.matrixFlops + one.work.vectorFlops) / one.work.bytes;
  return h("div", {}, figure({
    title: "Roofline of compute sets",
    note: "Operations over the bytes that instructions load and store, and over the time of the slowest tile. A step of the matrix unit is its multiplications and sums; a vector instruction is one operation an element.",
    draw: () => points({
      points: totalBound.map((one) => ({
        x: intensity(one), y: rate(one), color: one.work.matrixFlops >= one.work.vectorFlops ? "compute" : "stream",
        size: 3 + 7 * Math.sqrt(one.step.cycles / result.cycles),
        tip: `${one.step.name}: ${format.number(intensity(one), 3)} operations a byte, ${format.withPrefix(rate(one), "OP/s")}`,
      })),
      xLabel: "operations a byte of tile memory", yLabel: "operations a second", isLog: true, roofs,
    }),
    table: () => ({
      name: "roofline",
      columns: [{ head: "compute set" }, { head: "matrix operations", isNumber: true }, { head: "vector operations", isNumber: true }, { head: "bytes", isNumber: true },
        { head: "operations a byte", isNumber: true }, { head: "operations a second", isNumber: true }, { head: "of the roof", isNumber: true, text: (value) => format.percent(value as number | null) }],
      rows: sets.map((one) => [one.step.name, one.work.matrixFlops, one.work.vectorFlops, one.work.bytes, intensity(one), rate(one),
        rate(one) / Math.min(one.work.matrixFlops > 0 ? most.matrix : most.vector, intensity(one) * most.memory)]),
      sort: -6,
    }),
  }));
}

export function ceilings(result: Result): HTMLElement {
  const rows: [string, number, string][] = [];
  const all = listedSteps(result);
  const bound = (key: string): number => all.filter(({ kind }) => kind.key === key).reduce((total, { step }) => total + step.critical_bound_cycles, 0);
  const rate = (cycles: number): number | null => (result.flops === undefined || cycles === 0 ? null : (result.flops * result.machine.chip.clock_hz) / cycles);
  if (result.peak_tflops && result.flops) {
    rows.push(["the matrix unit's peak", (result.flops / (result.peak_tflops * 1e12)) * result.machine.chip.clock_hz, "operations that were asked for, at the rate of all matrix units"]);
  }
  if (result.ceiling && result.flops) {
    rows.push([`its own instructions (${result.ceiling.units})`, (result.flops / (result.ceiling.tflops * 1e12)) * result.machine.chip.clock_hz,
      "the units that this product uses, doing nothing but multiplications and sums"]);
  }
  const compute = all.filter(({ kind }) => kind.key === "compute_sets");
  const mean = compute.reduce((total, { step }) => total + (step.tile_cycles?.mean ?? 0), 0);
  if (compute.length > 0) {
    rows.push(["compute spread evenly over all tiles", mean, "means of compute sets over all tiles, nothing else"]);
    rows.push(["the fullest tile", compute.reduce((total, { step }) => total + step.slowest_cycles, 0), "slowest tiles of compute sets, nothing else"]);
    rows.push(["bounds of compute sets", bound("compute_sets"), "issues of the critical tiles, without what they wait for"]);
  }
  for (const [key, word] of [["exchanges", "exchanges"], ["streams", "stream copies"], ["link_exchanges", "link exchanges"]] as const) {
    if (all.some(({ kind }) => kind.key === key)) {
      rows.push([`bounds of ${word}`, bound(key), "words of the fuller lane, or the link's service, nothing else"]);
    }
  }
  if (rows.length === 0) {
    return h("p", {}, "The run has no ceilings: no product and no steps.");
  }
  const sorted = [...rows].sort((a, b) => b[1] - a[1]);
  return h("div", {}, figure({
    title: "Ceilings",
    note: "The cycles that the run would take at least if only this bound held, beside the cycles that it took.",
    draw: () => bars({
      bars: [{ name: "the run", parts: [result.cycles], tip: `${format.number(result.cycles)} cycles` }, ...sorted.map(([name, cycles]) => ({
        name, parts: [cycles], tip: `${name}: ${format.number(Math.round(cycles))} cycles, ${format.percent(cycles / result.cycles)} of the run`,
      }))],
      parts: [{ name: "cycles", color: "compute" }], label: "cycles", nameWidth: 290,
    }),
    table: () => ({
      name: "ceilings",
      columns: [{ head: "bound" }, { head: "cycles at least", isNumber: true, text: (value) => format.number(Math.round(value as number)) }, { head: "of the run", isNumber: true, text: (value) => format.percent(value as number | null) },
        { head: "at most", unit: "TFLOP/s", isNumber: true }, { head: "what it is" }],
      rows: rows.map(([name, cycles, what]) => [name, cycles, cycles / result.cycles, rate(cycles) === null ? null : rate(cycles)! / 1e12, what]),
      sort: -2,
    }),
  }));
}
