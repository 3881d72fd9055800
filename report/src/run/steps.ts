// SPDX-License-Identifier: MIT
// The steps of a result, of all kinds in one list, with the kernels that they are of.
import type { Kernel, Result, Step } from "../data";

export const kKinds = ["compute", "exchange", "sync", "stream", "link"] as const;

export interface KindOfStep {
  key: "compute_sets" | "exchanges" | "streams" | "link_exchanges";
  kind: string;
  color: string;
  word: string;
}

export const kStepKinds: KindOfStep[] = [
  { key: "compute_sets", kind: "compute_set", color: "compute", word: "compute set" },
  { key: "exchanges", kind: "exchange", color: "exchange", word: "exchange" },
  { key: "streams", kind: "stream", color: "stream", word: "stream copy" },
  { key: "link_exchanges", kind: "link_exchange", color: "link", word: "link exchange" },
];

export interface ListedStep {
  step: Step;
  kind: KindOfStep;
  /// Its number in the result's list of its kind.
  index: number;
  kernel: string;
}

/// The kernel whose name begins the step's, the longest of several: "layer: multiply" is of "layer".
function kernelOf(step: Step, names: Set<string>): string {
  if (step.owner !== undefined) {
    return step.owner;
  }
  for (let end = step.name.length; end > 0; end = step.name.lastIndexOf(": ", end - 1)) {
    if (names.has(step.name.slice(0, end))) {
      return step.name.slice(0, end);
    }
  }
  return names.size === 1 ? [...names][0]! : "";
}

const known = new WeakMap<Result, ListedStep[]>();

export function listedSteps(result: Result): ListedStep[] {
  let listed = known.get(result);
  if (!listed) {
    const kernels: Kernel[] = result.kernels ?? [];
    const names = new Set(kernels.map((kernel) => kernel.name).filter((name) => name !== "control program"));
    listed = kStepKinds.flatMap((kind) => (result[kind.key] ?? []).map((step, index) => ({ step, kind, index, kernel: kernelOf(step, names) })));
    known.set(result, listed);
  }
  return listed;
}

/// The largest of them by what `size` says.
export function largest<T>(all: T[], size: (one: T) => number, most: number): T[] {
  return [...all].sort((a, b) => size(b) - size(a)).slice(0, most);
}

export function sum(kinds: Record<string, number> | undefined): number {
  return Object.values(kinds ?? {}).reduce((total, value) => total + value, 0);
}
