import { describe, expect, it } from "vitest";
import { endlessBody } from "../helpers/pieces.ts";
import { rawRequest } from "../helpers/serve.ts";
import { storages, testSite } from "../helpers/test-site.ts";

const named = (name: string, body = "content") => ({ body, headers: { "x-filename": name } });

describe.each(storages)("POST to a directory $where", ({ make }) => {
  it("creates the file that X-Filename names: 201, Location, validators, and what was stored", async () => {
    const site = await testSite(await make({ "/inbox/": "" }));
    const { status, headers, text } = await site.send("POST", "/inbox/", named("a.txt", "hello"));
    const now = (await site.send("HEAD", "/inbox/a.txt")).headers;
    expect({ status, location: headers.location }).toEqual({ status: 201, location: "/inbox/a.txt" });
    expect(JSON.parse(text)).toEqual({ path: "/inbox/a.txt", size: 5, etag: now.etag });
    expect([headers.etag, headers["last-modified"]]).toEqual([now.etag, now["last-modified"]]);
    expect(await site.textAt("/inbox/a.txt")).toBe("hello");
  });

  it.each(["/inbox", "/inbox/", "/", "//inbox/.."])("does so at %s", async (path) => {
    const site = await testSite(await make({ "/inbox/": "" }));
    const { status, headers } = await site.send("POST", path, named("a.txt"));
    expect(status).toBe(201);
    expect((await site.send("GET", headers.location ?? "")).text).toBe("content");
  });

  it.each([
    ["na%C3%AFve.txt", "naïve.txt"],
    ["na\u00c3\u00afve.txt", "naïve.txt"],
    ["a, b.txt", "a, b.txt"],
    ['quo"te.txt', 'quo"te.txt'],
  ])("reads the name %s", async (field, name) => {
    const site = await testSite(await make());
    const { status, text } = await site.send("POST", "/", named(field));
    expect({ status, path: JSON.parse(text).path }).toEqual({ status: 201, path: `/${name}` });
    expect(await site.everything()).toEqual([`/${name}`]);
  });

  const missing = [undefined, "", "  "];
  const invalid = ["../b.txt", "a%2Fb.txt", "..", "\u00e9.txt"];
  const hidden = [".env", "%2eenv", ".filement-1-1-1.tmp", "nul", "a.txt:stream", "a.txt."];
  it.each([
    ...missing.map((name) => [name, 400, "MISSING_FILENAME"] as const),
    ...invalid.map((name) => [name, 400, "INVALID_FILENAME"] as const),
    ...hidden.map((name) => [name, 403, "FORBIDDEN_PATH"] as const),
  ])("answers the name %s with %i %s, and stores nothing", async (name, status, code) => {
    const site = await testSite(await make({ "/inbox/": "" }));
    const headers = name === undefined ? {} : { "x-filename": name };
    const answer = await site.send("POST", "/inbox/", { body: "x", headers });
    expect({ status: answer.status, code: JSON.parse(answer.text).code }).toEqual({ status, code });
    expect(await site.everything()).toEqual(["/inbox/"]);
  });

  it("answers 400 INVALID_FILENAME to two X-Filename fields", async () => {
    const { port, everything } = await testSite(await make());
    const lines = ["X-Filename: a.txt", "X-Filename: b.txt", "Content-Length: 1"];
    const { status, body } = await rawRequest(port, "POST", "/", lines, "x");
    expect({ status, code: JSON.parse(body).code }).toEqual({ status: 400, code: "INVALID_FILENAME" });
    expect(await everything()).toEqual([]);
  });

  it.each(["taken.txt", "taken"])("answers 409 where %s exists already, and writes nothing", async (name) => {
    const site = await testSite(await make({ "/taken.txt": "old", "/taken/": "" }));
    const { status, text } = await site.send("POST", "/", named(name));
    expect({ status, code: JSON.parse(text).code }).toEqual({ status: 409, code: "FILE_EXISTS" });
    expect([await site.textAt("/taken.txt"), site.changes]).toEqual(["old", []]);
    expect(await site.everything()).toEqual(["/taken.txt", "/taken/"].sort());
  });

  it("judges conditions by the file that would be created", async () => {
    const site = await testSite(await make());
    const send = (headers: Record<string, string>) =>
      site.send("POST", "/", { body: "x", headers: { "x-filename": "a.txt", ...headers } });
    expect((await send({ "if-match": '"any"' })).status).toBe(412);
    expect(await site.everything()).toEqual([]);
    expect((await send({ "if-none-match": "*" })).status).toBe(201);
  });

  it("refuses more than the size limit, and leaves nothing: 413", async () => {
    const site = await testSite(await make(), { maxFileSize: 10 });
    const answer = await site.send("POST", "/", { headers: { "x-filename": "a.txt" }, body: endlessBody("01234") });
    expect(answer.status).toBe(413);
    expect(await site.everything()).toEqual([]);
  });
});
