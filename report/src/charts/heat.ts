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
}

const kSide = 460;
const kScaleSteps = 60;

export function heat(spec: HeatSpec): Drawing {
  const of = axis.frame(kSide + 70, { left: 80, top: 20, bottom: 50 });
  of.right = of.left + kSide;
  const size = kSide / spec.cells;
  const most = Array.from(spec.values).reduce((largest, value) => Math.max(largest, value), 0);
  const scale = axis.linear(0, spec.cells * spec.cellSize, of.left, of.right, false);
  const down = axis.linear(0, spec.cells * spec.cellSize, of.top, of.bottom, false);
  axis.xAxis(of, scale, spec.xLabel);
  axis.yAxis(of, down, spec.yLabel);
  const marks: Mark[] = [];
  for (let row = 0; row < spec.cells; ++row) {
    for (let column = 0; column < spec.cells; ++column) {
      const value = spec.values[row * spec.cells + column]!;
      if (value > 0) {
        const [x, y] = [of.left + size * column, of.top + size * row];
        of.svg.append(s("rect", { x, y, width: size, height: size, fill: cellShade(value / most) }));
        marks.push({ x: x + size / 2, y: y + size / 2, text: spec.tip(row, column) });
      }
    }
  }
  of.svg.append(s("rect", { x: of.left, y: of.top, width: kSide, height: kSide, fill: "none", stroke: color("quiet") }));
  const left = of.right + 40;
  const height = kSide * 0.6;
  for (let i = 0; i < kScaleSteps; ++i) {
    of.svg.append(s("rect", { x: left, y: of.top + height - ((i + 1) * height) / kScaleSteps, width: 16, height: height / kScaleSteps + 0.5, fill: cellShade(i / (kScaleSteps - 1)) }));
  }
  const legend = axis.linear(0, most || 1, of.top + height, of.top, false);
  for (const value of legend.ticks(5)) {
    of.svg.append(
      s("line", { x1: left + 16, x2: left + 20, y1: legend(value), y2: legend(value), stroke: color("ink") }),
      axis.text(left + 24, legend(value) + 4, spec.write(value)),
    );
  }
  of.svg.append(axis.text(left, of.top + height + 22, spec.label), axis.text(left, of.top + height + 40, "empty: none", { fill: color("quiet") }));
  return { svg: of.svg, marks };
}
