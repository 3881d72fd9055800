// SPDX-License-Identifier: MIT
// A number of each tile, tiles as they stand on the chip.
import { s } from "../dom";
import { color, type Drawing, type Mark } from "../figure";
import * as axis from "../axis";

const kColumns = 64; // 16 columns of tiles, each with 4 places

/// Row and column of a tile (docs/models/exchange.md#tile-numbering).
export function placeOf(tile: number, tiles: number, generation: string): { row: number; column: number } {
  const rows = Math.ceil(tiles / kColumns);
  if (generation === "ipu1") {
    const island = Math.floor(tile / 4);
    return { row: island % rows, column: ((Math.floor(island / rows) + 8) % 16) * 4 + (tile % 4) };
  }
  const pair = Math.floor(tile / 2);
  const block = Math.floor(pair / rows);
  const inBlock = pair % rows;
  return {
    row: block % 2 === 0 ? inBlock : rows - 1 - inBlock,
    column: Math.floor(block / 2) * 4 + (block % 2) + 2 * (tile % 2),
  };
}

/// From dark to light, readable without colours (cividis).
const kScale = ["#00204d", "#213d6b", "#555b6c", "#7b7a77", "#a59c74", "#d3c064", "#ffea46"];

/// From blue over grey to orange: lines of these are seen on white and on black.
export const kLineScale = ["#0072b2", "#8f9299", "#e69f00"];

export function shade(part: number, scale: string[] = kScale): string {
  const at = Math.min(1, Math.max(0, part)) * (scale.length - 1);
  const low = Math.min(scale.length - 2, Math.floor(at));
  const channel = (text: string, i: number): number => parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mixed = [0, 1, 2].map((i) => {
    const from = channel(scale[low]!, i);
    return Math.round(from + (channel(scale[low + 1]!, i) - from) * (at - low));
  });
  return "#" + mixed.map((value) => value.toString(16).padStart(2, "0")).join("");
}

export function tileMap(values: ArrayLike<number>, generation: string, most: number, label: string,
  write: (value: number) => string): Drawing {
  const tiles = values.length;
  const places = Array.from({ length: tiles }, (_, tile) => placeOf(tile, tiles, generation));
  const rows = 1 + Math.max(0, ...places.map((place) => place.row));
  const columns = 1 + Math.max(0, ...places.map((place) => place.column));
  const size = Math.min(24, 740 / columns, 12 + 200 / rows);
  const of = axis.frame(30 + size * rows + 62, { top: 24, left: 60, bottom: 62 });
  const marks = places.map((place, tile): Mark => {
    const x = of.left + size * place.column;
    const y = of.top + size * place.row;
    of.svg.append(s("rect", { x, y, width: size - 0.5, height: size - 0.5, fill: shade(most === 0 ? 0 : values[tile]! / most) }));
    return { x: x + size / 2, y: y + size / 2, text: `tile ${tile} (row ${place.row}, column ${Math.floor(place.column / 4)}): ${write(values[tile]!)}` };
  });
  const bottom = of.top + size * rows;
  of.svg.append(
    axis.text(of.left, bottom + 16, "column and place of the tile", { fill: color("quiet") }),
    axis.text(18, (of.top + bottom) / 2, "row", { fill: color("quiet"), "text-anchor": "middle", transform: `rotate(-90 18 ${(of.top + bottom) / 2})` }),
  );
  for (let row = 0; row < rows; row += Math.max(1, Math.round(rows / 6))) {
    of.svg.append(axis.text(of.left - 6, of.top + size * row + size / 2 + 4, String(row), { "text-anchor": "end", fill: color("quiet") }));
  }
  const steps = 40;
  for (let i = 0; i < steps; ++i) {
    of.svg.append(s("rect", { x: of.left + i * 6, y: bottom + 28, width: 6.5, height: 12, fill: shade(i / (steps - 1)) }));
  }
  of.svg.append(
    axis.text(of.left + steps * 6 + 10, bottom + 39, `${write(0)} to ${write(most)}, ${label}`),
  );
  return { svg: of.svg, marks };
}
