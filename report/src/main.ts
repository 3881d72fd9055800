// SPDX-License-Identifier: MIT
// The page: entries, their sections, and what shows that it is ready.
import { h, select } from "./dom";
import { readBlock, readPage, type Entry, type Page } from "./data";
import { parseRecording, type Recording } from "./recording";
import { comparisonSections } from "./compare/compare";
import { storeSections } from "./store/store";
import { runSections } from "./run/run";

export interface Section {
  title: string;
  /// Made when the page is; null: the entry has nothing of the kind.
  make: () => HTMLElement;
}

const recordings = new Map<string, Recording | string>();

/// The recording of an entry, or why it cannot be read; null where there is none.
async function recordingOf(entry: Entry): Promise<Recording | string | null> {
  const id = entry.recording;
  if (!id) {
    return null;
  }
  if (!recordings.has(id)) {
    try {
      recordings.set(id, parseRecording(await readBlock(id)));
    } catch (error) {
      recordings.set(id, error instanceof Error ? error.message : String(error));
    }
  }
  return recordings.get(id)!;
}

async function sectionsOf(page: Page, entry: Entry): Promise<Section[]> {
  if (entry.kind === "comparison") {
    const sides = entry.sides!.map((number) => page.entries[number]!);
    return comparisonSections(entry.comparison!, await Promise.all(sides.map(async (side) => ({ entry: side, recording: await recordingOf(side) }))));
  }
  if (entry.kind === "store") {
    return storeSections(entry.store!);
  }
  if (entry.kind === "failed") {
    return [{ title: "Failed", make: () => h("pre", {}, entry.message ?? "") }];
  }
  return runSections(page, entry, await recordingOf(entry));
}

let wanted = 0;

async function show(page: Page, number: number): Promise<void> {
  wanted = number;
  const entry = page.entries[number]!;
  const sections = await sectionsOf(page, entry);
  if (wanted !== number) {
    return; // another one was chosen meanwhile
  }
  const main = document.querySelector("main")!;
  const nav = document.querySelector("nav")!;
  const links = h("ul");
  const made: HTMLElement[] = [];
  sections.forEach((section, i) => {
    const id = `section-${i}`;
    links.append(h("li", {}, h("a", { href: `#${id}` }, section.title)));
    const start = performance.now();
    made.push(h("section", { id, "data-section": section.title }, h("h2", {}, section.title), section.make()));
    performance.measure(section.title, { start }); // for those who look why a page is slow
  });
  nav.replaceChildren(links);
  main.replaceChildren(h("h1", {}, entry.label), entry.source ? h("p", { class: "note" }, entry.source) : "", ...made);
  document.title = `${entry.label} - Tessera`;
  document.documentElement.dataset["shown"] = String(number + 1);
}

async function start(): Promise<void> {
  const page = await readPage();
  const names = page.entries.map((entry, i) => (page.entries.length > 1 ? `${i + 1}. ${entry.label}` : entry.label));
  if (names.length > 1) {
    document.querySelector("header")!.append(select("show", names, names[0]!, (_, index) => void show(page, index)));
  }
  await show(page, 0);
  document.documentElement.dataset["ready"] = String(Math.round(performance.now()));
}

start().catch((error: unknown) => {
  document.querySelector("main")!.replaceChildren(h("p", { class: "warning" }, `The page cannot be shown: ${String(error)}`));
  document.documentElement.dataset["failed"] = String(error);
});
