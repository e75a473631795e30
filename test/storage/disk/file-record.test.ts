import { stat } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { asStorageError, errnoOf, statOf, storedStat, uniqueMoment } from "../../../src/storage/disk/file-record.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

describe("what is told of a file", () => {
  it("has a version that can stand in an entity tag, and does not tell the inode number", async () => {
    const file = join(await temporaryDirectory({ "a.txt": "a" }), "a.txt");
    const stats = await stat(file, { bigint: true });
    const { version } = storedStat(stats);
    expect(version).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(version).not.toContain(String(stats.ino));
  });

  it("has a date that can be written, whatever the disk has", () => {
    const dates = [9n, -9n].map(
      (times) => statOf({ ino: 1n, size: 1n, mtimeNs: times * 10n ** 21n, ctimeNs: 0n }).modified,
    );
    expect(dates.map((date) => date.getUTCFullYear())).toEqual([9999, 1]);
  });
});

describe("the version of a file", () => {
  it("may be that of another content within a tick, where the change was not ours", () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 5000 });
    onTestFinished(() => void vi.useRealTimers());
    const isFresh = (mtimeNs: bigint, isOwn: boolean) =>
      Number(statOf({ ino: 1n, size: 1n, mtimeNs, ctimeNs: 0n }, "file", isOwn).isFresh);
    const times = [4_950_000_001n, 4_800_000_001n, 3_000_000_000n, 1_000_000_000n]; // two by a coarse clock
    expect(times.map((each) => `${isFresh(each, false)} ${isFresh(each, true)}`)).toEqual(["1 0", "0 0", "1 1", "0 0"]);
  });
});

describe("a unique moment", () => {
  it("is later than every one before, by what file systems can tell apart", () => {
    const moments = Array.from({ length: 10_000 }, uniqueMoment);
    const microseconds = moments.map((moment) => Math.round(moment * 1e6));
    expect(microseconds).toEqual([...new Set(microseconds)].sort((a, b) => a - b));
    expect(microseconds.filter((each) => each % 1000 < 2)).toEqual([]);
  });

  it("follows a clock that was set back", () => {
    const back = Date.now() - 3_600_000;
    vi.useFakeTimers({ toFake: ["Date"], now: back });
    onTestFinished(() => void vi.useRealTimers());
    const [first, second] = [uniqueMoment(), uniqueMoment()];
    expect([Math.floor(first * 1000), second > first]).toEqual([back, true]);
  });
});

const errno = (code: string): Error => Object.assign(new Error(code), { code });

describe("an error of the operating system", () => {
  it.each([
    ["ENOENT", "not-found"],
    ["EDQUOT", "full"],
    ["EPERM", "forbidden"],
    ["ENFILE", "busy"],
    ["EINVAL", "invalid-name"],
    ["ENOTCONN", "unavailable"],
  ])("%s becomes %s, and is its cause", (code, expected) => {
    const cause = errno(code);
    expect(asStorageError(cause)).toMatchObject({ name: "StorageError", code: expected, cause });
  });

  it.each([errno("EIO"), errno("ERR_INVALID_ARG_TYPE"), errno("constructor"), new Error("other"), "text", undefined])(
    "stays as it is when it is not expected: %s",
    (error) => {
      expect(asStorageError(error)).toBe(error);
    },
  );

  it("is told where its class is that of another realm, as that of Node is in a test of Jest", () => {
    expect(errnoOf(runInNewContext('Object.assign(new Error(), { code: "ENOENT" })'))).toBe("ENOENT");
  });

  it("is told by its number where Node does not know its name", () => {
    const unnamed = { code: "Unknown system error -122", errno: -constants.errno.EDQUOT, syscall: "write" };
    expect(errnoOf(Object.assign(new Error("quota"), unnamed))).toBe("EDQUOT");
    expect(errnoOf(Object.assign(new Error("no system call"), { code: "X", errno: -1 }))).toBe("");
  });
});
