// SPDX-License-Identifier: MIT
// The recording of a run (docs/formats/recording.md): what each tile of each chip did in each step, and when.

export type Place = number | { type: "u32" | "f64"; offset: number };

interface StepHeader {
  kind: string;
  index: number;
  name: string;
  executions: number;
  columns: Record<string, Place>;
  pairs?: { count: number; from: Place; to: Place; words: Place };
}

interface ChipHeader {
  chip: number;
  cycles: number;
  steps: StepHeader[];
  executions: { count: number; step: Place; begin: Place; end: Place; times: Place; left_out?: number };
  releases?: { count: number; last_arrival: Place; cycle: Place; critical: Place; times?: Place; left_out?: number };
  tiles_by_kind?: Record<string, Place>;
  window?: { from: number; to: number; count: number; left_out?: number; step: Place; begin: Place; times: Place; tile_begin: Place; tile_cycles: Place };
}

interface Header {
  schema_version: number;
  machine?: string;
  workload?: string;
  tiles: number;
  block_tiles?: number;
  clock_hz: number;
  cycles: number;
  last?: number;
  chips: ChipHeader[];
}

export type Numbers = Uint32Array | Float64Array;

/// A number of each tile; many columns have the same one for all.
export class TileColumn {
  constructor(
    readonly tiles: number,
    private readonly same: number,
    private readonly values: Numbers | null,
  ) {}

  at(tile: number): number {
    return this.values === null ? this.same : this.values[tile]!;
  }

  all(): Float64Array {
    return Float64Array.from({ length: this.tiles }, (_, tile) => this.at(tile));
  }

  sum(): number {
    let sum = this.values === null ? this.tiles * this.same : 0;
    for (let tile = 0; this.values !== null && tile < this.tiles; ++tile) {
      sum += this.values[tile]!;
    }
    return sum;
  }
}

/// Words that tiles of a block received from tiles of a block.
export interface Pairs {
  count: number;
  from: Numbers;
  to: Numbers;
  words: Numbers;
}

export interface RecordedStep {
  kind: string;
  /// Its number among the chip's steps of its kind; on the chip that ends last, in the result's list.
  index: number;
  name: string;
  executions: number;
  has: (column: string) => boolean;
  column: (name: string) => TileColumn;
  /// Of exchanges that move words.
  pairs: () => Pairs | null;
}

/// Single executions, in order of their begins, with what each tile did.
export interface RecordedWindow {
  from: number;
  to: number;
  leftOut: number;
  count: number;
  step: Numbers;
  begin: Float64Array;
  end: Float64Array;
  times: Numbers;
  tileBegin: (execution: number, tile: number) => number;
  tileCycles: (execution: number, tile: number) => number;
}

/// What one chip did.
export interface ChipRecording {
  chip: number;
  isLast: boolean;
  tiles: number;
  /// Tiles of a block.
  blockTiles: number;
  clockHz: number;
  cycles: number;
  steps: RecordedStep[];
  /// In order of their begins.
  executions: { count: number; step: Numbers; begin: Numbers; end: Numbers; times: Numbers; leftOut: number };
  releases: { count: number; lastArrival: Numbers; cycle: Numbers; critical: Numbers; leftOut: number };
  kinds: Record<string, Numbers>;
  window: RecordedWindow | null;
}

export interface Recording {
  chips: ChipRecording[];
  /// In `chips`: the one that ends last, of which the result's steps are.
  last: number;
}

/// A tile that had no part in a step begins then.
export const kNoPart = 0xffffffff;

const kMagic = "TSRECORD";
const kVersion = 2;
const kOfOneExecution = ["least", "most", "first", "last", "slowest"];

function sizeOf(type: "u32" | "f64"): number {
  return type === "u32" ? 4 : 8;
}

/// Reads what a place of the header says.
class Arrays {
  constructor(
    private readonly buffer: ArrayBuffer,
    private readonly data: number,
  ) {}

  /// @throws Error where the array reaches beyond the end
  check(place: Place | undefined, count: number): void {
    if (!Number.isInteger(count) || count < 0) {
      throw new Error("it is damaged: a length is none");
    }
    if (place === undefined || typeof place === "number") {
      return;
    }
    const end = this.data + place.offset + count * sizeOf(place.type);
    if (!(place.type === "u32" || place.type === "f64") || !Number.isInteger(place.offset) || place.offset < 0 || end > this.buffer.byteLength) {
      throw new Error("it is damaged: an array is not there");
    }
  }

  /// @throws Error as check()
  numbers(place: Place | undefined, count: number): Numbers {
    this.check(place, count);
    if (place === undefined || typeof place === "number") {
      return new Float64Array(count).fill(place ?? 0);
    }
    const size = sizeOf(place.type);
    const from = this.data + place.offset;
    // arrays of numbers start at multiples of their size
    const slice = from % size === 0 ? this.buffer : this.buffer.slice(from, from + count * size);
    const at = from % size === 0 ? from : 0;
    return place.type === "u32" ? new Uint32Array(slice, at, count) : new Float64Array(slice, at, count);
  }
}

function stepOf(step: StepHeader, tiles: number, arrays: Arrays): RecordedStep {
  const { pairs } = step;
  // a damaged recording is told when it is read
  Object.values(step.columns).forEach((place) => arrays.check(place, tiles));
  if (pairs !== undefined) {
    [pairs.from, pairs.to, pairs.words].forEach((place) => arrays.check(place, pairs.count));
  }
  return {
    kind: step.kind,
    index: step.index,
    name: step.name,
    executions: step.executions,
    has: (column: string) => column in step.columns,
    column: (name: string) => {
      const place = step.columns[kOfOneExecution.includes(name) && !(name in step.columns) ? "cycles" : name];
      return typeof place === "object" ? new TileColumn(tiles, 0, arrays.numbers(place, tiles)) : new TileColumn(tiles, place ?? 0, null);
    },
    pairs: () => (pairs === undefined ? null : {
      count: pairs.count, from: arrays.numbers(pairs.from, pairs.count), to: arrays.numbers(pairs.to, pairs.count), words: arrays.numbers(pairs.words, pairs.count),
    }),
  };
}

/// The places of numbers when these are in order.
function sorted(begin: Numbers): Uint32Array {
  const order = Uint32Array.from(begin, (_, i) => i);
  let isSorted = true;
  for (let i = 1; i < begin.length && isSorted; ++i) {
    isSorted = begin[i - 1]! <= begin[i]!;
  }
  return isSorted ? order : order.sort((a, b) => begin[a]! - begin[b]! || a - b);
}

function picked(values: Numbers, order: Uint32Array): Float64Array {
  return Float64Array.from(order, (from) => values[from]!);
}

function windowOf(window: NonNullable<ChipHeader["window"]>, tiles: number, arrays: Arrays, executions: ChipRecording["executions"]): RecordedWindow {
  const { count } = window;
  const begins = arrays.numbers(window.begin, count);
  const order = sorted(begins);
  const [step, begin, times] = [picked(arrays.numbers(window.step, count), order), picked(begins, order), picked(arrays.numbers(window.times, count), order)];
  const tileBegin = arrays.numbers(window.tile_begin, count * tiles);
  const tileCycles = arrays.numbers(window.tile_cycles, count * tiles);
  const place = (execution: number, tile: number): number => order[execution]! * tiles + tile;
  const known = new Map<string, number>();
  for (let i = 0; i < executions.count; ++i) {
    known.set(`${executions.step[i]} ${executions.begin[i]}`, executions.end[i]!);
  }
  const end = begin.map((from, execution) => {
    const told = known.get(`${step[execution]} ${from}`);
    if (told !== undefined) {
      return told;
    }
    let latest = from;
    for (let tile = 0; tile < tiles; ++tile) {
      const own = tileBegin[place(execution, tile)]!;
      latest = Math.max(latest, own === kNoPart ? from : from + own + tileCycles[place(execution, tile)]!);
    }
    return latest;
  });
  return {
    from: window.from, to: window.to, leftOut: window.left_out ?? 0, count, step, begin, end, times,
    tileBegin: (execution, tile) => tileBegin[place(execution, tile)]!,
    tileCycles: (execution, tile) => tileCycles[place(execution, tile)]!,
  };
}

function chipOf(chip: ChipHeader, header: Header, isLast: boolean, arrays: Arrays): ChipRecording {
  const { tiles } = header;
  const { executions, releases } = chip;
  const begins = arrays.numbers(executions.begin, executions.count);
  const order = sorted(begins);
  const inOrder = {
    count: executions.count,
    step: picked(arrays.numbers(executions.step, executions.count), order),
    begin: picked(begins, order),
    end: picked(arrays.numbers(executions.end, executions.count), order),
    times: picked(arrays.numbers(executions.times, executions.count), order),
    leftOut: executions.left_out ?? 0,
  };
  const window = chip.window ? windowOf(chip.window, tiles, arrays, inOrder) : null;
  const isStep = (number: number): boolean => number < chip.steps.length;
  if (!inOrder.step.every(isStep) || !(window?.step ?? []).every(isStep)) {
    throw new Error("it is damaged: an execution is of no step");
  }
  const released = releases?.count ?? 0;
  return {
    chip: chip.chip,
    isLast,
    tiles,
    blockTiles: header.block_tiles || 1,
    clockHz: header.clock_hz,
    cycles: chip.cycles,
    steps: chip.steps.map((step) => stepOf(step, tiles, arrays)),
    executions: inOrder,
    releases: {
      count: released,
      lastArrival: arrays.numbers(releases?.last_arrival, released),
      cycle: arrays.numbers(releases?.cycle, released),
      critical: arrays.numbers(releases?.critical, released),
      leftOut: releases?.left_out ?? 0,
    },
    kinds: Object.fromEntries(Object.entries(chip.tiles_by_kind ?? {}).map(([kind, place]) => [kind, arrays.numbers(place, tiles)])),
    window,
  };
}

/// @throws Error where the bytes are no recording that this page knows
export function parseRecording(buffer: ArrayBuffer): Recording {
  const bytes = new Uint8Array(buffer);
  const start = kMagic.length + 4;
  if (bytes.length < start || new TextDecoder().decode(bytes.subarray(0, kMagic.length)) !== kMagic) {
    throw new Error("it is no recording");
  }
  const data = start + new DataView(buffer).getUint32(kMagic.length, true);
  if (data > bytes.length) {
    throw new Error("it is damaged: its header is cut off");
  }
  let header: Header;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes.subarray(start, data))) as Header;
  } catch {
    throw new Error("it is damaged: its header is no JSON");
  }
  if (header.schema_version !== kVersion) {
    throw new Error(`it is of another version: ${header.schema_version}, and this page knows ${kVersion}`);
  }
  const last = header.last ?? 0;
  if (!Array.isArray(header.chips) || header.chips[last] === undefined || !(Number.isInteger(header.tiles) && header.tiles > 0)) {
    throw new Error("it is damaged: it has no chips or no tiles");
  }
  const arrays = new Arrays(buffer, data);
  try {
    return { chips: header.chips.map((chip, i) => chipOf(chip, header, i === last, arrays)), last };
  } catch (error) {
    throw error instanceof TypeError ? new Error("it is damaged: its header is not whole") : error;
  }
}

/// The colour of a step's kind.
export function colorOf(kind: string): string {
  return { compute_set: "compute", exchange: "exchange", stream: "stream", link_exchange: "link" }[kind] ?? "other";
}
