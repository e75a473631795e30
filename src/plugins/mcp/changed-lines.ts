/** Lines that are looked at for where two texts go on alike. */
const reach = 100;
/** Characters that are shown on either side of what has changed. */
const around = 60;

/**
 * The lines in which two texts differ, each behind `-` or `+` and below `@@ line N @@`, cut to shortly around what has
 * changed; not always the fewest. With more than `most` characters the rest is left out, and said to be.
 */
export function changedLines(before: string, after: string, most = 4000): string {
  const old = before.split("\n");
  const now = after.split("\n");
  let shown = "";
  for (let i = 0, j = 0; i < old.length || j < now.length; i += 1, j += 1) {
    if (old[i] === now[j]) continue;
    const [removed, added] = untilAlike(old.slice(i), now.slice(j));
    const [gone = "", come = ""] = cut(old.slice(i, i + removed).join("\n"), now.slice(j, j + added).join("\n"));
    shown += `${shown && "\n"}@@ line ${j + 1} @@`;
    if (removed > 0) shown += `\n-${gone.replaceAll("\n", "\n-")}`;
    if (added > 0) shown += `\n+${come.replaceAll("\n", "\n+")}`;
    if (shown.length > most) return `${shown.slice(0, most)}\n@@ more lines have changed @@`;
    i += removed;
    j += added;
  }
  return shown;
}

/** How many lines are gone and how many have come before both texts go on with the same line. */
function untilAlike(old: readonly string[], now: readonly string[]): readonly [number, number] {
  for (let distance = 1; distance < 2 * reach; distance += 1) {
    for (let added = 0; added <= distance; added += 1) {
      const line = old[distance - added];
      if (line !== undefined && line === now[added]) return [distance - added, added];
    }
  }
  return [old.length, now.length];
}

/** Two texts from shortly before to shortly behind what differs. */
function cut(one: string, other: string): readonly string[] {
  const shortest = Math.min(one.length, other.length);
  let start = 0;
  while (start < shortest && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shortest - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const [before, behind] = [Math.max(0, start - around), Math.max(0, end - around)];
  return [one, other].map(
    (text) => `${before > 0 ? "…" : ""}${text.slice(before, text.length - behind)}${behind > 0 ? "…" : ""}`,
  );
}
