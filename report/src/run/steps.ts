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

/// The kernel whose name begins the step's: "layer: multiply" is of "layer".
function kernelOf(step: Step, names: string[]): string {
  return step.owner ?? names.find((name) => step.name === name || step.name.startsWith(name + ": ")) ?? (names.length === 1 ? names[0]! : "");
}

export function listedSteps(result: Result): ListedStep[] {
  const kernels: Kernel[] = result.kernels ?? [];
  const names = kernels.map((kernel) => kernel.name).filter((name) => name !== "control program").sort((a, b) => b.length - a.length);
  return kStepKinds.flatMap((kind) =>
    (result[kind.key] ?? []).map((step, index) => ({ step, kind, index, kernel: kernelOf(step, names) })),
  );
}

/// The largest of them by what `size` says.
export function largest<T>(all: T[], size: (one: T) => number, most: number): T[] {
  return [...all].sort((a, b) => size(b) - size(a)).slice(0, most);
}

export function sum(kinds: Record<string, number> | undefined): number {
  return Object.values(kinds ?? {}).reduce((total, value) => total + value, 0);
}
