import { spawnSync } from "node:child_process";
import { hostname } from "node:os";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  abandonedAfterMs,
  appendNoteName,
  hasTemporaryName,
  isAbandoned,
  isTemporaryName,
  machineOf,
  temporaryFileName as ownName,
} from "../../../src/storage/disk/temporary-names.ts";

const ofProcess = (name: string, id: number): string => name.replace(/-\d+-/, `-${id}-`);
const ofOtherRun = (name: string): string => name.replace(/-[0-9a-f]+\.tmp$/, "-00.tmp");
const ofOtherMachine = (name: string): string => name.replace(/^\.filement-[0-9a-f]+/, ".filement-00000000");

describe("a temporary name", () => {
  it("is recognised in any case, and no other name is", () => {
    const names = [ownName(), appendNoteName(7n), ".FILEMENT-X.TMP", ".filement-.tmp"];
    expect(names.map(isTemporaryName)).toEqual([true, true, true, true]);
    const others = ["a.txt", ".filement.tmp", "x.filement-1.tmp", ".filement-1.tmp.html", "filement-1.tmp"];
    expect(others.map(isTemporaryName)).toEqual([false, false, false, false, false]);
  });

  it("is recognised anywhere on a path", () => {
    const name = ownName();
    expect([`/${name}`, `/dir/${name}/a.txt`, "/.FILEMENT-X.TMP/"].map(hasTemporaryName)).toEqual([true, true, true]);
    const others = [`/x${name}`, `/${name}.html`, "/.filement-x/y.tmp", "/"];
    expect(others.map(hasTemporaryName)).toEqual([false, false, false, false]);
  });

  it("is that of another machine where one of host name, installation and process ids is another", () => {
    const own = machineOf("web", "5f1a", "pid:[4026531836]");
    expect(machineOf("web", "5f1a", "pid:[4026531836]")).toBe(own);
    const others = [
      machineOf("web-2", "5f1a", "pid:[4026531836]"),
      machineOf("web", "77c2", "pid:[4026531836]"),
      machineOf("web", "5f1a", "pid:[4026532514]"), // a container that was given the same host name
    ];
    expect(new Set([own, ...others]).size).toBe(4);
  });

  it("does not tell the name of the machine", () => {
    expect(ownName()).not.toContain(hostname());
  });
});

describe("a temporary file counts as abandoned", () => {
  const now = Date.now();
  const beforeThisProcess = now - 1000;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"], now });
    vi.spyOn(process, "uptime").mockReturnValue(0.5);
  });

  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  const long = now - abandonedAfterMs - 1;

  it("when another machine has added nothing for longer than any process takes", () => {
    expect(isAbandoned(ofOtherMachine(ownName()), long)).toBe(true);
  });

  it("not when its process lives, however old it is: clocks are set, and processes rest", () => {
    const names = [ownName(), ofProcess(ownName(), process.ppid)];
    expect(names.map((name) => isAbandoned(name, long))).toEqual([false, false]);
  });

  it("when its process has ended", () => {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    expect(isAbandoned(ofProcess(ownName(), pid), now)).toBe(true);
  });

  it("when its process had our number, but before us", () => {
    expect(isAbandoned(ofOtherRun(ownName()), beforeThisProcess)).toBe(true);
  });

  it("not when its process is alive", () => {
    expect(isAbandoned(ofProcess(ownName(), process.ppid), beforeThisProcess)).toBe(false);
  });

  it("not when it is our own", () => {
    expect(isAbandoned(ownName(), now)).toBe(false);
  });

  it("not when another machine may be at work on it", () => {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    expect(isAbandoned(ofOtherMachine(ofProcess(ownName(), pid)), now)).toBe(false);
  });

  it("not when it is not ours", () => {
    expect(isAbandoned(".filement-notes.tmp", 0)).toBe(false);
  });
});
