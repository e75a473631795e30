import { on, once } from "node:events";
import { readFile, rename, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { configPage, pluginItem } from "../helpers/config-page.ts";
import { sample } from "../helpers/effort.ts";
import { announcement, cli, runFilement, startFilement } from "../helpers/filement-command.ts";
import { runNode } from "../helpers/run-node.ts";
import { open } from "../helpers/send.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

async function site(plugins: readonly string[] = []): Promise<{ directory: string; page: string }> {
  const directory = await temporaryDirectory({ "a.txt": "hello", "config.html": configPage(".", { plugins }) });
  const page = join(directory, "config.html");
  return { directory, page };
}

const named = (name: string, plugins: readonly string[] = []): string =>
  configPage(".", { plugins, host: { serverHeader: name } });

const serverHeader = async (url: string): Promise<string | null> => (await fetch(`${url}/a.txt`)).headers.get("server");

describe("SIGHUP", () => {
  it("loads the page again, once for several signals at once", async () => {
    const { page } = await site();
    const { url, kill, waitFor, printed } = await startFilement([page]);
    await writeFile(page, named("second"));
    kill("SIGHUP");
    kill("SIGHUP");
    await waitFor(/is loaded\n/, "stderr");
    expect(await serverHeader(url)).toBe("second");
    await writeFile(page, named("third"));
    kill("SIGHUP");
    await expect.poll(() => serverHeader(url)).toBe("third");
    const loaded = printed.stderr.match(/is loaded\n/g)?.length ?? 0;
    expect(loaded).toBeLessThanOrEqual(3);
    expect(printed.stderr.replaceAll(`filement: ${page} is loaded\n`, "")).toMatch(/^warning: [^\n]+\n$/); // once
  });

  it("takes effect after the start when it comes during the start", { tags: ["campaign"] }, async () => {
    const { directory, page } = await site([pluginItem("file://./slow.mjs")]);
    const slow = `
      import { existsSync } from "node:fs";
      import { setTimeout } from "node:timers/promises";
      export default () => ({
        name: "slow",
        async start() {
          console.error("starting");
          while (!existsSync("go")) await setTimeout(5); // a watcher beside that of the page may miss it
        },
      });`;
    await writeFile(join(directory, "slow.mjs"), slow);
    const { waitFor, kill, printed } = runNode([cli, page, "--port", "0"], { cwd: directory });
    await waitFor(/starting\n/, "stderr");
    await writeFile(page, named("second"));
    kill("SIGHUP");
    await writeFile(join(directory, "go"), "");
    const [, url = ""] = await waitFor(announcement);
    await waitFor(/is loaded\n/, "stderr");
    expect(await serverHeader(url)).toBe("second");
    expect(printed.stdout).toBe(`filement: listening on ${url}\n`);
  });

  it.each(sample(["good", "bad"], 2))("opens the access log anew with a %s page, and no line is lost", async (kind) => {
    const log = pluginItem("file://./access-log.so", { file: "file://./access.log", format: "common" });
    const { directory, page } = await site([log]);
    const { url, kill, waitFor, ended } = await startFilement([page]);
    const upload = open(url, "PUT", "/b.txt", { headers: { "content-length": "1", expect: "100-continue" } });
    upload.flushHeaders();
    await once(upload, "continue");
    await (await fetch(`${url}/a.txt?1`)).text();
    await rename(join(directory, "access.log"), join(directory, "access.log.1"));
    await (await fetch(`${url}/a.txt?2`)).text();
    if (kind === "bad") await writeFile(page, "no page");
    kill("SIGHUP");
    await waitFor(/is loaded\n|stays in force\n/, "stderr");
    await (await fetch(`${url}/a.txt?3`)).text();
    upload.end("b");
    const [reply] = (await once(upload, "response")) as [IncomingMessage];
    reply.resume();
    kill("SIGTERM");
    await ended;
    const requests = async (name: string): Promise<string[]> =>
      [...(await readFile(join(directory, name), "utf8")).matchAll(/"\w+ (\S+) /g)].map(([, target = ""]) => target);
    expect(await requests("access.log.1")).toEqual(["/a.txt?1", "/a.txt?2"]);
    const after = await requests("access.log");
    expect(after.slice().sort()).toEqual(["/a.txt?3", "/b.txt"]);
  });
});

describe("--watch-config", () => {
  it("loads the page when it was changed, keeps the old one for a bad one, and takes the next", async () => {
    const { directory, page } = await site();
    const { url, waitFor, printed } = await startFilement([page, "--watch-config"]);
    await writeFile(page, named("second"));
    await waitFor(/is loaded\n/, "stderr");
    expect(await serverHeader(url)).toBe("second");
    await writeFile(page, "<p>nothing");
    await waitFor(/stays in force\n/, "stderr");
    expect(await serverHeader(url)).toBe("second");
    await writeFile(join(directory, "next"), named("third"));
    await rename(join(directory, "next"), page);
    await waitFor(/stays in force\n[\s\S]*is loaded\n/, "stderr");
    expect(await serverHeader(url)).toBe("third");
    expect(printed.stderr).toContain(`error: ${page}:1: there is no item`);
  });
});

describe("an option of a directory", () => {
  it.each([["--live"], ["--users", "users.html"], ["--history", "site.git"], ["--access-log"], ["--mcp"]])(
    "is refused with a page: %s",
    async (...option) => {
      const { page } = await site();
      expect(await runFilement(page, ...option)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`${option[0]} expects a directory: a page names its plugins itself`),
      });
    },
  );
});

describe("--live", () => {
  it("serves the module and the web socket of live pages, and tells of what other programs change", async () => {
    const directory = await temporaryDirectory({ "a.html": "<p>one</p>" });
    const { url } = await startFilement([directory, "--live"]);
    expect((await fetch(`${url}/.well-known/filement/client.js`)).status).toBe(200);
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws?path=/a.html`);
    onTestFinished(() => socket.terminate());
    const messages = on(socket, "message");
    const next = async (): Promise<unknown> => JSON.parse(String((await messages.next()).value[0]));
    expect(await next()).toMatchObject({ type: "hello" });
    await writeFile(join(directory, "a.html"), "<p>two</p>");
    expect(await next()).toMatchObject({ path: "/a.html" });
  });
});
