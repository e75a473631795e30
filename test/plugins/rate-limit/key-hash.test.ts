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

  it("gives the same for the same text, whatever was read in between", () => {
    const hash = new KeyHash();
    const first = hashOf(hash, "ip:192.0.2.1");
    hashOf(hash, "something else");
    expect(hashOf(hash, "ip:192.0.2.1")).toBe(first);
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

  it("spreads keys that are nearly alike over all bits of both halves", () => {
    const hash = new KeyHash(new Uint32Array([7, 11]));
    const keys = 20_000;
    const ones = new Array<number>(64).fill(0);
    for (let key = 0; key < keys; key += 1) {
      hash.read(`ip:10.0.${key >> 8}.${key & 255}`);
      for (let bit = 0; bit < 32; bit += 1) {
        ones[bit] = (ones[bit] ?? 0) + ((hash.low >>> bit) & 1);
        ones[32 + bit] = (ones[32 + bit] ?? 0) + ((hash.high >>> bit) & 1);
      }
    }
    // Five standard deviations on both sides of the half.
    for (const count of ones) expect(Math.abs(count - keys / 2)).toBeLessThan(5 * Math.sqrt(keys / 4));
  });
});
