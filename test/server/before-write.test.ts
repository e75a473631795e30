import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { HttpError } from "../../src/http/http-error.ts";
import { guard } from "../../src/plugins/guard.ts";
import type { BeforeWrite, PendingWrite } from "../../src/server/before-write.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { storages, type TestSite, testSite } from "../helpers/test-site.ts";
import { content } from "../storage/content.ts";

const files = { "/a.txt": "old", "/page.html": "<ul id=l><li>1</li><li>2</li></ul>", "/dir/": "" };

describe.each(storages)("beforeWrite, with files $where", ({ make }) => {
  /** What the host program is asked, without the exchange; texts in place of bytes. */
  type Seen = Omit<PendingWrite, "exchange" | "content"> & { content?: string };

  async function site(beforeWrite: BeforeWrite, more: object = {}): Promise<TestSite & { seen: Seen[] }> {
    const seen: Seen[] = [];
    const noting: BeforeWrite = (write) => {
      const { exchange, ...rest } = write;
      seen.push("content" in rest ? { ...rest, content: Buffer.from(rest.content).toString() } : rest);
      return beforeWrite(write);
    };
    return { ...(await testSite(await make(files), { beforeWrite: noting, ...more })), seen };
  }

  it("sees every change with what is new, and of elements with what is old", async () => {
    const { send, seen, changes } = await site(() => {});
    await send("PUT", "/new.txt", { body: "new" });
    await send("PUT", "/a.txt", { body: "newer" });
    await send("POST", "/a.txt", { body: "+" });
    await send("POST", "/dir/", { headers: { "x-filename": "b.txt" }, body: "b" });
    await send("DELETE", "/a.txt");
    await send("PUT", "/page.html", { headers: { range: "selector=li:first-child" }, body: "<li>one</li>" });
    await send("POST", "/page.html", { headers: { range: "selector=ul" }, body: "<li>3</li>" });
    await send("DELETE", "/page.html", { headers: { range: "selector=li:nth-child(2)" } });
    const page = { path: "/page.html", matches: 1 };
    expect(seen).toEqual([
      { kind: "created", path: "/new.txt", content: "new" },
      { kind: "replaced", path: "/a.txt", content: "newer" },
      { kind: "appended", path: "/a.txt", content: "+" },
      { kind: "created", path: "/dir/b.txt", content: "b" },
      { kind: "deleted", path: "/a.txt", content: "" },
      { ...page, kind: "elements-replaced", selector: "li:first-child", before: "<li>1</li>", html: "<li>one</li>" },
      {
        ...page,
        kind: "elements-appended",
        selector: "ul",
        before: "<ul id=l><li>one</li><li>2</li></ul>",
        html: "<li>3</li>",
      },
      { ...page, kind: "elements-deleted", selector: "li:nth-child(2)", before: "<li>2</li>", html: "" },
    ]);
    expect(changes.map(({ kind }) => kind)).toEqual(seen.map(({ kind }) => kind));
  });

  it("refuses a change by throwing: nothing is changed, and nothing announced", async () => {
    const { send, textAt, changes } = await site(async ({ kind }) => {
      throw new HttpError(422, "NOT_VALID", `No ${kind}.`);
    });
    const answers = [
      await send("PUT", "/new.txt", { body: "new" }),
      await send("PUT", "/a.txt", { body: "new" }),
      await send("POST", "/a.txt", { body: "+" }),
      await send("DELETE", "/a.txt"),
      await send("POST", "/dir/", { headers: { "x-filename": "b.txt" }, body: "b" }),
      await send("PUT", "/page.html", { headers: { range: "selector=li" }, body: "<li>x</li>" }),
    ];
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([422]));
    const texts = await Promise.all(["/new.txt", "/a.txt", "/dir/b.txt"].map((path) => textAt(path)));
    expect(texts).toEqual([undefined, "old", undefined]);
    expect(await textAt("/page.html")).toBe(files["/page.html"]);
    expect(changes).toEqual([]);
  });

  it("puts other content in the place of what was sent", async () => {
    const { send, textAt, changes } = await site((write) =>
      "content" in write
        ? Buffer.from(write.content).toString().toUpperCase()
        : "html" in write
          ? write.html.replace("bad", "good")
          : undefined,
    );
    const put = await send("PUT", "/new.txt", { body: "new" });
    expect([put.status, JSON.parse(put.text).size]).toEqual([201, 3]);
    await send("POST", "/new.txt", { body: "+more" });
    expect(await textAt("/new.txt")).toBe("NEW+MORE");
    const edit = await send("PUT", "/page.html", { headers: { range: "selector=li" }, body: "<li>bad</li>" });
    expect([edit.status, edit.text]).toEqual([206, "<li>good</li><li>good</li>"]);
    const added = await send("POST", "/page.html", { headers: { range: "selector=ul" }, body: "<li>bad too</li>" });
    expect(added.text).toContain("<li>good too</li>");
    expect(changes.at(-1)?.html).toBe("<li>good too</li>");
  });

  it("sees the removal of a directory, and may keep it", async () => {
    let keeps = true;
    const { send, seen, everything } = await site(({ kind }) => {
      if (keeps) throw new HttpError(403, "KEPT", `Not ${kind}.`);
    });
    expect((await send("DELETE", "/dir/")).status).toBe(403);
    expect(await everything()).toContain("/dir/");
    keeps = false;
    expect((await send("DELETE", "/dir/")).status).toBe(204);
    expect(await everything()).not.toContain("/dir/");
    expect(seen.at(-1)).toEqual({ kind: "deleted", path: "/dir/", content: "" });
  });

  it("has to return HTML that fits", async () => {
    const { send, textAt } = await site(() => "<ul><li>x</div></ul>");
    const answer = await send("PUT", "/page.html", { headers: { range: "selector=ul" }, body: "<ul></ul>" });
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([400, "INVALID_HTML"]);
    expect(await textAt("/page.html")).toBe(files["/page.html"]);
  });

  it("fails where it returns content for what is to be deleted", async () => {
    const { send, textAt } = await site(() => "x", { onError: () => {} });
    expect((await send("DELETE", "/a.txt")).status).toBe(500);
    expect((await send("DELETE", "/page.html", { headers: { range: "selector=li" } })).status).toBe(500);
    expect(await textAt("/a.txt")).toBe("old");
  });

  it("is asked after permission and preconditions", async () => {
    const { send, seen } = await site(() => {});
    expect((await send("PUT", "/a.txt", { headers: { "if-none-match": "*" }, body: "x" })).status).toBe(412);
    expect((await send("DELETE", "/none.txt")).status).toBe(404);
    expect(seen).toEqual([]);
  });

  it("is asked in the async context of its request, and fails no change for another of the same server", async () => {
    const context = new AsyncLocalStorage<string>();
    const strange: string[] = [];
    const see = ({ exchange: { id } }: { readonly exchange: { readonly id: string } }): boolean =>
      context.getStore() === id || strange.push(id) > 0;
    const inContext: Plugin = { name: "in-context", handle: ({ id }, next) => context.run(id, next) };
    const { send } = await site((write) => void see(write), { plugins: [inContext, guard({ permits: see })] });
    const asked = Array.from({ length: 20 }, () => [
      send("PUT", "/a.txt", { body: "a" }),
      send("POST", "/a.txt", { body: "b" }),
      send("POST", "/page.html", { headers: { range: "selector=ul" }, body: "<li>" }),
    ]);
    const answers = await Promise.all(asked.flat());
    expect([answers.filter(({ status }) => status > 206), strange]).toEqual([[], []]);
  });

  it("is asked again where the file has changed before the change could be made", async () => {
    const contents: string[] = [];
    let meanwhile: (() => Promise<unknown>) | undefined;
    const { send, storage, textAt } = await site(async (write) => {
      contents.push(write.kind);
      await meanwhile?.();
      meanwhile = undefined;
    });
    const remove = (target: Storage) => target.remove("/a.txt");
    meanwhile = () => remove(storage);
    expect((await send("PUT", "/a.txt", { body: "mine" })).status).toBe(201);
    expect([contents, await textAt("/a.txt")]).toEqual([["replaced", "created"], "mine"]);
  });

  it("gives up where the file keeps changing", async () => {
    let count = 0;
    const { send, storage } = await site(async () => {
      count += 1;
      await storage.write("/a.txt", content(String(count)));
    });
    const answer = await send("DELETE", "/a.txt");
    expect([answer.status, JSON.parse(answer.text).code, count]).toEqual([409, "WRITE_CONFLICT", 10]);
  });
});
