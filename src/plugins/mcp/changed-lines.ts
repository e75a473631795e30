/** Lines that are looked at on either side for where two texts go on alike. */
const reach = 100;
/** Comparisons of lines in all, so that no text takes long. */
const mostSteps = 500_000;
/** Characters of a line that are shown around what has changed in it. */
const around = 60;

/**
 * The lines in which two texts differ, each behind `-` or `+` and below `@@ line N @@`; long lines are cut to what has changed.
 * Not always the fewest lines, but never wrong ones. With more than `most` characters the rest is left out, and said to be.
 */
export function changedLines(before: string, after: string, most = 4000): string {
  const old = before.split("\n");
  const now = after.split("\n");
  const shown: string[] = [];
  let length = 0;
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
    const gone = old.slice(i, i + removed);
    const come = now.slice(j, j + added);
    const pairs = gone.length === come.length ? gone.map((line, index) => cut(line, come[index] ?? "")) : undefined;
    const lines = pairs
      ? [...pairs.map(([line]) => `-${line}`), ...pairs.map(([, line]) => `+${line}`)]
      : [...gone.map((line) => `-${ends(line)}`), ...come.map((line) => `+${ends(line)}`)];
    for (const line of [`@@ line ${j + 1} @@`, ...lines]) {
      length += line.length + 1;
      if (length > most) return [...shown, "@@ more lines have changed @@"].join("\n");
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

/** Two lines from shortly before to shortly behind what differs. */
function cut(one: string, other: string): readonly [string, string] {
  const shortest = Math.min(one.length, other.length);
  let start = 0;
  while (start < shortest && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shortest - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const part = (line: string): string => {
    const from = start <= around ? 0 : start - around;
    const to = end <= around ? line.length : line.length - end + around;
    return `${from > 0 ? "…" : ""}${ends(line.slice(from, to))}${to < line.length ? "…" : ""}`;
  };
  return [part(one), part(other)];
}

function ends(line: string): string {
  return line.length <= 10 * around ? line : `${line.slice(0, 5 * around)}…${line.slice(-5 * around)}`;
}
