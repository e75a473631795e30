import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { directory } from "../../src/plugins/directory.ts";
import { fileHandler } from "../../src/plugins/file-handler.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { accessOf } from "../helpers/file-request.ts";
import { send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
import { projectRoot } from "../helpers/source-files.ts";

const path = "/.well-known/filement/client.js";
const compiled = readFileSync(`${projectRoot}/dist/client/client.js`, "utf8");

/** What a server with the option answers to a GET of the module. */
function ask(config: FileServerConfig, headers: Record<string, string> = {}): Promise<Response> {
  const files = createFileServer({ storage: memoryStorage(), client: true, ...config });
  return files.fetch(new Request(`http://localhost${path}`, { headers }));
}

describe("the browser module", () => {
  it("is served with the option `client`, as a browser needs it", async () => {
    const { url } = await serve({ storage: memoryStorage(), client: true });
    const { status, headers, text } = await send(url, "GET", path);
    expect([status, text]).toEqual([200, compiled]);
    expect(headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "no-cache",
      "content-length": `${Buffer.byteLength(compiled)}`,
      etag: expect.stringMatching(/^"[\w-]{22}"$/),
      "last-modified": expect.stringMatching(/ GMT$/),
      "x-content-type-options": "nosniff",
    });
    const head = await send(url, "HEAD", path);
    expect([head.status, head.text, head.headers["etag"]]).toEqual([200, "", headers["etag"]]);
    expect(head.headers["content-length"]).toBe(headers["content-length"]);
  });

  it("is not there without the option", async () => {
    expect((await ask({ client: false })).status).toBe(404);
  });

  it("is sent once to who has it already", async () => {
    const { headers } = await ask({});
    const etag = headers.get("etag") ?? "";
    for (const condition of [{ "if-none-match": etag }, { "if-modified-since": headers.get("last-modified") ?? "" }]) {
      const again = await ask({}, condition);
      expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", etag]);
    }
    expect((await ask({}, { "if-none-match": '"old"' })).status).toBe(200);
    expect((await ask({}, { "if-match": '"old"' })).status).toBe(412);
  });

  it("cannot be changed", async () => {
    const { url } = await serve({ storage: memoryStorage(), client: true });
    for (const method of ["PUT", "POST", "DELETE", "OPTIONS", "PROPFIND"]) {
      const { status, headers } = await send(url, method, path, { body: "alert(1)" });
      expect([method, status, headers["allow"]]).toEqual([method, 405, "GET, HEAD"]);
    }
    expect((await send(url, "GET", path)).text).toBe(compiled);
  });

  it("leaves the rest of its directory to files", async () => {
    const storage = memoryStorage({ "/.well-known/filement/other.txt": "other" });
    const { url } = await serve({ storage, client: true });
    expect((await send(url, "GET", "/.well-known/filement/other.txt")).text).toBe("other");
    expect((await send(url, "GET", `${path}/`)).status).toBe(404);
    expect((await send(url, "GET", path, { headers: { upgrade: "websocket", connection: "upgrade" } })).status).toBe(
      404,
    );
  });

  it("is there once for several hosts, and where a file handler is listed", async () => {
    const files = createFileServer({
      client: true,
      hosts: {
        "a.example": { storage: memoryStorage() },
        "b.example": { storage: memoryStorage(), plugins: [directory({ directory: "/x" }), fileHandler()] },
        "c.example": { storage: memoryStorage(), client: false },
      },
    });
    const statuses = ["a", "b", "c"].map(
      async (name) => (await files.fetch(new Request(`http://${name}.example${path}`))).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 404]);
  });

  it("stands behind the host's plugins: who may not read it does not get it", async () => {
    const auth = basicAuth({ users: () => false });
    expect((await ask({ plugins: [auth] })).status).toBe(401);
    const access = accessOf(() => false, new HttpError(403, "FORBIDDEN", "No."));
    const readNothing = {
      name: "read nothing",
      handle(exchange: { access: typeof access }, next: () => Promise<never>) {
        exchange.access = access;
        return next();
      },
    };
    expect((await ask({ plugins: [readNothing as never] })).status).toBe(403);
  });
});
