import { expect, it } from "vitest";
import { isHash, shown, userNameProblem } from "../../../src/plugins/basic-auth/found-users.ts";

it.each(["ada", "ada lovelace", "änne", "#1", "-", "a*"])("has nothing against the user name %j", (name) => {
  expect(userNameProblem(name)).toBeUndefined();
});

it.each(["", "a:b", ":username", "*", "a\nb", "a\0", "a\u0085b", "\x7f"])("refuses the user name %j", (name) => {
  expect(userNameProblem(name)).toContain("expected");
});

it("takes a hash for one, but not what may be a password", () => {
  expect(isHash("$2y$05$zZJCJmInOxNMDqkjPpSJQOyQKTfOXyMSUzglWTpM94ryUFV4jLspa")).toBe(true);
  expect(isHash("{SHA}lcsL/Sl3x2EpjZYk5LTUxyo5l0o=")).toBe(true);
  expect(isHash("secret")).toBe(false);
});

it("quotes texts for messages, and shortens them", () => {
  expect(shown('a"\n')).toBe('"a\\"\\n"');
  expect(shown("x".repeat(1000))).toHaveLength(65);
});
