import { describe, expect, it } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { guard } from "../../src/plugins/guard.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { Storage } from "../../src/storage/storage.ts";

/** A storage that lists all names in lower case, and finds them by others. */
function folding(files: Readonly<Record<string, string>>): Storage {
  const storage = memoryStorage(files);
  return { ...storage, listedPath: async (path) => (path.includes("~") ? undefined : path.toLowerCase()) };
}

describe("a path that is listed otherwise than it was asked for", () => {
  it.each([
    ["/A.TXT", 200],
    ["/Dir/", 200],
    ["/NO.txt", 404],
    ["/GIT~1", 404],
  ])("is answered as what is listed: %s", async (path, status) => {
    const files = createFileServer({ storage: folding({ "/a.txt": "a", "/dir/b.txt": "b" }) });
    expect((await files.fetch(new Request(`http://x${path}`))).status).toBe(status);
    await files.close();
  });

  it("has the rights that it has by both", async () => {
    const denied = ["/secret.txt", "/DIR/b.txt"];
    const storage = folding({ "/secret.txt": "s", "/dir/b.txt": "b", "/dir/c.txt": "c" });
    const plugins = [guard({ permits: ({ path }) => !denied.includes(path) })];
    const files = createFileServer({ storage, plugins });
    const ask = async (path: string) =>
      files.fetch(new Request(`http://x${path}`, { headers: { accept: "application/json" } }));
    expect((await ask("/SECRET.txt")).status).toBe(403);
    expect((await (await ask("/DIR/")).json()).entries).toEqual([expect.objectContaining({ name: "c.txt" })]);
    expect((await (await ask("/dir/")).json()).entries).toHaveLength(2);
    await files.close();
  });

  it("is the one that is told of a change", async () => {
    const files = createFileServer({ storage: folding({ "/a.txt": "a" }) });
    const paths: string[] = [];
    files.changes.subscribe(({ path }) => paths.push(path));
    await files.fetch(new Request("http://x/A.TXT", { method: "PUT", body: "x" }));
    expect(paths).toEqual(["/a.txt"]);
    await files.close();
  });
});
