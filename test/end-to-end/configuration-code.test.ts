import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { loadConfig } from "../../src/config-page/load-config.ts";
import type { Change } from "../../src/server/change-feed.ts";
import { send } from "../helpers/send.ts";
import { type Served, serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const page = `<!doctype html><title>Server</title>
<div itemscope itemtype="http://rustybeam.net/ServerConfig">
<div itemprop="host" itemscope itemtype="http://rustybeam.net/HostConfig">
<span itemprop="hostname">*</span><span itemprop="hostRoot">.</span>
<div itemprop="plugin" itemscope itemtype="http://rustybeam.net/Plugin">
<span itemprop="library">file://./plugins/hello.mjs</span></div></div></div>
`;
const plugin = 'import { text } from "./text.mjs";\nexport default () => ({ name: text });\n';

/** A server whose configuration, with a plugin of its own, lies in its root. */
async function overlapping(options: Partial<FileServerConfig> = {}): Promise<Served & { directory: string }> {
  const directory = await temporaryDirectory({
    "config.html": page,
    "plugins/hello.mjs": plugin,
    "plugins/text.mjs": 'export { text } from "left-pad";\n',
    "node_modules/left-pad/package.json": '{ "type": "module", "main": "index.js" }',
    "node_modules/left-pad/index.js": 'export const text = "hello";\n',
  });
  return { ...(await serve({ ...(await loadConfig(join(directory, "config.html"))), ...options })), directory };
}

const code = ["/config.html", "/plugins/hello.mjs", "/plugins/text.mjs", "/node_modules/left-pad/index.js"];
const notYet = ["/package.json", "/plugins/package.json", "/plugins/node_modules/left-pad/index.js"];

describe("the code that a configuration runs, where it lies in a root", () => {
  it.each(code)("cannot be read, changed or removed: %s", async (path) => {
    const { directory, url } = await overlapping();
    const before = await readFile(join(directory, path), "utf8");
    expect((await send(url, "GET", path)).status).toBe(404);
    for (const method of ["PUT", "POST", "DELETE"]) {
      expect([method, (await send(url, method, path, { body: "x" })).status]).toEqual([
        method,
        method === "PUT" ? 403 : 404,
      ]);
    }
    expect(await readFile(join(directory, path), "utf8")).toBe(before);
  });

  it.each(notYet)("cannot be put in another place where Node looks first: %s", async (path) => {
    const { url } = await overlapping();
    expect((await send(url, "PUT", path, { body: "x" })).status).toBe(403);
  });

  it.each([...code, ...notYet])("is not offered by OPTIONS: %s", async (path) => {
    const { url } = await overlapping();
    const { status, headers } = await send(url, "OPTIONS", path);
    expect([status, headers["allow"]]).toEqual([200, "OPTIONS"]);
    const ofElements = await send(url, "OPTIONS", path, { headers: { range: "selector=div" } });
    const whatIsMissing = path.replace(/[^/]+(?=\.\w+$)/, "none");
    const ofNothing = await send(url, "OPTIONS", whatIsMissing, { headers: { range: "selector=div" } });
    expect(ofElements.status).toBe(ofNothing.status);
    expect(ofElements.text).toBe(ofNothing.text.replace(whatIsMissing, path));
  });

  it("is in no event, by a client or on the disk", async () => {
    const { directory, url, files } = await overlapping({ watch: true });
    await files.ready();
    const changes = files.changes[Symbol.asyncIterator]();
    for (const path of code) {
      await send(url, "PUT", path, { body: "x" });
      await appendFile(join(directory, path), "\n");
    }
    await writeFile(join(directory, "package.json"), "{}");
    await writeFile(join(directory, "last.txt"), "x");
    // Told in the order of the changes.
    expect(((await changes.next()).value as Change).path).toBe("/last.txt");
    await writeFile(join(directory, "later.txt"), "x");
    expect(((await changes.next()).value as Change).path).toBe("/later.txt");
  });

  it("is not listed, and other files are served", async () => {
    const { url } = await overlapping();
    expect((await send(url, "PUT", "/plugins/notes.txt", { body: "x" })).status).toBe(201);
    const { text } = await send(url, "GET", "/plugins/", { headers: { accept: "application/json" } });
    expect(JSON.parse(text).entries.map(({ name }: { name: string }) => name)).toEqual(["notes.txt"]);
  });
});
