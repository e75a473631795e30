import { execFileSync } from "node:child_process";
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
  const authorOf = () => ({ name: "ada", email: "ada@localhost" });
  const importer = new Importer(repository, { authorOf, stored: async () => undefined });
  onTestFinished(async () => {
    await importer.close();
    repository.close();
  });
  let number = 0;
  const recordOf = (path: string, kind: ReadRecord["kind"], content: Buffer, size = content.length): ReadRecord => {
    number += 1;
    const place = { journal: "a-1.journal", number, order: number };
    return { path, kind, content, size, etag: `"${number}"`, summary: kind, time: 0, ...place };
  };
  return { importer, recordOf, location };
}

describe("Importer", () => {
  it("makes the commit of an append again, once, where git could not keep the first", async () => {
    const { importer, recordOf, location } = await importing();
    await importer.add(recordOf("/a.txt", "written", Buffer.from("1")));
    await importer.flush();
    const append = recordOf("/a.txt", "appended", Buffer.from("2"), 2);
    await importer.add(append);
    const input = "commit refs/heads/main\ncommitter a <a@b> 0 +0000\ndata 0\nfrom refs/heads/main^0\n";
    execFileSync("git", ["--git-dir", location, "fast-import", "--quiet"], { input });
    await expect(importer.flush()).rejects.toThrow("did not make its commits");
    await importer.imported(0); // begins anew
    await importer.add(append);
    await importer.flush();
    expect((await gitOutput(location, ["show", "main:a.txt"])).toString()).toBe("12");
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
