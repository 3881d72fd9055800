// SPDX-License-Identifier: MIT
// The timeline of a chip, with what a click asks for: a step's tiles and a tile's steps.
import { button, h, select } from "../dom";
import type { Result } from "../data";
import * as format from "../format";
import type { ChipRecording } from "../recording";
import { tableElement } from "../table";
import { Picture, TimeView, type Look } from "../timeline/picture";
import { kShapes, type Shape } from "../timeline/states";
import { stepDetail, tileDetail, titleOf } from "./tiles";

const kMostRows = 50_000;
const kMostChoices = 500;

const kShapeWords: Record<Shape, string> = {
  first: "in its first execution", slowest: "in its slowest execution", mean: "in the mean of its executions",
};

/// What the picture shows and what it cannot show.
function told(chip: ChipRecording, shape: Shape): string {
  const { executions, releases, window } = chip;
  const isRepeated = chip.steps.some((step) => step.executions > 1);
  return [
    `${format.counted(executions.count, "execution")} of ${format.counted(chip.steps.length, "step")} on ${format.counted(chip.tiles, "tile")}.`,
    "The wheel zooms in time, with Shift in tiles too; drag to pan; a click shows the step and the tile.",
    isRepeated ? `A step that runs several times is drawn each time as ${kShapeWords[shape]}; the tables have its sums.` : "",
    window !== null && window.leftOut === 0
      ? `From cycle ${format.number(window.from)} to ${format.number(window.to)} each of ${format.counted(window.count, "execution")} is drawn as it was.` : "",
    window !== null && window.leftOut > 0
      ? `The recorded window has ${format.counted(window.count, "single execution")}; ${format.number(window.leftOut)} more found no room in it, so it is drawn like the rest.` : "",
    executions.leftOut > 0 ? `The recording has no room for ${format.counted(executions.leftOut, "further execution")}: they are missing here, and in the sums they are not.` : "",
    releases.leftOut > 0 ? `The critical tile is not drawn through ${format.counted(releases.leftOut, "further barrier")}.` : "",
  ].filter(Boolean).join(" ");
}

export function timeline(chip: ChipRecording, result: Result): HTMLElement {
  if (chip.executions.count === 0) {
    return h("p", {}, "The recording has no step.");
  }
  const view = new TimeView(chip.cycles || 1);
  const look: Look = { isIdleness: false, hasPath: true, marked: null };
  const note = h("p", { class: "note" }, told(chip, "first"));
  const detail = h("div", { "data-detail": "step" });
  const tileBox = h("div", { "data-detail": "tile" });
  const pickStep = (step: number): void => detail.replaceChildren(stepDetail(chip, chip.steps[step]!, result));
  const pickTile = (tile: number): void => tileBox.replaceChildren(tileDetail(chip, tile));
  const picture = new Picture({
    name: "Timeline", chip, view, look, height: 380,
    pick: (step, tile) => {
      if (step !== null) {
        pickStep(step);
      }
      pickTile(tile);
    },
  });
  const { window } = chip;
  const longest = chip.steps
    .map((step, index) => ({ step, index, cycles: step.column("cycles").sum() }))
    .sort((a, b) => b.cycles - a.cycles || a.index - b.index)
    .slice(0, kMostChoices);
  const tileInput = h("input", { type: "number", min: 0, max: chip.tiles - 1, value: 0, "aria-label": "tile" });
  tileInput.addEventListener("change", () => pickTile(Math.max(0, Math.min(chip.tiles - 1, Number(tileInput.value) || 0))));
  return h("div", {},
    note,
    h("div", { class: "tools" },
      select("colour", ["kind", "idleness"], "kind", (_, i) => {
        look.isIdleness = i === 1;
        picture.paint();
      }),
      select("critical tile", ["drawn", "not drawn"], "drawn", (_, i) => {
        look.hasPath = i === 0;
        picture.paint();
      }),
      select("steps as in their", kShapes.map((shape) => (shape === "mean" ? "mean" : `${shape} execution`)), "first execution", (_, i) => {
        picture.states.draw(kShapes[i]!);
        note.textContent = told(chip, kShapes[i]!);
        picture.paint();
      }),
      button("zoom in", () => view.zoom(0.5, 0.5)), button("zoom out", () => view.zoom(2, 0.5)), button("whole run", () => picture.all()),
      window !== null && button("recorded window", () => view.show(window.from, window.to)),
      button("SVG", () => picture.save())),
    picture.element,
    h("details", { class: "behind" }, h("summary", {}, "table"), executionsTable(chip)),
    h("div", { class: "asked" }, h("h3", {}, "A step's tiles"),
    h("div", { class: "tools" }, select("step", longest.map(({ step, index }) => `${index}. ${titleOf(step)}`), "", (_, i) => pickStep(longest[i]!.index)),
      chip.steps.length > longest.length ? h("span", { class: "note" }, `the ${kMostChoices} with most cycles of ${format.number(chip.steps.length)}; a click reaches all`) : ""),
    detail),
    h("div", { class: "asked" }, h("h3", {}, "A tile's steps"),
    h("div", { class: "tools" }, h("label", { class: "control" }, "tile ", tileInput)),
    tileBox));
}

function executionsTable(chip: ChipRecording): HTMLElement {
  const { count, step, begin, end, times } = chip.executions;
  const table = tableElement({
    name: "executions",
    columns: [{ head: "step" }, { head: "kind" }, { head: "begins", unit: "cycle", isNumber: true }, { head: "ends", unit: "cycle", isNumber: true }, { head: "rounds", isNumber: true }],
    rows: Array.from({ length: Math.min(count, kMostRows) }, (_, i) => [chip.steps[step[i]!]!.name, chip.steps[step[i]!]!.kind.replace("_", " "), begin[i]!, end[i]!, times[i]!]),
  }, { filter: true });
  return h("div", {},
    count > kMostRows ? h("p", { class: "note" }, `The table and its CSV have the first ${format.number(kMostRows)} of ${format.counted(count, "execution")}.`) : "",
    table);
}
