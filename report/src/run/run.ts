// SPDX-License-Identifier: MIT
// The sections of a run.
import { h } from "../dom";
import type { Entry, Page } from "../data";
import type { Section } from "../main";
import type { Recording } from "../recording";
import { balance } from "./balance";
import { chips } from "./chips";
import { energy } from "./energy";
import { exchange } from "./exchange";
import { memory } from "./memory";
import { ceilings, issueSlots, roofline } from "./roofline";
import { summary } from "./summary";
import { time } from "./time";
import { timeline } from "./timeline";
import { kindsMap, wordsMap } from "./tiles";

/// A section with a part that only a recording has.
function joined(first: HTMLElement, second: HTMLElement | null | undefined): HTMLElement {
  if (second) {
    first.append(second);
  }
  return first;
}

export function runSections(page: Page, entry: Entry, recording: Recording | string | null): Section[] {
  const result = entry.result!;
  const first: Section[] = [
    { title: "Summary", make: () => summary(page, entry) },
    { title: "Where the time goes", make: () => time(result) },
  ];
  if (result.mode === "estimate") {
    return [...first, { title: "Ceilings", make: () => ceilings(result) }];
  }
  const recorded = typeof recording === "string" ? null : recording;
  const why = typeof recording === "string" ? `The recording cannot be shown: ${recording}` : entry.no_recording
      ? `The page has no recording. ${entry.no_recording}`
      : "A timeline comes from a recording, which this page does not have: tessera run --report makes one, and --out keeps one.";
  return [
    ...first,
    { title: "Timeline", make: () => (recorded ? timeline(recorded, result) : h("p", {}, why)) },
    { title: "Balance", make: () => joined(balance(result), recorded && kindsMap(recorded, result)) },
    { title: "Roofline", make: () => roofline(result) },
    { title: "Ceilings", make: () => ceilings(result) },
    { title: "Memory", make: () => memory(result, entry.memory) },
    { title: "Exchange", make: () => joined(exchange(result), recorded && wordsMap(recorded, result)) },
    ...(result.chips ? [{ title: "Chips", make: () => chips(result) }] : []),
    { title: "Issue slots", make: () => issueSlots(result) },
    { title: "Energy and area", make: () => energy(result) },
  ];
}
