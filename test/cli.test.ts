import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { createServer, get, type IncomingMessage } from "node:http";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type RunningNode, runNode, runNodeToEnd } from "./helpers/run-node.ts";
import { listen } from "./helpers/serve.ts";
import { projectRoot } from "./helpers/source-files.ts";
import { temporaryDirectory } from "./helpers/temporary-directory.ts";

const cli = join(projectRoot, "dist/cli.js");
const hasIpv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ family }) => family === "IPv6"));
const announcement = /^filement: listening on (http:\/\/\S+:\d+)\n/;

/** Starts `filement` with `--port 0`, and waits until it serves. */
async function start(
  args: readonly string[],
  options?: Parameters<typeof runNode>[1],
): Promise<RunningNode & { url: string }> {
  const running = runNode([cli, ...args, "--port", "0"], options);
  const [, url = ""] = await running.waitFor(announcement);
  return { ...running, url };
}

const run = (...args: readonly string[]): ReturnType<typeof runNodeToEnd> => runNodeToEnd([cli, ...args]);

/** Begins to download 64 MiB, far more than the buffers of a connection hold, and reads none of it yet. */
async function beginDownload(): Promise<{ running: RunningNode & { url: string }; download: IncomingMessage }> {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, "large.bin"), "");
  await truncate(join(directory, "large.bin"), 64 * 1024 * 1024);
  const running = await start([directory]);
  const request = get(`${running.url}/large.bin`);
  const [download] = (await once(request, "response")) as [IncomingMessage];
  return { running, download };
}

/** Waits until the server accepts no more connections: the signal has arrived. */
async function refusesConnections(url: string): Promise<void> {
  for (;;) {
    const isOpen = await fetch(url).then(
      (response) => response.text().then(() => true),
      () => false,
    );
    if (!isOpen) return;
  }
}

describe("filement, the command", () => {
  it("prints one line with its address, and serves the directory to read, to write and to list", async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, "a.html"), "<ul><li>One</li></ul>");
    const { url, printed } = await start([directory]);
    expect(printed).toEqual({ stdout: `filement: listening on ${url}\n`, stderr: "" });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);

    expect(await (await fetch(`${url}/`)).text()).toContain("a.html");
    const selected = await fetch(`${url}/a.html`, { headers: { range: "selector=li" } });
    expect([selected.status, await selected.text()]).toEqual([206, "<li>One</li>"]);
    expect((await fetch(`${url}/new/b.txt`, { method: "PUT", body: "b" })).status).toBe(201);
    expect(await readFile(join(directory, "new/b.txt"), "utf8")).toBe("b");
    expect(printed).toEqual({ stdout: `filement: listening on ${url}\n`, stderr: "" });
  });

  it("serves the working directory when it is not told another", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "here.txt"), "here");
    const { url } = await start([], { cwd });
    expect(await (await fetch(`${url}/here.txt`)).text()).toBe("here");
  });

  it("listens on the port it is told", async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    const running = runNode([cli, await temporaryDirectory(), "--port", String(port)]);
    await running.waitFor(announcement);
    expect(running.printed.stdout).toBe(`filement: listening on http://127.0.0.1:${port}\n`);
  });

  it("says with --help what it can do", async () => {
    const { code, stdout, stderr } = await run("--help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: filement \[directory\]/);
    for (const option of ["--port", "--host", "-v, --verbose", "--help", "--version"]) expect(stdout).toContain(option);
  });

  it("prints the version of the package with --version", async () => {
    const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8"));
    expect(await run("--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("logs a line for each request on standard error with -v", async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, "a.txt"), "abc");
    const { url, printed, kill, ended } = await start([directory, "-v"]);
    await (await fetch(`${url}/a.txt?q`)).text();
    await (await fetch(`${url}/missing`)).text();
    kill("SIGTERM");
    await ended;
    const [first = "", second = "", ...rest] = printed.stderr.split("\n");
    expect(rest).toEqual([""]);
    expect(JSON.parse(first.replace("info: request ", ""))).toMatchObject({
      address: "127.0.0.1",
      method: "GET",
      url: "/a.txt?q",
      status: 200,
      bytes: 3,
    });
    expect(second).toContain('"status":404');
    expect(printed.stdout).toMatch(announcement);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("finishes what is in flight after %s, then exits with 0", async (signal) => {
    const { running, download } = await beginDownload();
    running.kill(signal);
    await refusesConnections(running.url);
    let size = 0;
    for await (const chunk of download) size += chunk.length;
    expect(size).toBe(64 * 1024 * 1024);
    expect(await running.ended).toEqual({ code: 0, signal: null });
    expect(running.printed.stderr).toBe("");
  });

  it("does not wait for clients that only keep their connection open", async () => {
    const { url, kill, ended } = await start([await temporaryDirectory()]);
    await (await fetch(`${url}/`)).text(); // fetch keeps the connection for the next request
    kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, signal: null });
  });

  it("ends at once at the second signal, whichever it is", async () => {
    const { running, download } = await beginDownload();
    running.kill("SIGTERM");
    await refusesConnections(running.url);
    running.kill("SIGINT");
    expect(await running.ended).toEqual({ code: null, signal: "SIGINT" });
    download.destroy();
  });

  it("says in one line that the port is in use, and exits with 1", async () => {
    const port = await listen(createServer());
    expect(await run(await temporaryDirectory(), "--port", String(port))).toEqual({
      code: 1,
      stdout: "",
      stderr: `filement: port ${port} on 127.0.0.1 is in use; choose another with --port\n`,
    });
  });

  it("says in one line that the directory does not exist, and exits with 1", async () => {
    const missing = join(await temporaryDirectory(), "missing");
    const { code, stdout, stderr } = await run(missing, "--port", "0");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^filement: .*missing.* does not exist.*\n$/);
  });

  it("says in one line that the directory is a file, and exits with 1", async () => {
    const file = join(await temporaryDirectory(), "file.txt");
    await writeFile(file, "");
    const { code, stdout, stderr } = await run(file, "--port", "0");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^filement: .*file\.txt.* is not a directory.*\n$/);
  });

  it.each([
    ["an unknown option", ["--bogus"], "Unknown option '--bogus'"],
    ["a port that is no number", ["--port", "http"], '--port expects a number from 0 to 65535, got "http"'],
    ["a port that is too large", ["--port", "65536"], '--port expects a number from 0 to 65535, got "65536"'],
    ["a port with a sign", ["--port=-1"], '--port expects a number from 0 to 65535, got "-1"'],
    ["an option without its value", ["--port"], "Option '--port <value>' argument missing"],
    ["an empty address", ["--host="], "--host expects an address"],
    ["two directories", ["a", "b"], "expected one directory, got also: b"],
  ])("refuses %s with 2 and one line", async (_what, args, message) => {
    expect(await run(...args)).toEqual({
      code: 2,
      stdout: "",
      stderr: `filement: ${message} (filement --help tells more)\n`,
    });
  });

  it.each(["127.0.0.1", "localhost", "127.1.2.3"])("does not warn about %s", async (host) => {
    const { printed, url } = await start([await temporaryDirectory(), "--host", host]);
    expect(printed).toEqual({ stdout: `filement: listening on ${url}\n`, stderr: "" });
  });

  it("warns that everybody may write when it listens on 0.0.0.0", async () => {
    const directory = await temporaryDirectory();
    const { printed, url } = await start([directory, "--host", "0.0.0.0"]);
    expect(printed.stderr).toMatch(/^filement: warning: [^\n]*0\.0\.0\.0[^\n]*no authentication\n$/);
    expect(url).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
  });

  it("warns about a host name, which may stand for any address", async () => {
    const running = runNode([cli, await temporaryDirectory(), "--port", "0", "--host", hostname()]);
    await Promise.race([running.waitFor(announcement), running.ended]); // not every machine can resolve its own name
    expect(running.printed.stderr).toContain(`filement: warning: anybody who can reach ${hostname()} can change`);
  });

  it.skipIf(!hasIpv6)("puts an IPv6 address into brackets", async () => {
    const directory = join(await temporaryDirectory(), "site");
    await mkdir(directory);
    await writeFile(join(directory, "a.txt"), "abc");
    const { url, printed } = await start([directory, "--host", "::1"]);
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect(await (await fetch(`${url}/a.txt`)).text()).toBe("abc");
    expect(printed.stderr).toBe("");
  });

  it.skipIf(!hasIpv6)("warns about ::", async () => {
    const { url, printed } = await start([await temporaryDirectory(), "--host", "::"]);
    expect(url).toMatch(/^http:\/\/\[::\]:\d+$/);
    expect(printed.stderr).toContain("filement: warning: anybody who can reach :: can change");
  });
});
