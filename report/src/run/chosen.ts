// SPDX-License-Identifier: MIT
// The chip whose recording a page shows. All sections follow one choice.
import { h, select } from "../dom";
import type { ChipRecording, Recording } from "../recording";

export class ChosenChip {
  private chosen: number;
  private readonly parts: (() => void)[] = [];

  constructor(private readonly recording: Recording) {
    this.chosen = recording.last;
  }

  /// What `make` makes of the chosen chip, and anew when another one is chosen.
  part(make: (chip: ChipRecording) => HTMLElement | null): HTMLElement {
    const { chips } = this.recording;
    const box = h("div");
    const words = chips.map((chip) => `chip ${chip.chip}${chip.isLast ? ", which ends last" : ""}`);
    const fill = (): void => {
      const choice = chips.length > 1 && h("div", { class: "tools" }, select("recording of", words, words[this.chosen]!, (_, i) => {
        this.chosen = i;
        this.parts.forEach((one) => one());
      }));
      const made = make(chips[this.chosen]!);
      box.replaceChildren(...[choice, made].filter((one): one is HTMLDivElement => one instanceof HTMLElement));
    };
    this.parts.push(fill);
    fill();
    return box;
  }
}
