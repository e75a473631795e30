import { describe, expect, it, onTestFinished } from "vitest";
import { placeFor } from "../../src/elements/document-places.ts";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import type { BeforeWrite } from "../../src/server/before-write.ts";
import { storageWith } from "../helpers/test-site.ts";

const large = 1024 * 1024;

/** Takes places for large documents, and gives them back in the end. */
async function takePlaces(count: number): Promise<(() => void)[]> {
  const places = await Promise.all(Array.from({ length: count }, () => placeFor({ address: "" }, large)));
  onTestFinished(() => void places.map((leave) => leave()));
  return places;
}

/** Begins something; gives the names of what has come to its end, in order. */
function orderOf(begun: Readonly<Record<string, Promise<unknown>>>): string[] {
  const ended: string[] = [];
  for (const [name, end] of Object.entries(begun)) void end.then(() => ended.push(name));
  return ended;
}

describe("placeFor", () => {
  it("has a place for four large documents, then for the next when one is done with, and for small ones meanwhile", async () => {
    const [leave] = await takePlaces(4);
    const [fifth, sixth] = [placeFor({ address: "" }, large), placeFor({ address: "" }, large)];
    const ended = orderOf({ fifth, sixth });
    (await placeFor({ address: "" }, 1000))();
    expect(ended).toEqual([]);
    leave?.();
    const next = await fifth;
    (await placeFor({ address: "" }, 1000))();
    expect(ended).toEqual(["fifth"]);
    next();
    (await sixth)();
  });
});

describe("large pages", () => {
  const page = `<p>${"x".repeat(300 * 1024)}</p><i></i>`;
  const pages = Array.from({ length: 6 }, (_, index) => `/${index}.html`);
  const edit = (files: FileServer, path: string, text: string): Promise<unknown> =>
    files.edit(path, [{ op: "setText", selector: "i", text }]);

  it("are read and edited a few at a time; what is known is read, and short pages are edited meanwhile", async () => {
    const storage = storageWith({ "/known.html": page, "/new.html": page, "/short.html": "<i></i>" });
    const files = createFileServer({ storage });
    await files.read("/known.html", "i");
    const [leave] = await takePlaces(4);
    const first = { read: files.read("/new.html", "i"), edited: edit(files, "/known.html", "1") };
    const ended = orderOf(first);
    await files.read("/known.html", "i");
    await edit(files, "/short.html", "1");
    expect(ended).toEqual([]);
    leave?.();
    await Promise.all([first.read, first.edited]);
    expect(String((await files.read("/known.html", "i")).content)).toBe("<i>1</i>");
  });

  it("are waited for by one of all that read them", async () => {
    const files = createFileServer({ storage: storageWith({ "/new.html": page }) });
    const [leave] = await takePlaces(4);
    const most = placeFor({ address: "" }, 128 * large - 400 * 1024); // leaves no room for two pages
    await expect(placeFor({ address: "" }, large)).rejects.toMatchObject({ status: 503, code: "OVERLOADED" });
    const reading = [1, 2, 3].map(() => files.read("/new.html", "i"));
    await new Promise((turn) => setTimeout(turn));
    leave?.();
    (await most)();
    expect((await Promise.all(reading)).map(({ matches }) => matches)).toEqual([1, 1, 1]);
  });

  it.each(["GET", "OPTIONS", "DELETE"])("give their places back where %s of them fails", async (method) => {
    const files = createFileServer({ storage: storageWith(Object.fromEntries(pages.map((each) => [each, page]))) });
    for (const each of pages) {
      const init = { method, headers: { range: "selector=p:nope" } };
      expect((await files.fetch(new Request(`http://localhost${each}`, init))).status).toBe(400);
    }
    for (const leave of await takePlaces(4)) leave();
  });

  it("may be edited by the host program while it is asked about others, however many those are", async () => {
    const beforeWrite: BeforeWrite = async ({ path }) => {
      if (path !== "/log.html") await edit(files, "/log.html", path.repeat(80_000));
    };
    const storage = storageWith(Object.fromEntries([...pages, "/log.html"].map((each) => [each, page])));
    const files = createFileServer({ storage, beforeWrite });
    await Promise.all(pages.map((each) => edit(files, each, "y".repeat(300 * 1024))));
    expect(String((await files.read("/log.html", "i")).content)).toMatch(/^<i>(?:\/\d\.html){80000}<\/i>$/);
  });
});
