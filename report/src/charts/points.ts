// SPDX-License-Identifier: MIT
// Points over two numbers: roofs above them, or the front among them.
import { line as curve } from "d3-shape";
import { s } from "../dom";
import { color, type Drawing, type Mark } from "../figure";
import * as axis from "../axis";

export interface Point {
  x: number;
  y: number;
  color: string;
  size?: number;
  isHollow?: boolean;
  tip: string;
}

export interface Roof {
  name: string;
  color: string;
  /// The most at an x.
  at: (x: number) => number;
}

export interface PointsSpec {
  points: Point[];
  xLabel: string;
  yLabel: string;
  isLog?: boolean;
  roofs?: Roof[];
  /// Points that a line joins, in order.
  line?: { x: number; y: number }[];
  legend?: [name: string, color: string][];
}

function ends(values: number[]): [number, number] {
  let least = Infinity;
  let most = -Infinity;
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return least <= most ? [least, most] : [0, 1];
}

export function points(spec: PointsSpec): Drawing {
  const of = axis.frame(420, { top: 34, left: 84 });
  const isLog = spec.isLog === true && spec.points.every((point) => point.x > 0 && point.y > 0);
  let [xLeast, xMost] = ends(spec.points.map((point) => point.x));
  let [yLeast, yMost] = ends(spec.points.map((point) => point.y));
  if (isLog && spec.points.length === 0) {
    [xLeast, xMost, yLeast, yMost] = [0.1, 100, 1, 10];
  }
  if (spec.roofs?.length) {
    xLeast /= 4;
    xMost *= 4;
    for (const roof of spec.roofs) {
      yMost = Math.max(yMost, roof.at(xMost));
    }
    yMost *= 1.3;
  }
  const make = isLog ? axis.logarithmic : axis.linear;
  const x = make(xLeast, xMost, of.left, of.right);
  const y = make(yLeast, yMost, of.bottom, of.top);
  axis.xAxis(of, x, spec.xLabel);
  axis.yAxis(of, y, spec.yLabel);
  const taken: number[] = [];
  for (const roof of spec.roofs ?? []) {
    const [from, to] = x.domain() as [number, number];
    const floor = y.domain()[0]!;
    const path: [number, number][] = [];
    for (let i = 0; i <= 200; ++i) {
      const at = from * (to / from) ** (i / 200);
      const value = roof.at(at);
      if (value >= floor) {
        path.push([x(at), y(value)]);
      }
    }
    const last = path[path.length - 1];
    of.svg.append(s("path", { d: curve()(path) ?? "", fill: "none", stroke: color(roof.color), "stroke-width": 2 }));
    if (last) {
      // a name that would stand on another one goes below its line
      const above = last[1] - 5;
      const at = taken.some((other) => Math.abs(other - above) < 13) ? last[1] + 14 : above;
      taken.push(at);
      of.svg.append(axis.text(last[0] - 4, at, roof.name, { "text-anchor": "end", fill: color(roof.color) }));
    }
  }
  if (spec.line && spec.line.length > 1) {
    of.svg.append(s("path", { d: curve()(spec.line.map((one): [number, number] => [x(one.x), y(one.y)])) ?? "", fill: "none", stroke: color("mark"), "stroke-width": 1.5 }));
  }
  const marks = spec.points.map((point): Mark => {
    const at = { x: x(point.x), y: y(point.y) };
    of.svg.append(s("circle", { cx: at.x, cy: at.y, r: point.size ?? 4, fill: point.isHollow ? "none" : color(point.color), stroke: color(point.color), "fill-opacity": 0.7 }));
    return { ...at, text: point.tip };
  });
  if (spec.legend) {
    axis.legend(of, spec.legend);
  }
  return { svg: of.svg, marks };
}
