// SPDX-License-Identifier: MIT
// Curves over numbers, with lines across.
import { line as curve, curveStepAfter } from "d3-shape";
import { s } from "../dom";
import { color, type Drawing, type Mark } from "../figure";
import * as axis from "../axis";
import * as format from "../format";

export interface LinesSpec {
  xLabel: string;
  yLabel: string;
  curves: { name: string; color: string; values: ArrayLike<number> }[];
  across?: { name: string; value: number }[];
  tip: (index: number) => string;
  isStep?: boolean;
  isBytes?: boolean;
  writeX?: (value: number) => string;
}

/// Each curve has a value for x = 0, 1, 2, ...
export function lines(spec: LinesSpec): Drawing {
  const of = axis.frame(300, { top: 30, left: 80 });
  const count = Math.max(1, ...spec.curves.map((one) => one.values.length));
  let most = Math.max(0, ...(spec.across ?? []).map((one) => one.value));
  for (const one of spec.curves) {
    for (let i = 0; i < one.values.length; ++i) {
      most = Math.max(most, one.values[i]!);
    }
  }
  const x = axis.linear(0, Math.max(1, count - (spec.isStep ? 0 : 1)), of.left, of.right, false);
  const scale = axis.linear(0, most || 1, of.bottom, of.top);
  const y = spec.isBytes ? axis.inBytes(scale) : scale;
  const writeY = spec.isBytes ? format.bytes : format.tick;
  axis.xAxis(of, x, spec.xLabel, spec.writeX);
  axis.yAxis(of, y, spec.yLabel, writeY);
  for (const one of spec.curves) {
    const points = Array.from(one.values, (value, i): [number, number] => [x(i), y(value)]);
    if (spec.isStep && points.length > 0) {
      points.push([x(points.length), points[points.length - 1]![1]]);
    }
    const made = spec.isStep ? curve().curve(curveStepAfter) : curve();
    of.svg.append(s("path", { d: made(points) ?? "", fill: "none", stroke: color(one.color), "stroke-width": 2 }));
    if (points.length === 1) {
      of.svg.append(s("circle", { cx: points[0]![0], cy: points[0]![1], r: 4, fill: color(one.color) }));
    }
  }
  const names: [string, string][] = spec.curves.map((one) => [one.name, color(one.color)]);
  for (const one of spec.across ?? []) {
    of.svg.append(
      s("line", { x1: of.left, x2: of.right, y1: y(one.value), y2: y(one.value), stroke: color("mark"), "stroke-dasharray": "6 3", "stroke-width": 1.5 }),
      axis.text(of.right, y(one.value) - 4, `${one.name} ${writeY(one.value)}`, { "text-anchor": "end", fill: color("mark") }),
    );
  }
  axis.legend(of, names);
  const first = spec.curves[0];
  const marks: Mark[] = Array.from({ length: first ? first.values.length : 0 }, (_, i) => ({
    x: x(spec.isStep ? i + 0.5 : i),
    y: y(first!.values[i]!),
    text: spec.tip(i),
  }));
  return { svg: of.svg, marks };
}
