/** Lines that are looked at on either side for where two texts go on alike. */
const reach = 100;
/** Comparisons of lines in all, so that no text takes long. */
const mostSteps = 500_000;
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
  let steps = 0;
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && old[i] === now[j]) {
      i += 1;
      j += 1;
      continue;
    }
    const [removed, added] = nextAlike();
    const [gone, come] = cut(old.slice(i, i + removed).join("\n"), now.slice(j, j + added).join("\n"));
    const lines = [...(removed > 0 ? marked("-", gone) : []), ...(added > 0 ? marked("+", come) : [])];
    for (const line of [`@@ line ${j + 1} @@`, ...lines]) {
      left -= line.length + 1;
      if (left < 0) return [...shown, "@@ more lines have changed @@"].join("\n");
      shown.push(line);
    }
    i += removed;
    j += added;
  }
  return shown.join("\n");

  /** How many lines are gone and how many have come before both go on with the same one. */
  function nextAlike(): readonly [removed: number, added: number] {
    for (let distance = 1; distance <= 2 * reach && steps < mostSteps; distance += 1) {
      for (let added = Math.max(0, distance - reach); added <= Math.min(distance, reach); added += 1) {
        const removed = distance - added;
        steps += 1;
        if (i + removed < old.length && j + added < now.length && old[i + removed] === now[j + added]) {
          return [removed, added];
        }
      }
    }
    return [old.length - i, now.length - j];
  }
}

/** Two texts from shortly before to shortly behind what differs. */
function cut(one: string, other: string): readonly [string, string] {
  const shortest = Math.min(one.length, other.length);
  let start = 0;
  while (start < shortest && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shortest - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const before = start > around ? start - around : 0;
  const behind = end > around ? end - around : 0;
  const part = (text: string): string =>
    `${before > 0 ? "…" : ""}${text.slice(before, text.length - behind)}${behind > 0 ? "…" : ""}`;
  return [part(one), part(other)];
}

function marked(mark: "-" | "+", text: string): string[] {
  return text.split("\n").map((line) => mark + line);
}
