import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config-page/load-config.ts";
import { send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
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
async function overlapping(): Promise<{ directory: string; url: string }> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, "plugins"));
  await writeFile(join(directory, "config.html"), page);
  await writeFile(join(directory, "plugins/hello.mjs"), plugin);
  await writeFile(join(directory, "plugins/text.mjs"), 'export { text } from "left-pad";\n');
  await mkdir(join(directory, "node_modules/left-pad"), { recursive: true });
  await writeFile(join(directory, "node_modules/left-pad/package.json"), '{ "type": "module", "main": "index.js" }');
  await writeFile(join(directory, "node_modules/left-pad/index.js"), 'export const text = "hello";\n');
  const { url } = await serve(await loadConfig(join(directory, "config.html")));
  return { directory, url };
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
  });

  it("is not listed, and other files are served", async () => {
    const { url } = await overlapping();
    expect((await send(url, "PUT", "/plugins/notes.txt", { body: "x" })).status).toBe(201);
    const { text } = await send(url, "GET", "/plugins/", { headers: { accept: "application/json" } });
    expect(JSON.parse(text).entries.map(({ name }: { name: string }) => name)).toEqual(["notes.txt"]);
  });
});
