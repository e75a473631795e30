import { describe, expect, it } from "vitest";
import { mcp } from "../../src/plugins/mcp.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { connectAgent } from "../helpers/agent.ts";
import { serve } from "../helpers/serve.ts";

const page = `<!DOCTYPE html>
<title>To do</title>
<main id="main">
<h1>Things to do</h1>
<ul id="list">
<li id="kite">Fly a kite</li>
<li id="boat">Sail a boat</li>
</ul>
</main>
`;

const stored = () => ({
  "/to-do.html": page,
  "/notes.txt": "Größe: 1\n".repeat(50),
  "/sub/deep.html": "<p>A <b>boat</b>",
});

async function agent(files: Record<string, string | Uint8Array> = stored()) {
  const storage = memoryStorage(files);
  const served = await serve({ storage, plugins: [mcp()] });
  return { ...served, ...(await connectAgent(served.url)) };
}

describe("mcp", () => {
  it("offers tools that say whether they change something", async () => {
    const { client } = await agent();
    const { tools } = await client.listTools();
    const changing = tools.filter(({ annotations }) => annotations?.readOnlyHint === false).map(({ name }) => name);
    expect(tools.map(({ name }) => name)).toEqual([
      ...["list", "outline", "read", "find", "edit", "write", "delete", "move"],
    ]);
    expect(changing).toEqual(["edit", "write", "delete", "move"]);
  });

  it("offers none that changes something where the host takes no changes", async () => {
    const { url } = await serve({ storage: memoryStorage(stored()), readOnly: true, plugins: [mcp()] });
    const { client } = await connectAgent(url);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(["list", "outline", "read", "find"]);
  });

  it("lists a directory, in parts", async () => {
    const files = Object.fromEntries(Array.from({ length: 230 }, (_, index) => [`/f${1000 + index}.txt`, "x"]));
    const { call } = await agent(files);
    const first = await call("list", { path: "/" });
    const second = await call("list", { path: "", after: first.told.next });
    expect([first.told.entries.length, second.told.entries.length, second.told.next]).toEqual([200, 30, undefined]);
  });

  it("outlines a page with selectors that select just each element", async () => {
    const { call } = await agent();
    const { told } = await call("outline", { path: "/to-do.html" });
    expect(told.outline.split("\n")).toEqual([
      'html > head > title "To do" (20)',
      "#main main (128)",
      '#main > h1 h1 "Things to do" (21)',
      "#list ul 2 li (81)",
      "#kite li (29)",
      "#boat li (30)",
    ]);
  });

  it("outlines a page of 90 KB in fewer than 2,000 tokens", async () => {
    const item = (index: number) =>
      `<section id="s${index}"><h2>Section ${index}</h2><p>${"text ".repeat(40)}</p><ul><li>a</li></ul></section>`;
    const long = `<!DOCTYPE html><main>${Array.from({ length: 330 }, (_, index) => item(index)).join("\n")}</main>`;
    expect(long.length).toBeGreaterThan(90_000);
    const { call } = await agent({ "/long.html": long });
    const { told } = await call("outline", { path: "/long.html" });
    expect(JSON.stringify(told).length).toBeLessThan(2000 * 3);
    expect(told.more).toMatch(/elements are left out/);
    const part = await call("outline", { path: "/long.html", selector: "#s300" });
    expect(part.told.outline).toMatch(/^#s300 section/);
  });

  it("reads elements with their selectors and tags, in parts", async () => {
    const { call } = await agent();
    const all = await call("read", { path: "/to-do.html", selector: "li" });
    expect(all.told.elements.map(({ selector }: { selector: string }) => selector)).toEqual(["#kite", "#boat"]);
    const long = `<p>${"x".repeat(150)}</p>`;
    const parts = await agent({ "/a.html": long.repeat(3) });
    const first = await parts.call("read", { path: "/a.html", selector: "p", maxCharacters: 200 });
    expect(first.told).toMatchObject({ matches: 3, next: 1, elements: [{ html: long }] });
    const second = await parts.call("read", { path: "/a.html", selector: "p", maxCharacters: 200, from: 1 });
    expect(second.told).toMatchObject({ matches: 3, next: 2 });
  });

  it("reads a text file in parts, without cutting a character in two", async () => {
    const { call } = await agent();
    let text = "";
    for (let from: number | undefined = 0; from !== undefined; ) {
      const { told } = await call("read", { path: "/notes.txt", from, maxCharacters: 101 });
      text += told.content;
      from = told.next;
    }
    expect(text).toBe(stored()["/notes.txt"]);
  });

  it("does not read a file that is not text", async () => {
    const { call } = await agent({ "/a.bin": Buffer.from([0xff, 0, 1]) });
    expect(await call("read", { path: "/a.bin" })).toMatchObject({ isError: true, told: { code: "NOT_TEXT" } });
  });

  it("finds text and selectors below a directory, in parts", async () => {
    const { call } = await agent();
    const byText = await call("find", { path: "/", text: "a  BOAT" });
    expect(byText.told.found).toMatchObject([
      { path: "/sub/deep.html", selector: "html > body > p" },
      { path: "/to-do.html", selector: "#boat" },
    ]);
    const many = await agent(
      Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`/${index}/a.html`, "<p>x"])),
    );
    const found: unknown[] = [];
    let after: string | undefined;
    do {
      const { told } = await many.call("find", { path: "/", selector: "p", ...(after !== undefined && { after }) });
      found.push(...told.found);
      after = told.next;
    } while (after !== undefined);
    expect(found).toHaveLength(100);
  });

  it("edits elements, and answers with the changed lines", async () => {
    const { call, files } = await agent();
    const edits = [
      { op: "setText", selector: "#kite", text: "Fly <two> kites", matches: 1 },
      { op: "insert", selector: "#list", position: "beforeend", html: "<li>Row</li>\n" },
    ];
    const dry = await call("edit", { path: "/to-do.html", edits, dryRun: true });
    expect((await files.read("/to-do.html")).content.toString()).toBe(page);
    const { told } = await call("edit", { path: "/to-do.html", edits });
    expect(told.diff).toBe(
      '@@ line 6 @@\n-<li id="kite">Fly a kite</li>\n+<li id="kite">Fly &lt;two&gt; kites</li>\n@@ line 8 @@\n+<li>Row</li>',
    );
    expect(dry.told).toMatchObject({ isWritten: false, diff: told.diff, edits: told.edits });
    const { etag } = await files.read("/to-do.html", "#kite");
    expect(told.edits[0]).toEqual({ matches: 1, etag });
  });

  it("makes no edit of a list in which one selects nothing, and names what is near", async () => {
    const { call, files } = await agent();
    const edits = [
      { op: "remove", selector: "#kite" },
      { op: "setText", selector: "main #kites", text: "x" },
    ];
    const { isError, told } = await call("edit", { path: "/to-do.html", edits });
    expect(isError).toBe(true);
    expect(told).toMatchObject({ code: "NO_MATCH", index: 1, now: { matches: 0 } });
    expect(told.now.near).toContainEqual({ selector: "main", matches: 1 });
    expect(told.now.near).toContainEqual({ selector: "#kite", matches: 1 });
    expect((await files.read("/to-do.html")).content.toString()).toBe(page);
  });

  it("refuses an edit of what has changed, and says what is there", async () => {
    const { call, files } = await agent();
    const { told } = await call("read", { path: "/to-do.html", selector: "#kite" });
    const { etag } = await files.edit("/to-do.html", [{ op: "addClass", selector: "#kite", class: "done" }]);
    const edits = [{ op: "remove", selector: "#kite", etag: told.elements[0].etag }];
    const refused = await call("edit", { path: "/to-do.html", edits });
    expect(refused).toMatchObject({
      isError: true,
      told: { code: "EDIT_PRECONDITION_FAILED", now: { etag, matches: 1 } },
    });
    const again = [{ ...edits[0], etag: refused.told.now.elementTag }];
    expect(await call("edit", { path: "/to-do.html", edits: again })).toMatchObject({ isError: false });
  });

  it("writes, moves and deletes files, each under a condition", async () => {
    const { call, files } = await agent();
    const unconditional = await call("write", { path: "/a.txt", content: "1" });
    expect(unconditional.told.code).toBe("NO_CONDITION");
    const { told } = await call("write", { path: "/a.txt", content: "1", createOnly: true });
    const again = await call("write", { path: "/a.txt", content: "2", createOnly: true });
    expect(again.told).toMatchObject({ code: "PRECONDITION_FAILED", etag: told.etag });
    expect((await call("write", { path: "/a.txt", content: "3", ifMatch: told.etag })).isError).toBe(false);
    expect((await call("move", { path: "/a.txt", to: "/notes.txt" })).told.code).toBe("PRECONDITION_FAILED");
    expect((await call("move", { path: "/a.txt", to: "/new name.txt" })).told.path).toBe("/new name.txt");
    expect((await files.read("/new name.txt")).content.toString()).toBe("3");
    expect((await call("delete", { path: "/new name.txt" })).isError).toBe(false);
    expect((await call("delete", { path: "/new name.txt" })).told.code).toBe("NOT_FOUND");
  });
});
