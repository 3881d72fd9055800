// SPDX-License-Identifier: MIT
// Tables that sort and filter, and their CSV.
import { button, download, fileName, h } from "./dom";
import * as format from "./format";

export type Value = string | number | null;

export interface Column {
  head: string;
  unit?: string;
  /// Numbers stand right and sort by size.
  isNumber?: boolean;
  /// The text of a cell; by default numbers with separators.
  text?: (value: Value) => string;
}

export interface Table {
  name: string;
  columns: Column[];
  rows: Value[][];
  /// The column that rows are sorted by at first: its index plus 1; negative: the largest first.
  sort?: number;
}

export function csv(table: Table): string {
  const field = (value: Value): string => {
    const text = value === null ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const head = table.columns.map((column) => (column.unit ? `${column.head} (${column.unit})` : column.head));
  return [head, ...table.rows].map((row) => row.map(field).join(",") + "\r\n").join("");
}

export function csvButton(table: () => Table): HTMLButtonElement {
  return button("CSV", () => download(fileName(table().name, ".csv"), "text/csv", csv(table())), {
    title: "download the table as CSV",
  });
}

function cellText(column: Column, value: Value): string {
  if (column.text) {
    return column.text(value);
  }
  return value === null ? "" : typeof value === "number" ? format.number(value, 6) : value;
}

function compare(left: Value, right: Value, down: boolean): number {
  if (left === null || right === null) {
    return left === right ? 0 : left === null ? 1 : -1; // what has nothing there comes last
  }
  const order =
    typeof left === "number" && typeof right === "number"
      ? left - right
      : String(left).localeCompare(String(right), "en", { numeric: true });
  return down ? -order : order;
}

const kFirstRows = 100;
const kManyColumns = 10;

export interface TableOptions {
  filter?: boolean;
  /// Rows that are shown at first.
  most?: number;
  pick?: (row: number) => void;
}

/// The table as an element: heads sort, a box filters by words, long tables show more rows on demand.
export function tableElement(table: Table, options: TableOptions = {}): HTMLElement {
  const order = table.rows.map((_, row) => row);
  let sorted = table.sort ?? 0;
  let words = "";
  let most = options.most ?? kFirstRows;
  const body = h("tbody");
  const more = h("div", { class: "more" });
  const heads: HTMLTableCellElement[] = [];

  const draw = (): void => {
    const column = Math.abs(sorted) - 1;
    heads.forEach((head, i) => {
      head.setAttribute("aria-sort", i !== column ? "none" : sorted < 0 ? "descending" : "ascending");
    });
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = order.filter((row) => {
      const text = wanted.length === 0 ? "" : table.rows[row]!.map((value, i) => cellText(table.columns[i]!, value)).join(" ").toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
    if (sorted !== 0) {
      shown = shown.sort((a, b) => compare(table.rows[a]![column]!, table.rows[b]![column]!, sorted < 0) || a - b);
    }
    const rows = shown.slice(0, most).map((row) => {
      const line = h("tr", { "data-row": row });
      table.rows[row]!.forEach((value, i) => {
        const isNumber = table.columns[i]!.isNumber;
        const text = cellText(table.columns[i]!, value);
        line.append(h(i === 0 ? "th" : "td", { class: isNumber ? "number" : text.length > 40 ? "long" : null, scope: i === 0 ? "row" : null,
          "data-value": typeof value === "number" ? value : null }, text));
      });
      if (options.pick) {
        line.tabIndex = 0;
        line.classList.add("pick");
        const pick = options.pick;
        line.addEventListener("click", () => pick(row));
        line.addEventListener("keydown", (event) => {
          if (event.key === "Enter") {
            pick(row);
          }
        });
      }
      return line;
    });
    body.replaceChildren(...rows);
    more.replaceChildren();
    if (shown.length > most) {
      more.append(
        `${format.number(most)} of ${format.counted(shown.length, "row")} `,
        button("show more", () => {
          most *= 5;
          draw();
        }),
      );
    } else if (shown.length === 0) {
      more.append(table.rows.length === 0 ? "no rows" : "no row has these words");
    }
  };

  const head = h("tr");
  table.columns.forEach((column, i) => {
    const cell = h("th", { scope: "col", class: column.isNumber ? "number" : null });
    cell.append(button(column.head, () => {
      sorted = Math.abs(sorted) === i + 1 ? -sorted : column.isNumber ? -(i + 1) : i + 1;
      draw();
    }), column.unit ? h("span", { class: "unit" }, " " + column.unit) : "");
    heads.push(cell);
    head.append(cell);
  });
  draw();
  const tools = h("div", { class: "tools" });
  if (options.filter || table.rows.length > 25) {
    const box = h("input", { type: "search", placeholder: "filter", "aria-label": `filter ${table.name}` });
    box.addEventListener("input", () => {
      words = box.value;
      most = options.most ?? kFirstRows;
      draw();
    });
    tools.append(box);
  }
  tools.append(csvButton(() => table));
  const shown = h("table", { class: table.columns.length > kManyColumns ? "wide" : null }, h("thead", {}, head), body);
  shown.style.setProperty("--columns", String(table.columns.length)); // by which paper sets its letters
  return h("div", { class: "table", "data-table": table.name }, tools, h("div", { class: "scroll" }, shown), more);
}
