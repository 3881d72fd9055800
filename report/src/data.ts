// SPDX-License-Identifier: MIT
// What the page is about: blocks of deflated data in the document, and their types.
import type { Value } from "./table";

export interface ByKind {
  [kind: string]: number;
}

export interface Range {
  min: number;
  mean: number;
  max: number;
}

export interface StepCounts {
  worker_issues?: ByKind;
  worker_bundles?: ByKind;
  matrix_steps?: ByKind;
  vector_operations?: ByKind;
  memory_bytes?: ByKind;
  words?: ByKind;
  stream_bytes?: ByKind;
  supervisor_instructions?: ByKind;
  launches?: number;
  barriers?: number;
}

export interface Step {
  name: string;
  owner?: string;
  role: string;
  executions: number;
  cycles: number;
  slowest_cycles: number;
  mean_cycles: number;
  bound_cycles: number;
  critical_bound_cycles: number;
  tile_cycles: Range;
  active_tiles: number;
  slowest_tile: number;
  critical_tile: number;
  sentence: string;
  counts?: StepCounts;
  /// Of compute sets, over all tiles: of each launch the cycles of the busiest worker, and of the mean one.
  busiest_worker_cycles?: Range;
  mean_worker_cycles?: Range;
  bytes?: number;
  sent_bytes?: number;
  direction?: string;
  peer?: string;
  transfer_cycles?: number;
}

export interface Kernel {
  name: string;
  cycles: number;
  percent: number;
  compute: number;
  exchange: number;
  sync: number;
  stream: number;
  link?: number;
  rearrange_cycles: number;
}

export interface Energy {
  total_j: number;
  low_j?: number;
  high_j?: number;
  mean_w?: number;
  pj_per_flop?: number | null;
  outside_steps_j?: number;
  by_kind?: Record<string, number>;
  /// Of what a step counted, and of the time that it took.
  steps?: { name: string; kind: string; events_j: number; idle_j: number }[];
}

/// The keys of a result (`tessera schema result`) that the page reads. Of an estimate most are absent.
export interface Result {
  mode?: string;
  sentence: string;
  cycles: number;
  seconds: number;
  flops?: number;
  tflops?: number;
  peak_tflops?: number;
  fraction_of_peak?: number;
  gbytes_per_s?: number;
  ceiling?: { fraction: number; tflops: number; units: string };
  matrix_unit?: { macs_per_cycle: number; memory_bytes_per_cycle: number };
  check?: { sentence?: string; passed?: boolean; [key: string]: unknown } | null;
  phases?: ByKind;
  explanation?: Record<string, { cycles: number; percent: number }>;
  kernels?: Kernel[];
  compute_sets?: Step[];
  exchanges?: Step[];
  streams?: Step[];
  link_exchanges?: Step[];
  critical_path?: { cycles: ByKind; sentence: string; tile: number; tile_cycles: number; tiles: number };
  tiles?: Record<string, Range>;
  tiles_busy?: number;
  tiles_busy_by_kind?: ByKind;
  memory?: {
    max_bytes: number; mean_bytes: number; tile_bytes: number; worst_tile: number; peak_step: string;
    max_bytes_by_kind: ByKind; worst_tile_bytes_by_kind: ByKind;
  };
  counts?: StepCounts;
  energy?: Energy;
  area?: Record<string, number>;
  chips?: Record<string, number>[];
  edges?: Record<string, number>[];
  timing?: Record<string, unknown>;
  notes?: string[];
  host?: { wall_s?: number; simulate_s?: number; threads?: number; peak_rss_bytes?: number };
  digests?: Record<string, string>;
  estimate?: { family: string; gap: { least: number; mean: number; most: number } };
  machine: {
    name: string;
    chip: { tiles: number; clock_hz: number; generation: string };
    tile?: { workers?: number; pipeline_cycles?: number };
    exchange?: { fabric?: string; lane_bytes?: number };
    [key: string]: unknown;
  };
  workload: { name: string; [key: string]: unknown };
}

/// `tessera run --memory` (docs/formats/memory.md).
export interface MemoryReport {
  tile_bytes: number;
  steps: { steps: string; name: string; max_bytes: number; mean_bytes: number; worst_tile: number;
    max_bytes_by_kind: ByKind; mean_bytes_by_kind: ByKind }[];
  tiles: { tiles: string; always_bytes: number; always_bytes_by_kind: ByKind; peak_step: number; peak_bytes: number;
    free_bytes: number; peak_not_always_bytes_by_kind: ByKind }[];
  buffers: { name: string; kind: string; bytes: number; address: number; first_step: number; last_step: number; tiles: string }[];
}

export interface StoreColumn {
  path: string;
  /// Numbers (null: nothing), or indices of `words` (-1: nothing).
  numbers?: (number | null)[];
  indices?: number[];
  words?: string[];
}

export interface Listing {
  head: string[];
  rows: Value[][];
}

export interface Store {
  folder: string;
  points: number;
  rows: number;
  seed: number | null;
  statuses: Record<string, number>;
  reasons: string[];
  warnings: string[];
  changed: string[];
  objectives: { path: string; text: string; is_max: boolean }[];
  constraints: string[];
  columns: StoreColumn[];
  front: number[];
  best: number[];
  base: number[];
  tables: { best: Listing; front: Listing; sensitivity: Listing };
}

/// A change of cycles and why.
export interface Reason {
  reason: string;
  sentence: string;
  cycles: number;
}

/// Steps that are alike in both results, with their numbers in the results' lists of their kind.
export interface StepChange {
  kind: string;
  name: string;
  steps_a: number;
  steps_b: number;
  a: number;
  b: number;
  reasons: Reason[];
  members_a: number[];
  members_b: number[];
}

export interface Difference {
  path: string;
  a: unknown;
  b: unknown;
}

/// What `tessera diff --json` writes (configs/schemas/diff.schema.json), with the members of steps.
export interface Comparison {
  a: { name: string; cycles: number };
  b: { name: string; cycles: number };
  has_steps: boolean;
  settings: Difference[];
  plan: Difference[];
  figures: { path: string; a: number; b: number }[];
  change: number;
  reasons: Reason[];
  steps: StepChange[];
}

export interface Entry {
  kind: "run" | "store" | "failed" | "comparison";
  label: string;
  source: string;
  message?: string;
  result?: Result;
  memory?: MemoryReport | null;
  recording?: string | null;
  /// Why there is none.
  no_recording?: string;
  store?: Store;
  comparison?: Comparison;
  /// The numbers of the entries that are compared.
  sides?: [number, number];
}

export interface Page {
  version: string;
  model_version: number;
  entries: Entry[];
}

async function unpacked(id: string, format: CompressionFormat): Promise<ArrayBuffer> {
  const element = document.getElementById(id);
  const packed = Uint8Array.from(atob(element?.textContent?.trim() ?? ""), (letter) => letter.charCodeAt(0));
  element?.remove();
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream(format))).arrayBuffer();
}

export async function readPage(): Promise<Page> {
  return JSON.parse(new TextDecoder().decode(await unpacked("page", "deflate"))) as Page;
}

export function readBlock(id: string): Promise<ArrayBuffer> {
  return unpacked(id, "gzip");
}

/// The text of a cell of a store, and its number.
export function cell(column: StoreColumn, row: number): Value {
  if (column.numbers) {
    return column.numbers[row] ?? null;
  }
  const index = column.indices?.[row] ?? -1;
  return index < 0 ? null : column.words![index]!;
}

/// The numbers of "0-3,7".
export function tilesOf(text: string): number[] {
  const tiles: number[] = [];
  for (const part of text.split(",").filter(Boolean)) {
    const [first, last] = part.split("-").map(Number);
    for (let tile = first!; tile <= (last ?? first!); ++tile) {
      tiles.push(tile);
    }
  }
  return tiles;
}
