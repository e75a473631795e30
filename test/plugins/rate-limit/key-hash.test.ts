import { describe, expect, it } from "vitest";
import { KeyHash } from "../../../src/plugins/rate-limit/key-hash.ts";

/** Bytes 0, 1, 2... as the code units of a text. */
function countingText(bytes: number): string {
  return Array.from({ length: bytes / 2 }, (_, i) => String.fromCharCode((2 * i) | ((2 * i + 1) << 8))).join("");
}

function hashOf(hash: KeyHash, text: string): string {
  hash.read(text);
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(hash.high, 0);
  bytes.writeUInt32LE(hash.low, 4);
  return bytes.toString("hex");
}

describe("KeyHash", () => {
  it.each([
    [0, "218d1f59b9b83cc8"],
    [2, "064f39ef7c50eb57"],
    [4, "d5e78a175be52ea1"],
    [6, "ce3e91358aa2bc25"],
    [8, "edfee820bce4858c"],
    [10, "95b0469f06a6f2ee"],
    [30, "291a af86 4898 179d"],
    [62, "f90b3ab572d46693"],
  ])("is HalfSipHash-2-4: for %i bytes what its authors publish", (bytes, expected) => {
    const seed = new Uint32Array(Uint8Array.from([0, 1, 2, 3, 4, 5, 6, 7]).buffer);
    expect(hashOf(new KeyHash(seed), countingText(bytes))).toBe(expected.replaceAll(" ", ""));
  });

  it("has a seed of its own each time, so that nobody can prepare keys that share a bucket", () => {
    const hashes = Array.from({ length: 10 }, () => hashOf(new KeyHash(), "ip:192.0.2.1"));
    expect(new Set(hashes).size).toBe(10);
  });

  it("tells texts apart that differ in the last character, in zeros at the end, or beyond the first 127", () => {
    const hash = new KeyHash();
    const texts = ["", "\0", "\0\0", "\0\0\0", "a", "b", "a\0", "ab", "abc", "abd", "é", "\u00e9\0", "\ud83d\ude00"];
    for (const length of [126, 127, 128, 129, 255, 256]) texts.push("x".repeat(length), `${"x".repeat(length - 1)}y`);
    expect(new Set(texts.map((text) => hashOf(hash, text))).size).toBe(texts.length);
  });
});
