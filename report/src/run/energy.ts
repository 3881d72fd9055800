// SPDX-License-Identifier: MIT
// Energy and area, which are estimates.
import { h } from "../dom";
import type { Result } from "../data";
import { figure } from "../figure";
import * as format from "../format";
import { bars } from "../charts/bars";
import { largest } from "./steps";

const kJoules = { unit: "J", isNumber: true };
const writeJoules = (value: number): string => format.withPrefix(value, "J");

function words(key: string): string {
  return key.replace(/_(j|mm2)$/, "").replaceAll("_", " ");
}

function byKind(kinds: Record<string, number>, total: number): HTMLElement {
  const all = Object.entries(kinds).filter(([, joules]) => joules > 0).sort((a, b) => b[1] - a[1]);
  return figure({
    title: "Energy by kind of event",
    note: "Static energy and the clock's go by time, all others by what the run counted.",
    draw: () => bars({
      bars: all.map(([key, joules]) => ({ name: words(key), parts: [joules], tip: `${words(key)}: ${writeJoules(joules)}, ${format.percent(joules / total)}` })),
      parts: [{ name: "energy", color: "compute" }], label: "energy", write: writeJoules, nameWidth: 140,
    }),
    table: () => ({
      name: "energy by kind", columns: [{ head: "kind" }, { head: "energy", ...kJoules }, { head: "of all", isNumber: true, text: (value) => format.percent(value as number) }],
      rows: Object.entries(kinds).map(([key, joules]) => [words(key), joules, joules / total]), sort: -2,
    }),
  });
}

function bySteps(energy: NonNullable<Result["energy"]>): HTMLElement {
  const all = energy.steps!;
  const shown = largest(all, (step) => step.events_j + step.idle_j, 25);
  const outside = energy.outside_steps_j ?? 0;
  return figure({
    title: "Energy by step",
    note: `What a step counted, and what the chip takes in the step's time anyway.${outside > 0 ? ` Outside of steps: ${writeJoules(outside)}.` : ""}${all.length > shown.length ? ` The ${shown.length} largest of ${format.number(all.length)}; the table has all.` : ""}`,
    draw: () => bars({
      bars: shown.map((step) => ({ name: step.name, parts: [step.events_j, step.idle_j], tip: `${step.name}: ${writeJoules(step.events_j)} of events, ${writeJoules(step.idle_j)} of time` })),
      parts: [{ name: "events", color: "compute" }, { name: "time", color: "idle" }], label: "energy", write: writeJoules,
    }),
    table: () => ({
      name: "energy by step", columns: [{ head: "step" }, { head: "kind" }, { head: "events", ...kJoules }, { head: "time", ...kJoules }, { head: "sum", ...kJoules }],
      rows: all.map((step) => [step.name, step.kind.replace("_", " "), step.events_j, step.idle_j, step.events_j + step.idle_j]), sort: -5,
    }),
  });
}

function area(parts: Record<string, number>): HTMLElement {
  const all = Object.entries(parts).filter(([key]) => key !== "total_mm2").sort((a, b) => b[1] - a[1]);
  return figure({
    title: "Area of the chip by part",
    note: parts["total_mm2"] === undefined ? "" : `${format.number(parts["total_mm2"])} mm2 in all.`,
    draw: () => bars({
      bars: all.map(([key, mm2]) => ({ name: words(key), parts: [mm2], tip: `${words(key)}: ${format.number(mm2)} mm2` })),
      parts: [{ name: "area", color: "stream" }], label: "mm2", nameWidth: 140,
    }),
    table: () => ({ name: "area", columns: [{ head: "part" }, { head: "area", unit: "mm2", isNumber: true }], rows: Object.entries(parts).map(([key, mm2]) => [words(key), mm2]), sort: -2 }),
  });
}

export function energy(result: Result): HTMLElement {
  const all = result.energy;
  const parts = result.area ? area(result.area) : "";
  if (!all) {
    return h("div", {}, h("p", {}, "The result has no energy."), parts);
  }
  if (!(all.total_j > 0)) {
    return h("div", {}, h("p", {}, "The energy is 0: every coefficient of the machine's energy is 0, or nothing was counted."), parts);
  }
  return h("div", {},
    h("p", { class: "note" }, `Energy is estimated from counts and the coefficients of the machine: ${writeJoules(all.total_j)}${all.low_j === undefined ? "" : `, or ${writeJoules(all.low_j)} to ${writeJoules(all.high_j!)} over the ranges of the coefficients`}.`),
    all.by_kind ? byKind(all.by_kind, all.total_j) : "",
    all.steps && all.steps.length > 0 ? bySteps(all) : "",
    parts);
}
