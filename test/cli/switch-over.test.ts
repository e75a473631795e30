import { once } from "node:events";
import { Agent, createServer, get, type IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import type { StartedFiles } from "../../src/cli/start-files.ts";
import { SwitchOver } from "../../src/cli/switch-over.ts";
import { createFileServer } from "../../src/file-server.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { deferred } from "../helpers/deferred.ts";
import { gate } from "../helpers/gate.ts";
import { listen, openSocket } from "../helpers/serve.ts";

/** A file server that answers with its name, and tells when it was closed. */
function generation(name: string, ...plugins: readonly Plugin[]): StartedFiles & { closed: Promise<void> } {
  const { promise: closed, resolve: close } = deferred();
  const config = { storage: memoryStorage({ "/name": name }), plugins: [...plugins, { name, close }] };
  return { files: createFileServer(config), config, address: { host: "127.0.0.1", port: 0 }, closed };
}

async function switching(
  first: StartedFiles,
): Promise<{ over: SwitchOver; url: string; port: number; errors: unknown[] }> {
  const server = createServer();
  const errors: unknown[] = [];
  const over = new SwitchOver(first, server, (error) => errors.push(error));
  const port = await listen(server);
  return { over, url: `http://127.0.0.1:${port}`, port, errors };
}

const nameAt = async (url: string): Promise<string> => (await fetch(`${url}/name`)).text();

describe("switching over", () => {
  it("sends new requests to the new file server, and closes the old one", async () => {
    const first = generation("first");
    const { over, url } = await switching(first);
    expect(await nameAt(url)).toBe("first");
    over.replace(generation("second"));
    await first.closed;
    expect(await nameAt(url)).toBe("second");
    await over.close();
  });

  it("has the old one finish what it began, and keeps the connections", async () => {
    const { plugin, entered, release } = gate();
    const first = generation("first", plugin);
    const { over, url } = await switching(first);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const slow = once(get(`${url}/slow`, { agent }), "response") as Promise<[IncomingMessage]>;
    await entered;
    over.replace(generation("second"));
    expect(await nameAt(url)).toBe("second");
    release();
    const [answer] = await slow;
    expect([await text(answer), answer.headers.connection]).toEqual(["at last", "keep-alive"]);
    await first.closed;
    const request = get(`${url}/name`, { agent });
    const [next] = (await once(request, "response")) as [IncomingMessage];
    expect([await text(next), request.reusedSocket]).toEqual(["second", true]);
    await over.close();
  });

  it("closes the old one when a client leaves with requests behind one another", async () => {
    const { plugin, entered, release } = gate();
    const first = generation("first", plugin);
    const { over, port } = await switching(first);
    const socket = await openSocket(port);
    socket.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET /name HTTP/1.1\r\nHost: a\r\n\r\n");
    await entered;
    over.replace(generation("second"));
    socket.destroy();
    release();
    await expect(first.closed).resolves.toBeUndefined();
    await over.close();
  });

  it("has replies without end come to one, and closes the old one", async () => {
    const events = new PassThrough();
    const stream: Plugin = {
      name: "events",
      handle: ({ path }, next) => (path === "/events" ? { status: 200, headers: {}, body: events } : next()),
      drain: () => void events.end("over"),
    };
    const first = generation("first", stream);
    const { over, url } = await switching(first);
    const reply = await fetch(`${url}/events`);
    over.replace(generation("second"));
    expect(await reply.text()).toBe("over");
    await first.closed;
    await over.close();
  });

  it("waits for those that are finishing when it is closed itself", async () => {
    const { plugin, entered, release } = gate();
    const first = generation("first", plugin);
    const { over, url } = await switching(first);
    const slow = fetch(`${url}/slow`);
    await entered;
    over.replace(generation("second"));
    let isClosed = false;
    const closing = over.close().then(() => {
      isClosed = true;
    });
    await new Promise(setImmediate);
    expect(isClosed).toBe(false);
    release();
    expect(await (await slow).text()).toBe("at last");
    await closing;
  });

  it("closes a file server that comes too late", async () => {
    const { over } = await switching(generation("first"));
    await over.close();
    const late = generation("late");
    over.replace(late);
    await expect(late.closed).resolves.toBeUndefined();
  });

  it("reports what fails while a replaced one is closed, and goes on", async () => {
    const broken: Plugin = {
      name: "broken",
      close() {
        throw new Error("cannot close");
      },
    };
    const first = generation("first", broken);
    const { over, url, errors } = await switching(first);
    over.replace(generation("second"));
    await first.closed;
    expect(await nameAt(url)).toBe("second");
    await over.close();
    expect(String(errors)).toContain("cannot close");
  });

  it("has every log opened anew once, also those of the one that is finishing; a failure is reported", async () => {
    const reopened: string[] = [];
    const log = (name: string): Plugin & { reopen: () => Promise<void> } => ({
      name,
      reopen: async () => {
        reopened.push(name);
        if (name === "bad") throw new Error("no such directory");
      },
    });
    const { plugin, entered, release } = gate();
    const shared = log("shared");
    const { over, url, errors } = await switching(generation("first", plugin, log("old"), shared, shared));
    const slow = fetch(`${url}/slow`);
    await entered;
    over.replace(generation("second", log("bad"), log("new")));
    await over.reopenLogs();
    expect(reopened.sort()).toEqual(["bad", "new", "old", "shared"]);
    expect(errors).toEqual([new Error("no such directory")]);
    release();
    await (await slow).text();
    await over.close();
  });
});
