import { once } from "node:events";
import { readdir, rename, rm, writeFile } from "node:fs/promises";
import { get, request } from "node:http";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { type CommandLine, parseCommandLine } from "../../src/cli/command-line.ts";
import type { Timeouts } from "../../src/cli/listener.ts";
import { logLines } from "../../src/cli/log-lines.ts";
import { type Service, startService } from "../../src/cli/service.ts";
import { makeCertificate } from "../helpers/certificate.ts";
import { configPage } from "../helpers/config-page.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

interface Started {
  readonly service: Service;
  readonly page: string;
  readonly directory: string;
  /** Everything that was logged since the last time. */
  logged(): string;
  /** Puts another page in the place of the configuration. */
  rewrite(text: string): Promise<void>;
}

const mebibyte = 1024 * 1024;

/** A service by a page that serves its directory, stopped when the test is over. */
async function start(
  options: readonly string[] = [],
  more: Partial<CommandLine> = {},
  timeouts: Partial<Timeouts> = {},
): Promise<Started> {
  const directory = await temporaryDirectory({ "a.txt": "hello", "config.html": configPage(".") });
  const page = join(directory, "config.html");
  const lines: string[] = [];
  const commandLine = { ...(parseCommandLine([page, "--port", "0", ...options]) as CommandLine), ...more };
  const service = await startService(
    commandLine,
    logLines((line) => lines.push(line), commandLine),
    timeouts,
  );
  onTestFinished(() => service.stop().catch(() => {})); // a test may have seen why
  expect(lines.splice(0).join("")).toContain("every program on this computer can change the files here");
  const rewrite = async (content: string): Promise<void> => {
    await writeFile(`${page}.new`, content);
    await rename(`${page}.new`, page);
  };
  return { service, page, directory, logged: () => lines.splice(0).join(""), rewrite };
}

const serverHeader = async (url: string): Promise<string | null> => (await fetch(`${url}/a.txt`)).headers.get("server");

describe("the address that is printed", () => {
  it.each([
    [["*"], "127.0.0.1"],
    [["localhost"], "localhost"],
    [["example.test", "LOCALHOST"], "localhost"],
    [["a.localhost", "b.localhost"], "a.localhost"],
    [["127.0.0.1", "localhost"], "127.0.0.1"],
    [["example.test", "*"], "127.0.0.1"],
  ])("is one that the hosts %j answer", async (names, expected) => {
    const directory = await temporaryDirectory();
    const page = join(directory, "config.html");
    const [hostname = "", ...more] = names;
    const others = more.map((name) => `<meta itemprop="hostname" content="${name}">`).join("");
    await writeFile(page, configPage(".", { host: { hostname } }).replace("<ol>", `${others}<ol>`));
    const commandLine = parseCommandLine([page, "--port", "0"]) as CommandLine;
    const service = await startService(
      commandLine,
      logLines(() => {}, commandLine),
    );
    onTestFinished(() => service.stop());
    const { hostname: printed, port } = new URL(service.url);
    expect(printed).toBe(expected);
    const status = await new Promise((resolve, reject) => {
      const asked = get(
        { host: "127.0.0.1", port, path: "/", headers: { host: new URL(service.url).host } },
        (reply) => {
          reply.resume();
          resolve(reply.statusCode);
        },
      );
      asked.on("error", reject);
    });
    expect(status).toBe(200);
  });
});

describe("the running service", () => {
  it("goes by the new page after a reload, and says so", async () => {
    const { service, page, rewrite, logged } = await start();
    await rewrite(configPage(".", { host: { serverHeader: "second" } }));
    expect(await serverHeader(service.url)).toBe(null);
    await service.reload();
    expect(await serverHeader(service.url)).toBe("second");
    expect(logged()).toBe(`filement: ${page} is loaded\n`);
  });

  it("keeps the old page when the new one is wrong, says all that is wrong, and takes the next good one", async () => {
    const { service, page, rewrite, logged } = await start();
    await rewrite(configPage("gone", { host: { serverHeader: "second", colour: "red" } }));
    await service.reload();
    expect(await serverHeader(service.url)).toBe(null);
    const lines = logged().trimEnd().split("\n");
    expect(lines.length).toBe(3);
    expect(lines.every((line) => line.startsWith("error: "))).toBe(true);
    expect(lines.slice(0, 2).every((line) => line.includes(`${page}:`))).toBe(true);
    expect(lines[2]).toBe(`error: ${page} was not loaded: what was loaded before stays in force`);
    await rm(page);
    await service.reload();
    expect(logged()).toContain("the file does not exist");
    await rewrite(configPage(".", { host: { serverHeader: "third" } }));
    await service.reload();
    expect(await serverHeader(service.url)).toBe("third");
  });

  it("says that another address takes a restart, and that it leads to the network without authentication", async () => {
    const { service, rewrite, logged } = await start();
    await rewrite(configPage(".", { server: { bindAddress: "0.0.0.0" } }));
    await service.reload();
    const change = "from 127.0.0.1:0 to 0.0.0.0:0, which takes a restart";
    expect(logged()).toContain(`warning: the address to listen on has changed ${change}\n`);
    expect(await serverHeader(service.url)).toBe(null);
  });

  it("says nothing of the sort when the command line decides the address", async () => {
    const { service, rewrite, logged } = await start(["--host", "127.0.0.1"]);
    await rewrite(configPage(".", { server: { bindAddress: "0.0.0.0", bindPort: "1" } }));
    await service.reload();
    expect(logged()).not.toContain("warning");
  });

  it("serves a directory as before after a reload", async () => {
    const directory = await temporaryDirectory({ "a.txt": "hello" });
    const { service, logged } = await start([], { target: directory });
    await service.reload();
    expect(await (await fetch(`${service.url}/a.txt`)).text()).toBe("hello");
    expect(logged()).toBe(`filement: ${directory} is loaded\n`);
  });

  it("says how many uploads were cut off when it was stopped", async () => {
    const { service, directory } = await start([], {}, { drainMs: 50 });
    const uploads = ["/1.txt", "/2.txt"].map((path) => {
      const upload = request(`${service.url}${path}`, { method: "PUT", headers: { "content-length": 3 * mebibyte } });
      upload.on("error", () => {}).write(Buffer.alloc(2 * mebibyte)); // more than is kept in memory until it is whole
      return upload;
    });
    while ((await readdir(directory)).length < 4) await setImmediate(); // both have begun
    await expect(service.stop()).rejects.toThrow("2 uploads were cut off before the end");
    for (const upload of uploads) upload.destroy();
    expect((await readdir(directory)).sort()).toEqual(["a.txt", "config.html"]);
  });

  it("does not reload when it is stopping", async () => {
    const { service, logged } = await start();
    await service.stop();
    await service.reload();
    expect(logged()).toBe("");
  });

  it("does not start with a file that fails, or where another one listens", async () => {
    const { page, service } = await start();
    const port = Number(new URL(service.url).port);
    const commandLine = { ...(parseCommandLine([page]) as CommandLine), port };
    const log = logLines(() => {}, commandLine);
    await expect(startService(commandLine, log)).rejects.toThrow(`port ${port} on 127.0.0.1 is in use`);
    await expect(startService({ ...commandLine, target: `${page}.html` }, log)).rejects.toThrow("does not exist");
  });
});

describe("the running service with a certificate", { tags: ["openssl"] }, () => {
  async function shownName(url: string): Promise<unknown> {
    const { port } = new URL(url);
    const socket: TLSSocket = connect({ host: "127.0.0.1", port: Number(port), rejectUnauthorized: false });
    await once(socket, "secureConnect");
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return CN;
  }

  it("shows a renewed certificate after a reload; with one that cannot be used it changes nothing", async () => {
    const directory = await temporaryDirectory();
    const tls = await makeCertificate(directory, "first");
    const { service, logged, rewrite } = await start([], { tls });
    expect(await shownName(service.url)).toBe("first");

    const second = await makeCertificate(directory, "second");
    await rename(second.cert, tls.cert);
    await rewrite(configPage(".", { host: { serverHeader: "second" } }));
    await service.reload();
    expect(logged()).toContain(`--key ${tls.key} is not the key of --cert ${tls.cert}`);
    expect(await shownName(service.url)).toBe("first");

    await rename(second.key, tls.key);
    await rewrite(configPage("gone"));
    await service.reload();
    expect(await shownName(service.url)).toBe("first");

    await rewrite(configPage("."));
    await service.reload();
    expect(await shownName(service.url)).toBe("second");
  });
});
