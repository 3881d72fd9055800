// SPDX-License-Identifier: MIT
// Who sends to whom in exchanges, by blocks of tiles.
import { h, select } from "../dom";
import { figure, redraw } from "../figure";
import * as format from "../format";
import type { ChipRecording, Pairs } from "../recording";
import { heat } from "../charts/heat";
import { largest } from "./steps";
import { titleOf } from "./tiles";

const kMostChoices = 500;

function wordsOf(pairs: Pairs): number {
  let sum = 0;
  for (let i = 0; i < pairs.count; ++i) {
    sum += pairs.words[i]!;
  }
  return sum;
}

export function pairsMap(chip: ChipRecording): HTMLElement | null {
  const exchanges = chip.steps
    .map((step, index) => ({ step, index, pairs: step.pairs() }))
    .flatMap(({ step, index, pairs }) => (pairs && pairs.count > 0 ? [{ step, index, pairs, words: wordsOf(pairs) }] : []));
  if (exchanges.length === 0) {
    return null;
  }
  const { blockTiles, tiles } = chip;
  const blocks = Math.ceil(tiles / blockTiles);
  const choices = largest(exchanges, ({ words }) => words, kMostChoices);
  let chosen = exchanges;
  const values = (): Float64Array => {
    const all = new Float64Array(blocks * blocks);
    for (const { pairs } of chosen) {
      for (let i = 0; i < pairs.count; ++i) {
        all[pairs.to[i]! * blocks + pairs.from[i]!] += pairs.words[i]!;
      }
    }
    return all;
  };
  const nameOf = (block: number): string => {
    const last = Math.min(tiles, (block + 1) * blockTiles) - 1;
    return last === block * blockTiles ? String(last) : `${block * blockTiles} to ${last}`;
  };
  const all = "all exchanges";
  let isLog = false;
  const made: HTMLElement = figure({
    title: "Who sends to whom",
    note: `Words of 4 bytes that tiles received, each receiver counted, over all executions${blockTiles > 1 ? `, by blocks of ${blockTiles} tiles in order of their numbers` : ""}.`,
    controls: [
      select("of", [all, ...choices.map(({ step, index }) => `${index}. ${titleOf(step)}`)], all, (_, i) => {
        chosen = i === 0 ? exchanges : [choices[i - 1]!];
        redraw(made);
      }),
      select("colours", ["linear", "by powers"], "linear", (_, i) => {
        isLog = i === 1;
        redraw(made);
      }),
      choices.length < exchanges.length && h("span", { class: "note" }, `the ${kMostChoices} with most words of ${format.number(exchanges.length)}`),
    ],
    draw: () => {
      const words = values();
      const sum = words.reduce((total, value) => total + value, 0);
      return heat({
        cells: blocks, cellSize: blockTiles, values: words, xLabel: "sending tile", yLabel: "receiving tile", label: "words received", isLog, write: format.tick,
        tip: (row, column) => `tiles ${nameOf(column)} to tiles ${nameOf(row)}: ${format.counted(words[row * blocks + column]!, "word")}, ${format.percent(words[row * blocks + column]! / sum)} of what is shown`,
      });
    },
    table: () => {
      const words = values();
      const rows: [string, string, number][] = [];
      words.forEach((value, at) => {
        if (value > 0) {
          rows.push([nameOf(at % blocks), nameOf(Math.floor(at / blocks)), value]);
        }
      });
      return { name: "who sends to whom", columns: [{ head: "from tiles" }, { head: "to tiles" }, { head: "received", unit: "words", isNumber: true }], rows, sort: -3 };
    },
  });
  return made;
}
