import { scryptSync } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { mkdir, readdir, readFile, readlink, truncate, writeFile } from "node:fs/promises";
import { Agent, get, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { configPage, pluginItem } from "../helpers/config-page.ts";
import { timesOf } from "../helpers/effort.ts";
import { type RunningCommand, startFilement } from "../helpers/filement-command.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const reloads = timesOf(2, 50);
/** How many requests are under way at any time. */
const requestsAtOnce = 40;
/** Answers between one signal and the next, so that each reload meets requests under way. */
const answersBetweenReloads = 100;
const downloadBytes = 32 * 1024 * 1024;

const authorization = `Basic ${Buffer.from("ada:secret").toString("base64")}`;

/** A server with every plugin that keeps something open: files, timers, watches. */
async function startSite(): Promise<RunningCommand & { directory: string }> {
  const directory = await temporaryDirectory();
  const plugins = [
    pluginItem("file://./access-log.so", { file: "file://./access.log", format: "common" }),
    pluginItem("file://./health-check.so"),
    pluginItem("file://./metrics.so"),
    pluginItem("file://./rate-limit.so", { requests_per_second: "100000", cleanup_interval: "1" }),
    pluginItem("file://./basic-auth.so", { authfile: "file://./users" }),
  ];
  const inBase64 = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");
  const hash = scryptSync("secret", "salt and more", 32, { cost: 16 }); // cheap, because every reload forgets the result
  const password = `$scrypt$ln=4,r=8,p=1$${inBase64(Buffer.from("salt and more"))}$${inBase64(hash)}`;
  await writeFile(join(directory, "users"), `ada:${password}\n`);
  await writeFile(join(directory, "config.html"), configPage("www", { plugins }));
  await mkdir(join(directory, "www"));
  await writeFile(join(directory, "www/page.html"), "<!doctype html><title>T</title><ul><li>One<li>Two</ul>");
  await writeFile(join(directory, "www/large.bin"), "");
  await truncate(join(directory, "www/large.bin"), downloadBytes);
  // Says on standard error when the process does not come to its end by itself.
  const env = { NODE_OPTIONS: "--trace-exit" };
  return { directory, ...(await startFilement([join(directory, "config.html")], { env })) };
}

interface Load {
  /** Waits for so many more answers. */
  answers(count: number): Promise<void>;
  /** Sends nothing more, waits for what is under way, and tells what went wrong. */
  stop(): Promise<{ sent: number; failures: string[] }>;
}

/** Asks for one thing after another, many at a time, until it is stopped. */
function beginLoad(origin: string): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: requestsAtOnce });
  const failures: string[] = [];
  const answered = new EventEmitter();
  let sent = 0;
  let isStopped = false;

  async function ask(count: number): Promise<void> {
    const { method = "GET", target, body, ...headers } = requestOf(count);
    try {
      const outgoing = request(`${origin}${targetOf(count)}`, {
        method,
        agent,
        headers: { authorization, ...headers },
      });
      const response = once(outgoing, "response") as Promise<[IncomingMessage]>;
      outgoing.end(body);
      const [incoming] = await response;
      for await (const _chunk of incoming);
      const { statusCode = 0 } = incoming;
      if (statusCode < 200 || statusCode > 299) failures.push(`${method} ${target}: ${statusCode}`);
    } catch (error) {
      failures.push(`${method} ${target}: ${error}`);
    }
  }

  const loops = Array.from({ length: requestsAtOnce }, async () => {
    while (!isStopped) {
      sent += 1;
      await ask(sent - 1);
      answered.emit("answer");
    }
  });
  onTestFinished(() => {
    isStopped = true;
  });
  return {
    async answers(count) {
      for (let seen = 0; seen < count; seen += 1) await once(answered, "answer");
    },
    async stop() {
      isStopped = true;
      await Promise.all(loops);
      agent.destroy();
      return { sent, failures };
    },
  };
}

/** Mostly reads of files and elements, and now and then a write. */
function requestOf(count: number): { method?: string; target: string; range?: string; body?: string } {
  if (count % 50 === 0) return { method: "PUT", target: `/written-${count % 500}.txt`, body: `${count}` };
  if (count % 50 === 1)
    return { method: "PUT", target: "/page.html", range: "selector=title", body: `<title>${count}</title>` };
  if (count % 5 === 0) return { target: "/page.html", range: "selector=li" };
  if (count % 5 === 1) return { target: "/health" };
  return { target: "/page.html" };
}

/** The target with a query that tells it from all others. */
function targetOf(count: number): string {
  return `${requestOf(count).target}?${count}`;
}

async function openFiles(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`);
  const links = names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")); // closed meanwhile
  return (await Promise.all(links))
    .filter((link) => link !== "")
    .map((link) => link.replace(/\d+/g, "N"))
    .sort();
}

describe("a server that is told to load its configuration many times under load", () => {
  it("fails no request and leaves nothing open", { tags: ["procfs"] }, async () => {
    const { url, pid, directory, kill, waitFor, ended, printed } = await startSite();
    const expectLine = async (line: RegExp): Promise<void> => {
      const [said] = await waitFor(line, "stderr");
      printed.stderr = printed.stderr.replace(said, "");
    };
    await expectLine(/^filement: only clients that the page lets in can change files\n/);
    const reload = (): Promise<void> => {
      kill("SIGHUP");
      return expectLine(/^filement: \S+ is loaded\n/);
    };
    const headers = { authorization };
    const openFirst = await openFiles(pid);
    const put = request(`${url}/first.txt`, { method: "PUT", headers, agent: false }).end("1");
    expect((await once(put, "response"))[0].resume().statusCode).toBe(201);
    // The thread that writes is started by the first change, and stays; the connection of that goes.
    let openBefore = openFirst;
    const count = (what: string, open: readonly string[]): number => open.filter((each) => each.includes(what)).length;
    const settling = async (): Promise<readonly unknown[]> => {
      const last = openBefore;
      openBefore = await openFiles(pid);
      return [count("poll", openBefore), count("socket", openBefore), `${last}` === `${openBefore}`];
    };
    await expect.poll(settling).toEqual([count("poll", openFirst) + 1, count("socket", openFirst), true]);

    const load = beginLoad(url);
    const [download] = await once(get(`${url}/large.bin`, { headers, agent: false }), "response");
    const upload = request(`${url}/upload.txt`, { method: "PUT", headers, agent: false });
    const uploaded = once(upload, "response") as Promise<[IncomingMessage]>;
    for (let count = 0; count < reloads; count += 1) {
      upload.write(`${count}\n`);
      await Promise.all([reload(), load.answers(answersBetweenReloads)]);
    }
    upload.end();
    let downloaded = 0;
    for await (const chunk of download) downloaded += chunk.length;
    const [reply] = await uploaded;
    reply.resume();
    const { sent, failures } = await load.stop();

    expect(failures).toEqual([]);
    expect(sent).toBeGreaterThan(reloads);
    expect([reply.statusCode, downloaded]).toEqual([201, downloadBytes]);
    const numbers = Array.from({ length: reloads }, (_each, count) => `${count}\n`);
    expect(await readFile(join(directory, "www/upload.txt"), "utf8")).toBe(numbers.join(""));

    // The last connections are closed by the client, which the server hears of a moment later.
    await expect.poll(() => openFiles(pid)).toEqual(openBefore);
    kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(printed.stderr).toBe("");
    const log = (await readFile(join(directory, "access.log"), "utf8")).trimEnd().split("\n");
    const targets = Array.from({ length: sent }, (_each, count) => targetOf(count));
    // Each once: those of the load, the first, and the two that lasted.
    expect(log.map((line) => /"[A-Z]+ (\S+) /.exec(line)?.[1] ?? line).sort()).toEqual(
      [...targets, "/first.txt", "/large.bin", "/upload.txt"].sort(),
    );
    expect(log.filter((line) => !/" 20\d /.test(line))).toEqual([]);
  });
});
