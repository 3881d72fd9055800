// SPDX-License-Identifier: MIT
import { h } from "../dom";
import type { Entry, Page, Result } from "../data";
import * as format from "../format";
import { tableElement, type Value } from "../table";

type Line = [what: string, value: Value, shown: string, origin: string];

function verdict(result: Result): Line[] {
  if (result.check === undefined || result.check === null) {
    const why = result.mode === "estimate" ? "an estimate computes no data" : result.timing ? "timing mode computes no data" : "the check was switched off";
    return [["check", null, `none: ${why}`, ""]];
  }
  return [["check", null, String(result.check.sentence ?? (result.check.passed ? "passed" : "failed")), "simulated, beside the host's reference"]];
}

function lines(result: Result): Line[] {
  const origin = result.mode === "estimate" ? "estimated" : "simulated";
  const all: Line[] = [
    ["workload", null, result.sentence, ""],
    ["machine", null, `${result.machine.name}: ${format.counted(result.machine.chip.tiles, "tile")} at ${format.withPrefix(result.machine.chip.clock_hz, "Hz")}`, ""],
    ["mode", null, result.mode ?? (result.timing ? "timing: the cycles, without data" : "functional: all data"), ""],
    ["cycles", result.cycles, format.number(result.cycles), origin],
    ["time", result.seconds, format.withPrefix(result.seconds, "s", 4), origin],
  ];
  if (result.tflops !== undefined) {
    all.push(["rate", result.tflops, `${format.number(result.tflops)} TFLOP/s`, origin]);
  }
  if (result.peak_tflops !== undefined) {
    all.push(["peak", result.peak_tflops, `${format.number(result.peak_tflops)} TFLOP/s`, "from the machine's parameters"]);
  }
  if (result.fraction_of_peak !== undefined) {
    all.push(["rate of peak", result.fraction_of_peak, format.percent(result.fraction_of_peak), origin]);
  }
  if (result.gbytes_per_s !== undefined) {
    all.push(["useful bytes", result.gbytes_per_s, `${format.number(result.gbytes_per_s)} GB/s`, origin]);
  }
  if (result.memory) {
    const { max_bytes: most, tile_bytes: limit, worst_tile: tile } = result.memory;
    all.push(["memory of the fullest tile", most, `${format.bytes(most)} of ${format.bytes(limit)} (${format.percent(most / limit)}), tile ${tile}`, origin]);
  }
  if (result.energy) {
    const energy = result.energy;
    const range = energy.low_j !== undefined && energy.high_j !== undefined ? `, ${format.withPrefix(energy.low_j, "J")} to ${format.withPrefix(energy.high_j, "J")}` : "";
    all.push(["energy", energy.total_j, format.withPrefix(energy.total_j, "J") + range, "estimated from counts"]);
    if (energy.mean_w !== undefined) {
      all.push(["mean power", energy.mean_w, `${format.number(energy.mean_w)} W`, "estimated from counts"]);
    }
    if (energy.pj_per_flop) {
      all.push(["energy per operation", energy.pj_per_flop, `${format.number(energy.pj_per_flop)} pJ a FLOP`, "estimated from counts"]);
    }
  }
  if (result.area?.["total_mm2"] !== undefined) {
    all.push(["area of the chip", result.area["total_mm2"], `${format.number(result.area["total_mm2"])} mm2`, "estimated from the machine's parameters"]);
  }
  all.push(...verdict(result));
  if (result.tiles_busy !== undefined) {
    all.push(["tiles that did something", result.tiles_busy, `${format.number(result.tiles_busy)} of ${format.number(result.machine.chip.tiles)}`, origin]);
  }
  if (result.estimate) {
    const gap = result.estimate.gap;
    all.push(["estimate over timing mode", gap.mean, `${gap.mean} on average, ${gap.least} to ${gap.most}, over products of the family ${result.estimate.family}`, "measured"]);
  }
  if (result.host?.wall_s !== undefined) {
    all.push(["host", result.host.wall_s, `${format.withPrefix(result.host.wall_s, "s")} with ${format.counted(result.host.threads ?? 1, "thread")}`, "measured"]);
  }
  return all;
}

export function summary(page: Page, entry: Entry): HTMLElement {
  const result = entry.result!;
  const all = lines(result);
  all.push(["version", null, `tessera ${page.version}, model ${page.model_version}`, ""]);
  if (result.digests?.["program"]) {
    all.push(["digest of the program", null, result.digests["program"], ""]);
  }
  const cards = h("div", { class: "cards" });
  for (const [what, , shown, origin] of all) {
    if (["cycles", "time", "rate", "rate of peak", "memory of the fullest tile", "energy"].includes(what)) {
      const [first, ...rest] = shown.split(/, |(?= of | \()/);
      cards.append(h("div", { class: "card" }, h("div", { class: "what" }, what), h("div", { class: "big" }, first!), h("div", { class: "note" }, rest.join(" ").trim() + (origin ? ` (${origin})` : ""))));
    }
  }
  const table = tableElement({
    name: "summary",
    columns: [{ head: "what" }, { head: "value" }, { head: "exactly", isNumber: true }, { head: "origin" }],
    rows: all.map(([what, value, shown, origin]) => [what, shown, value, origin]),
  });
  const notes = (result.notes ?? []).map((note) => h("p", { class: "warning" }, note));
  return h("div", {}, cards, ...notes, table);
}
