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
 * Prints what servers managed, each also in proportion to the last, which stands for what is possible.
 *
 * @param {string} title
 * @param {readonly { name: string, load: import("./load.mjs").Load }[]} results
 */
export function printLoads(title, results) {
  const best = results.at(-1)?.load.requestsPerSecond ?? 0;
  const rows = results.map(({ name, load }) => [
    name,
    number(load.requestsPerSecond),
    number(load.megabytesPerSecond),
    load.p99.toFixed(1),
    `${Math.round((100 * load.requestsPerSecond) / best)} %`,
  ]);
  printTable(title, ["server", "requests/s", "MB/s", "p99 ms", "of the last"], rows);
}

/**
 * @param {number} value
 * @returns {string}
 */
function number(value) {
  return value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 1 : 0 });
}
