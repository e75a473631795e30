import type { SlicedWork } from "../../event-loop/sliced-work.ts";

/** Lines that are looked at for where two texts go on alike. */
const reach = 200;
/** Characters that are shown on either side of what has changed. */
const around = 60;

/**
 * The lines in which two texts differ, each behind `-` or `+` and below `@@ line N @@`, cut to shortly around what has
 * changed; not always the fewest. With more than `most` characters the rest is left out, and said to be.
 */
export function* changedLines(before: string, after: string, most = 4000): SlicedWork<string> {
  let shown = "";
  for (let i = 0, j = 0, line = 1; i <= before.length || j <= after.length; ) {
    yield;
    const [[same], [other]] = [linesFrom(before, i, 1), linesFrom(after, j, 1)];
    if (same !== undefined && same === other) {
      i += same.length + 1;
      j += same.length + 1;
      line += 1;
      continue;
    }
    const [old, now] = [linesFrom(before, i, reach), linesFrom(after, j, reach)];
    const [removed, added] = untilAlike(old, now);
    const oldEnd = removed === undefined ? before.length + 1 : i + lengthOf(old.slice(0, removed));
    const nowEnd = added === undefined ? after.length + 1 : j + lengthOf(now.slice(0, added));
    const [gone, come] = cut(before.slice(i, oldEnd - 1), after.slice(j, nowEnd - 1));
    shown += `${shown && "\n"}@@ line ${line} @@`;
    if (oldEnd > i) shown += `\n-${gone.slice(0, most).replaceAll("\n", "\n-")}`;
    if (nowEnd > j) shown += `\n+${come.slice(0, most).replaceAll("\n", "\n+")}`;
    if (shown.length > most) return `${shown.slice(0, most)}\n@@ more lines have changed @@`;
    [i, j] = [oldEnd, nowEnd];
    line += added ?? 0;
  }
  return shown;
}

/** Up to so many lines of a text from a place on; none behind its end. */
function linesFrom(text: string, from: number, count: number): string[] {
  const lines: string[] = [];
  for (let at = from; at <= text.length && lines.length < count; at += (lines.at(-1)?.length ?? 0) + 1) {
    const end = text.indexOf("\n", at);
    lines.push(text.slice(at, end === -1 ? text.length : end));
  }
  return lines;
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, { length }) => sum + length + 1, 0);
}

/** How many lines are gone and have come before both texts go on with the same line; nothing if they do not. */
function untilAlike(old: readonly string[], now: readonly string[]): readonly [number, number] | readonly [] {
  for (let distance = 1; distance < reach; distance += 1) {
    for (let added = 0; added <= distance; added += 1) {
      const line = old[distance - added];
      if (line !== undefined && line === now[added]) return [distance - added, added];
    }
  }
  return [];
}

/** Two texts from shortly before to shortly behind what differs. */
function cut(one: string, other: string): readonly [string, string] {
  const shortest = Math.min(one.length, other.length);
  let [start, end] = [0, 0];
  for (const step of [4096, 1]) {
    while (start + step <= shortest && one.startsWith(other.slice(start, start + step), start)) start += step;
  }
  for (const step of [4096, 1]) {
    const next = (): string => other.slice(other.length - end - step, other.length - end);
    while (start + end + step <= shortest && one.endsWith(next(), one.length - end)) end += step;
  }
  const [before, behind] = [Math.max(0, start - around), Math.max(0, end - around)];
  const shown = (text: string): string =>
    `${before > 0 ? "…" : ""}${text.slice(before, text.length - behind)}${behind > 0 ? "…" : ""}`;
  return [shown(one), shown(other)];
}
