// SPDX-License-Identifier: MIT
// Horizontal bars: one a row, of one or several parts, with marks on them.
import { s } from "../dom";
import { color, type Drawing, type Mark } from "../figure";
import * as axis from "../axis";
import * as format from "../format";

export interface Bar {
  name: string;
  /// One value a part; null: nothing there.
  parts: (number | null)[];
  /// Values with a mark of their own, such as a limit: a line across the bar.
  lines?: number[];
  tip: string;
}

export interface BarsSpec {
  bars: Bar[];
  parts: { name: string; color: string }[];
  label: string;
  /// What the lines are, for the legend.
  lines?: string;
  write?: (value: number) => string;
  isBytes?: boolean;
  most?: number;
  nameWidth?: number;
}

const kRow = 22;

export function bars(spec: BarsSpec): Drawing {
  const left = spec.nameWidth ?? 220;
  const names: axis.Legend = spec.parts.length > 1 ? spec.parts.map((part) => [part.name, color(part.color)]) : [];
  if (spec.lines !== undefined) {
    names.push([spec.lines, color("mark")]);
  }
  const top = axis.legendRoom(names, left);
  const of = axis.frame(top + kRow * Math.max(1, spec.bars.length) + 46, { left, right: 30, top, bottom: 46 });
  const sums = spec.bars.map((bar) => bar.parts.reduce((sum: number, part) => sum + Math.max(0, part ?? 0), 0));
  const most = Math.max(spec.most ?? 0, ...sums, ...spec.bars.flatMap((bar) => bar.lines ?? []));
  const scale = axis.linear(0, most || 1, of.left, of.right, spec.most === undefined);
  const x = spec.isBytes ? axis.inBytes(scale) : scale;
  axis.xAxis(of, x, spec.label, spec.isBytes ? format.bytes : spec.write);
  axis.legend(of, names);
  const marks: Mark[] = spec.bars.map((bar, row) => {
    const y = of.top + kRow * row;
    let at = 0;
    of.svg.append(axis.text(of.left - 8, y + 15, format.shortenedStep(bar.name, Math.floor(left / 6.6) - 2), { "text-anchor": "end" }));
    bar.parts.forEach((part, i) => {
      if (part !== null && part > 0) {
        of.svg.append(s("rect", { x: x(at), y: y + 4, width: Math.max(0.5, x(at + part) - x(at)), height: kRow - 8, fill: color(spec.parts[i]!.color) }));
        at += part;
      }
    });
    for (const line of bar.lines ?? []) {
      of.svg.append(s("line", { x1: x(line), x2: x(line), y1: y + 1, y2: y + kRow - 1, stroke: color("mark"), "stroke-width": 2 }));
    }
    return { x: x(at), y: y + kRow / 2, text: bar.tip };
  });
  return { svg: of.svg, marks, byRow: true };
}

export interface Span {
  name: string;
  least: number;
  mean: number;
  most: number;
  bound: number | null;
  tip: string;
}

/// For each row the span from least to most, with the mean as a dot and the bound as a line.
export function spans(rows: Span[], label: string, nameWidth = 220): Drawing {
  const of = axis.frame(30 + kRow * Math.max(1, rows.length) + 46, { left: nameWidth, right: 30, top: 30, bottom: 46 });
  const x = axis.linear(0, Math.max(1, ...rows.map((row) => row.most)), of.left, of.right);
  axis.xAxis(of, x, label);
  axis.legend(of, [["least to most", color("compute")], ["mean", color("ink")], ["bound", color("mark")]]);
  const marks = rows.map((row, i): Mark => {
    const y = of.top + kRow * i + kRow / 2;
    of.svg.append(
      axis.text(of.left - 8, y + 4, format.shortenedStep(row.name, Math.floor(nameWidth / 6.6) - 2), { "text-anchor": "end" }),
      s("rect", { x: x(row.least), y: y - 5, width: Math.max(1, x(row.most) - x(row.least)), height: 10, fill: color("compute"), "fill-opacity": 0.75 }),
      s("circle", { cx: x(row.mean), cy: y, r: 4, fill: color("paper"), stroke: color("ink"), "stroke-width": 2 }),
    );
    if (row.bound !== null) {
      of.svg.append(s("line", { x1: x(row.bound), x2: x(row.bound), y1: y - 9, y2: y + 9, stroke: color("mark"), "stroke-width": 2 }));
    }
    return { x: x(row.most), y, text: row.tip };
  });
  return { svg: of.svg, marks, byRow: true };
}
