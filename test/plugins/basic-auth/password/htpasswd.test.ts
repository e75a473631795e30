import { execFileSync } from "node:child_process";
import { describe, expect, it, test } from "vitest";
import { formatOf, parseHash } from "../../../../src/plugins/basic-auth/password.ts";
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

const passwords = ["", "secret", "a", "p:ss:wd", "päß:1", "$x$ y'\"", "日本", "~!@#%^&*", "x".repeat(72)];
/** Passwords that are almost the right one. */
function almost(password: string): string[] {
  const last = password.slice(0, -1);
  return [
    "",
    last,
    `${last}\u007f`,
    ` ${password}`,
    `:${password}`,
    [...password].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join(""),
    [...password].reverse().join(""),
    Buffer.from(password).toString("latin1"),
  ].filter((wrong) => wrong !== password);
}

describe("the htpasswd program", { tags: ["htpasswd"] }, () => {
  describe.each(formats)("%s", (options, format) => {
    test.each(sample(passwords, 9))("makes a hash of %j that matches it and nothing like it", async (password) => {
      const hash = htpasswd(options, password);
      const stored = parseHash({ password: hash });
      expect(formatOf(hash)).toBe(format);
      expect(await stored.matches(password)).toBe(true);
      for (const wrong of almost(password)) expect(await stored.matches(wrong), JSON.stringify(wrong)).toBe(false);
    });
  });

  test.each(sample(costly, 2))("%s makes a costlier hash", async (options) => {
    const stored = parseHash({ password: htpasswd(options, "päß:word") });
    expect(stored.warning).toBeUndefined();
    expect(await stored.matches("päß:word")).toBe(true);
    expect(await stored.matches("päß:wörd")).toBe(false);
  });

  it("-d makes a hash of DES crypt, which is in no known format and never matches", async () => {
    const stored = parseHash({ password: htpasswd("-d", "secret") });
    expect(stored).toMatchObject({ warning: expect.stringContaining("no known format") });
    expect(await stored.matches("secret")).toBe(false);
  });
});
