import { execFile } from "node:child_process";
import { link, mkdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createFileServer } from "../../../src/file-server.ts";
import { type DiskStorageOptions, diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { DiskPaths } from "../../../src/storage/disk/paths.ts";
import type { Storage, StorageError } from "../../../src/storage/storage.ts";
import { failAt } from "../../helpers/faulty-disk.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { content, entriesAt, namesAt, textAt, withBytes } from "../content.ts";

const forbidden = expect.objectContaining({ name: "StorageError", code: "forbidden" });
const notFound = expect.objectContaining({ name: "StorageError", code: "not-found" });

/** A root with `/a.txt` and `/dir/b.txt`, and beside it a directory that must never be reached. */
async function place(options?: DiskStorageOptions): Promise<{ root: string; outside: string; storage: Storage }> {
  const parent = await temporaryDirectory();
  const [root, outside] = [join(parent, "www"), join(parent, "www-old")];
  await mkdir(join(root, "dir"), { recursive: true });
  await mkdir(outside);
  await writeFile(join(root, "a.txt"), "a");
  await writeFile(join(root, "dir", "b.txt"), "b");
  await writeFile(join(outside, "secret.txt"), "secret");
  return { root, outside, storage: diskStorage(root, options) };
}

/** Checks that nothing about a path can be read, and that no change of it is made. */
async function expectUnreachable(storage: Storage, path: string): Promise<void> {
  expect(await storage.stat(path)).toBeUndefined();
  expect(await storage.open(path)).toBeUndefined();
  await expect(entriesAt(storage, path)).rejects.toEqual(notFound);
  await expect(storage.write(path, content("x"))).rejects.toEqual(forbidden);
  await expect(storage.append(path, content("x"))).rejects.toEqual(forbidden);
  await expect(storage.update(path, () => Buffer.from("x"))).rejects.toEqual(forbidden);
  await expect(storage.remove(path)).rejects.toEqual(forbidden);
}

describe("a symbolic link inside the root", () => {
  it("is read as what it leads to", async () => {
    const { root, storage } = await place();
    await symlink("a.txt", join(root, "link.txt"));
    await symlink("dir", join(root, "linked"));
    expect(await textAt(storage, "/link.txt")).toBe("a");
    expect(await textAt(storage, "/linked/b.txt")).toBe("b");
    expect(await namesAt(storage, "/linked/")).toEqual(["b.txt"]);
    const types = (await entriesAt(storage, "/")).map(({ name, type }) => `${name} ${type}`);
    expect(types).toEqual(["a.txt file", "dir directory", "link.txt file", "linked directory"]);
    expect(await storage.stat("/link.txt")).toMatchObject({ type: "file", size: 1 });
  });

  it("stays when the file it leads to is written, appended to and edited", async () => {
    const { root, storage } = await place();
    await symlink("dir/b.txt", join(root, "link.txt"));
    await storage.write("/link.txt", content("one"));
    await storage.append("/link.txt", content(" two"));
    await storage.update(
      "/link.txt",
      withBytes((bytes) => Buffer.concat([bytes, Buffer.from(" three")])),
    );
    expect(await readlink(join(root, "link.txt"))).toBe("dir/b.txt");
    expect(await readFile(join(root, "dir", "b.txt"), "utf8")).toBe("one two three");
    expect(await namesAt(storage, "/dir/")).toEqual(["b.txt"]);
  });

  it("is written below, also where directories are to be made", async () => {
    const { root, storage } = await place();
    await symlink("dir", join(root, "linked"));
    await storage.write("/linked/new/c.txt", content("c"));
    expect(await readFile(join(root, "dir", "new", "c.txt"), "utf8")).toBe("c");
  });

  it("shares a lock with what it leads to", async () => {
    const { root, storage } = await place();
    await symlink("a.txt", join(root, "link.txt"));
    const increment = (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.from("x")]);
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        storage.update(index % 2 ? "/a.txt" : "/link.txt", withBytes(increment)),
      ),
    );
    expect((await storage.stat("/a.txt"))?.size).toBe(41);
  });

  it.each(["/linked", "/linked/"])("is itself removed as %s, and what it leads to stays", async (path) => {
    const { root, storage } = await place();
    await symlink("dir", join(root, "linked"));
    await storage.remove(path);
    expect(await namesAt(storage, "/")).toEqual(["a.txt", "dir"]);
    expect(await textAt(storage, "/dir/b.txt")).toBe("b");
  });

  it("does not exist where links are never followed", async () => {
    const { root, storage } = await place({ symlinks: "never" });
    await symlink("a.txt", join(root, "link.txt"));
    await symlink("dir", join(root, "linked"));
    await expectUnreachable(storage, "/link.txt");
    await expectUnreachable(storage, "/linked/b.txt");
    await expectUnreachable(storage, "/linked/new/c.txt");
    expect(await namesAt(storage, "/")).toEqual(["a.txt", "dir"]);
  });
});

describe("a symbolic link that leads out of the root", () => {
  it.each(["within-root", "never"] as const)("is unreachable (%s)", async (symlinks) => {
    const { root, outside, storage } = await place({ symlinks });
    await symlink(join(outside, "secret.txt"), join(root, "file"));
    await symlink("../www-old", join(root, "directory"));
    await symlink("/", join(root, "everything"));
    await expectUnreachable(storage, "/file");
    await expectUnreachable(storage, "/directory");
    await expectUnreachable(storage, "/directory/secret.txt");
    await expectUnreachable(storage, "/directory/new/file.txt");
    await expectUnreachable(storage, "/everything/etc/passwd");
    expect(await namesAt(storage, "/")).toEqual(["a.txt", "dir"]);
    expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("secret");
  });

  it("is not created through when it leads nowhere yet", async () => {
    const { root, outside, storage } = await place();
    await symlink(join(outside, "new.txt"), join(root, "dangling"));
    await symlink("no.txt", join(root, "dangling-inside"));
    await expectUnreachable(storage, "/dangling");
    await expectUnreachable(storage, "/dangling/below/file.txt");
    await expectUnreachable(storage, "/dangling-inside");
    expect(await namesAt(storage, "/")).toEqual(["a.txt", "dir"]);
    expect(await namesAt(diskStorage(outside), "/")).toEqual(["secret.txt"]);
  });

  it("is noticed when it appears while the content arrives", async () => {
    const { root, outside, storage } = await place();
    async function* linking(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("x");
      await symlink(outside, join(root, "new"));
    }
    await expect(storage.write("/new/secret.txt", linking())).rejects.toEqual(forbidden);
    expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("secret");
    expect(await namesAt(storage, "/")).toEqual(["a.txt", "dir"]);
  });
});

describe("the root", () => {
  it("is not left by a path that is not canonical", async () => {
    const { storage } = await place();
    await expectUnreachable(storage, "/../www-old/secret.txt");
    await expectUnreachable(storage, "/dir/../../www-old/secret.txt");
    await expectUnreachable(storage, "/a.txt\0.html");
  });

  it("may itself be a link", async () => {
    const { root, storage } = await place();
    await symlink("www", `${root}-link`);
    const linked = diskStorage(`${root}-link`, { symlinks: "never" });
    await linked.write("/a.txt", content("written"));
    expect(await textAt(storage, "/a.txt")).toBe("written");
  });

  it("may be the root of the file system", async () => {
    const { root } = await place();
    expect(await textAt(diskStorage("/"), `${root}/a.txt`)).toBe("a");
  });
});

describe("what is neither a file nor a directory", { tags: ["posix"] }, () => {
  it("is unreachable, and reading a FIFO does not hang", { tags: ["mkfifo"] }, async () => {
    const { root, storage } = await place();
    await promisify(execFile)("mkfifo", [join(root, "fifo")]);
    await expectUnreachable(storage, "/fifo");
    expect(await namesAt(storage, "/")).toEqual(["a.txt", "dir"]);
  });

  it("is unreachable as a socket", async () => {
    const { root, storage } = await place();
    const server = createServer().listen(join(root, "socket"));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    await expectUnreachable(storage, "/socket");
    expect(await namesAt(storage, "/")).toEqual(["a.txt", "dir"]);
  });
});

describe("a protected location", () => {
  it("is refused, with all that lies in it, whether or not it exists", async () => {
    const { root, storage } = await place();
    await storage.protect?.(join(root, "later"));
    const paths = ["/later", "/later/deep/x.txt", "/other", "/a.txt", "/a.txt/b"];
    const refused = await Promise.all(paths.map((path) => storage.refuses?.(path)));
    expect(refused).toEqual([true, true, false, false, false]);
    await storage.protect?.(join(root, "logs", "access.log"));
    for (const path of ["/later", "/logs/access.log"]) await expectUnreachable(storage, path);
  });

  it("is unreachable by its own name and through links, with what lies in it", async () => {
    const { root, storage } = await place();
    await symlink("a.txt", join(root, "link.txt"));
    await storage.protect?.(join(root, "a.txt"));
    await expectUnreachable(storage, "/a.txt");
    await expectUnreachable(storage, "/link.txt");
    expect(await namesAt(storage, "/")).toEqual(["dir"]);
    await storage.protect?.(join(root, "dir"));
    for (const path of ["/dir", "/dir/b.txt", "/dir/new.txt"]) await expectUnreachable(storage, path);
  });

  it("is found through a link, and hides that link too", async () => {
    const { root, storage } = await place();
    await symlink("dir/b.txt", join(root, "users.html"));
    await storage.protect?.(join(root, "users.html"));
    await expectUnreachable(storage, "/users.html");
    await expectUnreachable(storage, "/dir/b.txt");
    expect(await namesAt(storage, "/")).toEqual(["a.txt", "dir"]);
  });

  it("may lie outside the root, or around it", async () => {
    const { root, outside, storage } = await place();
    await storage.protect?.(join(outside, "secret.txt"));
    expect(await namesAt(storage, "/")).toEqual(["a.txt", "dir"]);
    await storage.protect?.(join(root, ".."));
    await expectUnreachable(storage, "/a.txt");
  });
});

describe("a file with several names", () => {
  it("loses nothing that is appended under each of them at once", async () => {
    const { root, storage } = await place();
    await link(join(root, "a.txt"), join(root, "again.txt"));
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => storage.append(index % 2 ? "/a.txt" : "/again.txt", content("x"))),
    );
    expect(await textAt(storage, "/a.txt")).toBe(`a${"x".repeat(40)}`);
    expect(await textAt(storage, "/again.txt")).toBe(`a${"x".repeat(40)}`);
  });
});

describe("a path of 2,000 names", () => {
  const deep = "/a".repeat(2000);

  it("has the disk asked no more than a few times, whatever is asked for", async () => {
    const { root } = await place();
    const files = createFileServer({ root });
    onTestFinished(() => files.close());
    for (const [method, status] of [
      ["GET", 404],
      ["OPTIONS", 200],
      ["PUT", 400],
      ["POST", 404],
      ["DELETE", 404],
    ] as const) {
      const body = method === "PUT" || method === "POST" ? { body: "x" } : {};
      const disk = await failAt(Number.POSITIVE_INFINITY, "EIO");
      const reply = await files.fetch(new Request(`http://localhost${deep}`, { method, ...body }));
      disk.mend();
      expect([method, reply.status, disk.count < 30]).toEqual([method, status, true]);
    }
  });
});

describe("names with characters that Windows has not", () => {
  it("are refused on Windows", async () => {
    const paths = new DiskPaths(await temporaryDirectory(), "within-root");
    const platform = vi.spyOn(process, "platform", "get").mockReturnValue("win32");
    const codes = ["<", ">", "?", "*", "|", '"'].map((character) =>
      paths.target(`/a${character}b.txt`).catch((error: StorageError) => error.code),
    );
    platform.mockRestore();
    expect(await Promise.all(codes)).toEqual(Array(6).fill("invalid-name"));
    expect(await paths.target("/a<b.txt")).toMatchObject({ real: expect.stringContaining("a<b.txt") });
  });
});
