// SPDX-License-Identifier: MIT
// Horizontal bars on both sides of zero: what became more and what became less.
import { s } from "../dom";
import { color, type Drawing, type Mark } from "../figure";
import * as axis from "../axis";
import * as format from "../format";

export interface Change {
  name: string;
  value: number;
  tip: string;
}

const kRow = 22;

export function changes(all: Change[], label: string, nameWidth = 260): Drawing {
  const of = axis.frame(34 + kRow * Math.max(1, all.length) + 46, { left: nameWidth, right: 30, top: 34, bottom: 46 });
  const values = all.map(({ value }) => value);
  const x = axis.linear(Math.min(0, ...values), Math.max(0, ...values), of.left, of.right);
  axis.xAxis(of, x, label);
  axis.legend(of, [["more", color("mark")], ["less", color("compute")]]);
  const marks = all.map(({ name, value, tip }, row): Mark => {
    const y = of.top + kRow * row;
    const [from, to] = [Math.min(x(0), x(value)), Math.max(x(0), x(value))];
    of.svg.append(
      axis.text(of.left - 8, y + 15, format.shortenedStep(name, Math.floor(nameWidth / 6.6) - 2), { "text-anchor": "end" }),
      s("rect", { x: from, y: y + 4, width: Math.max(0.5, to - from), height: kRow - 8, fill: color(value > 0 ? "mark" : "compute") }),
    );
    return { x: x(value), y: y + kRow / 2, text: tip };
  });
  of.svg.append(s("line", { x1: x(0), x2: x(0), y1: of.top, y2: of.bottom, stroke: color("ink") }));
  return { svg: of.svg, marks, byRow: true };
}
