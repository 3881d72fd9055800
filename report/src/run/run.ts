// SPDX-License-Identifier: MIT
// The sections of a run.
import { h } from "../dom";
import type { Entry, Page, Result } from "../data";
import type { Section } from "../main";
import type { ChipRecording, Recording } from "../recording";
import { balance } from "./balance";
import { ChosenChip } from "./chosen";
import { chips } from "./chips";
import { energy } from "./energy";
import { exchange } from "./exchange";
import { memory } from "./memory";
import { pairsMap } from "./pairs";
import { ceilings, roofline } from "./roofline";
import { contexts, issueSlots } from "./slots";
import { summary } from "./summary";
import { time } from "./time";
import { timeline } from "./timeline";
import { kindsMap, wordsMap } from "./tiles";

/// A section with parts that only a recording has.
function joined(first: HTMLElement, ...more: (HTMLElement | null | false)[]): HTMLElement {
  first.append(...more.filter((one): one is HTMLElement => one instanceof HTMLElement));
  return first;
}

function exchangeMaps(chip: ChipRecording, result: Result): HTMLElement {
  return joined(h("div"), pairsMap(chip), wordsMap(chip, result));
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
  const chosen = recording !== null && typeof recording !== "string" && new ChosenChip(recording);
  const why = typeof recording === "string" ? `The recording cannot be shown: ${recording}` : entry.no_recording
      ? `The page has no recording. ${entry.no_recording}`
      : "A timeline comes from a recording, which this page does not have: tessera run --report makes one, and --out keeps one.";
  return [
    ...first,
    { title: "Timeline", make: () => (chosen ? chosen.part((chip) => timeline(chip, result)) : h("p", {}, why)) },
    { title: "Balance", make: () => joined(balance(result), chosen && chosen.part((chip) => kindsMap(chip, result))) },
    { title: "Roofline", make: () => roofline(result) },
    { title: "Ceilings", make: () => ceilings(result) },
    { title: "Memory", make: () => memory(result, entry.memory) },
    { title: "Exchange", make: () => joined(exchange(result), chosen && chosen.part((chip) => exchangeMaps(chip, result))) },
    ...(result.chips ? [{ title: "Chips", make: () => chips(result) }] : []),
    { title: "Issue slots", make: () => joined(issueSlots(result), chosen && chosen.part((chip) => contexts(chip, result))) },
    { title: "Energy and area", make: () => energy(result) },
  ];
}
