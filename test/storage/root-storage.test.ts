import { describe, expect, it } from "vitest";
import { rootStorage } from "../../src/storage/root-storage.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

describe("rootStorage", () => {
  it("stores on the disk, and refuses a bucket, whose keys it does not have", async () => {
    const storage = rootStorage(await temporaryDirectory());
    await storage.write("/a.txt", (async function* () {})());
    expect((await storage.stat("/a.txt"))?.size).toBe(0);
    expect(() => rootStorage("s3://site")).toThrow("root is a bucket: expected a directory");
  });
});
