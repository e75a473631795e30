import type { InspectedEdits } from "../../server/inspection.ts";
import { type Args, CallError, type Calls } from "./calls.ts";
import { nearestTo } from "./page-looks.ts";

/** Edits whose tags are told. */
const mostTags = 20;

/** Makes a list of edits, and tells what each was about and which lines it changed. */
export async function edit(calls: Calls, { path, edits, ifMatch, dryRun = false }: Args): Promise<object> {
  const headers = { "content-type": "application/json", ...(ifMatch !== undefined && { "if-match": ifMatch }) };
  let failed = -1;
  let made: object = {};
  const edited = async ({ before, after, isReadable, matches, tagOf }: InspectedEdits): Promise<boolean> => {
    failed = matches.findIndex((number, index) => number === 0 && edits[index]?.matches !== 0);
    if (failed !== -1) return false;
    const tags = await Promise.all(edits.slice(0, mostTags).map(({ selector }) => tagOf(selector)));
    const done = matches.map((number, index) => ({ matches: number, etag: tags[index] }));
    made = { edits: done, ...(isReadable && { diff: changedLines(before, after) }) };
    return !dryRun;
  };
  try {
    const content = JSON.stringify(edits);
    const answer = await calls.json({ method: "PATCH", path, headers, content, inspection: { edited } });
    if (failed === -1) return { etag: String(Reflect.get(answer, "etag")), ...made, isWritten: !dryRun };
    const message = `Nothing matches ${edits[failed]?.selector}; nothing was written.`;
    throw new CallError({ code: "NO_MATCH", message, index: failed });
  } catch (error) {
    throw error instanceof CallError ? await withNow(calls, path, edits, error) : error;
  }
}

/** An error with what is there now, as far as this user may know. */
async function withNow(calls: Calls, path: string, edits: Args["edits"], error: CallError): Promise<CallError> {
  const { code, index } = error.told;
  const selector = edits[Number(index ?? -1)]?.selector ?? (code === "PRECONDITION_FAILED" ? ":root" : undefined);
  if (selector === undefined || code === "INVALID_SELECTOR") return error;
  try {
    const now = await calls.look(path, selector, (page) => nearestTo(page, selector));
    return new CallError({ ...error.told, now }, error.status);
  } catch {
    return error; // which says more than why the page cannot be looked at
  }
}

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
  let shown = "";
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && old[i] === now[j]) {
      i += 1;
      j += 1;
      continue;
    }
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
  const [gone, come] = [old.slice(0, reach), now.slice(0, reach)];
  for (let distance = 1; distance < gone.length + come.length; distance += 1) {
    for (let added = Math.max(0, distance - gone.length + 1); added <= distance && added < come.length; added += 1) {
      if (gone[distance - added] === come[added]) return [distance - added, added];
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
