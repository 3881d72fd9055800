// SPDX-License-Identifier: MIT
// A square of cells, coloured by a number each, with the scale of colours beside it.
import { s } from "../dom";
import { color, type Drawing, type Mark } from "../figure";
import * as axis from "../axis";
import { shade } from "./tiles";

/// Without the darkest colours, which are not seen on black.
function cellShade(part: number): string {
  return shade(0.25 + 0.75 * part);
}

export interface HeatSpec {
  /// Cells of a side, and what a cell has of the axes' unit.
  cells: number;
  cellSize: number;
  /// Row by row, the first row at the top. Cells of 0 stay empty.
  values: ArrayLike<number>;
  xLabel: string;
  yLabel: string;
  label: string;
  write: (value: number) => string;
  tip: (row: number, column: number) => string;
  /// Colours go by powers, so that small values differ.
  isLog?: boolean;
}

const kSide = 460;
const kScaleSteps = 60;

export function heat(spec: HeatSpec): Drawing {
  const of = axis.frame(kSide + 70, { left: 80, top: 20, bottom: 50 });
  of.right = of.left + kSide;
  const size = kSide / spec.cells;
  const known = Array.from(spec.values).filter((value) => value > 0);
  const most = known.reduce((largest, value) => Math.max(largest, value), 0);
  const least = spec.isLog ? known.reduce((smallest, value) => Math.min(smallest, value), most) : 0;
  const height = kSide * 0.6;
  const legend = (spec.isLog && most > 0 ? axis.logarithmic : axis.linear)(least, most || 1, of.top + height, of.top, false);
  const shadeOf = (value: number): string => cellShade((of.top + height - legend(value)) / height);
  const scale = axis.linear(0, spec.cells * spec.cellSize, of.left, of.right, false);
  const down = axis.linear(0, spec.cells * spec.cellSize, of.top, of.bottom, false);
  axis.xAxis(of, axis.ofWholes(scale), spec.xLabel);
  axis.yAxis(of, axis.ofWholes(down), spec.yLabel);
  const marks: Mark[] = [];
  for (let row = 0; row < spec.cells; ++row) {
    for (let column = 0; column < spec.cells; ++column) {
      const value = spec.values[row * spec.cells + column]!;
      if (value > 0) {
        const [x, y] = [of.left + size * column, of.top + size * row];
        of.svg.append(s("rect", { x, y, width: size + 0.4, height: size + 0.4, fill: shadeOf(value) }));
        marks.push({ x: x + size / 2, y: y + size / 2, text: spec.tip(row, column) });
      }
    }
  }
  of.svg.append(s("rect", { x: of.left, y: of.top, width: kSide, height: kSide, fill: "none", stroke: color("quiet") }));
  const left = of.right + 40;
  for (let i = 0; i < kScaleSteps; ++i) {
    of.svg.append(s("rect", { x: left, y: of.top + height - ((i + 1) * height) / kScaleSteps, width: 16, height: height / kScaleSteps + 0.5, fill: cellShade(i / (kScaleSteps - 1)) }));
  }
  for (const value of legend.ticks(5)) {
    of.svg.append(
      s("line", { x1: left + 16, x2: left + 20, y1: legend(value), y2: legend(value), stroke: color("ink") }),
      axis.text(left + 24, legend(value) + 4, spec.write(value)),
    );
  }
  of.svg.append(axis.text(left, of.top + height + 22, spec.label), axis.text(left, of.top + height + 40, "empty: none", { fill: color("quiet") }));
  return { svg: of.svg, marks };
}
