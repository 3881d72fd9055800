// SPDX-License-Identifier: MIT
// What the issue slots of compute sets were used for, and by which context. A tile has one slot a cycle.
import { h } from "../dom";
import type { Result, Step } from "../data";
import { figure, kSeries } from "../figure";
import * as format from "../format";
import type { ChipRecording, RecordedStep } from "../recording";
import { bars } from "../charts/bars";
import { largest, sum } from "./steps";

const kClasses = ["matrix", "float", "memory", "logic", "integer", "control", "convert", "function", "system"];
const kShown = 25;

const kParts = [
  { key: "issued", name: "issued by workers", color: "compute" },
  { key: "matrix", name: "held by the matrix unit", color: "exchange" },
  { key: "memory", name: "held by loads and stores", color: "stream" },
  { key: "other", name: "held by other instructions", color: "sync" },
  { key: "supervisor", name: "supervisor", color: "link" },
  { key: "unequal", name: "empty: unequal workers", color: "mark" },
  { key: "unowned", name: "empty: of no worker", color: "other" },
  { key: "rest", name: "launch, sync, control", color: "idle" },
] as const;
type Part = (typeof kParts)[number]["key"];

export type Slots = Record<Part, number> & { slots: number };

/// The parts sum to the slots. A class that issues less than it executes has bundles that share an issue.
export function slotsOf(step: Step, result: Result): Slots {
  const { tiles } = result.machine.chip;
  const workers = result.machine.tile?.workers ?? 6;
  const round = Math.max(workers, result.machine.tile?.pipeline_cycles ?? 6);
  const slots = Math.round(step.tile_cycles.mean * tiles);
  const held = { matrix: 0, memory: 0, other: 0 };
  let left = slots;
  const take = (wanted: number): number => {
    const got = Math.max(0, Math.min(left, Math.round(wanted)));
    left -= got;
    return got;
  };
  let issued = 0;
  for (const [name, issues] of Object.entries(step.counts?.worker_issues ?? {})) {
    const beyond = Math.max(0, issues - (step.counts?.worker_bundles?.[name] ?? 0));
    held[name === "matrix" || name === "memory" ? name : "other"] += beyond;
    issued += issues - beyond;
  }
  const issues = issued + held.matrix + held.memory + held.other;
  const made = { issued: take(issued), matrix: take(held.matrix), memory: take(held.memory), other: take(held.other), supervisor: take(sum(step.counts?.supervisor_instructions)) };
  // While the busiest worker of a launch has work, each worker has a turn in every round.
  const busiest = (step.busiest_worker_cycles?.mean ?? 0) * tiles;
  const turns = (busiest * workers) / round;
  return { ...made, unowned: take(busiest - turns), unequal: take(turns - issues), rest: left, slots };
}

function byPart(sets: { step: Step; of: Slots }[]): HTMLElement {
  const shown = largest(sets, ({ step }) => step.cycles, kShown);
  const issued = sets.reduce((total, { of }) => total + of.issued, 0) / sets.reduce((total, { of }) => total + of.slots, 0);
  const isPart = (value: unknown): string => format.percent(value as number | null);
  return figure({
    title: "Issue slots of compute sets",
    note: `Workers issue an instruction or a bundle in ${format.percent(issued)} of all slots of tiles in compute sets. The parts sum to the slots.${sets.length > shown.length ? ` The ${shown.length} sets with most cycles of ${format.number(sets.length)}; the table has all.` : ""}`,
    draw: () => bars({
      bars: shown.map(({ step, of }) => ({
        name: step.name, parts: kParts.map(({ key }) => of[key] / of.slots),
        tip: `${step.name}: ${kParts.filter(({ key }) => of[key] > 0).map(({ key, name }) => `${name} ${format.percent(of[key] / of.slots)}`).join(", ")}`,
      })),
      parts: kParts.map(({ name, color }) => ({ name, color })), label: "part of the slots", most: 1, write: (value) => format.percent(value, 0),
    }),
    table: () => ({
      name: "issue slots",
      columns: [{ head: "compute set" }, { head: "slots", isNumber: true }, { head: "part issued", isNumber: true, text: isPart }, ...kParts.map(({ name }) => ({ head: name, isNumber: true })),
        { head: "launches", isNumber: true }],
      rows: sets.map(({ step, of }) => [step.name, of.slots, of.issued / of.slots, ...kParts.map(({ key }) => of[key]), step.counts?.launches ?? null]),
      sort: -2,
    }),
  });
}

function meaning(result: Result): HTMLElement {
  const { workers = 6, pipeline_cycles: stages = 6 } = result.machine.tile ?? {};
  const lines = [
    ["held", "an instruction of several issues holds its worker's turns: steps of the matrix unit, loads and stores, and others, such as divisions and branches to unaligned bundles, whose result the worker's next instruction depends on"],
    ["supervisor", "instructions of the supervisor"],
    ["unequal workers", "turns of workers that have ended their launch while the busiest one goes on, less what the supervisor issues then"],
    ["of no worker", stages > workers ? `a round has ${stages} slots, one a stage of the pipeline, and ${workers} workers have one each` : "none on this machine: each slot of a round is a worker's"],
    ["launch, sync, control", "from a launch to the first issue, from the last exit to the end of the sync, what the supervisor waits for, and the control program"],
  ];
  return h("ul", { class: "note" }, ...lines.map(([what, words]) => h("li", {}, h("strong", {}, what!), `: ${words}`)));
}

function byClass(sets: { step: Step; of: Slots }[]): HTMLElement {
  const shown = largest(sets, ({ step }) => step.cycles, kShown);
  const counts = (step: Step): number[] => kClasses.map((name) => step.counts?.worker_issues?.[name] ?? 0);
  return figure({
    title: "Issues of workers by class",
    note: "What workers issued and how long it held them; a bundle is of one class.",
    draw: () => bars({
      bars: shown.map(({ step }) => {
        const issues = counts(step);
        const all = issues.reduce((total, one) => total + one, 0) || 1;
        return {
          name: step.name, parts: issues.map((one) => one / all),
          tip: `${step.name}: ${kClasses.filter((_, i) => issues[i]! > 0).map((name) => `${name} ${format.percent(issues[kClasses.indexOf(name)]! / all)}`).join(", ")}`,
        };
      }),
      parts: kClasses.map((name, i) => ({ name, color: i === 8 ? "quiet" : kSeries[i]! })), label: "part of the issues", most: 1, write: (value) => format.percent(value, 0),
    }),
    table: () => ({
      name: "issues by class", columns: [{ head: "compute set" }, ...kClasses.map((name) => ({ head: name, isNumber: true })), { head: "bundles", isNumber: true }],
      rows: sets.map(({ step }) => [step.name, ...counts(step), sum(step.counts?.worker_bundles)]), sort: -2,
    }),
  });
}

export function issueSlots(result: Result): HTMLElement {
  const sets = (result.compute_sets ?? []).map((step) => ({ step, of: slotsOf(step, result) })).filter(({ of }) => of.slots > 0);
  if (sets.length === 0) {
    return h("p", {}, "No compute set took cycles of a tile.");
  }
  return h("div", {}, byPart(sets), meaning(result), byClass(sets));
}

/// Issues of each worker of a step, over all tiles.
function issuesOf(step: RecordedStep): number[] {
  const all: number[] = [];
  while (step.has(`issues_of_${all.length}`)) {
    all.push(step.column(`issues_of_${all.length}`).sum());
  }
  return all;
}

/// From the recording: how much of its turns each context uses.
export function contexts(chip: ChipRecording, result: Result): HTMLElement | null {
  const stages = result.machine.tile?.pipeline_cycles ?? 6;
  const sets = chip.steps
    .filter((step) => step.kind === "compute_set")
    .map((step) => {
      const issues = issuesOf(step);
      const slots = step.column("cycles").sum();
      const supervisor = chip.isLast ? sum(result.compute_sets?.[step.index]?.counts?.supervisor_instructions) : null;
      return { step, issues, slots, turns: slots / Math.max(issues.length, stages), supervisor };
    })
    .filter(({ issues, slots }) => issues.length > 0 && slots > 0);
  if (sets.length === 0) {
    return null;
  }
  const workers = sets[0]!.issues.length;
  const totals = Array.from({ length: workers }, (_, worker) => sets.reduce((sum, one) => sum + one.issues[worker]!, 0));
  const turns = sets.reduce((sum, one) => sum + one.turns, 0);
  const slots = sets.reduce((sum, one) => sum + one.slots, 0);
  const supervisor = chip.isLast ? sets.reduce((sum, one) => sum + one.supervisor!, 0) : null;
  const rows = totals.map((issues, worker) => ({ name: `worker ${worker}`, part: issues / turns, tip: `worker ${worker} issues in ${format.percent(issues / turns)} of its ${format.number(Math.round(turns))} turns` }));
  if (supervisor !== null) {
    rows.push({ name: "supervisor", part: supervisor / slots, tip: `the supervisor issues in ${format.percent(supervisor / slots)} of all slots` });
  }
  const percent = (value: unknown): string => format.percent(value as number | null);
  return figure({
    title: "Issue slots by context",
    note: "How much of its turns, one in each round, a worker issues in or is held in, over all tiles and compute sets; of the supervisor, its instructions of all slots.",
    draw: () => bars({
      bars: rows.map(({ name, part, tip }) => ({ name, parts: [part], tip })), parts: [{ name: "issues", color: "compute" }], label: "part of the turns", most: 1,
      write: (value) => format.percent(value, 0), nameWidth: 110,
    }),
    table: () => ({
      name: "contexts",
      columns: [{ head: "compute set" }, { head: "turns of a worker", isNumber: true }, ...totals.map((_, worker) => ({ head: `worker ${worker}`, isNumber: true, text: percent })),
        { head: "supervisor", isNumber: true, text: percent }],
      rows: sets.map((one) => [one.step.name, Math.round(one.turns), ...one.issues.map((issues) => issues / one.turns), one.supervisor === null ? null : one.supervisor / one.slots]),
      sort: -2,
    }),
  });
}
