import { readFileSync } from "node:fs";

/** One selector a line, as a JSON string: some hold line ends, NUL, or half a surrogate pair. */
function readLines(name: string): string[] {
  const lines = readFileSync(new URL(name, import.meta.url), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** Odd selectors that browsers take. */
export const acceptedSelectors: readonly string[] = readLines("selectors-accepted.txt");

/** Selectors for which `document.querySelectorAll` throws a `SyntaxError`. */
export const refusedSelectors: readonly string[] = readLines("selectors-refused.txt");

/** What Selectors 4 has and other browsers take, but not Chromium. */
export const beyondChromium: readonly string[] = [
  ...["[a=b s]", '[a="b"S]', ":lang('')", ":lang('*-CH')", ":lang(en, de)", ":lang('en', de)"],
  ...[":buffering", ":muted", ":paused", ":playing", ":seeking", ":stalled", ":volume-locked"],
];
