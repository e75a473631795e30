import { execFileSync } from "node:child_process";
import { describe, expect, it, test } from "vitest";
import { parseHash } from "../../../../src/plugins/basic-auth/password.ts";
import type { Encryption } from "../../../../src/plugins/basic-auth/users.ts";
import { sample } from "../../../helpers/effort.ts";

/** What the program of Apache writes into its file behind `user:`. */
function htpasswd(options: string, password: string): string {
  const line = execFileSync("htpasswd", ["-nb", ...options.split(" "), "user", password], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return line.trimEnd().slice("user:".length);
}

const formats: readonly (readonly [options: string, format: Encryption])[] = [
  ["-m", "apr1"],
  ["-B", "bcrypt"],
  ["-B -C 4", "bcrypt"],
  ["-s", "sha1"],
];

/** The dearer of each pair only in a campaign. */
const costly = ["-B -C 12", "-B -C 10"];

const shortPasswords = ["secret", "a", "p:ss:wd", "päß:1", "$x$ y'\"", "日本", "~!@#%^&*"];
const longPasswords = [
  "correct horse battery staple",
  "Grüße: aus Köln, übrigens",
  "x".repeat(72),
  "🔑🔑🔑🔑🔑",
  "  spaces  ",
];

/** Passwords that are almost the right one. */
function almost(password: string): string[] {
  const last = password.slice(0, -1);
  return [
    "",
    last,
    `${last}\u007f`,
    ` ${password}`,
    `:${password}`,
    swapCase(password),
    [...password].reverse().join(""),
    Buffer.from(password).toString("latin1"),
  ].filter((wrong) => wrong !== password);
}

function swapCase(text: string): string {
  return [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join("");
}

describe("the htpasswd program", { tags: ["htpasswd"] }, () => {
  describe.each(formats)("%s", (options, format) => {
    test.each(sample(shortPasswords, 7))("makes a hash of %j that matches it and nothing like it", async (password) => {
      const stored = parseHash({ password: htpasswd(options, password) });
      expect(stored.format).toBe(format);
      expect(stored.problem).toBeUndefined();
      expect(await stored.matches(password)).toBe(true);
      for (const wrong of almost(password)) expect(await stored.matches(wrong), JSON.stringify(wrong)).toBe(false);
    });

    it("makes a hash of nothing that matches nothing else", async () => {
      const stored = parseHash({ password: htpasswd(options, "") });
      expect(await stored.matches("")).toBe(true);
      expect(await stored.matches("x")).toBe(false);
    });
  });

  describe.each(formats)("%s", (options) => {
    test.each(sample(longPasswords, 5))("makes a hash of %j that matches all of it", async (password) => {
      const stored = parseHash({ password: htpasswd(options, password) });
      expect(await stored.matches(password)).toBe(true);
      for (const wrong of [...almost(password), `${password}x`]) {
        expect(await stored.matches(wrong), JSON.stringify(wrong)).toBe(false);
      }
    });
  });

  test.each(sample(costly, 2))("%s makes a costlier hash", async (options) => {
    const stored = parseHash({ password: htpasswd(options, "päß:word") });
    expect(stored.warning).toBeUndefined();
    expect(await stored.matches("päß:word")).toBe(true);
    expect(await stored.matches("päß:wörd")).toBe(false);
  });

  test.each(["-m", "-s"])("%s takes all of its longest passwords", async (options) => {
    const longest = "0123456789abcdef".repeat(16).slice(0, 255);
    const stored = parseHash({ password: htpasswd(options, longest) });
    expect(await stored.matches(longest)).toBe(true);
    expect(await stored.matches(longest.slice(0, -1))).toBe(false);
    expect(await stored.matches(`${longest}x`)).toBe(false);
  });

  it("-d makes a hash of DES crypt, which is in no known format and never matches", async () => {
    const stored = parseHash({ password: htpasswd("-d", "secret") });
    expect(stored).toMatchObject({ format: undefined, warning: expect.stringContaining("no known format") });
    expect(await stored.matches("secret")).toBe(false);
  });

  it("-B cuts passwords after 72 bytes and says nothing: those are refused", async () => {
    const long = "x".repeat(80);
    const stored = parseHash({ password: htpasswd("-B -C 4", long) });
    expect(await stored.matches(long)).toBe(false);
  });

  it("-p writes plain text, which matches only where the record says so", async () => {
    const written = htpasswd("-p", "pä:ss");
    expect(written).toBe("pä:ss");
    expect(await parseHash({ password: written }).matches("pä:ss")).toBe(false);
    expect(await parseHash({ password: written, encryption: "plaintext" }).matches("pä:ss")).toBe(true);
  });

  test.each(["-2", "-5"])("%s makes a SHA-crypt hash, which is refused", (options) => {
    expect(parseHash({ password: htpasswd(options, "secret") }).problem).toContain("SHA-crypt");
  });

  it("writes *0 where it fails, which never matches", async () => {
    const written = htpasswd("-5 -r 10", "secret");
    expect(written).toBe("*0");
    expect(await parseHash({ password: written }).matches("secret")).toBe(false);
  });
});
