// SPDX-License-Identifier: MIT
// Numbers as text, the same in every language of the browser.

/// 1,234,567 or 0.00123: as many digits as are of use.
export function number(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) {
    return "";
  }
  if (Number.isInteger(value) && Math.abs(value) < 1e15) {
    return grouped(String(value));
  }
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e15)) {
    return String(Number(value.toPrecision(digits)));
  }
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size || 1)));
  return grouped(value.toFixed(Math.min(decimals, 12)).replace(/\.?0+$/, (zeros) => (zeros.includes(".") ? "" : zeros)));
}

function grouped(text: string): string {
  const [whole, part] = text.split(".");
  const groups = whole!.replace(/\B(?=(\d{3})+$)/g, ",");
  return part === undefined ? groups : `${groups}.${part.replace(/0+$/, "") || "0"}`;
}

const kPrefixes: [number, string][] = [
  [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "u"], [1e-9, "n"], [1e-12, "p"],
];

/// 2.34 us, 1.85 GHz.
export function withPrefix(value: number | null | undefined, unit: string, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) {
    return "";
  }
  if (value === 0) {
    return `0 ${unit}`;
  }
  const size = Math.abs(value);
  const [scale, prefix] = kPrefixes.find(([least]) => size >= least) ?? kPrefixes[kPrefixes.length - 1]!;
  return `${number(Number((value / scale).toPrecision(digits)))} ${prefix}${unit}`;
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) {
    return "";
  }
  if (Math.abs(value) < 1024) {
    return `${number(value)} B`;
  }
  const power = Math.min(4, Math.floor(Math.log2(Math.abs(value)) / 10));
  return `${number(Number((value / 1024 ** power).toPrecision(4)))} ${["B", "KiB", "MiB", "GiB", "TiB"][power]}`;
}

export function percent(part: number | null | undefined, digits = 1): string {
  return part === null || part === undefined || !Number.isFinite(part) ? "" : `${(100 * part).toFixed(digits)} %`;
}

/// "1 tile", "3 tiles".
export function counted(count: number, word: string): string {
  return `${number(count)} ${word}${count === 1 ? "" : "s"}`;
}

/// Ticks of an axis: 1.2M, 350k.
export function tick(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e18 || (size > 0 && size < 1e-12)) {
    return value.toExponential();
  }
  const [scale, prefix] = kPrefixes.find(([least]) => size >= least) ?? [1, ""];
  return size >= 1e3 || (size > 0 && size < 1e-3)
    ? `${Number((value / scale).toPrecision(6))}${prefix}`
    : String(Number(value.toPrecision(6)));
}

/// A name that fits a chart; the whole of it is in the table and in the tip.
export function shortened(name: string, most: number): string {
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
}

/// The same of a step's name, whose end says most.
export function shortenedStep(name: string, most: number): string {
  return name.length <= most ? name : `…${name.slice(1 - most)}`;
}
