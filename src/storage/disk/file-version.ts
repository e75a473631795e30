import { hash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import type { StoredStat } from "../storage.ts";

/** 22 characters of base64 are 132 bits: no two versions of anything ever share them by chance. */
const versionLength = 22;

// In microseconds.
let lastMoment = 0;

/** What is known of a file or directory from the operating system's record of it. */
export function storedStat(stats: BigIntStats): StoredStat {
  const { dev, ino, size, mtimeNs, ctimeNs, mtime } = stats;
  const isFile = stats.isFile();
  let version: string | undefined;
  return {
    type: isFile ? "file" : "directory",
    size: isFile ? Number(size) : 0,
    modified: mtime,
    // Computed when asked for: listing 100,000 names does not pay for it. Hashed: clients learn no inode number.
    get version() {
      version ??= hash("sha256", `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`, "base64url").slice(0, versionLength);
      return version;
    },
  };
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
