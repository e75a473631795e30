import { median } from "./rounds.mjs";

/**
 * Prints a table that a Markdown page can take as it is: the first column is text, the others are numbers.
 *
 * @param {string} title
 * @param {readonly string[]} columns
 * @param {readonly (readonly string[])[]} rows
 */
export function printTable(title, columns, rows) {
  const widths = columns.map((column, i) => Math.max(column.length, 4, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (/** @type {readonly string[]} */ cells) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(" | ")} |`;
  const rule = `|${widths.map((width, i) => (i === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  console.log([`**${title}**`, "", line(columns), rule, ...rows.map(line), ""].join("\n"));
}

/**
 * Prints what servers managed: first in proportion to others in the same round, which depends least on the machine.
 *
 * @param {string} title
 * @param {readonly { name: string, load: import("./rounds.mjs").Managed }[]} results
 * @param {readonly string[]} [references] Whom to compare with, where they are there; the last unless told otherwise.
 */
export function printLoads(title, results, references = []) {
  const chosen = results.filter(({ name }) => references.includes(name));
  const compared = chosen.length > 0 ? chosen : results.slice(-1);
  const rows = results.map(({ name, load }) => [
    name,
    ...compared.map((other) => median(load.rates.map((rate, i) => rate / (other.load.rates[i] ?? 0))).toFixed(2)),
    number(load.requestsPerSecond),
    number(load.megabytesPerSecond),
    load.p99.toFixed(1),
    load.processor?.toFixed(1) ?? "",
  ]);
  const measured = ["requests/s", "MB/s", "p99 ms", "processor µs"];
  const columns = ["server", ...compared.map(({ name }) => `of ${name}`), ...measured];
  printTable(title, columns, rows);
}

/** @param {number} value */
function number(value) {
  return value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 1 : 0 });
}
