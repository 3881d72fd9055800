// SPDX-License-Identifier: MIT
// What each tile of a chip does at a moment: exactly where single executions are recorded, elsewhere as in a kept execution of its step.
import { kNoPart, type ChipRecording, type Numbers, type TileColumn } from "../recording";

/// Which execution of a step stands for all of them.
export const kShapes = ["first", "slowest", "mean"] as const;
export type Shape = (typeof kShapes)[number];

interface Spans {
  count: number;
  step: Numbers;
  begin: Numbers;
  end: Numbers;
  times: Numbers;
}

/// Executions in order of their begins.
class Executions {
  /// The latest end of an execution and all before it.
  private readonly latest: Float64Array;

  constructor(readonly spans: Spans) {
    this.latest = new Float64Array(spans.count);
    let latest = 0;
    for (let i = 0; i < spans.count; ++i) {
      latest = Math.max(latest, spans.end[i]!);
      this.latest[i] = latest;
    }
  }

  /// Those that have begun and may not have ended, the last to begin first.
  at(moment: number): number[] {
    const { begin, end, count } = this.spans;
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (begin[middle]! <= moment) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const found: number[] = [];
    for (let i = low - 1; i >= 0 && this.latest[i]! > moment; --i) {
      if (end[i]! > moment) {
        found.push(i);
      }
    }
    return found;
  }

  /// Cycles since the begin of an execution; of rounds that are told as one, since that of the round.
  since(execution: number, moment: number): number {
    const { begin, end, times } = this.spans;
    const round = (end[execution]! - begin[execution]!) / times[execution]!;
    return (moment - begin[execution]!) % round;
  }
}

/// What goes on at a moment.
export interface Running {
  moment: number;
  isExact: boolean;
  executions: number[];
}

export class States {
  private readonly all: Executions;
  private readonly single: Executions | null;
  private readonly begins: TileColumn[];
  private readonly cycles: { column: TileColumn; of: number }[] = [];

  constructor(private readonly chip: ChipRecording, shape: Shape = "first") {
    this.all = new Executions(chip.executions);
    this.single = chip.window && new Executions(chip.window);
    this.begins = chip.steps.map((step) => step.column("begin"));
    this.draw(shape);
  }

  draw(shape: Shape): void {
    this.chip.steps.forEach((step, i) => {
      this.cycles[i] = shape === "mean" ? { column: step.column("cycles"), of: Math.max(1, step.executions) } : { column: step.column(shape), of: 1 };
    });
  }

  at(moment: number): Running {
    const { window } = this.chip;
    const isExact = window !== null && moment >= window.from && moment < window.to && window.leftOut === 0;
    return { moment, isExact, executions: (isExact ? this.single! : this.all).at(moment) };
  }

  /// The step that ran last to begin, or -1.
  step(running: Running): number {
    const of = running.isExact ? this.single! : this.all;
    return running.executions.length === 0 ? -1 : of.spans.step[running.executions[0]!]!;
  }

  /// The step in which a tile is busy then, or -1 where it waits.
  busy(running: Running, tile: number): number {
    const of = running.isExact ? this.single! : this.all;
    for (const execution of running.executions) {
      const step = of.spans.step[execution]!;
      const own = running.isExact ? this.chip.window!.tileBegin(execution, tile) : this.begins[step]!.at(tile);
      if (own === kNoPart) {
        continue;
      }
      const { column, of: count } = this.cycles[step]!;
      const cycles = running.isExact ? this.chip.window!.tileCycles(execution, tile) / of.spans.times[execution]! : column.at(tile) / count;
      const since = of.since(execution, running.moment);
      if (since >= own && since < own + cycles) {
        return step;
      }
    }
    return -1;
  }
}
