// SPDX-License-Identifier: MIT
// Axes with units, from the scales of D3.
import { scaleLinear, scaleLog } from "d3-scale";
import { s } from "./dom";
import { color } from "./figure";
import * as format from "./format";

export interface Scale {
  (value: number): number;
  ticks(count?: number): number[];
  domain(): number[];
}

export interface Frame {
  svg: SVGSVGElement;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export const kWidth = 860;

export function frame(height: number, margins: { left?: number; right?: number; top?: number; bottom?: number } = {}): Frame {
  return {
    svg: s("svg", { viewBox: `0 0 ${kWidth} ${height}`, class: "chart", "font-size": 12 }),
    left: margins.left ?? 70,
    right: kWidth - (margins.right ?? 20),
    top: margins.top ?? 16,
    bottom: height - (margins.bottom ?? 44),
  };
}

/// A scale from values to pixels; a domain of one value gets some room.
export function linear(least: number, most: number, from: number, to: number, nice = true): Scale {
  const room = least === most ? Math.abs(least) * 0.1 || 1 : 0;
  const made = scaleLinear([least - (least === 0 ? 0 : room), most + room], [from, to]);
  return (nice ? made.nice() : made) as unknown as Scale;
}

/// The same by powers; both ends are above 0.
export function logarithmic(least: number, most: number, from: number, to: number, nice = true): Scale {
  const same = least === most;
  const exact = scaleLog([same ? least / 2 : least, same ? most * 2 : most], [from, to]);
  const made = nice ? exact.nice() : exact;
  const base = made as unknown as Scale;
  const ticks = (count = 8): number[] => {
    const all = base.ticks(count);
    const tens = all.filter((value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9);
    return tens.length >= 2 ? tens : all.slice(0, count + 2);
  };
  return Object.assign((value: number) => base(value), { ticks, domain: () => base.domain() });
}

export function text(x: number, y: number, words: string, more: Record<string, string | number> = {}): SVGTextElement {
  return s("text", { x, y, fill: color("ink"), ...more }, words);
}

export function xAxis(of: Frame, scale: Scale, label: string, write: (value: number) => string = format.tick): void {
  for (const value of scale.ticks(8)) {
    const x = scale(value);
    of.svg.append(
      s("line", { x1: x, x2: x, y1: of.top, y2: of.bottom, stroke: color("line") }),
      text(x, of.bottom + 16, write(value), { "text-anchor": "middle", fill: color("quiet") }),
    );
  }
  of.svg.append(
    s("line", { x1: of.left, x2: of.right, y1: of.bottom, y2: of.bottom, stroke: color("quiet") }),
    text((of.left + of.right) / 2, of.bottom + 36, label, { "text-anchor": "middle" }),
  );
}

export function yAxis(of: Frame, scale: Scale, label: string, write: (value: number) => string = format.tick): void {
  for (const value of scale.ticks(6)) {
    const y = scale(value);
    of.svg.append(
      s("line", { x1: of.left, x2: of.right, y1: y, y2: y, stroke: color("line") }),
      text(of.left - 6, y + 4, write(value), { "text-anchor": "end", fill: color("quiet") }),
    );
  }
  const middle = (of.top + of.bottom) / 2;
  of.svg.append(
    s("line", { x1: of.left, x2: of.left, y1: of.top, y2: of.bottom, stroke: color("quiet") }),
    text(14, middle, label, { "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }),
  );
}

export type Legend = [name: string, color: string][];

const kLegendLine = 18;

function widthOf(name: string): number {
  return 30 + 6.6 * name.length;
}

/// How many lines a legend takes between two places.
function legendLines(names: Legend, from: number, to: number): number {
  let lines = 1;
  let at = from;
  for (const [name] of names) {
    if (at + widthOf(name) > to && at > from) {
      ++lines;
      at = from;
    }
    at += widthOf(name);
  }
  return lines;
}

/// The room that a legend needs above a chart.
export function legendRoom(names: Legend, from: number): number {
  return names.length === 0 ? 10 : 12 + kLegendLine * legendLines(names, from, kWidth);
}

/// Names with their colours, from the left end of a chart on.
export function legend(of: Frame, names: Legend): void {
  let at = of.left;
  let y = 14;
  for (const [name, fill] of names) {
    if (at + widthOf(name) > kWidth && at > of.left) {
      at = of.left;
      y += kLegendLine;
    }
    of.svg.append(s("rect", { x: at, y: y - 9, width: 10, height: 10, fill }), text(at + 14, y, name));
    at += widthOf(name);
  }
}

/// The same scale with ticks at whole numbers alone.
export function ofWholes(scale: Scale): Scale {
  return Object.assign((value: number) => scale(value), { ticks: (count?: number) => scale.ticks(count).filter(Number.isInteger), domain: () => scale.domain() });
}

/// The same scale with ticks at round numbers of bytes.
export function inBytes(scale: Scale): Scale {
  const ticks = (count = 8): number[] => {
    const [least, most] = [Math.min(...scale.domain()), Math.max(...scale.domain())];
    const step = 2 ** Math.ceil(Math.log2(Math.max(1, (most - least) / count)));
    const all: number[] = [];
    for (let at = Math.ceil(least / step) * step; at <= most; at += step) {
      all.push(at);
    }
    return all;
  };
  return Object.assign((value: number) => scale(value), { ticks, domain: () => scale.domain() });
}
