import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { logLines, type OperatorLog } from "../../src/cli/log-lines.ts";
import { isLoopback, isPage, openHostWarnings, startFiles } from "../../src/cli/start-files.ts";
import type { FileServerConfig } from "../../src/config.ts";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { configPage, pluginItem } from "../helpers/config-page.ts";
import { rawRequest, serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const log = logLines(() => {}, { logFormat: "text", verbose: false });

async function statusOf(target: string, url: string): Promise<number> {
  const { files } = await startFiles({ target, tls: undefined, verbose: true }, log);
  const { status } = await files.fetch(new Request(url));
  await files.close();
  return status;
}

describe("starting a file server", () => {
  it("offers changes and archives in the listings of a directory, live or not", async () => {
    for (const live of [false, true]) {
      const { files } = await startFiles(
        { target: await temporaryDirectory(), tls: undefined, verbose: false, live },
        log,
      );
      const page = await (await files.fetch("/")).text();
      expect(page).toContain("data-may-add");
      expect(page).toContain('href="?zip"');
      await files.close();
    }
  });

  it("serves what a page says, and never the page itself", async () => {
    const directory = await temporaryDirectory({ "config.html": configPage("."), "a.txt": "a" });
    const page = join(directory, "config.html");
    expect(await statusOf(page, "http://localhost/a.txt")).toBe(200);
    expect(await statusOf(page, "http://localhost/config.html")).toBe(404);
  });

  it.each([
    ["127.0.0.1", [], 421],
    ["localhost", [], 421],
    ["::1", ["other.example"], 421],
    ["127.0.0.1", ["a.example"], 200],
    ["0.0.0.0", [], 200],
    ["0.0.0.0", ["other.example"], 421],
  ])(
    "answers to no name of somebody else where only this computer can reach it: %s, %j",
    async (host, names, status) => {
      const directory = await temporaryDirectory({ "a.txt": "a" });
      const asked = { target: directory, tls: undefined, verbose: false, host, allowedHosts: names };
      const { files } = await startFiles(asked, log);
      expect((await files.fetch(new Request("http://a.example/a.txt"))).status).toBe(status);
      expect((await files.fetch(new Request("http://127.0.0.1:3000/a.txt"))).status).toBe(200);
      await files.close();
    },
  );

  it("answers to every name by a default host where the configuration names another", async () => {
    const directory = await temporaryDirectory();
    const page = join(directory, "config.html");
    const second = '<meta itemprop="hostname" content="a.example">';
    await writeFile(page, configPage(".").replace('content="*">', `content="*">${second}`));
    await writeFile(join(directory, "a.txt"), "a");
    expect(await statusOf(page, "http://b.example/a.txt")).toBe(200);
  });

  it("takes no writes with --read-only, whatever a host or a file handler of the page says", async () => {
    const directory = await temporaryDirectory();
    const page = join(directory, "config.html");
    const plugins = [pluginItem("file-handler", { read_only: "false" })];
    await writeFile(page, configPage(".", { host: { readOnly: "false" }, plugins }));
    for (const [readOnly, status] of [
      [false, 201],
      [true, 405],
    ] as const) {
      const { files } = await startFiles({ target: page, tls: undefined, verbose: false, readOnly }, log);
      const reply = await files.fetch(new Request("http://localhost/new.txt", { method: "PUT", body: "new" }));
      expect(reply.status).toBe(status);
      await files.close();
    }
  });

  it("never serves certificate and key", async () => {
    const directory = await temporaryDirectory();
    for (const name of ["site.crt", "site.key"]) await writeFile(join(directory, name), "secret");
    const tls = { cert: join(directory, "site.crt"), key: join(directory, "site.key") };
    const { files } = await startFiles({ target: directory, tls, verbose: false }, log);
    const urls = ["http://localhost/site.key", "http://localhost/site.crt"];
    const replies = await Promise.all(urls.map((url) => files.fetch(new Request(url))));
    expect(replies.map(({ status }) => status)).toEqual([404, 404]);
    await files.close();
  });

  it("gives up on a plugin that does not start in time", async () => {
    const directory = await temporaryDirectory();
    const page = join(directory, "config.html");
    await writeFile(
      join(directory, "stuck.mjs"),
      'export default () => ({ name: "stuck", start: () => new Promise(() => {}) });',
    );
    await writeFile(page, configPage(".", { plugins: [pluginItem("file://./stuck.mjs")] }));
    const starting = startFiles({ target: page, tls: undefined, verbose: false }, log, 20);
    await expect(starting).rejects.toThrow("the plugins have not started within 0.02 s");
  });

  it("takes a file for a page, a directory for none, and what is not there by its name", async () => {
    const directory = await temporaryDirectory({ page: "" });
    const targets = [join(directory, "page"), directory, join(directory, "none.html"), join(directory, "none")];
    expect(await Promise.all(targets.map(isPage))).toEqual([true, false, true, false]);
  });
});

describe("the log of requests", () => {
  async function verbose(): Promise<{ told: object[]; config: FileServerConfig }> {
    const directory = await temporaryDirectory({ "a.txt": "hello" });
    const told: object[] = [];
    const info: OperatorLog["info"] = (fields, message) => told.push({ ...fields, message });
    const asked = { target: directory, tls: undefined, verbose: true };
    const { files, config } = await startFiles(asked, log);
    await files.close();
    return { told, config: { ...config, logger: { ...log, info } } };
  }

  it("tells who asked for what, and what became of it", async () => {
    const { told, config } = await verbose();
    const { port, files } = await serve(config);
    await fetch(`http://127.0.0.1:${port}/a.txt?q`, { headers: { "x-request-id": "r-1" } });
    await files.close();
    expect(told).toEqual([
      {
        message: "request",
        requestId: "r-1",
        address: "127.0.0.1",
        method: "GET",
        host: "127.0.0.1",
        url: "/a.txt?q",
        status: 200,
        bytes: 5,
        ms: expect.any(Number),
      },
    ]);
  });

  it("keeps a password in a request target to itself", async () => {
    const { told, config } = await verbose();
    const { port, files } = await serve(config);
    await rawRequest(port, "GET", `http://ada:s3cret@127.0.0.1:${port}/a.txt`);
    await files.close();
    expect(told).toMatchObject([{ url: `http://127.0.0.1:${port}/a.txt`, status: 400 }]);
  });
});

describe("hosts to which anonymous clients may write", () => {
  it("are warned of by name, with who can reach them", () => {
    const warnings = (address: string, config: FileServerConfig) => openHostWarnings(config, address);
    expect(warnings("0.0.0.0", { root: "." })).toEqual([
      "every client that can reach 0.0.0.0 can change the files here: there is no authentication (--read-only or --users FILE changes that, and basic-auth in a page)",
    ]);
    expect(warnings("127.0.0.1", { hosts: { a: { root: "a" }, b: { root: "b" } } })).toEqual([
      "every program on this computer can change the files of a, b: there is no authentication (--read-only or --users FILE changes that, and basic-auth in a page)",
    ]);
    expect(warnings("0.0.0.0", { root: ".", plugins: [basicAuth({ users: async () => false })] })).toEqual([]);
  });
});

describe("a loopback address", () => {
  it.each(["127.0.0.1", "127.9.8.7", "localhost", "::1", "::ffff:127.0.0.1"])("is %s", (address) => {
    expect(isLoopback(address)).toBe(true);
  });

  it.each(["0.0.0.0", "::", "192.168.0.1", "127.0.0.1.example", "localhost.example", "1270.0.1.1"])(
    "is not %s",
    (address) => {
      expect(isLoopback(address)).toBe(false);
    },
  );
});
