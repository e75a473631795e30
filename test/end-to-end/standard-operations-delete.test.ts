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

  it.each<[string, string, number, (tag: string) => Record<string, string>]>([
    ["/a.txt", "If-Match names the tag", 204, (tag) => ({ "if-match": tag })],
    ["/a.txt", "If-Match names another", 412, () => ({ "if-match": '"other"' })],
    ["/a.txt", "If-None-Match is *", 412, () => ({ "if-none-match": "*" })],
    [
      "/a.txt",
      "If-Unmodified-Since is before it",
      412,
      () => ({ "if-unmodified-since": "Mon, 01 Jan 1990 00:00:00 GMT" }),
    ],
    ["/empty/", "If-Match is *", 204, () => ({ "if-match": "*" })],
    ["/empty/", "If-Match names a tag it has not", 412, () => ({ "if-match": '"other"' })],
  ])("of %s, where %s: %i", async (path, _condition, status, conditions) => {
    const site = await testSite(await make(files));
    const { etag = "" } = (await site.send("HEAD", path)).headers;
    const answer = await site.send("DELETE", path, { headers: conditions(etag) });
    expect(answer.status).toBe(status);
    expect((await site.everything()).includes(path)).toBe(status === 412);
    expect(answer.headers.etag !== undefined).toBe(status === 412);
  });
});
