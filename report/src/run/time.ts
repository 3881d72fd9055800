// SPDX-License-Identifier: MIT
// Where the time goes: the run by kind and by reason, kernels, and steps as a tree.
import { button, h } from "../dom";
import type { Result } from "../data";
import { figure } from "../figure";
import * as format from "../format";
import { csvButton, type Table, type Value } from "../table";
import { bars } from "../charts/bars";
import { kKinds, largest, listedSteps, type ListedStep } from "./steps";

const kReasons: Record<string, [color: string, sentence: string]> = {
  compute: ["compute", "compute, mean over all tiles"],
  exchange: ["exchange", "exchange, its bounds"],
  exchange_overhead: ["exchange", "exchange beyond its bounds"],
  sync: ["sync", "barriers"],
  stream: ["stream", "stream copies that the machine waited for"],
  link: ["link", "links that the machine waited for"],
  control: ["other", "control program"],
  reduction: ["compute", "partial results become one"],
  rearrangement: ["exchange", "data gets another layout"],
  unused_tiles: ["mark", "tiles without work"],
  uneven_splits: ["mark", "work split unevenly over tiles"],
  unequal_workers: ["mark", "work split unevenly over a tile's workers"],
};

const kCycles = { head: "cycles", isNumber: true };
const kShare = { head: "of the run", isNumber: true, text: (value: Value) => format.percent(value as number, 2) };

function reasons(result: Result): HTMLElement {
  const all = Object.entries(result.explanation ?? {}).filter(([, part]) => part.cycles > 0).sort((a, b) => b[1].cycles - a[1].cycles);
  return figure({
    title: "Why the cycles were spent",
    note: "The parts sum to the run.",
    draw: () => bars({
      bars: all.map(([key, part]) => ({
        name: kReasons[key]?.[1] ?? key,
        parts: kColored.map((color) => (color === (kReasons[key]?.[0] ?? "other") ? part.cycles : null)),
        tip: `${kReasons[key]?.[1] ?? key}: ${format.number(Math.round(part.cycles))} cycles, ${part.percent.toFixed(1)} %`,
      })),
      parts: kColored.map((color) => ({ name: kColorWords[color]!, color })),
      label: "cycles",
      nameWidth: 290,
    }),
    table: () => ({
      name: "reasons", columns: [{ head: "reason" }, { head: "key" }, kCycles, { head: "percent", isNumber: true }],
      rows: Object.entries(result.explanation ?? {}).map(([key, part]) => [kReasons[key]?.[1] ?? key, key, part.cycles, part.percent]),
      sort: -3,
    }),
  });
}
const kColored = ["compute", "exchange", "sync", "stream", "link", "other", "mark"];
const kColorWords: Record<string, string> = {
  compute: "compute", exchange: "exchange", sync: "sync", stream: "stream", link: "link", other: "control", mark: "imbalance",
};

function phases(result: Result): HTMLElement {
  const values = kKinds.map((kind) => result.phases?.[kind] ?? 0);
  return figure({
    title: "The run by kind of phase",
    note: "Cycles of the critical path: from one release to the next, those of the tile that arrives last.",
    draw: () => bars({
      bars: [{ name: "run", parts: values, tip: kKinds.map((kind, i) => `${kind} ${format.number(values[i]!)}`).join(", ") }],
      parts: kKinds.map((kind) => ({ name: kind, color: kind })), label: "cycles", nameWidth: 60,
    }),
    table: () => ({
      name: "phases", columns: [{ head: "kind" }, kCycles, kShare],
      rows: kKinds.map((kind, i) => [kind, values[i]!, values[i]! / result.cycles]),
    }),
  });
}

function kernels(result: Result): HTMLElement | null {
  const all = result.kernels ?? [];
  if (all.length < 2) {
    return null;
  }
  const shown = largest(all, (kernel) => kernel.cycles, 30);
  return figure({
    title: "Kernels",
    note: all.length > shown.length ? `The ${shown.length} with most cycles of ${format.number(all.length)}; the table has all.` : "",
    draw: () => bars({
      bars: shown.map((kernel) => ({
        name: kernel.name, parts: kKinds.map((kind) => kernel[kind] ?? 0),
        tip: `${kernel.name}: ${format.number(kernel.cycles)} cycles, ${format.percent(kernel.cycles / result.cycles)}`,
      })),
      parts: kKinds.map((kind) => ({ name: kind, color: kind })), label: "cycles",
    }),
    table: () => ({
      name: "kernels",
      columns: [{ head: "kernel" }, kCycles, kShare, ...kKinds.map((kind) => ({ head: kind, isNumber: true })), { head: "rearranging", isNumber: true }],
      rows: all.map((kernel) => [kernel.name, kernel.cycles, kernel.cycles / result.cycles, ...kKinds.map((kind) => kernel[kind] ?? 0), kernel.rearrange_cycles]),
      sort: -2,
    }),
  });
}

interface TreeNode {
  name: string;
  kind: string;
  role: string;
  executions: number | null;
  cycles: number;
  bound: number | null;
  mean: number | null;
  slowest: number | null;
  tip: string;
  children: TreeNode[];
}

function leaf({ step, kind, kernel }: ListedStep): TreeNode {
  return {
    name: step.name.startsWith(kernel + ": ") ? step.name.slice(kernel.length + 2) : step.name, kind: kind.word, role: step.role, executions: step.executions, cycles: step.cycles,
    bound: step.critical_bound_cycles, mean: step.mean_cycles, slowest: step.slowest_cycles, tip: step.sentence, children: [],
  };
}

function treeOf(result: Result, steps: ListedStep[]): TreeNode {
  const node = (name: string, cycles: number, children: TreeNode[]): TreeNode => ({
    name, kind: "", role: "", executions: null, cycles, bound: null, mean: null, slowest: null, tip: "", children,
  });
  const names = (result.kernels ?? []).map((kernel) => kernel.name);
  const known = new Set(names);
  const groups = new Map<string, TreeNode[]>(names.map((name) => [name, []]));
  const loose: TreeNode[] = [];
  for (const listed of steps) {
    (known.has(listed.kernel) ? groups.get(listed.kernel)! : loose).push(leaf(listed));
  }
  const kernels = (result.kernels ?? []).map((kernel): [string[], TreeNode] => {
    const children = groups.get(kernel.name)!;
    if (kernel.sync > 0) {
      children.push({ ...node("barriers", kernel.sync, []), kind: "sync" });
    }
    return [kernel.name.split("."), { ...node(kernel.name, kernel.cycles, children), kind: "kernel" }];
  });
  /// Kernels of one module of a model, `layer.attention`, are in one node.
  const grouped = (some: [string[], TreeNode][], depth: number): TreeNode[] => {
    const byWord = new Map<string, [string[], TreeNode][]>();
    for (const one of some) {
      const word = one[0].length > depth + 1 ? one[0][depth]! : "";
      byWord.set(word, [...(byWord.get(word) ?? []), one]);
    }
    return [...byWord].flatMap(([word, all]) => {
      if (word === "" || all.length === 1) {
        return all.map(([, kernel]) => kernel);
      }
      const children = grouped(all, depth + 1);
      const path = all[0]![0].slice(0, depth + 1).join(".");
      return [{ ...node(path, all.reduce((sum, [, kernel]) => sum + kernel.cycles, 0), children), kind: "module" }];
    });
  };
  const root = node(result.workload.name, result.cycles, grouped(kernels, 0));
  root.children.push(...loose);
  return root;
}

type Key = "name" | "kind" | "role" | "executions" | "cycles" | "bound" | "mean" | "slowest";
const kHeads: [Key, string][] = [
  ["name", "step"], ["kind", "kind"], ["role", "role"], ["executions", "times"], ["cycles", "cycles"], ["bound", "bound"], ["mean", "mean"], ["slowest", "slowest"],
];
const kMostChildren = 100;

/// A table whose rows open; siblings are sorted by the chosen column.
function tree(result: Result, steps: ListedStep[]): HTMLElement {
  const root = treeOf(result, steps);
  const open = new Set<TreeNode>([root]);
  const whole = new Set<TreeNode>();
  for (let only = root; only.children.length === 1; only = only.children[0]!) {
    open.add(only.children[0]!);
  }
  let by: Key = "cycles";
  let isDown = true;
  const body = h("tbody");
  const heads = new Map<Key, HTMLTableCellElement>();
  const order = (a: TreeNode, b: TreeNode): number => {
    const [left, right] = [a[by], b[by]];
    const value = typeof left === "string" ? left.localeCompare(String(right), "en", { numeric: true }) : (left ?? -1) - ((right as number | null) ?? -1);
    return isDown ? -value : value;
  };
  const rows = (node: TreeNode, depth: number): void => {
    const isOpen = open.has(node);
    const name = h("th", { scope: "row", class: node.name.length > 40 ? "long" : null, title: node.tip || null });
    name.style.paddingLeft = `${0.4 + 1.2 * depth}em`;
    if (node.children.length > 0) {
      name.append(button(isOpen ? "▾" : "▸", () => {
        if (!open.delete(node)) {
          open.add(node);
        }
        draw();
      }, { class: "fold", "aria-expanded": String(isOpen), "aria-label": `steps of ${node.name}` }));
    }
    name.append(node.name);
    const share = node.cycles / result.cycles;
    const bar = h("span", { class: "share" });
    bar.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
    const numbers = (["executions", "cycles", "bound", "mean", "slowest"] as const).map((key) =>
      h("td", { class: "number", "data-value": node[key] }, format.number(node[key] === null ? null : Math.round(node[key]!))));
    body.append(h("tr", {}, name, h("td", {}, node.kind), h("td", {}, node.role), ...numbers, h("td", { class: "number" }, format.percent(share, 2)), h("td", { class: "bar" }, bar)));
    if (isOpen) {
      const children = [...node.children].sort(order);
      const most = whole.has(node) ? children.length : kMostChildren;
      children.slice(0, most).forEach((child) => rows(child, depth + 1));
      if (children.length > most) {
        body.append(h("tr", {}, h("td", { colspan: kHeads.length + 2, class: "more" }, `${most} of ${format.counted(children.length, "row")} `,
          button("show all", () => {
            whole.add(node);
            draw();
          }))));
      }
    }
  };
  const draw = (): void => {
    heads.forEach((head, key) => head.setAttribute("aria-sort", key !== by ? "none" : isDown ? "descending" : "ascending"));
    body.replaceChildren();
    rows(root, 0);
  };
  const head = h("tr");
  for (const [key, word] of kHeads) {
    const isNumber = !["name", "kind", "role"].includes(key);
    const cell = h("th", { scope: "col", class: isNumber ? "number" : null });
    cell.append(button(word, () => {
      isDown = by === key ? !isDown : isNumber;
      by = key;
      draw();
    }));
    heads.set(key, cell);
    head.append(cell);
  }
  head.append(h("th", { scope: "col", class: "number" }, "of the run"), h("th", { scope: "col", class: "bar" }, ""));
  draw();
  const table = (): Table => ({
    name: "steps",
    columns: [{ head: "kernel" }, { head: "step" }, { head: "kind" }, { head: "role" }, { head: "times" }, { head: "cycles" }, { head: "bound" }, { head: "mean" }, { head: "slowest" }],
    rows: steps.map(({ step, kind, kernel }) => [kernel, step.name, kind.word, step.role, step.executions, step.cycles, step.critical_bound_cycles, step.mean_cycles, step.slowest_cycles]),
  });
  return h("div", { class: "table", "data-table": "tree" },
    h("div", { class: "tools" },
      button("open all", () => {
        const add = (node: TreeNode): void => {
          open.add(node);
          node.children.forEach(add);
        };
        add(root);
        draw();
      }),
      button("close all", () => {
        open.clear();
        open.add(root);
        draw();
      }),
      csvButton(table)),
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, head), body)));
}

export function time(result: Result): HTMLElement {
  if (!result.phases) {
    const kinds = ["compute", "exchange", "sync"];
    const plan = (result as unknown as { plan?: Record<string, unknown> }).plan ?? {};
    return h("p", {}, `An estimate has no steps. ${kinds.filter((kind) => typeof plan[kind] === "number").map((kind) => `${kind} ${format.number(plan[kind] as number)}`).join(", ")}`);
  }
  const steps = listedSteps(result);
  return h("div", {},
    phases(result), reasons(result), kernels(result) ?? "",
    h("h3", {}, "Steps"),
    h("p", { class: "note" }, "Cycles of a step are its part of the critical path. A bound is the fewest cycles in which what took these could have been done."),
    steps.length === 0 ? h("p", {}, "The run has no steps.") : tree(result, steps),
    result.critical_path ? h("p", {}, result.critical_path.sentence) : "");
}
