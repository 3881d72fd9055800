// SPDX-License-Identifier: MIT
// Parallel coordinates: an axis a figure, a line a point.
import { s } from "../dom";
import { color, type Drawing, type Mark } from "../figure";
import * as axis from "../axis";
import * as format from "../format";
import { kLineScale, shade } from "./tiles";

export interface ParallelAxis {
  label: string;
  words: string[] | null;
  /// Numbers, or indices of words; null: nothing.
  values: (number | null)[];
}

const kMostLines = 3000;

export function parallel(axes: ParallelAxis[], colored: number, names: string[]): Drawing {
  const of = axis.frame(380, { left: 60, right: 60, top: 46, bottom: 24 });
  const step = axes.length > 1 ? (of.right - of.left) / (axes.length - 1) : 0;
  const places = axes.map((one, i) => {
    const known = one.values.filter((value): value is number => value !== null);
    let [least, most] = [Infinity, -Infinity];
    for (const value of known) {
      [least, most] = [Math.min(least, value), Math.max(most, value)];
    }
    const isWords = one.words !== null;
    const scale = known.length === 0 ? axis.linear(0, 1, of.bottom, of.top) : axis.linear(isWords ? -0.5 : least, isWords ? one.words!.length - 0.5 : most, of.bottom, of.top, !isWords);
    return { x: of.left + step * i, scale, least, most, only: null as [number, number] | null };
  });
  const group = s("g");
  const every = Math.max(1, Math.ceil(names.length / kMostLines));
  const lines: { path: SVGPathElement; point: number }[] = [];
  const range = places[colored]!;
  const marks: Mark[] = [];
  for (let point = 0; point < names.length; point += every) {
    let d = "";
    axes.forEach((one, i) => {
      const value = one.values[point]!;
      if (value !== null && value !== undefined) {
        d += `${d === "" ? "M" : "L"}${places[i]!.x.toFixed(1)},${places[i]!.scale(value).toFixed(1)}`;
      }
    });
    const value = axes[colored]!.values[point] ?? null;
    const part = value === null || range.most === range.least ? 0 : (value - range.least) / (range.most - range.least);
    const path = s("path", { d, fill: "none", stroke: shade(part, kLineScale), "stroke-opacity": names.length > 300 ? 0.35 : 0.8, "stroke-width": 1.3 });
    lines.push({ path, point });
    group.append(path);
    if (value !== null) {
      marks.push({ x: range.x, y: range.scale(value), text: names[point]! });
    }
  }
  of.svg.append(group);
  const update = (): void => {
    for (const { path, point } of lines) {
      const isIn = places.every(({ only }, i) => {
        const value = axes[i]!.values[point];
        return only === null || (value !== null && value !== undefined && value >= only[0] && value <= only[1]);
      });
      path.setAttribute("visibility", isIn ? "visible" : "hidden");
    }
  };
  axes.forEach((one, i) => {
    const { x, scale } = places[i]!;
    const anchor = i === 0 ? "start" : i === axes.length - 1 ? "end" : "middle";
    const shown = format.shortened(one.label, Math.max(12, Math.floor(step / 6.6)));
    of.svg.append(
      s("line", { x1: x, x2: x, y1: of.top, y2: of.bottom, stroke: color("ink"), "stroke-width": 1.5 }),
      axis.text(i === 0 ? x - 40 : i === axes.length - 1 ? x + 40 : x, i % 2 === 0 ? 16 : 32, shown, { "text-anchor": anchor }),
    );
    const different = [...new Set(one.values.filter((value): value is number => value !== null))];
    const ticks = one.words !== null ? one.words.map((_, index) => index).slice(0, 30) : different.length <= 8 ? different : scale.ticks(6);
    for (const value of ticks) {
      of.svg.append(
        s("line", { x1: x - 4, x2: x, y1: scale(value), y2: scale(value), stroke: color("ink") }),
        axis.text(x - 6, scale(value) + 4, one.words ? format.shortened(one.words[value]!, 14) : format.tick(value), {
          "text-anchor": "end", "font-size": 11, stroke: color("paper"), "stroke-width": 3, "paint-order": "stroke",
        }),
      );
    }
    const band = s("rect", { x: x - 7, width: 14, y: of.top, height: 0, fill: color("mark"), "fill-opacity": 0.35, visibility: "hidden" });
    const hit = s("rect", { class: "brush", x: x - 10, width: 20, y: of.top - 6, height: of.bottom - of.top + 12, fill: "transparent" });
    hit.addEventListener("click", (event) => {
      const place = places[i]!;
      if (place.only !== null) {
        place.only = null;
        band.setAttribute("visibility", "hidden");
      } else {
        const box = of.svg.getBoundingClientRect();
        const y = (event.clientY - box.top) * (axis.kWidth / box.width);
        const values = [...new Set(one.values.filter((value): value is number => value !== null))];
        const reach = (of.bottom - of.top) / 16;
        const distance = (value: number): number => Math.abs(scale(value) - y);
        const least = Math.min(...values.map(distance)); // a click between values means the nearest one
        const near = values.filter((value) => distance(value) <= Math.max(reach, least));
        if (near.length === 0) {
          return;
        }
        place.only = [Math.min(...near), Math.max(...near)];
        const [low, high] = [scale(place.only[0]) + 3, scale(place.only[1]) - 3];
        band.setAttribute("y", String(high));
        band.setAttribute("height", String(low - high));
        band.setAttribute("visibility", "visible");
      }
      update();
      event.stopPropagation();
    });
    of.svg.append(band, hit);
  });
  return { svg: of.svg, marks };
}
