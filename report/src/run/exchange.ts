// SPDX-License-Identifier: MIT
// Words that went between tiles, and how near each exchange came to its bound.
import { h } from "../dom";
import type { Result } from "../data";
import { figure } from "../figure";
import * as format from "../format";
import { bars } from "../charts/bars";
import { largest } from "./steps";

export function exchange(result: Result): HTMLElement {
  const all = result.exchanges ?? [];
  if (all.length === 0) {
    return h("p", {}, "The run has no exchange: no word went from one tile to another.");
  }
  const shown = largest(all, (step) => step.cycles, 25);
  return h("div", {}, figure({
    title: "Exchanges beside their bounds",
    note: `The bound is the busiest lane's words, or the busiest link's.${all.length > shown.length ? ` The ${shown.length} with most cycles of ${format.number(all.length)}; the table has all.` : ""}`,
    draw: () => bars({
      bars: shown.map((step) => ({
        name: step.name, parts: [step.bound_cycles, Math.max(0, step.slowest_cycles - step.bound_cycles)],
        tip: `${step.name}: ${format.number(step.slowest_cycles)} cycles, bound ${format.number(step.bound_cycles)}; ${format.bytes(step.bytes)} to ${format.counted(step.active_tiles, "tile")}`,
      })),
      parts: [{ name: "bound", color: "exchange" }, { name: "beyond it", color: "idle" }], label: "cycles of the slowest tile, all executions",
    }),
    table: () => ({
      name: "exchanges",
      columns: [{ head: "exchange" }, { head: "role" }, { head: "times", isNumber: true }, { head: "cycles", isNumber: true }, { head: "slowest", isNumber: true }, { head: "bound", isNumber: true },
        { head: "bound of slowest", isNumber: true, text: (value) => format.percent(value as number | null) }, { head: "delivered", unit: "B", isNumber: true }, { head: "sent", unit: "B", isNumber: true },
        { head: "receivers a sent byte", isNumber: true }, { head: "tiles", isNumber: true }],
      rows: all.map((step) => [step.name, step.role, step.executions, step.cycles, step.slowest_cycles, step.bound_cycles,
        step.slowest_cycles > 0 ? step.bound_cycles / step.slowest_cycles : null, step.bytes ?? null, step.sent_bytes ?? null, step.sent_bytes ? (step.bytes ?? 0) / step.sent_bytes : null, step.active_tiles]),
      sort: -4,
    }),
  }));
}
