import { describe, expect, it, onTestFinished } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import type { Change } from "../../src/server/change-feed.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { storageWith } from "../helpers/test-site.ts";

const nobody: Plugin = { name: "nobody", handle: () => ({ status: 403, headers: {} }) };

function site(config: FileServerConfig = {}): { files: FileServer; changes: Change[]; seen: unknown[] } {
  const seen: unknown[] = [];
  const log: Plugin = {
    name: "log",
    observe: ({ method, path, user }, { status }) => seen.push([method, path, user?.name, status]),
  };
  const storage = storageWith({ "/page.html": "<p>a</p><i>é</i>", "/a b.txt": "text" });
  const files = createFileServer({ storage, plugins: [log, nobody], ...config });
  onTestFinished(() => files.close());
  const changes: Change[] = [];
  files.changes.subscribe((change) => changes.push(change));
  return { files, changes, seen };
}

describe("files for the host program", () => {
  it("are read past all plugins, before the server is ready", async () => {
    const { files } = site();
    const { content, etag, matches } = await files.read("/a b.txt");
    expect([content.toString(), matches]).toEqual(["text", undefined]);
    expect(etag).toMatch(/^"/);
    expect((await files.fetch("/a%20b.txt")).status).toBe(403);
    const elements = await files.read("/page.html", "i:not(.é)");
    expect([elements.content.toString(), elements.matches]).toEqual(["<i>é</i>", 1]);
    expect(elements.etag).toMatch(/^"elements:/);
    expect(await files.read("/page.html", "b")).toEqual({ content: Buffer.from(""), etag: undefined, matches: 0 });
  });

  it("are stored, also on a condition and where clients may only read", async () => {
    const { files, changes } = site({ readOnly: true });
    const { created, etag } = await files.write("/new.txt", "one", { user: "ada" });
    expect([created, (await files.read("/new.txt")).etag]).toEqual([true, etag]);
    expect((await files.write("/new.txt", Buffer.from("two"), { ifMatch: etag })).created).toBe(false);
    const refused = { name: "HttpError", status: 412, code: "PRECONDITION_FAILED" };
    await expect(files.write("/new.txt", "three", { ifMatch: etag })).rejects.toMatchObject(refused);
    await expect(files.write("/new.txt", undefined as never)).rejects.toThrow("expected a string or a Uint8Array");
    expect((await files.read("/new.txt")).content.toString()).toBe("two");
    expect(changes.map(({ kind, user }) => [kind, user])).toEqual([
      ["created", "ada"],
      ["replaced", undefined],
    ]);
  });

  it("are edited by the same lists as by PATCH, and rejected with the same codes", async () => {
    const { files, changes, seen } = site();
    const done = await files.edit("/page.html", [{ op: "setText", selector: "p", text: "b" }], { user: "ada" });
    expect(done).toEqual({ etag: (await files.read("/page.html")).etag, edits: [{ matches: 1 }] });
    expect(changes).toMatchObject([{ kind: "elements-edited", method: "PATCH", user: "ada", host: "localhost" }]);
    expect(seen[0]).toEqual(["PATCH", "/page.html", "ada", 200]);
    await expect(files.edit("/page.html", [{ op: "test", selector: "p", matches: 2 }])).rejects.toMatchObject({
      code: "EDIT_PRECONDITION_FAILED",
      status: 412,
      index: 0,
    });
    await expect(files.edit("/page.html", [], { ifMatch: '"x"' })).rejects.toMatchObject({ status: 412 });
    await expect(files.edit("/none.html", [])).rejects.toMatchObject({ code: "NOT_FOUND" });
    await files.write("/folder/a.txt", "");
    for (const path of ["/folder", "/folder/"]) {
      await expect(files.read(path)).rejects.toMatchObject({ code: "IS_DIRECTORY" });
    }
    expect((await files.read("/.well-known/filement/listing.js")).content.length).toBeGreaterThan(1000);
    await expect(files.edit("/page.html", "x" as never)).rejects.toMatchObject({ code: "INVALID_EDIT" });
  });

  it("are shown to beforeWrite, and bounded as for clients", async () => {
    const { files } = site({ maxFileSize: 100, beforeWrite: ({ kind }) => (kind === "created" ? "other" : undefined) });
    await files.write("/b.txt", "x");
    expect((await files.read("/b.txt")).content.toString()).toBe("other");
    await expect(files.write("/c.txt", "x".repeat(101))).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
    for (const path of ["/../a", "/.hidden"]) {
      await expect(files.write(path, "x")).rejects.toMatchObject({ name: "HttpError" });
    }
  });

  it("are those of the host that is named", async () => {
    const hosts = {
      "a.example": { storage: storageWith({ "/x.txt": "a" }) },
      "b.example": { storage: storageWith({ "/x.txt": "b" }) },
    };
    const files = createFileServer({ hosts });
    onTestFinished(() => files.close());
    expect((await files.read("/x.txt")).content.toString()).toBe("a");
    expect((await files.read("/x.txt", undefined, { host: "b.example" })).content.toString()).toBe("b");
    await expect(files.read("/x.txt", undefined, { host: "c.example" })).rejects.toMatchObject({
      code: "UNKNOWN_HOST",
    });
  });

  it("are refused after close", async () => {
    const { files } = site();
    await files.close();
    await expect(files.read("/page.html")).rejects.toMatchObject({ code: "CLOSING" });
  });
});
