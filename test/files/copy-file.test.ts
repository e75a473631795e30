import { describe, expect, it } from "vitest";
import { copyFile } from "../../src/files/copy-file.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { fileRequest } from "../helpers/file-request.ts";
import { textAt } from "../storage/content.ts";

describe("copying a file", () => {
  it("announces just the file that was written", async () => {
    const storage = memoryStorage({ "/a.txt": "new", "/b.txt": "old" });
    const ask = (destination: string) => fileRequest(storage, "/a.txt", { method: "COPY", headers: { destination } });
    const [made, replaced] = [await ask("/c.txt"), await ask("/b.txt")];
    expect((await copyFile(made)).status).toBe(201);
    expect((await copyFile(replaced)).status).toBe(204);
    expect(made.changes).toMatchObject([{ kind: "created", path: "/c.txt", size: 3 }]);
    expect(replaced.changes).toMatchObject([{ kind: "replaced", path: "/b.txt", size: 3 }]);
  });

  it("lets the host program decide about the content", async () => {
    const storage = memoryStorage({ "/a.txt": "new" });
    const asked: string[] = [];
    const beforeWrite = ({ kind, path }: { kind: string; path: string }) => {
      asked.push(`${kind} ${path}`);
      return "decided";
    };
    const options = { beforeWrite };
    await copyFile(
      await fileRequest(storage, "/a.txt", { method: "COPY", headers: { destination: "/b.txt" }, options }),
    );
    expect([asked, await textAt(storage, "/b.txt")]).toEqual([["created /b.txt"], "decided"]);
  });

  it("refuses a file that is stored in a coding", async () => {
    const inner = memoryStorage({ "/a.txt": "coded" });
    const open = async (path: string) => {
      const file = await inner.open(path);
      const stat = file && { ...file.stat, fields: { "content-encoding": "gzip" } };
      return (
        file &&
        stat && { ...file, stat, close: () => file.close(), stream: () => file.stream(), bytes: () => file.bytes() }
      );
    };
    const request = await fileRequest({ ...inner, open }, "/a.txt", {
      method: "COPY",
      headers: { destination: "/b.txt" },
    });
    await expect(copyFile(request)).rejects.toMatchObject({ code: "encoded" });
    expect(await inner.stat("/b.txt")).toBeUndefined();
  });
});
