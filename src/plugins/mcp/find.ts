import { documentKind } from "../../http/selector-range.ts";
import { type Args, CallError, type Calls, directoryOf, pathOf } from "./calls.ts";
import { findIn } from "./page-looks.ts";

/** Looked at by one call of `find`: listings and pages. */
const mostLooks = 60;
const mostFound = 40;

/** Some entries of a directory, and the name to go on after. */
export interface Listing {
  readonly entries: readonly { readonly name: string; readonly type: string; readonly size: number }[];
  readonly next?: string;
}

export async function listing(calls: Calls, path: string, after: string | undefined, limit: number): Promise<Listing> {
  const query = new URLSearchParams({ limit: String(limit), ...(after !== undefined && { after }) });
  const answer = await calls.json({ method: "GET", path, search: `?${query}` });
  const { entries = [], next } = answer as Partial<Listing>;
  const following = new URLSearchParams(next?.slice(1)).get("after");
  return { entries, ...(following !== null && { next: following }) };
}

/** Finds in a page, or in the pages below a directory for as long as the work is bounded. */
export async function findBelow(calls: Calls, { path, selector, text, after }: Args): Promise<object> {
  if (selector === undefined && text === undefined) {
    throw new CallError({ code: "NOTHING_WANTED", message: "Say a selector or a text." });
  }
  const found: object[] = [];
  const look = async (page: string): Promise<void> => {
    const most = mostFound - found.length;
    const inPage = await calls.look(page, selector ?? ":root", (seen) => findIn(seen, text, most));
    found.push(...inPage.map((each) => ({ path: page, ...each })));
  };
  const start = pathOf(path);
  if (documentKind(start)) {
    await look(start);
    return { found };
  }
  const directory = directoryOf(start);
  const last = after === undefined ? directory : pathOf(after);
  if (!last.startsWith(directory)) {
    throw new CallError({ code: "INVALID_QUERY", message: "`after` has to be `next` of an answer, or left out." });
  }
  let looks = 0;
  for await (const { page, passed } of pagesBelow(calls, directory, last.slice(directory.length))) {
    looks += 1;
    if (page !== undefined) {
      await look(page).catch((error: unknown) => {
        const code = error instanceof CallError ? error.told["code"] : undefined;
        if (code === undefined || code === "INVALID_SELECTOR") throw error; // the others are about this page only
      });
    }
    const isEnough = looks >= mostLooks || found.length >= mostFound;
    if (isEnough && passed !== directory) return { found, next: passed };
  }
  return { found };
}

/** The pages below a directory in order, after a path in it; none after a listing. All up to `passed` was gone through. */
async function* pagesBelow(
  calls: Calls,
  directory: string,
  after: string,
): AsyncGenerator<{ page?: string; passed: string }> {
  const [, inside, rest] = /^([^/]+\/)(.+)$/.exec(after) ?? [];
  if (inside && rest) yield* pagesBelow(calls, directory + inside, rest);
  let place = inside ?? (after || undefined);
  do {
    const { entries, next } = await listing(calls, directory, place, 50);
    for (const { name, type } of entries) {
      const path = directory + name;
      if (type === "directory") yield* pagesBelow(calls, `${path}/`, "");
      else if (documentKind(name)) yield { page: path, passed: path };
    }
    place = next;
    yield { passed: place === undefined ? directory : directory + place };
  } while (place !== undefined);
}
