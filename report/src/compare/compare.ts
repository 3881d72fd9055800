// SPDX-License-Identifier: MIT
// Two results beside each other: what differs, what explains it, and both timelines on one scale of cycles.
import { button, h, select } from "../dom";
import type { Comparison, Difference, Entry, StepChange } from "../data";
import { figure } from "../figure";
import * as format from "../format";
import type { Section } from "../main";
import type { ChipRecording, Recording } from "../recording";
import { tableElement, type Table, type Value } from "../table";
import { changes } from "../charts/changes";
import { Picture, TimeView, type Look } from "../timeline/picture";
import { kShapes } from "../timeline/states";

/// One of the two, A or B.
export interface Side {
  entry: Entry;
  recording: Recording | string | null;
}

const kLetters = ["A", "B"];
const kShown = 25;
const kKindWords: Record<string, string> = { compute_set: "compute set", exchange: "exchange", stream: "stream copy", link_exchange: "link exchange" };

function signed(value: number): string {
  const whole = Math.round(value);
  return (whole > 0 ? "+" : "") + format.number(whole);
}

function moved(a: number, b: number): string {
  if (a === b) {
    return "the same";
  }
  return a === 0 ? "" : `${Math.abs(100 * (b / a - 1)).toFixed(1)} % ${b > a ? "more" : "less"}`;
}

function summary(comparison: Comparison): HTMLElement {
  const card = (what: string, big: string, more: string): HTMLElement =>
    h("div", { class: "card" }, h("div", { class: "what" }, what), h("div", { class: "big" }, big), h("div", { class: "note" }, more));
  const { a, b, change } = comparison;
  return h("div", { class: "cards" },
    card(`A: ${a.name}`, format.number(a.cycles), "cycles"),
    card(`B: ${b.name}`, format.number(b.cycles), "cycles"),
    card("from A to B", signed(change), `cycles, ${moved(a.cycles, b.cycles)}`));
}

function valueText(value: unknown): string {
  return value === null || value === undefined ? "none" : typeof value === "string" ? value : JSON.stringify(value);
}

function differences(name: string, all: Difference[]): HTMLElement {
  return tableElement({
    name, columns: [{ head: "path" }, { head: "A" }, { head: "B" }], rows: all.map(({ path, a, b }) => [path, valueText(a), valueText(b)]),
  });
}

function settings(comparison: Comparison): HTMLElement {
  return h("div", {},
    comparison.settings.length === 0 ? h("p", {}, "No setting of machine or workload differs.") : differences("settings", comparison.settings),
    comparison.plan.length === 0 ? "" : h("details", { class: "behind" }, h("summary", {}, `what the planner chose differently: ${format.counted(comparison.plan.length, "value")}`), differences("plan", comparison.plan)));
}

function figures(comparison: Comparison): HTMLElement {
  const all = comparison.figures.filter(({ a, b }) => a !== b);
  if (all.length === 0) {
    return h("p", {}, "No figure differs.");
  }
  return tableElement({
    name: "figures",
    columns: [{ head: "figure" }, { head: "A", isNumber: true }, { head: "B", isNumber: true }, { head: "B of A", isNumber: true, text: (value) => format.percent(value as number | null) }],
    rows: all.map(({ path, a, b }) => [path, a, b, a === 0 ? null : b / a]),
  });
}

function reasons(comparison: Comparison): HTMLElement {
  return figure({
    title: "Why the cycles differ",
    note: `From A to B ${signed(comparison.change)} cycles, to which the reasons sum.`,
    draw: () => changes(comparison.reasons.map(({ sentence, cycles }) => ({ name: sentence, value: cycles, tip: `${sentence}: ${signed(cycles)} cycles` })), "cycles, from A to B", 310),
    table: () => ({
      name: "reasons of the difference", columns: [{ head: "reason" }, { head: "key" }, { head: "cycles", isNumber: true }],
      rows: comparison.reasons.map(({ sentence, reason, cycles }) => [sentence, reason, cycles]),
    }),
  });
}

/// A part of the difference: of steps or of none.
interface Part {
  step: StepChange | null;
  sentence: string;
  cycles: number;
}

/// All parts, which sum to the change: by step and reason, then what is of no step.
function partsOf(comparison: Comparison): Part[] {
  const parts = comparison.steps.flatMap((step): Part[] => step.reasons.map(({ sentence, cycles }) => ({ step, sentence, cycles })));
  const ofSteps = new Map<string, number>();
  for (const { reason, cycles } of comparison.steps.flatMap((step) => step.reasons)) {
    ofSteps.set(reason, (ofSteps.get(reason) ?? 0) + cycles);
  }
  for (const { reason, sentence, cycles } of comparison.reasons) {
    const rest = cycles - (ofSteps.get(reason) ?? 0);
    if (Math.abs(rest) >= 0.5) {
      parts.push({ step: null, sentence, cycles: rest });
    }
  }
  const rest = comparison.change - parts.reduce((sum, { cycles }) => sum + cycles, 0);
  return Math.abs(rest) < 1e-6 ? parts : [...parts, { step: null, sentence: "parts of less than half a cycle each", cycles: rest }];
}

function partsTable(parts: Part[]): Table {
  return {
    name: "parts of the difference",
    columns: [{ head: "step" }, { head: "kind" }, { head: "reason" }, { head: "cycles", isNumber: true, text: (value) => signed(value as number) }, { head: "step in A", unit: "cycles", isNumber: true },
      { head: "step in B", unit: "cycles", isNumber: true }],
    rows: parts.map(({ step, sentence, cycles }): Value[] => [step?.name ?? "", step ? kKindWords[step.kind] ?? step.kind : "the run", sentence, cycles, step?.a ?? null, step?.b ?? null]),
  };
}

/// Both timelines, in which steps can stand out.
class Timelines {
  readonly element: HTMLElement;
  private readonly looks: Look[] = [];
  private readonly told = h("p", { class: "note", role: "status", "data-told": "marked" }, "");
  private readonly chips: (ChipRecording | null)[];
  private readonly view: TimeView;

  constructor(private readonly comparison: Comparison, sides: Side[]) {
    this.chips = sides.map(({ recording }) => (recording === null || typeof recording === "string" ? null : recording.chips[recording.last]!));
    this.view = new TimeView(Math.max(1, ...this.chips.map((chip) => chip?.cycles ?? 0)));
    const pictures = this.chips.map((chip, i) => this.picture(chip, i));
    const drawn = pictures.filter((picture): picture is Picture => picture !== null);
    const boxes = pictures.map((picture, i) => h("div", {}, h("h3", {}, `${kLetters[i]}: ${i === 0 ? comparison.a.name : comparison.b.name}`),
      picture ? picture.element : h("p", {}, this.why(sides[i]!))));
    if (drawn.length === 0) {
      this.element = h("div", {}, ...boxes);
      return;
    }
    const again = (change: () => void): void => {
      change();
      drawn.forEach((picture) => picture.paint());
    };
    this.element = h("div", {},
      h("p", { class: "note" }, "Both on one scale of cycles: what is zoomed or panned in one is in the other. A click on a step, or on a row or a bar of the parts below, lets the steps that match stand out in both."),
      h("div", { class: "tools" },
        select("colour", ["kind", "idleness"], "kind", (_, i) => again(() => this.looks.forEach((look) => (look.isIdleness = i === 1)))),
        select("critical tile", ["drawn", "not drawn"], "not drawn", (_, i) => again(() => this.looks.forEach((look) => (look.hasPath = i === 0)))),
        select("steps as in their", kShapes.map((shape) => (shape === "mean" ? "mean" : `${shape} execution`)), "first execution", (_, i) => again(() => drawn.forEach((picture) => picture.states.draw(kShapes[i]!)))),
        button("zoom in", () => this.view.zoom(0.5, 0.5)), button("zoom out", () => this.view.zoom(2, 0.5)), button("both runs", () => drawn.forEach((picture) => picture.all())),
        button("all steps", () => this.mark(null)),
        ...drawn.map((picture, i) => button(drawn.length === 1 ? "SVG" : `SVG of ${kLetters[i]}`, () => picture.save()))),
      this.told, ...boxes);
  }

  /// Lets the steps of a group stand out; null: all do.
  mark(group: StepChange | null): void {
    this.chips.forEach((chip, side) => {
      const look = this.looks[side];
      if (chip === null || look === undefined) {
        return;
      }
      const members = new Set(group === null ? [] : side === 0 ? group.members_a : group.members_b);
      look.marked = group === null ? null : new Set(chip.steps.flatMap((step, i) => (step.kind === group.kind && members.has(step.index) ? [i] : [])));
    });
    this.told.textContent = group === null ? "" : `${group.name}: ${format.number(Math.round(group.a))} cycles of A in ${format.counted(group.steps_a, "step")}, ${format.number(Math.round(group.b))} of B in ${format.counted(group.steps_b, "step")}, ${signed(group.b - group.a)}: ${group.reasons.map(({ sentence, cycles }) => `${sentence} ${signed(cycles)}`).join(", ")}.`;
    this.view.show(this.view.from, this.view.to); // paints
  }

  private why({ entry, recording }: Side): string {
    return typeof recording === "string" ? `The recording cannot be shown: ${recording}` : entry.no_recording
        ? `There is no timeline. ${entry.no_recording}`
        : "There is no timeline: no recording is beside the result. A folder of tessera run --out has one.";
  }

  private picture(chip: ChipRecording | null, side: number): Picture | null {
    if (chip === null || chip.executions.count === 0) {
      return null;
    }
    const look: Look = { isIdleness: false, hasPath: false, marked: null };
    this.looks[side] = look;
    return new Picture({
      name: `Timeline of ${kLetters[side]}`, chip, view: this.view, look, height: 260,
      pick: (number) => {
        const step = number === null ? undefined : chip.steps[number];
        const group = step && this.comparison.steps.find((one) => one.kind === step.kind && (side === 0 ? one.members_a : one.members_b).includes(step.index));
        this.mark(group ?? null);
        if (step && !group) {
          this.told.textContent = `${step.name}: the same in both.`;
        }
      },
    });
  }
}

function parts(comparison: Comparison, timelines: Timelines): HTMLElement {
  const all = partsOf(comparison);
  const shown = comparison.steps.slice(0, kShown);
  return h("div", {},
    shown.length === 0 ? "" : figure({
      title: "Steps by change",
      note: `Steps that are alike but for the number of a chunk are one; those of which no cycle moved are left out.${comparison.steps.length > shown.length ? ` The ${shown.length} largest changes of ${format.number(comparison.steps.length)}; the table has all.` : ""}`,
      draw: () => changes(shown.map((step) => ({
        name: step.name, value: step.b - step.a, tip: `${step.name}: ${signed(step.b - step.a)} cycles: ${step.reasons.map(({ sentence, cycles }) => `${sentence} ${signed(cycles)}`).join(", ")}`,
      })), "cycles, from A to B"),
      table: () => ({
        name: "steps by change",
        columns: [{ head: "step" }, { head: "kind" }, { head: "steps of A", isNumber: true }, { head: "steps of B", isNumber: true }, { head: "A", unit: "cycles", isNumber: true },
          { head: "B", unit: "cycles", isNumber: true }, { head: "change", unit: "cycles", isNumber: true }],
        rows: comparison.steps.map((step) => [step.name, kKindWords[step.kind] ?? step.kind, step.steps_a, step.steps_b, step.a, step.b, step.b - step.a]),
      }),
      pick: (mark) => timelines.mark(shown[mark]!),
    }),
    h("h3", {}, "Parts by step and reason"),
    h("p", { class: "note" }, "They sum to the difference. A click on a row shows its step in the timelines."),
    tableElement(partsTable(all), { pick: (row) => timelines.mark(all[row]!.step) }));
}

export function comparisonSections(comparison: Comparison, sides: Side[]): Section[] {
  const timelines = comparison.has_steps ? new Timelines(comparison, sides) : null;
  const why = "Reasons cannot be told: one of the two has no steps to compare. It is an estimate, or a point of a sweep that was run without --keep full.";
  return [
    { title: "Summary", make: () => summary(comparison) },
    { title: "Settings", make: () => settings(comparison) },
    ...(timelines === null ? [{ title: "Why", make: () => h("p", {}, why) }] : [
      { title: "Why", make: () => (comparison.reasons.length === 0 ? h("p", {}, "No cycle differs.") : reasons(comparison)) },
      { title: "Timelines", make: () => timelines.element },
      { title: "Parts of the difference", make: () => parts(comparison, timelines) },
    ]),
    { title: "Figures", make: () => figures(comparison) },
  ];
}
