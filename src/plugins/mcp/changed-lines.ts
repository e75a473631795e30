/** Lines that are looked at on either side for where two texts go on alike. */
const reach = 100;
/** Characters that are shown on either side of what has changed. */
const around = 60;

/**
 * The lines in which two texts differ, each behind `-` or `+` and below `@@ line N @@`, cut to shortly around what has
 * changed. Not always the fewest lines, but never wrong ones. With more than `most` characters the rest is left out,
 * and said to be.
 */
export function changedLines(before: string, after: string, most = 4000): string {
  const old = before.split("\n");
  const now = after.split("\n");
  const shown: string[] = [];
  let left = most;
  for (let i = 0, j = 0; i < old.length || j < now.length; ) {
    if (i < old.length && old[i] === now[j]) {
      i += 1;
      j += 1;
      continue;
    }
    const [removed, added] = untilAlike(old, i, now, j);
    const [gone, come] = cut(old.slice(i, i + removed).join("\n"), now.slice(j, j + added).join("\n"));
    const group = [`@@ line ${j + 1} @@`];
    if (removed > 0) group.push(`-${gone.replaceAll("\n", "\n-")}`);
    if (added > 0) group.push(`+${come.replaceAll("\n", "\n+")}`);
    const text = group.join("\n");
    if (text.length > left) return [...shown, text.slice(0, left), "@@ more lines have changed @@"].join("\n");
    left -= text.length + 1;
    shown.push(text);
    i += removed;
    j += added;
  }
  return shown.join("\n");
}

/** How many lines are gone and how many have come before both texts go on with the same line. */
function untilAlike(old: readonly string[], i: number, now: readonly string[], j: number): readonly [number, number] {
  const gone = old.slice(i, i + reach);
  const come = now.slice(j, j + reach);
  for (let distance = 1; distance < gone.length + come.length; distance += 1) {
    for (let added = Math.max(0, distance - gone.length + 1); added <= distance && added < come.length; added += 1) {
      if (gone[distance - added] === come[added]) return [distance - added, added];
    }
  }
  return [old.length - i, now.length - j];
}

/** Two texts from shortly before to shortly behind what differs. */
function cut(one: string, other: string): readonly [string, string] {
  const shortest = Math.min(one.length, other.length);
  let start = 0;
  while (start < shortest && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shortest - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const before = Math.max(0, start - around);
  const behind = Math.max(0, end - around);
  const part = (text: string): string =>
    `${before > 0 ? "…" : ""}${text.slice(before, text.length - behind)}${behind > 0 ? "…" : ""}`;
  return [part(one), part(other)];
}
