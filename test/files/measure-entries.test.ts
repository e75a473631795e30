import { describe, expect, test } from "vitest";
import { measureEntries } from "../../src/files/measure-entries.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Storage, StorageError, type StorageErrorCode, type StoredEntry } from "../../src/storage/storage.ts";

const file = (name: string): StoredEntry => ({ name, type: "file" });

async function measured(storage: Pick<Storage, "stat">, names: readonly StoredEntry[]): Promise<string[]> {
  const found: string[] = [];
  for await (const batch of measureEntries(storage, "/d/", names)) {
    for (const { name, type, stat } of batch) found.push(`${name} ${type} ${stat.size}`);
  }
  return found;
}

describe("measureEntries", () => {
  test("tells what stat tells, in the order of the names", async () => {
    const storage = memoryStorage({ "/d/b": "four", "/d/a": "xx", "/d/sub/c": "" });
    const names = [file("b"), { name: "sub", type: "directory" } as const, file("a")];
    expect(await measured(storage, names)).toEqual(["b file 4", "sub directory 0", "a file 2"]);
  });

  test.each<StorageErrorCode>(["forbidden", "not-found"])("leaves out what stat refuses with %s", async (code) => {
    const stat = async (): Promise<never> => {
      throw new StorageError(code);
    };
    expect(await measured({ stat }, [file("a")])).toEqual([]);
  });

  test.each([new StorageError("busy"), new Error("the disk is broken")])(
    "fails where stat fails: %s",
    async (error) => {
      const stat = async (): Promise<never> => {
        throw error;
      };
      await expect(measured({ stat }, [file("a")])).rejects.toBe(error);
    },
  );

  test("measures no more than a reader has asked for", async () => {
    const asked: string[] = [];
    const stat = async (path: string): Promise<undefined> => {
      asked.push(path);
    };
    const names = Array.from({ length: 1000 }, (_, i) => file(`f${i}`));
    const batches = measureEntries({ stat }, "/d/", names);
    await batches.next();
    await batches.return(undefined);
    expect(asked.length).toBeLessThan(100);
  });
});
