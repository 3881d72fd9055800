// SPDX-License-Identifier: MIT
// The frame of every chart: title, note, tip under the pointer and by arrow keys, table, CSV and SVG.
import { button, download, fileName, h, s, type Child } from "./dom";
import { tableElement, csvButton, type Table } from "./table";

/// A place of a chart that has something to tell, in units of its viewBox.
export interface Mark {
  x: number;
  y: number;
  text: string;
}

export interface Drawing {
  svg: SVGSVGElement;
  marks: Mark[];
  /// Marks are bars, of which the pointer picks the one in its row.
  byRow?: boolean;
}

export interface FigureSpec {
  title: string;
  note?: string;
  draw: () => Drawing;
  table: () => Table;
  pick?: (mark: number) => void;
  controls?: Child[];
}

/// Colours that the colour-blind can tell apart (Okabe and Ito), by their names in the style sheet, for SVG files.
export const kColors: Record<string, string> = {
  ink: "#1b1f24", quiet: "#57606a", line: "#d0d7de", paper: "#ffffff",
  compute: "#0072b2", exchange: "#e69f00", sync: "#cc79a7", stream: "#009e73", link: "#56b4e9", idle: "#b8bec6",
  mark: "#d55e00", other: "#7f7f7f",
};
/// One after the other where things have no colour of their own.
export const kSeries = ["compute", "exchange", "stream", "sync", "link", "mark", "other", "idle"];

export function color(name: string): string {
  return `var(--${name})`;
}

/// The chart as a file: text stays text, colours are those of paper. `more` is further SVG, on top.
export function svgText(svg: SVGSVGElement, more = ""): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const box = svg.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(box.width));
  copy.setAttribute("height", String(box.height));
  copy.setAttribute("font-family", "Helvetica, Arial, sans-serif");
  copy.setAttribute("font-size", "12");
  for (const name of ["class", "tabindex", "role", "aria-label"]) {
    copy.removeAttribute(name);
  }
  copy.querySelectorAll(".cursor").forEach((cursor) => cursor.remove());
  copy.prepend(s("rect", { width: box.width, height: box.height, fill: kColors["paper"] }));
  const text = new XMLSerializer().serializeToString(copy);
  return text.replace(/var\(--([a-z]+)\)/g, (_, name: string) => kColors[name] ?? "#000000").replace(/<\/svg>$/, `${more}</svg>\n`);
}

export function figure(spec: FigureSpec): HTMLElement {
  const tip = h("div", { class: "tip", role: "status" });
  const stage = h("div", { class: "stage" });
  let drawing = spec.draw();
  let chosen = -1;
  const cursor = s("circle", { class: "cursor", r: 5, fill: "none", stroke: color("ink"), "stroke-width": 2, visibility: "hidden" });

  const show = (mark: number): void => {
    chosen = mark;
    const at = drawing.marks[mark];
    cursor.setAttribute("visibility", at ? "visible" : "hidden");
    tip.hidden = !at;
    if (!at) {
      return;
    }
    cursor.setAttribute("cx", String(at.x));
    cursor.setAttribute("cy", String(at.y));
    tip.textContent = at.text;
    const scale = drawing.svg.getBoundingClientRect().width / drawing.svg.viewBox.baseVal.width || 1;
    const left = at.x * scale;
    const isRight = left > stage.clientWidth * 0.6;
    tip.style.left = isRight ? "auto" : `${left + 10}px`;
    tip.style.right = isRight ? `${stage.clientWidth - left + 10}px` : "auto";
    tip.style.top = `${at.y * scale + 10}px`;
  };
  const nearest = (event: MouseEvent): number => {
    const box = drawing.svg.getBoundingClientRect();
    const scale = drawing.svg.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * scale;
    const y = (event.clientY - box.top) * scale;
    let best = -1;
    let least = drawing.byRow ? 14 ** 2 : 30 ** 2;
    drawing.marks.forEach((mark, i) => {
      const distance = drawing.byRow ? (mark.y - y) ** 2 + (1e-6 * (mark.x - x)) ** 2 : (mark.x - x) ** 2 + (mark.y - y) ** 2;
      if (distance < least) {
        least = distance;
        best = i;
      }
    });
    return best;
  };
  const place = (): void => {
    const svg = drawing.svg;
    svg.append(cursor);
    svg.tabIndex = 0;
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${spec.title}; arrow keys go through its ${drawing.marks.length} marks`);
    svg.addEventListener("mousemove", (event) => show(nearest(event)));
    svg.addEventListener("mouseleave", () => show(-1));
    svg.addEventListener("blur", () => show(-1));
    svg.addEventListener("click", (event) => {
      const mark = nearest(event);
      if (mark >= 0) {
        spec.pick?.(mark);
      }
    });
    svg.addEventListener("keydown", (event) => {
      const last = drawing.marks.length - 1;
      const to: Record<string, number> = {
        ArrowRight: Math.min(last, chosen + 1), ArrowDown: Math.min(last, chosen + 1),
        ArrowLeft: Math.max(0, chosen - 1), ArrowUp: Math.max(0, chosen - 1), Home: 0, End: last,
      };
      if (event.key in to) {
        show(to[event.key]!);
        event.preventDefault();
      } else if (event.key === "Enter" && chosen >= 0) {
        spec.pick?.(chosen);
      } else if (event.key === "Escape") {
        show(-1);
      }
    });
    stage.replaceChildren(svg, tip);
    show(-1);
  };
  place();

  const table = h("details", { class: "behind" }, h("summary", {}, "table"));
  const fill = (): void => {
    if (table.open && table.childElementCount === 1) {
      table.append(tableElement(spec.table()));
    }
  };
  table.addEventListener("toggle", fill);
  const frame = h("figure", { "data-figure": spec.title },
    h("figcaption", {}, h("strong", {}, spec.title), spec.note ? h("span", { class: "note" }, " " + spec.note) : ""),
    spec.controls ? h("div", { class: "tools" }, ...spec.controls) : "",
    stage,
    h("div", { class: "tools" },
      csvButton(spec.table),
      button("SVG", () => download(fileName(spec.title, ".svg"), "image/svg+xml", svgText(drawing.svg)), { title: "download the chart as SVG" })),
    table);
  redrawers.set(frame, () => {
    drawing = spec.draw();
    place();
    table.replaceChildren(table.firstElementChild!);
    fill();
  });
  return frame;
}

const redrawers = new WeakMap<HTMLElement, () => void>();

/// Draws a figure anew after its data or its controls have changed.
export function redraw(frame: HTMLElement): void {
  redrawers.get(frame)?.();
}
