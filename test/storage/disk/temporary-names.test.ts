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
  const ended = (): number => spawnSync(process.execPath, ["--version"]).pid;

  it.each([
    [true, "another machine has added nothing for longer than any process takes", ofOtherMachine(ownName()), long],
    [false, "another machine may be at work on it", ofOtherMachine(ofProcess(ownName(), ended())), now],
    [true, "its process has ended", ofProcess(ownName(), ended()), now],
    [true, "its process had our number, but before us", ofOtherRun(ownName()), beforeThisProcess],
    [false, "it is our own, however old: clocks are set, and processes rest", ownName(), long],
    [false, "its process is alive, however old", ofProcess(ownName(), process.ppid), long],
    [false, "it is not ours", ".filement-notes.tmp", 0],
  ])("%s where %s", (expected, _why, name, modified) => {
    expect(isAbandoned(name, modified)).toBe(expected);
  });
});
