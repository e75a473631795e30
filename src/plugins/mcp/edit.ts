import type { Edit } from "../../html/edit/edits.ts";
import type { InspectedEdits } from "../../server/inspection.ts";
import { type Args, CallError, type Calls, pathOf } from "./calls.ts";
import { changedLines } from "./changed-lines.ts";
import { nearestTo } from "./page-looks.ts";

/** Makes a list of edits, and tells what each was about and which lines it changed. */
export async function edit(calls: Calls, { path: wanted, edits, ifMatch, dryRun = false }: Args): Promise<object> {
  const path = pathOf(wanted);
  const headers = { "content-type": "application/json", ...(ifMatch !== undefined && { "if-match": ifMatch }) };
  let failed = -1;
  let made: object = {};
  const edited = async ({ before, after, isReadable, matches, tagOf }: InspectedEdits): Promise<boolean> => {
    failed = matches.findIndex((number, index) => number === 0 && edits[index]?.matches !== 0);
    if (failed !== -1) return false;
    const done: object[] = [];
    for (const [index, number] of matches.entries()) {
      const etag = index < 20 ? await tagOf(edits[index]?.selector ?? "") : undefined;
      done.push({ ...(number !== undefined && { matches: number }), ...(etag !== undefined && { etag }) });
    }
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
async function withNow(calls: Calls, path: string, edits: readonly Edit[], error: CallError): Promise<CallError> {
  const { code, index } = error.told;
  const selector = edits[Number(index ?? -1)]?.selector ?? (code === "PRECONDITION_FAILED" ? ":root" : undefined);
  if (selector === undefined || code === "INVALID_SELECTOR") return error;
  try {
    return new CallError({ ...error.told, now: await calls.look(path, selector, (page) => nearestTo(page, selector)) });
  } catch {
    return error; // which says more than why the page cannot be looked at
  }
}
