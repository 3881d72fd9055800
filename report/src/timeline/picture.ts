// SPDX-License-Identifier: MIT
// A canvas of time and tiles, which zooms and pans. Several pictures may show the same cycles.
import { download, fileName, h } from "../dom";
import { color, kColors, svgText } from "../figure";
import * as axis from "../axis";
import * as format from "../format";
import { colorOf, type ChipRecording } from "../recording";
import { States } from "./states";

type Rgb = [number, number, number];

const kSamples = 4; // moments a column of the picture

/// The cycles that pictures show.
export class TimeView {
  from = 0;
  to: number;
  private readonly painters: (() => void)[] = [];

  constructor(readonly most: number) {
    this.to = most;
  }

  onChange(paint: () => void): void {
    this.painters.push(paint);
  }

  show(from: number, to: number): void {
    const span = Math.min(this.most, Math.max(1, to - from));
    this.from = Math.max(0, Math.min(this.most - span, from));
    this.to = this.from + span;
    this.painters.forEach((paint) => paint());
  }

  all(): void {
    this.show(0, this.most);
  }

  /// What is at a part of the width stays there.
  zoom(factor: number, part: number): void {
    const span = Math.min(this.most, Math.max(1, (this.to - this.from) * factor));
    const from = this.from + part * (this.to - this.from) - part * span;
    this.show(from, from + span);
  }

  /// By a part of what is shown.
  pan(part: number): void {
    const by = part * (this.to - this.from);
    this.show(this.from + by, this.to + by);
  }
}

export interface Look {
  isIdleness: boolean;
  /// Draws the critical tile.
  hasPath: boolean;
  /// Steps that stand out; null: all do.
  marked: Set<number> | null;
}

export interface PictureSpec {
  name: string;
  chip: ChipRecording;
  view: TimeView;
  look: Look;
  height: number;
  /// The step, if any, and the tile of a click.
  pick: (step: number | null, tile: number) => void;
}

/// While a page is printed its colours are those of paper.
let isOnPaper = false;
addEventListener("beforeprint", () => (isOnPaper = true));
addEventListener("afterprint", () => (isOnPaper = false));

function cssColor(name: string): string {
  return isOnPaper ? kColors[name] ?? kColors["paper"]! : getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function rgbOf(name: string): Rgb {
  const text = cssColor(name);
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)) as Rgb;
}

const kBusy: Rgb = [0x6b, 0x75, 0x80]; // seen on white and on black

export class Picture {
  readonly element: HTMLElement;
  readonly states: States;
  private readonly canvas: HTMLCanvasElement;
  private readonly tip = h("div", { class: "tip", role: "status", hidden: true });
  private readonly width: number;
  private readonly height: number;
  private svg: SVGSVGElement;
  private colors: Rgb[] = [];
  private firstTile = 0;
  private lastTile: number;

  constructor(private readonly spec: PictureSpec) {
    const { chip, view } = spec;
    this.states = new States(chip);
    this.lastTile = chip.tiles;
    const of = this.frame();
    this.width = Math.round(of.right - of.left);
    this.height = Math.round(of.bottom - of.top);
    this.svg = of.svg;
    this.canvas = h("canvas", {
      tabindex: 0, role: "img", width: this.width, height: this.height,
      "aria-label": `${spec.name}: supersteps by tiles; arrow keys pan, + and - zoom, with Alt in tiles too, 0 shows all, Enter picks the middle`,
    });
    this.canvas.style.left = `${(100 * of.left) / axis.kWidth}%`;
    this.canvas.style.top = `${(100 * of.top) / spec.height}%`;
    this.canvas.style.width = `${(100 * this.width) / axis.kWidth}%`;
    this.canvas.style.height = `${(100 * this.height) / spec.height}%`;
    this.element = h("div", { class: "stage", "data-figure": spec.name }, this.svg, this.canvas, this.tip);
    this.listen();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
    ["beforeprint", "afterprint"].forEach((event) => addEventListener(event, () => this.paint()));
    view.onChange(() => this.paint());
    this.paint();
  }

  /// Offers the picture as a file.
  save(): void {
    const of = this.frame();
    // as text, because the page itself may load no image
    const image = `<image x="${of.left}" y="${of.top}" width="${this.width}" height="${this.height}" href="${this.canvas.toDataURL("image/png")}"/>`;
    download(fileName(this.spec.name, ".svg"), "image/svg+xml", svgText(this.svg, image));
  }

  all(): void {
    [this.firstTile, this.lastTile] = [0, this.spec.chip.tiles];
    this.spec.view.all();
  }

  paint(): void {
    this.colors = this.spec.chip.steps.map((step) => rgbOf(colorOf(step.kind)));
    const context = this.canvas.getContext("2d")!;
    this.paintTiles(context);
    this.paintWindow(context);
    this.paintPath(context);
    this.drawAxes();
  }

  private frame(): axis.Frame {
    return axis.frame(this.spec.height, { left: 70, top: 30 });
  }

  private paintTiles(context: CanvasRenderingContext2D): void {
    const { chip, view, look } = this.spec;
    const { width, height } = this;
    const image = context.createImageData(width, height);
    const paper = rgbOf("raised");
    const waits = look.isIdleness ? paper : rgbOf("idle");
    const faint = (rgb: Rgb): Rgb => rgb.map((value, i) => 0.2 * value + 0.8 * paper[i]!) as Rgb;
    const shown = this.colors.map((rgb, step) => {
      const own = look.isIdleness ? kBusy : rgb;
      return look.marked === null || look.marked.has(step) ? own : faint(own);
    });
    const waiting = look.marked === null ? waits : faint(waits);
    const step = (view.to - view.from) / width;
    const tileOf = Int32Array.from({ length: height }, (_, y) => this.tileAt((y + 0.5) / height));
    for (let x = 0; x < width; ++x) {
      const running = Array.from({ length: kSamples }, (_, i) => this.states.at(view.from + (x + (i + 0.5) / kSamples) * step));
      for (let y = 0; y < height; ++y) {
        let [red, green, blue] = [0, 0, 0];
        for (const one of running) {
          const busy = this.states.busy(one, tileOf[y]!);
          const rgb = busy >= 0 ? shown[busy]! : one.moment < chip.cycles ? waiting : paper;
          red += rgb[0];
          green += rgb[1];
          blue += rgb[2];
        }
        const at = 4 * (y * width + x);
        image.data[at] = red / kSamples;
        image.data[at + 1] = green / kSamples;
        image.data[at + 2] = blue / kSamples;
        image.data[at + 3] = 255;
      }
    }
    context.putImageData(image, 0, 0);
  }

  private px(cycle: number): number {
    const { view } = this.spec;
    return ((cycle - view.from) * this.width) / (view.to - view.from);
  }

  /// Lines at the ends of the recorded window.
  private paintWindow(context: CanvasRenderingContext2D): void {
    const { window } = this.spec.chip;
    if (window === null) {
      return;
    }
    context.strokeStyle = cssColor("mark");
    context.lineWidth = 1.5;
    context.setLineDash([5, 3]);
    context.beginPath();
    for (const end of [window.from, window.to]) {
      context.moveTo(this.px(end), 0);
      context.lineTo(this.px(end), this.height);
    }
    context.stroke();
    context.setLineDash([]);
  }

  private paintPath(context: CanvasRenderingContext2D): void {
    const { releases } = this.spec.chip;
    if (!this.spec.look.hasPath || releases.count === 0) {
      return;
    }
    context.strokeStyle = cssColor("ink");
    context.lineWidth = 1.5;
    context.beginPath();
    const py = (tile: number): number => ((tile + 0.5 - this.firstTile) * this.height) / (this.lastTile - this.firstTile);
    context.moveTo(this.px(0), py(releases.critical[0]!));
    for (let i = 0; i < releases.count; ++i) {
      const y = py(releases.critical[i]!);
      context.lineTo(this.px(i === 0 ? 0 : releases.cycle[i - 1]!), y);
      context.lineTo(this.px(releases.cycle[i]!), y);
    }
    context.stroke();
  }

  private drawAxes(): void {
    const { view, look, chip } = this.spec;
    const axes = this.frame();
    axis.xAxis(axes, axis.linear(view.from, view.to, axes.left, axes.right, false), "cycles");
    axis.yAxis(axes, axis.ofWholes(axis.linear(this.firstTile, this.lastTile, axes.top, axes.bottom, false)), "tile");
    const names: axis.Legend = look.isIdleness
      ? [["busy", `rgb(${kBusy.join(", ")})`], ["waits", color("raised")]]
      : [["compute", color("compute")], ["exchange", color("exchange")], ["stream", color("stream")], ["link", color("link")], ["waits", color("idle")]];
    if (look.hasPath) {
      names.push(["critical tile", color("ink")]);
    }
    if (chip.window !== null) {
      names.push(["recorded window", color("mark")]);
    }
    axis.legend(axes, names);
    this.svg.replaceWith(axes.svg);
    this.svg = axes.svg;
  }

  private tileAt(part: number): number {
    return Math.max(0, Math.min(this.spec.chip.tiles - 1, Math.floor(this.firstTile + part * (this.lastTile - this.firstTile))));
  }

  private momentAt(part: number): number {
    const { view } = this.spec;
    return view.from + part * (view.to - view.from);
  }

  private zoom(factor: number, x: number, y: number, withTiles: boolean): void {
    if (withTiles) {
      const at = this.firstTile + y * (this.lastTile - this.firstTile);
      const rows = Math.min(this.spec.chip.tiles, Math.max(1, (this.lastTile - this.firstTile) * factor));
      this.showTiles(at - y * rows, rows);
    }
    this.spec.view.zoom(factor, x);
  }

  private showTiles(first: number, rows: number): void {
    this.firstTile = Math.max(0, Math.min(this.spec.chip.tiles - rows, first));
    this.lastTile = this.firstTile + rows;
  }

  private pan(x: number, y: number): void {
    const rows = this.lastTile - this.firstTile;
    this.showTiles(this.firstTile + y * rows, rows);
    this.spec.view.pan(x);
  }

  private pick(x: number, y: number): void {
    const running = this.states.at(this.momentAt(x));
    const tile = this.tileAt(y);
    const busy = this.states.busy(running, tile);
    const step = busy >= 0 ? busy : this.states.step(running);
    this.spec.pick(step < 0 ? null : step, tile);
  }

  private tell(event: MouseEvent, x: number, y: number): void {
    const { steps } = this.spec.chip;
    const running = this.states.at(this.momentAt(x));
    const tile = this.tileAt(y);
    const busy = this.states.busy(running, tile);
    const step = this.states.step(running);
    const name = busy >= 0 ? steps[busy]!.name : step >= 0 ? `waits, during ${steps[step]!.name}` : "waits";
    this.tip.textContent = `cycle ${format.number(Math.round(running.moment))}, tile ${tile}: ${name}`;
    this.tip.hidden = false;
    const box = this.element.getBoundingClientRect();
    this.tip.style.left = `${Math.min(event.clientX - box.left + 12, box.width - 260)}px`;
    this.tip.style.top = `${event.clientY - box.top + 12}px`;
  }

  private listen(): void {
    const { canvas } = this;
    const share = (event: MouseEvent): [number, number] => {
      const box = canvas.getBoundingClientRect();
      return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    };
    let drag: { x: number; y: number; moved: boolean } | null = null;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, ...share(event), event.shiftKey);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      const [x, y] = share(event);
      drag = { x, y, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = share(event);
      if (!drag) {
        this.tell(event, x, y);
      } else if (drag.moved || Math.abs(x - drag.x) > 0.005 || Math.abs(y - drag.y) > 0.01) {
        this.pan(drag.x - x, drag.y - y);
        drag = { x, y, moved: true };
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) {
        this.pick(...share(event));
      }
      drag = null;
    });
    canvas.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
    });
    canvas.addEventListener("keydown", (event) => {
      const act: Record<string, () => void> = {
        ArrowLeft: () => this.pan(-0.1, 0), ArrowRight: () => this.pan(0.1, 0), ArrowUp: () => this.pan(0, -0.1), ArrowDown: () => this.pan(0, 0.1),
        "+": () => this.zoom(0.7, 0.5, 0.5, event.altKey), "=": () => this.zoom(0.7, 0.5, 0.5, event.altKey), "-": () => this.zoom(1.4, 0.5, 0.5, event.altKey),
        "0": () => this.all(), Enter: () => this.pick(0.5, 0.5),
      };
      const chosen = act[event.key];
      if (chosen) {
        chosen();
        event.preventDefault();
      }
    });
  }
}
