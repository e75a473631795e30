import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeCertificate } from "./helpers/certificate.ts";
import { configPage, pluginItem } from "./helpers/config-page.ts";
import { sample } from "./helpers/effort.ts";
import {
  announcement,
  cli,
  type RunningCommand,
  refusesConnections,
  runFilement,
  startFilement,
} from "./helpers/filement-command.ts";
import { runNode } from "./helpers/run-node.ts";
import { open } from "./helpers/send.ts";
import { temporaryDirectory } from "./helpers/temporary-directory.ts";
import { unusedPort } from "./helpers/unused-port.mjs";

const run = promisify(execFile);

// More than the buffers of a connection hold. The command waits for it for some seconds: also a machine that does ten
// things at once must be done with it by then.
const downloadBytes = 20 * 1024 * 1024;

/** Begins to download a file, and reads none of it yet. */
async function beginDownload(): Promise<{ running: RunningCommand; download: IncomingMessage }> {
  const directory = await temporaryDirectory({ "large.bin": "" });
  await truncate(join(directory, "large.bin"), downloadBytes);
  const running = await startFilement([directory]);
  const request = get(`${running.url}/large.bin`);
  const [download] = (await once(request, "response")) as [IncomingMessage];
  return { running, download };
}

/** What is said at the start of a server on this computer that any program may write to. */
const isOpen =
  "warning: every program on this computer can change the files here: there is no authentication (--read-only or --users FILE changes that, and basic-auth in a page)\n";

describe("filement, the command", () => {
  it("lets users of a file in with --users, and says that only they can change files", async () => {
    const directory = await temporaryDirectory({
      "users.txt": `ada:{SHA}${createHash("sha1").update("love").digest("base64")}\n`,
    });
    const users = join(directory, "users.txt");
    const { url, printed } = await startFilement([directory, "--users", users]);
    expect(printed.stderr).toContain(`filement: only users of ${users} can change the files here, after signing in\n`);
    const write = (headers: Record<string, string>) => fetch(`${url}/a.txt`, { method: "PUT", body: "a", headers });
    expect((await write({})).status).toBe(401);
    expect((await write({ authorization: `Basic ${btoa("ada:love")}` })).status).toBe(201);
  });

  it("says with --read-only that files can only be read", async () => {
    const { printed } = await startFilement([await temporaryDirectory(), "--read-only"]);
    expect(printed.stderr).toBe("filement: files can only be read (--read-only)\n");
  });

  it("serves an application with --single, to scripts of all origins with --cors, and logs with --access-log", async () => {
    const directory = await temporaryDirectory({ "index.html": "the application" });
    const running = await startFilement([directory, "--single", "--cors", "--access-log"]);
    const reply = await fetch(`${running.url}/some/route`, {
      headers: { origin: "https://elsewhere.example", accept: "text/html", "user-agent": "a secret" },
    });
    expect([await reply.text(), reply.headers.get("access-control-allow-origin")]).toEqual(["the application", "*"]);
    await running.waitFor(/"GET \/some\/route HTTP\/1\.1" 200 15\n/);
    expect(running.printed.stdout).not.toContain("a secret");
  });

  it("prints one line with its address, and serves the working directory to read, to write and to list", async () => {
    const directory = await temporaryDirectory({ "a.html": "<ul><li>One</li></ul>" });
    const { url, printed } = await startFilement([], { cwd: directory });
    expect(printed).toEqual({ stdout: `filement: listening on ${url}\n`, stderr: isOpen });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);

    expect(await (await fetch(`${url}/`)).text()).toContain("a.html");
    const selected = await fetch(`${url}/a.html`, { headers: { range: "selector=li" } });
    expect([selected.status, await selected.text()]).toEqual([206, "<li>One</li>"]);
    expect((await fetch(`${url}/new/b.txt`, { method: "PUT", body: "b" })).status).toBe(201);
    expect(await readFile(join(directory, "new/b.txt"), "utf8")).toBe("b");
    expect(printed).toEqual({ stdout: `filement: listening on ${url}\n`, stderr: isOpen });
  });

  /** A page of rusty-beam. */
  const old = `<main itemscope itemtype="http://rustybeam.net/ServerConfig"><meta itemprop="port" content="8080">
    <div itemprop="host" itemscope itemtype="http://rustybeam.net/HostConfig"><b itemprop="hostName">localhost</b>
    <i itemprop="hostRoot">.</i> <p itemprop="plugin" itemscope itemtype="http://rustybeam.net/Plugin">
    <b itemprop="library">file://./plugins/librusty_beam_file_handler.so</b></p></div></main>`;

  it("prints a page of rusty-beam in our words, which passes --check beside it", { tags: ["campaign"] }, async () => {
    const directory = await temporaryDirectory({ "old.html": old });
    const { code, stdout, stderr } = await runFilement("import-config", join(directory, "old.html"));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("<!-- line 1: the property port is called bindPort here -->");
    await writeFile(join(directory, "new.html"), stdout);
    const checked = await runFilement(join(directory, "new.html"), "--check");
    expect(checked).toMatchObject({ code: 0, stdout: `filement: ${join(directory, "new.html")} is fine\n` });
    expect(checked.stderr).not.toContain("rusty-beam");
  });

  it.each(sample(["SIGINT", "SIGTERM"] as const, 2))(
    "finishes what is in flight after %s, then exits with 0",
    async (signal) => {
      const { running, download } = await beginDownload();
      running.kill(signal);
      await refusesConnections(running.url);
      let size = 0;
      for await (const chunk of download) size += chunk.length;
      expect(size).toBe(downloadBytes);
      expect(await running.ended).toEqual({ code: 0, signal: null });
      expect(running.printed.stderr).toBe(isOpen);
    },
  );

  it("ends at once at the second signal, whichever it is", async () => {
    const { running, download } = await beginDownload();
    running.kill("SIGTERM");
    await refusesConnections(running.url);
    running.kill("SIGINT");
    expect(await running.ended).toEqual({ code: null, signal: "SIGINT" });
    download.destroy();
  });

  it("refuses a wrong command line with 2 and one line", async () => {
    expect(await runFilement("--port", "http")).toEqual({
      code: 2,
      stdout: "",
      stderr: 'filement: --port expects a number from 0 to 65535, got "http" (filement --help tells more)\n',
    });
  });

  it("puts an IPv6 address into brackets", { tags: ["ipv6", "campaign"] }, async () => {
    const directory = join(await temporaryDirectory(), "site");
    await mkdir(directory);
    await writeFile(join(directory, "a.txt"), "abc");
    const { url, printed } = await startFilement([directory, "--host", "::1"]);
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect(await (await fetch(`${url}/a.txt`)).text()).toBe("abc");
    expect(printed.stderr).toBe(isOpen);
  });
});

/** A configuration page, beside a directory `www` with `a.txt`. */
async function site(parts: Parameters<typeof configPage>[1] = {}): Promise<{ directory: string; page: string }> {
  const directory = await temporaryDirectory();
  const page = join(directory, "config.html");
  await mkdir(join(directory, "www"));
  await writeFile(join(directory, "www/a.txt"), "hello");
  await writeFile(page, configPage("www", parts));
  return { directory, page };
}

describe("filement with a configuration page", () => {
  it("serves what the page says, at the address that it says", async () => {
    const port = await unusedPort();
    const { page } = await site({ server: { bindPort: String(port), bindAddress: "127.0.0.2" } });
    const running = runNode([cli, page]);
    const [, url] = await running.waitFor(announcement);
    expect(url).toBe(`http://127.0.0.2:${port}`);
    expect(await (await fetch(`${url}/a.txt`)).text()).toBe("hello");
  });

  it("ends with 1 when it cannot start, whatever its plugins have begun", async () => {
    const { directory, page } = await site({ plugins: [pluginItem("file://./busy.mjs")] });
    const busy =
      'setInterval(() => {}, 1000); export default () => ({ name: "busy", start() { throw new Error("no luck"); } });';
    await writeFile(join(directory, "busy.mjs"), busy);
    expect(await runFilement(page, "--port", "0")).toEqual({ code: 1, stdout: "", stderr: "filement: no luck\n" });
  });

  it("ends with 0 when it is told to stop while it still starts", { tags: ["campaign"] }, async () => {
    const slow = 'export default () => ({ name: "slow", start: () => new Promise(() => console.log("starting")) });';
    const { directory, page } = await site({ plugins: [pluginItem("file://./slow.mjs")] });
    await writeFile(join(directory, "slow.mjs"), slow);
    const running = runNode([cli, page, "--port", "0"]);
    await running.waitFor(/starting/);
    running.kill("SIGTERM");
    expect(await running.ended).toEqual({ code: 0, signal: null });
  });

  it("ends with 1 when it cannot stop in order, and says why", async () => {
    const broken = 'export default () => ({ name: "broken", close() { throw new Error("cannot let go"); } });';
    const { directory, page } = await site({ plugins: [pluginItem("file://./broken.mjs")] });
    await writeFile(join(directory, "broken.mjs"), broken);
    const running = await startFilement([page]);
    running.kill("SIGTERM");
    expect(await running.ended).toEqual({ code: 1, signal: null });
    expect(running.printed.stderr).toMatch(/\nfilement: closing failed: .*cannot let go\n$/);
  });
});

describe("filement --check", () => {
  it("says that all is fine, and exits with 0", async () => {
    const { page } = await site({ plugins: [pluginItem("file://./rate-limit.so")] });
    expect(await runFilement("--check", page)).toEqual({
      code: 0,
      stdout: `filement: ${page} is fine\n`,
      stderr: isOpen,
    });
  });

  it("looks at a directory as well, and at one that is not there", { tags: ["campaign"] }, async () => {
    const directory = await temporaryDirectory();
    expect((await runFilement("--check", directory)).stdout).toBe(`filement: ${directory} is fine\n`);
    const missing = await runFilement("--check", join(directory, "none"));
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringMatching(/^filement: .*does not exist.*\n$/)]);
  });

  it("says what is wrong, also with what only a start finds out, and exits with 1", async () => {
    const { page } = await site({
      plugins: [pluginItem("basic-auth.so", { authfile: "file://./users.html" })],
    });
    const { code, stdout, stderr } = await runFilement("--check", page);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^filement: .*users\.html.*\n$/);
  });

  it("leaves a server with the same configuration, its uploads and its log alone", { tags: ["campaign"] }, async () => {
    const { page, directory } = await site({
      plugins: [pluginItem("access-log.so", { file: "file://./access.log" })],
      server: { bindPort: "0" },
    });
    const { url, printed } = await startFilement([page]);
    const [begin, rest] = ["0".repeat(100_000), "1".repeat(100_000)]; // less is held in memory
    const upload = open(url, "PUT", "/b.txt", { headers: { "content-length": "200000" } });
    upload.write(begin);
    await fileBegins(join(directory, "www"));
    expect((await runFilement("--check", page)).code).toBe(0);
    upload.end(rest);
    const [reply] = (await once(upload, "response")) as [IncomingMessage];
    expect(reply.statusCode).toBe(201);
    await (await fetch(`${url}/b.txt`)).text();
    expect(await readFile(join(directory, "www/b.txt"), "utf8")).toBe(begin + rest);
    expect(printed.stderr).toBe(isOpen);
  });
});

/** Waits until an upload has arrived so far that it is on the disk. */
async function fileBegins(directory: string): Promise<void> {
  for (;;) {
    const names = await readdir(directory);
    const sizes = names.filter((name) => name.endsWith(".tmp")).map((name) => stat(join(directory, name)));
    if ((await Promise.all(sizes)).some(({ size }) => size > 0)) return;
  }
}

describe("what filement logs", () => {
  const limited = pluginItem("file://./rate-limit.so", { requests_per_second: "0.001", burst_capacity: "1" });

  it("has with -v every request, and every refusal of a limit with key and delay", async () => {
    const { page } = await site({ plugins: [limited] });
    const { url, printed, kill, ended } = await startFilement([page, "-v"]);
    for (const name of ["a.txt", "b.txt"]) await (await fetch(`${url}/${name}`)).text();
    kill("SIGTERM");
    await ended;
    const lines = printed.stderr.trimEnd().split("\n");
    const messages = lines.map((line) => line.slice(0, line.indexOf("{") - 1));
    expect(messages.slice(1)).toEqual(["info: request", "info: rate limit: refused", "info: request"]);
    const [first, refusal, second] = lines.slice(1).map((line) => JSON.parse(line.slice(line.indexOf("{"))));
    expect([first, second]).toMatchObject([
      { url: "/a.txt", status: 200 },
      { url: "/b.txt", status: 429 },
    ]);
    expect(refusal).toMatchObject({ key: "ip:127.0.0.1", path: "/b.txt" });
    expect(refusal.retryAfterSeconds).toBeGreaterThan(900);
  });

  it("is JSON with --log-format json, line by line", async () => {
    const { page } = await site({ plugins: [limited] });
    const options = ["-v", "--log-format", "json", "--host", "0.0.0.0"];
    const { url, printed, kill, ended } = await startFilement([page, ...options]);
    await (await fetch(`${url.replace("0.0.0.0", "127.0.0.1")}/a.txt`)).text();
    kill("SIGTERM");
    await ended;
    const lines = printed.stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ level }) => level)).toEqual(["warning", "info"]);
    expect(lines[1]).toMatchObject({ message: "request", url: "/a.txt", status: 200 });
  });

  it("is lost without harm when nobody reads it any more", async () => {
    const { page } = await site();
    const child = spawn(process.execPath, [cli, page, "--port", "0", "-v"], { stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const [, url = ""] = announcement.exec(String(line)) ?? [];
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
    for (let count = 0; count < 3; count += 1) expect(await (await fetch(`${url}/a.txt`)).text()).toBe("hello");
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});

describe("filement --cert --key", { tags: ["openssl"] }, () => {
  async function startSecure(): Promise<RunningCommand> {
    const { page, directory } = await site();
    const { cert, key } = await makeCertificate(directory, "own");
    return startFilement([page, "--cert", cert, "--key", key]);
  }

  it("serves HTTP/2 and HTTP/1.1 over TLS, elements as well", { tags: ["curl"] }, async () => {
    const { url } = await startSecure();
    expect(url).toMatch(/^https:/);
    for (const version of ["--http1.1", "--http2"]) {
      const format = "%{http_version} %{http_code}";
      const put = ["-X", "PUT", "--data", "<p>one</p>", `${url}/page.html`];
      const { stdout } = await run("curl", ["-sk", version, "-w", format, "-o", "/dev/null", ...put]);
      expect(stdout).toMatch(/^(?:1\.1|2) 20[01]$/);
      const read = await run("curl", ["-sk", version, "-H", "Range: selector=p", `${url}/page.html`]);
      expect(read.stdout).toBe("<p>one</p>");
    }
  });
});
