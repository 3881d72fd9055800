// SPDX-License-Identifier: MIT
// Of a machine of several chips: what each did, and what went over its links.
import { h } from "../dom";
import type { Result } from "../data";
import { figure } from "../figure";
import * as format from "../format";
import { bars } from "../charts/bars";
import { kKinds, largest } from "./steps";

const kOfChip = [...kKinds, "idle"];

export function chips(result: Result): HTMLElement {
  const all = result.chips ?? [];
  const edges = result.edges ?? [];
  const busiest = largest(edges, (edge) => edge["link_bytes"] ?? 0, 25);
  const name = (edge: Record<string, number>): string => `chip ${edge["from"]} to ${edge["to"]}`;
  return h("div", {},
    figure({
      title: "Chips by kind of cycles",
      note: "Each chip's critical path; the other sections are of the chip that ends last.",
      draw: () => bars({
        bars: all.map((chip) => ({
          name: `chip ${chip["chip"]}`, parts: kOfChip.map((kind) => chip[kind] ?? 0),
          tip: `chip ${chip["chip"]}: ${kOfChip.map((kind) => `${kind} ${format.number(chip[kind] ?? 0)}`).join(", ")}`,
        })),
        parts: kOfChip.map((kind) => ({ name: kind, color: kind })), label: "cycles", nameWidth: 90,
      }),
      table: () => ({
        name: "chips", columns: [{ head: "chip", isNumber: true }, { head: "cycles", isNumber: true }, ...kOfChip.map((kind) => ({ head: kind, isNumber: true }))],
        rows: all.map((chip) => [chip["chip"] ?? null, chip["cycles"] ?? null, ...kOfChip.map((kind) => chip[kind] ?? 0)]),
      }),
    }),
    edges.length === 0 ? h("p", {}, "No link joins chips.") : figure({
      title: "Bytes over links",
      note: `Each way by itself; with what packets have besides their messages.${edges.length > busiest.length ? ` The ${busiest.length} busiest of ${format.number(edges.length)}; the table has all.` : ""}`,
      draw: () => bars({
        bars: busiest.map((edge) => ({
          name: name(edge), parts: [edge["bytes"] ?? 0, Math.max(0, (edge["link_bytes"] ?? 0) - (edge["bytes"] ?? 0))],
          tip: `${name(edge)}: ${format.bytes(edge["bytes"])} of messages, ${format.bytes(edge["link_bytes"])} over its links, ${format.number(edge["busy_cycles"])} busy cycles`,
        })),
        parts: [{ name: "messages", color: "link" }, { name: "packets besides", color: "idle" }], label: "bytes", isBytes: true, nameWidth: 130,
      }),
      table: () => ({
        name: "edges", columns: [{ head: "edge" }, ...["links", "bytes", "link_bytes", "busy_cycles", "most_waiting"].map((key) => ({ head: key.replace("_", " "), isNumber: true }))],
        rows: edges.map((edge) => [name(edge), ...["links", "bytes", "link_bytes", "busy_cycles", "most_waiting"].map((key) => edge[key] ?? null)]), sort: -4,
      }),
    }));
}
