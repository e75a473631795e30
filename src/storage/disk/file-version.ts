import { hash, randomBytes } from "node:crypto";
import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { StoredStat } from "../storage.ts";

/** 22 characters of base64 are 132 bits: no two versions of anything ever share them by chance. */
const versionLength = 22;

// In microseconds.
let lastMoment = 0;

/** What of a file's record tells its versions apart. */
export type VersionRecord = Pick<BigIntStats, "dev" | "ino" | "size" | "mtimeNs" | "ctimeNs">;

/** What is known of a file or directory from the operating system's record of it. */
export function storedStat(stats: BigIntStats): StoredStat {
  return statOf(stats, stats.isFile() ? "file" : "directory");
}

/** What is known of a file from a part of its record. */
export function statOf(record: VersionRecord, type: StoredStat["type"] = "file"): StoredStat {
  const { dev, ino, size, mtimeNs, ctimeNs } = record;
  let version: string | undefined;
  return {
    type,
    size: type === "file" ? Number(size) : 0,
    modified: new Date(Number(mtimeNs / 1_000_000n)),
    // Computed when asked for: listing 100,000 names does not pay for it. Hashed: clients learn no inode number.
    get version() {
      version ??= hash("sha256", `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`, "base64url").slice(0, versionLength);
      return version;
    },
  };
}

/**
 * What is known of a file that was just changed. Where the system does not tell, the change is made all the same: the
 * version is then one that no file has, so that conditions on it fail rather than hold by chance.
 */
export async function statAfterChange(handle: FileHandle, size: number): Promise<StoredStat> {
  try {
    return storedStat(await handle.stat({ bigint: true }));
  } catch {
    const version = randomBytes(32).toString("base64url").slice(0, versionLength);
    return { type: "file", size, modified: new Date(), version };
  }
}

/**
 * The present in seconds, as a modification time that no file has got from here before. The kernel's own file times
 * stand still for up to 10 ms, in which a file can be replaced several times and get back an inode number it had: two
 * different contents would share one version. The digits below a millisecond are random, for other processes' sake.
 */
export function uniqueMoment(): number {
  const present = Date.now() * 1000 + Math.floor(Math.random() * 1000);
  lastMoment = Math.max(present, lastMoment + 1);
  return lastMoment / 1e6;
}
