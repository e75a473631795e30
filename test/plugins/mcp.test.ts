import { describe, expect, it } from "vitest";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { history } from "../../src/plugins/history.ts";
import { mcp } from "../../src/plugins/mcp.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { connectAgent } from "../helpers/agent.ts";
import { serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

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
  it("offers tools that say whether they change something, and none that does where the host takes no changes", async () => {
    const reading = ["list", "outline", "read", "find"];
    const changing = ["edit", "write", "delete", "move"];
    const { tools } = await (await agent()).client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...reading, ...changing]);
    const harmless = tools.filter(({ annotations }) => annotations?.readOnlyHint);
    expect(harmless.map(({ name }) => name)).toEqual(reading);
    const { url } = await serve({ storage: memoryStorage(stored()), readOnly: true, plugins: [mcp()] });
    const { client } = await connectAgent(url);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(reading);
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
      ...['html > head > title "To do" (20)', "#main main (128)", '#main > h1 h1 "Things to do" (21)'],
      ...["#list ul 2 li (81)", "#kite li (29)", "#boat li (30)"],
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
    expect(all.told.elements.map(({ selector }) => selector)).toEqual(["#kite", "#boat"]);
    const long = `<p>${"x".repeat(150)}</p>`;
    const parts = await agent({ "/a.html": long.repeat(3) });
    const first = await parts.call("read", { path: "/a.html", selector: "p", maxCharacters: 200 });
    expect(first.told).toMatchObject({ matches: 3, next: 1, elements: [{ html: long }] });
    const second = await parts.call("read", { path: "/a.html", selector: "p", maxCharacters: 200, from: 1 });
    expect(second.told).toMatchObject({ matches: 3, next: 2 });
  });

  it("reads a text file in parts, without cutting a character in two, and no file that is not text", async () => {
    const { call } = await agent();
    let text = "";
    for (let from: unknown = 0; from !== undefined; ) {
      const { told } = await call("read", { path: "/notes.txt", from, maxCharacters: 101 });
      text += told.content;
      from = told.next;
    }
    expect(text).toBe(stored()["/notes.txt"]);
    expect(await call("read", { path: "/sub" })).toMatchObject({ told: { message: "What is meant lies at /sub/." } });
    expect(await call("read", { path: "/sub/" })).toMatchObject({ isError: true, told: { code: "IS_DIRECTORY" } });
    const others = await agent({ "/a.bin": Buffer.from([0xff, 0, 1]), "/empty.txt": "" });
    expect(await others.call("read", { path: "/a.bin" })).toMatchObject({ isError: true, told: { code: "NOT_TEXT" } });
    const { content, etag } = (await others.call("read", { path: "/empty.txt" })).told;
    const written = await others.call("write", { path: "/empty.txt", content: "1", ifMatch: etag });
    expect([content, written.isError]).toEqual(["", false]);
  });

  it("finds text, and each page once, however many parts it takes past directories and files without any", async () => {
    const names = (count: number, name: (index: number) => string) => Array.from({ length: count }, (_, i) => name(i));
    const few = ["/a.html", `${"/deep".repeat(70)}/b.html`, "/m/c.html", "/z.html"];
    const pages = [...few, ...names(70, (i) => `/q/${i}.html`)];
    const others = [...names(90, (i) => `/e${i}/x.txt`), ...names(3200, (i) => `/m/${i}.txt`)];
    const { call } = await agent(
      Object.fromEntries([...pages.map((path) => [path, "<p>x"]), ...others.map((path) => [path, "x"])]),
    );
    const found: string[] = [];
    let parts = 0;
    for (let after: unknown = ""; after !== undefined && parts < 50; parts += 1) {
      const { told } = await call("find", { path: "/", selector: "p", ...(after !== "" && { after }) });
      found.push(...told.found.map(({ path }) => path));
      after = told.next;
    }
    expect(parts).toBeGreaterThan(3);
    expect(found.toSorted()).toEqual(pages.toSorted());
    const byText = await (await agent()).call("find", { path: "/", text: "a  BOAT" });
    expect(byText.told.found).toMatchObject([
      { path: "/sub/deep.html", selector: "html > body > p" },
      { path: "/to-do.html", selector: "#boat" },
    ]);
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
    expect(told.now.near).toContainEqual({ selector: "#main", matches: 1 });
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
    expect((await call("move", { path: "/a.txt", to: "/new/a.txt" })).told.next).toContain("`write` of a file in it");
    expect((await call("move", { path: "/a.txt", to: "/new name.txt" })).told.path).toBe("/new name.txt");
    expect((await files.read("/new name.txt")).content.toString()).toBe("3");
    expect((await call("delete", { path: "/new name.txt" })).isError).toBe(false);
    expect((await call("delete", { path: "/new name.txt" })).told.code).toBe("NOT_FOUND");
  });

  it("gives files and elements as resources with their types", async () => {
    const { client } = await agent();
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["filement:///notes.txt", "filement:///to-do.html"]);
    const paths = ["notes.txt", "sub/deep.html?selector=b", "sub/deep.html?selector=i"];
    const uris = paths.map((path) => `filement:///${path}`);
    const read = await Promise.all(uris.map((uri) => client.readResource({ uri })));
    expect(read.map(({ contents }) => contents[0])).toMatchObject([
      { uri: uris[0], mimeType: "text/plain; charset=utf-8", text: stored()["/notes.txt"] },
      { uri: uris[1], mimeType: expect.stringContaining("text/html"), text: "<b>boat</b>" },
      { uri: uris[2], text: "" },
    ]);
    await expect(client.readResource({ uri: "filement:///%ff" })).rejects.toThrow();
    const large = await agent({ "/most.txt": "x".repeat(2 ** 20), "/more.txt": "x".repeat(2 ** 20 + 1) });
    const { contents } = await large.client.readResource({ uri: "filement:///most.txt" });
    expect(contents.map((each) => ("text" in each ? each.text.length : 0))).toEqual([2 ** 20]);
    await expect(large.client.readResource({ uri: "filement:///more.txt" })).rejects.toThrow("too large");
  });
});

describe("mcp with a history", () => {
  const path = "/to-do.html";
  const [encryption, permission] = ["plaintext", "allow"] as const;
  const users = ["agent", "reader"].map((name) => ({ username: name, password: name, encryption }));
  const rules = [
    { username: "agent", path: "/*", permission },
    { username: "reader", path: "/mcp", methods: ["POST"], permission },
    { username: "reader", path: "/*", methods: ["GET"], permission },
  ];

  async function withHistory() {
    const repository = await temporaryDirectory();
    const plugins = [basicAuth({ users, rules }), history({ repository }), mcp()];
    const served = await serve({ storage: memoryStorage(stored()), plugins });
    const { client, call } = await connectAgent(served.url, "agent:agent");
    const setText = (selector: string, text: string) =>
      call("edit", { path, edits: [{ op: "setText", selector, text }] });
    const versions = async (count: number) => {
      await expect.poll(async () => (await call("versions", { path })).told.versions?.length).toBe(count);
      return (await call("versions", { path })).told.versions;
    };
    return { ...served, client, call, setText, versions };
  }

  it("lists versions, shows changes, and undoes one without those after it", async () => {
    const { client, call, files, setText, versions } = await withHistory();
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names.slice(-3)).toEqual(["versions", "changes", "undo"]);
    const [first] = await versions(1);
    await setText("#kite", "Fly two kites");
    await setText("h1", "Plans");
    const [, kite] = await versions(3);
    expect(kite).toMatchObject({ user: "agent", summary: expect.stringContaining(path) });
    const { diff } = (await call("changes", { path, commit: kite.commit })).told;
    expect(diff).toContain('-<li id="kite">Fly a kite</li>\n+<li id="kite">Fly two kites</li>\n');
    const { etag } = await files.read(path);
    expect(await call("undo", { path, commit: kite.commit, ifMatch: '"other"' })).toMatchObject({
      isError: true,
      told: { code: "PRECONDITION_FAILED", etag },
    });
    const undone = await call("undo", { path, commit: kite.commit, ifMatch: etag });
    const now = await files.read(path);
    expect(undone.told).toEqual({ path, etag: now.etag });
    expect(now.content.toString()).toBe(page.replace("<h1>Things to do</h1>", "<h1>Plans</h1>"));
    await call("undo", { path, commit: first.commit, goBack: true });
    expect((await files.read(path)).content.toString()).toBe(page);
  });

  it("undoes nothing that has been changed again, and nothing for a user who may only read", async () => {
    const { url, call, files, setText, versions } = await withHistory();
    await versions(1);
    await setText("#kite", "Fly two kites");
    await setText("#kite", "Fly three kites");
    const [last, { commit }] = await versions(3);
    expect((await call("undo", { path, commit })).told.code).toBe("WRITE_CONFLICT");
    expect((await call("changes", { path, commit: "0".repeat(40) })).told.code).toBe("NOT_FOUND");
    const { etag } = await files.read(path);
    const reader = await connectAgent(url, "reader:reader");
    expect(await reader.call("changes", { path, commit: last.commit })).toMatchObject({ isError: false });
    expect(await reader.call("undo", { path, commit: last.commit })).toMatchObject({ isError: true });
    expect((await files.read(path)).etag).toBe(etag);
  });
});
