// SPDX-License-Identifier: MIT
// The recording of a run (docs/formats/recording.md): what each tile did in each step, and when.

export type ColumnPart = number | { type: "u32" | "f64"; offset: number };

interface Header {
  schema_version: number;
  tiles: number;
  clock_hz: number;
  cycles: number;
  steps: { kind: string; index: number; name: string; executions: number; columns: Record<string, ColumnPart> }[];
  executions: { count: number; step: ColumnPart; begin: ColumnPart; end: ColumnPart; times: ColumnPart };
  releases?: { count: number; last_arrival: ColumnPart; cycle: ColumnPart; critical: ColumnPart; times?: ColumnPart };
  tiles_by_kind?: Record<string, ColumnPart>;
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
}

export interface RecordedStep {
  kind: string;
  /// Its number in the result's list of its kind.
  index: number;
  name: string;
  executions: number;
  has: (column: string) => boolean;
  column: (name: string) => TileColumn;
}

export interface Recording {
  tiles: number;
  clockHz: number;
  cycles: number;
  steps: RecordedStep[];
  executions: { count: number; step: Numbers; begin: Numbers; end: Numbers; times: Numbers };
  releases: { count: number; lastArrival: Numbers; cycle: Numbers; critical: Numbers };
  kinds: Record<string, Numbers>;
}

/// A tile that had no part in a step begins then.
export const kNoPart = 0xffffffff;

const kMagic = "TSRECORD";

/// @throws Error where the bytes are no recording that this page knows
export function parseRecording(buffer: ArrayBuffer): Recording {
  const bytes = new Uint8Array(buffer);
  const magic = new TextDecoder().decode(bytes.subarray(0, kMagic.length));
  if (magic !== kMagic) {
    throw new Error("it is no recording");
  }
  const headerBytes = new DataView(buffer).getUint32(kMagic.length, true);
  const start = kMagic.length + 4;
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(start, start + headerBytes))) as Header;
  if (header.schema_version !== 1) {
    throw new Error(`it has version ${header.schema_version}, and this page knows version 1`);
  }
  const data = start + headerBytes;
  const numbers = (part: ColumnPart | undefined, count: number): Numbers => {
    if (part === undefined || typeof part === "number") {
      return new Float64Array(count).fill(part ?? 0);
    }
    const size = part.type === "u32" ? 4 : 8;
    const from = data + part.offset;
    // arrays of numbers start at multiples of their size
    const slice = from % size === 0 ? buffer : buffer.slice(from, from + count * size);
    const at = from % size === 0 ? from : 0;
    return part.type === "u32" ? new Uint32Array(slice, at, count) : new Float64Array(slice, at, count);
  };
  const { executions, releases, tiles } = header;
  const steps = header.steps.map((step): RecordedStep => ({
    kind: step.kind,
    index: step.index,
    name: step.name,
    executions: step.executions,
    has: (column) => column in step.columns,
    column: (name) => {
      const isCycles = ["least", "most", "first", "last"].includes(name) && !(name in step.columns);
      const part = step.columns[isCycles ? "cycles" : name];
      return typeof part === "object" ? new TileColumn(tiles, 0, numbers(part, tiles)) : new TileColumn(tiles, part ?? 0, null);
    },
  }));
  const released = releases?.count ?? 0;
  return {
    tiles,
    clockHz: header.clock_hz,
    cycles: header.cycles,
    steps,
    executions: {
      count: executions.count,
      step: numbers(executions.step, executions.count),
      begin: numbers(executions.begin, executions.count),
      end: numbers(executions.end, executions.count),
      times: numbers(executions.times, executions.count),
    },
    releases: {
      count: released,
      lastArrival: numbers(releases?.last_arrival, released),
      cycle: numbers(releases?.cycle, released),
      critical: numbers(releases?.critical, released),
    },
    kinds: Object.fromEntries(
      Object.entries(header.tiles_by_kind ?? {}).map(([kind, part]) => [kind, numbers(part, tiles)]),
    ),
  };
}

/// The colour of a step's kind.
export function colorOf(kind: string): string {
  return { compute_set: "compute", exchange: "exchange", stream: "stream", link_exchange: "link" }[kind] ?? "other";
}
