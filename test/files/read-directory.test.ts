import { describe, expect, it } from "vitest";
import { readDirectory } from "../../src/files/read-directory.ts";
import type { Right } from "../../src/server/access.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { fileRequest } from "../helpers/file-request.ts";

const files = memoryStorage({ "/docs/index.html": "<p>docs", "/docs/a.txt": "a", "/plain/b.txt": "b" });
const only =
  (...rights: readonly Right[]) =>
  (right: Right): boolean =>
    rights.includes(right);

describe("reading a directory", () => {
  it("asks for the right to read the index file, and gives no listing in its place", async () => {
    const asked: string[] = [];
    const permits = (right: Right, path: string): boolean => {
      asked.push(`${right} ${path}`);
      return right === "list";
    };
    const request = await fileRequest(files, "/docs/", { permits });
    await expect(readDirectory(request)).rejects.toMatchObject({ status: 401, code: "REFUSED" });
    expect(asked).toEqual(["read /docs/index.html"]);
  });

  it("sends the index file to those who may read, but not list", async () => {
    const reply = await readDirectory(await fileRequest(files, "/docs/", { permits: only("read") }));
    expect(Buffer.from(reply.body as Uint8Array).toString()).toBe("<p>docs");
  });

  it.each([
    ["/docs/", []],
    ["/plain/", ["read"] as const],
  ])("refuses %s to those who may %j", async (path, rights) => {
    const request = await fileRequest(files, path, { permits: only(...rights) });
    await expect(readDirectory(request)).rejects.toMatchObject({ status: 401, code: "REFUSED" });
  });

  it("refuses before it says that listings are off", async () => {
    const options = { listing: false };
    const request = await fileRequest(files, "/plain/", { options, permits: only("read") });
    await expect(readDirectory(request)).rejects.toMatchObject({ code: "REFUSED" });
  });

  it("closes the index file when the exchange is over, sent or not", async () => {
    let isOpen = false;
    const open: Storage["open"] = async (path) => {
      const file = await files.open(path);
      isOpen = file !== undefined;
      return (
        file && {
          stat: file.stat,
          bytes: (span) => file.bytes(span),
          stream: (span) => file.stream(span),
          async close() {
            isOpen = false;
          },
        }
      );
    };
    const request = await fileRequest({ ...files, open }, "/docs/", { headers: { "if-match": '"other"' } });
    await expect(readDirectory(request)).rejects.toMatchObject({ status: 412 });
    expect(isOpen).toBe(true);
    await request.exchange.end();
    expect(isOpen).toBe(false);
  });
});
