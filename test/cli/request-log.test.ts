import { describe, expect, it } from "vitest";
import { requestLog } from "../../src/cli/request-log.ts";
import { createFileServer } from "../../src/file-server.ts";
import { silentLogger } from "../../src/server/logger.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { rawRequest, serve } from "../helpers/serve.ts";

describe("the request log", () => {
  it("tells who asked for what, and what became of it", async () => {
    const told: object[] = [];
    const logger = { ...silentLogger, info: (fields: object, message: string) => told.push({ ...fields, message }) };
    const storage = memoryStorage({ "/a.txt": "hello" });
    const files = createFileServer({ storage, logger, plugins: [requestLog()] });
    const headers = { "x-request-id": "r-1" };
    await (await files.fetch(new Request("http://localhost/a.txt?q", { headers }))).text();
    await files.close();
    expect(told).toEqual([
      {
        message: "request",
        requestId: "r-1",
        address: expect.any(String),
        method: "GET",
        host: "localhost",
        url: "/a.txt?q",
        status: 200,
        bytes: 5,
        ms: expect.any(Number),
      },
    ]);
  });

  it("keeps a password in a request target to itself", async () => {
    const told: object[] = [];
    const logger = { ...silentLogger, info: (fields: object) => told.push(fields) };
    const { port, files } = await serve({ storage: memoryStorage({ "/a.txt": "" }), logger, plugins: [requestLog()] });
    await rawRequest(port, "GET", `http://ada:s3cret@127.0.0.1:${port}/a.txt`);
    await files.close();
    expect(told).toMatchObject([{ url: `http://127.0.0.1:${port}/a.txt`, status: 400 }]);
  });
});
