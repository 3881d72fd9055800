// SPDX-License-Identifier: MIT
// Supersteps by tiles: a canvas of time and tiles, which zooms and pans.
import { button, download, fileName, h, select } from "../dom";
import type { Result } from "../data";
import { color, svgText } from "../figure";
import * as axis from "../axis";
import * as format from "../format";
import { colorOf, kNoPart, type RecordedStep, type Recording, type TileColumn } from "../recording";
import { tableElement } from "../table";
import { stepDetail, tileDetail, titleOf } from "./tiles";

interface Window {
  from: number;
  to: number;
  first: number;
  last: number;
}

interface Profile {
  step: RecordedStep;
  begin: TileColumn;
  cycles: TileColumn;
  rgb: [number, number, number];
}

const kHeight = 380;
const kSamples = 4; // moments a column of the picture

function rgbOf(name: string): [number, number, number] {
  const text = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)) as [number, number, number];
}

/// What a tile does at a moment: the number of an execution, or -1 where it waits.
class States {
  private readonly profiles: Profile[];
  /// The latest end of this execution and all before it.
  private readonly latest: Float64Array;

  constructor(private readonly recording: Recording) {
    this.profiles = recording.steps.map((step) => ({ step, begin: step.column("begin"), cycles: step.column("first"), rgb: [0, 0, 0] }));
    const { count, end } = recording.executions;
    this.latest = new Float64Array(count);
    let latest = 0;
    for (let i = 0; i < count; ++i) {
      latest = Math.max(latest, end[i]!);
      this.latest[i] = latest;
    }
    this.colour();
  }

  /// Reads the colours of the style sheet, which depend on the reader's choice of dark or light.
  colour(): void {
    const known = new Map<string, [number, number, number]>();
    for (const profile of this.profiles) {
      const name = colorOf(profile.step.kind);
      if (!known.has(name)) {
        known.set(name, rgbOf(name));
      }
      profile.rgb = known.get(name)!;
    }
  }

  profile(execution: number): Profile {
    return this.profiles[this.recording.executions.step[execution]!]!;
  }

  /// Executions that have begun and may not have ended, the last to begin first.
  at(moment: number): number[] {
    const { begin, end, count } = this.recording.executions;
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (begin[middle]! <= moment) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const found: number[] = [];
    for (let i = low - 1; i >= 0 && this.latest[i]! > moment; --i) {
      if (end[i]! > moment) {
        found.push(i);
      }
    }
    return found;
  }

  /// Of these executions the one in which a tile is busy then.
  busy(executions: number[], moment: number, tile: number): number {
    for (const execution of executions) {
      const { begin, cycles } = this.profile(execution);
      const own = begin.at(tile);
      if (own === kNoPart) {
        continue;
      }
      const round = (this.recording.executions.end[execution]! - this.recording.executions.begin[execution]!) / this.recording.executions.times[execution]!;
      const since = (moment - this.recording.executions.begin[execution]!) % round;
      if (since >= own && since < own + cycles.at(tile)) {
        return execution;
      }
    }
    return -1;
  }
}

export function timeline(recording: Recording, result: Result): HTMLElement {
  const { tiles, executions, releases } = recording;
  if (executions.count === 0) {
    return h("p", {}, "The recording has no step.");
  }
  const states = new States(recording);
  const whole: Window = { from: 0, to: recording.cycles || 1, first: 0, last: tiles };
  const window: Window = { ...whole };
  let isIdleness = false;
  let hasPath = true;
  const stage = h("div", { class: "stage", "data-figure": "Timeline" });
  const canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": "timeline of supersteps by tiles; arrow keys pan, + and - zoom, 0 shows all, Enter picks the middle" });
  const tip = h("div", { class: "tip", role: "status", hidden: true });
  const detail = h("div", { "data-detail": "step" });
  const tileBox = h("div", { "data-detail": "tile" });
  const of = axis.frame(kHeight, { left: 70, top: 30 });
  const width = Math.round(of.right - of.left);
  const height = Math.round(of.bottom - of.top);
  canvas.width = width;
  canvas.height = height;
  canvas.style.left = `${(100 * of.left) / axis.kWidth}%`;
  canvas.style.top = `${(100 * of.top) / kHeight}%`;
  canvas.style.width = `${(100 * width) / axis.kWidth}%`;
  canvas.style.height = `${(100 * height) / kHeight}%`;
  let svg = of.svg;

  const paint = (): void => {
    const context = canvas.getContext("2d")!;
    const image = context.createImageData(width, height);
    const paper = rgbOf("raised");
    const waits = rgbOf("idle");
    const step = (window.to - window.from) / width;
    const tileOf = Int32Array.from({ length: height }, (_, y) => Math.min(tiles - 1, Math.floor(window.first + ((y + 0.5) * (window.last - window.first)) / height)));
    for (let x = 0; x < width; ++x) {
      const moments = Array.from({ length: kSamples }, (_, i) => window.from + (x + (i + 0.5) / kSamples) * step);
      const running = moments.map((moment) => states.at(moment));
      for (let y = 0; y < height; ++y) {
        let [red, green, blue] = [0, 0, 0];
        for (let i = 0; i < kSamples; ++i) {
          const execution = states.busy(running[i]!, moments[i]!, tileOf[y]!);
          const rgb = execution < 0 ? (moments[i]! < recording.cycles ? (isIdleness ? paper : waits) : paper) : isIdleness ? [60, 60, 60] : states.profile(execution).rgb;
          red += rgb[0]!;
          green += rgb[1]!;
          blue += rgb[2]!;
        }
        const at = 4 * (y * width + x);
        image.data[at] = red / kSamples;
        image.data[at + 1] = green / kSamples;
        image.data[at + 2] = blue / kSamples;
        image.data[at + 3] = 255;
      }
    }
    context.putImageData(image, 0, 0);
    if (hasPath && releases.count > 0) {
      context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--ink");
      context.lineWidth = 1.5;
      context.beginPath();
      const px = (cycle: number): number => (cycle - window.from) / step;
      const py = (tile: number): number => ((tile + 0.5 - window.first) * height) / (window.last - window.first);
      context.moveTo(px(0), py(releases.critical[0]!));
      for (let i = 0; i < releases.count; ++i) {
        const y = py(releases.critical[i]!);
        context.lineTo(px(i === 0 ? 0 : releases.cycle[i - 1]!), y);
        context.lineTo(px(releases.cycle[i]!), y);
      }
      context.stroke();
    }
    const axes = axis.frame(kHeight, { left: 70, top: 30 });
    axis.xAxis(axes, axis.linear(window.from, window.to, axes.left, axes.right, false), "cycles");
    axis.yAxis(axes, axis.linear(window.first, window.last, axes.top, axes.bottom, false), "tile");
    const names: [string, string][] = isIdleness
      ? [["busy", "#3c3c3c"], ["waits", color("raised")]]
      : [["compute", color("compute")], ["exchange", color("exchange")], ["stream", color("stream")], ["link", color("link")], ["waits", color("idle")]];
    if (hasPath) {
      names.push(["critical tile", color("ink")]);
    }
    axis.legend(axes, names);
    svg.replaceWith(axes.svg);
    svg = axes.svg;
  };

  const pickStep = (index: number): void => {
    detail.replaceChildren(stepDetail(recording, recording.steps[index]!, result));
  };
  const pickTile = (tile: number): void => {
    tileBox.replaceChildren(tileDetail(recording, tile));
  };
  const placeOf = (x: number, y: number): { moment: number; tile: number } => ({
    moment: window.from + x * (window.to - window.from),
    tile: Math.max(0, Math.min(tiles - 1, Math.floor(window.first + y * (window.last - window.first)))),
  });
  const executionAt = (moment: number, tile: number): number => {
    const running = states.at(moment);
    const busy = states.busy(running, moment, tile);
    return busy >= 0 ? busy : (running[0] ?? -1);
  };
  const pick = (x: number, y: number): void => {
    const { moment, tile } = placeOf(x, y);
    const execution = executionAt(moment, tile);
    if (execution >= 0) {
      pickStep(executions.step[execution]!);
    }
    pickTile(tile);
  };
  const zoom = (factor: number, x: number, y: number, withTiles: boolean): void => {
    const { moment } = placeOf(x, y);
    const span = Math.min(whole.to, Math.max(1, (window.to - window.from) * factor));
    window.from = Math.max(0, Math.min(whole.to - span, moment - x * span));
    window.to = window.from + span;
    if (withTiles) {
      const at = window.first + y * (window.last - window.first);
      const rows = Math.min(tiles, Math.max(1, (window.last - window.first) * factor));
      window.first = Math.max(0, Math.min(tiles - rows, at - y * rows));
      window.last = window.first + rows;
    }
    paint();
  };
  const pan = (byTime: number, byTiles: number): void => {
    const span = window.to - window.from;
    const rows = window.last - window.first;
    window.from = Math.max(0, Math.min(whole.to - span, window.from + byTime * span));
    window.to = window.from + span;
    window.first = Math.max(0, Math.min(tiles - rows, window.first + byTiles * rows));
    window.last = window.first + rows;
    paint();
  };
  const all = (): void => {
    Object.assign(window, whole);
    paint();
  };
  const share = (event: MouseEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };

  let drag: { x: number; y: number; moved: boolean } | null = null;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, ...share(event), event.shiftKey);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    const [x, y] = share(event);
    drag = { x, y, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = share(event);
    if (drag) {
      if (drag.moved || Math.abs(x - drag.x) > 0.005 || Math.abs(y - drag.y) > 0.01) {
        pan(drag.x - x, drag.y - y);
        drag = { x, y, moved: true };
      }
      return;
    }
    const { moment, tile } = placeOf(x, y);
    const running = states.at(moment);
    const busy = states.busy(running, moment, tile);
    const name = busy >= 0 ? states.profile(busy).step.name : running.length > 0 ? `waits, during ${states.profile(running[0]!).step.name}` : "waits";
    tip.textContent = `cycle ${format.number(Math.round(moment))}, tile ${tile}: ${name}`;
    tip.hidden = false;
    const box = stage.getBoundingClientRect();
    tip.style.left = `${Math.min(event.clientX - box.left + 12, box.width - 260)}px`;
    tip.style.top = `${event.clientY - box.top + 12}px`;
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) {
      pick(...share(event));
    }
    drag = null;
  });
  canvas.addEventListener("pointerleave", () => {
    tip.hidden = true;
  });
  canvas.addEventListener("keydown", (event) => {
    const act: Record<string, () => void> = {
      ArrowLeft: () => pan(-0.1, 0), ArrowRight: () => pan(0.1, 0), ArrowUp: () => pan(0, -0.1), ArrowDown: () => pan(0, 0.1),
      "+": () => zoom(0.7, 0.5, 0.5, event.altKey), "=": () => zoom(0.7, 0.5, 0.5, event.altKey), "-": () => zoom(1.4, 0.5, 0.5, event.altKey), "0": all, Enter: () => pick(0.5, 0.5),
    };
    const chosen = act[event.key];
    if (chosen) {
      chosen();
      event.preventDefault();
    }
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    states.colour();
    paint();
  });

  stage.append(svg, canvas, tip);
  paint();
  const byLength = recording.steps.map((step, index) => ({ step, index, most: step.column("cycles").at(0) }));
  const longest = byLength.slice(0, 500);
  const tileInput = h("input", { type: "number", min: 0, max: tiles - 1, value: 0, "aria-label": "tile" });
  tileInput.addEventListener("change", () => pickTile(Math.max(0, Math.min(tiles - 1, Number(tileInput.value) || 0))));
  const repeated = recording.steps.some((step) => step.executions > 1);
  return h("div", {},
    h("p", { class: "note" }, `${format.counted(executions.count, "execution")} of ${format.counted(recording.steps.length, "step")} on ${format.counted(tiles, "tile")}. The wheel zooms in time, with Shift in tiles too; drag to pan; a click shows the step and the tile.`
      + (repeated ? " A step that runs several times is drawn each time as in its first execution; the tables have its sums." : "")),
    h("div", { class: "tools" },
      select("colour", ["kind", "idleness"], "kind", (_, i) => {
        isIdleness = i === 1;
        paint();
      }),
      select("critical tile", ["drawn", "not drawn"], "drawn", (_, i) => {
        hasPath = i === 0;
        paint();
      }),
      button("zoom in", () => zoom(0.5, 0.5, 0.5, false)), button("zoom out", () => zoom(2, 0.5, 0.5, false)), button("whole run", all),
      button("SVG", () => {
        // as text, because the page itself may load no image
        const image = `<image x="${of.left}" y="${of.top}" width="${width}" height="${height}" href="${canvas.toDataURL("image/png")}"/>`;
        download(fileName("timeline", ".svg"), "image/svg+xml", svgText(svg, image));
      })),
    stage,
    h("details", { class: "behind" }, h("summary", {}, "table"), executionsTable(recording)),
    h("h3", {}, "A step's tiles"),
    h("div", { class: "tools" }, select("step", longest.map(({ step, index }) => `${index}. ${titleOf(step)}`), "", (_, i) => pickStep(longest[i]!.index))),
    detail,
    h("h3", {}, "A tile's steps"),
    h("div", { class: "tools" }, h("label", { class: "control" }, "tile ", tileInput)),
    tileBox);
}

function executionsTable(recording: Recording): HTMLElement {
  const { count, step, begin, end, times } = recording.executions;
  return tableElement({
    name: "executions",
    columns: [{ head: "step" }, { head: "kind" }, { head: "begins", unit: "cycle", isNumber: true }, { head: "ends", unit: "cycle", isNumber: true }, { head: "rounds", isNumber: true }],
    rows: Array.from({ length: Math.min(count, 50000) }, (_, i) => [recording.steps[step[i]!]!.name, recording.steps[step[i]!]!.kind.replace("_", " "), begin[i]!, end[i]!, times[i]!]),
  }, { filter: true });
}
