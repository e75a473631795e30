import { describe, expect, it } from "vitest";
import { storages, testSite } from "../helpers/test-site.ts";

describe.each(storages)("DELETE $where", ({ make }) => {
  const files = { "/a.txt": "a", "/full/b.txt": "b", "/empty/": "" };
  const paths = ["/a.txt", "/empty/", "/full/", "/full/b.txt"];

  it.each([
    ["/a.txt", "/a.txt"],
    ["/full/b.txt", "/full/b.txt"],
    ["/empty/", "/empty/"],
    ["/empty", "/empty/"],
  ])("removes %s: 204 without content", async (target, removed) => {
    const site = await testSite(await make(files));
    const { status, headers, bytes } = await site.send("DELETE", target);
    expect({ status, length: bytes.length }).toEqual({ status: 204, length: 0 });
    expect(headers["content-length"]).toBeUndefined();
    expect(await site.everything()).toEqual(paths.filter((path) => path !== removed));
    expect((await site.send("GET", target)).status).toBe(404);
  });

  it.each([
    ["/full/", 409, "DIRECTORY_NOT_EMPTY"],
    ["/full", 409, "DIRECTORY_NOT_EMPTY"],
    ["/", 403, "ROOT_DIRECTORY"],
    ["/empty/..", 403, "ROOT_DIRECTORY"],
    ["/no.txt", 404, "NOT_FOUND"],
    ["/no/", 404, "NOT_FOUND"],
    ["/a.txt/", 404, "NOT_FOUND"],
    ["/a.txt/b", 404, "NOT_FOUND"],
    ["/.env", 403, "FORBIDDEN_PATH"],
  ])("refuses %s: %i %s, and removes nothing", async (target, status, code) => {
    const site = await testSite(await make(files));
    const answer = await site.send("DELETE", target);
    expect({ status: answer.status, code: JSON.parse(answer.text).code }).toEqual({ status, code });
    expect([await site.everything(), site.changes]).toEqual([paths, []]);
  });

  it("does not remove a directory that holds hidden files only", async () => {
    const site = await testSite(await make({ "/dir/.hidden": "" }));
    expect((await site.send("DELETE", "/dir/")).status).toBe(409);
    expect(await site.everything()).toEqual(["/dir/", "/dir/.hidden"]);
  });
});
