import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, onTestFinished } from "vitest";
import { gitOutput, openRepository, Repository } from "../../../src/plugins/history/git.ts";
import { Importer } from "../../../src/plugins/history/importer.ts";
import type { ReadRecord } from "../../../src/plugins/history/journal.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

async function importing() {
  const location = join(await temporaryDirectory(), "site.git");
  await openRepository(location, "main");
  const repository = new Repository(location, "main");
  const author = { name: "ada", email: "ada@localhost" };
  const importer = new Importer(repository, { authorOf: () => author, stored: async () => undefined });
  onTestFinished(async () => {
    await importer.close();
    repository.close();
  });
  await importer.imported(0);
  let number = 0;
  const recordOf = (path: string, kind: ReadRecord["kind"], content: Buffer, size = content.length): ReadRecord => {
    number += 1;
    const place = { journal: "a-1.journal", number, order: number };
    return { path, kind, content, size, etag: `"${number}"`, summary: kind, time: 0, ...place };
  };
  const run = async (...args: readonly string[]) => (await gitOutput(location, args)).toString().trim();
  return { importer, recordOf, run };
}

describe("Importer", () => {
  it("makes the commit of an append again, once, where git could not keep the first", async () => {
    const { importer, recordOf, run } = await importing();
    await importer.add(recordOf("/a.txt", "written", Buffer.from("1")));
    await importer.flush();
    const append = recordOf("/a.txt", "appended", Buffer.from("2"), 2);
    await importer.add(append);
    const who = ["-c", "user.name=ada", "-c", "user.email=ada@localhost"];
    const another = await run(...who, "commit-tree", "main^{tree}", "-p", "main", "-m", "another");
    await run("update-ref", "refs/heads/main", another);
    await expect(importer.flush()).rejects.toThrow("did not make its commits");
    await importer.imported(0);
    await importer.add(append);
    await importer.flush();
    expect(await run("show", "main:a.txt")).toBe("12");
  });

  it("keeps nothing of what it was given in memory once that is in the repository", async () => {
    const { importer, recordOf } = await importing();
    const add = async (path: string) => {
      const read = Buffer.alloc(1_000_000, path); // as from a journal, with many records
      await importer.add(recordOf(path, "written", read.subarray(0, 10)));
      await importer.flush();
      return new WeakRef(read.buffer);
    };
    const given = [await add("/a.txt"), await add("/b.txt"), await add("/c.txt")];
    await new Promise((resolve) => setImmediate(resolve)); // a WeakRef holds its target to the end of the turn
    gc();
    expect(given.filter((each) => each.deref())).toEqual([]);
  });
});
