import { describe, expect, test } from "vitest";
import { isHiddenName, isHiddenPath } from "../../src/http/hidden-names.ts";

describe("isHiddenPath", () => {
  test.each([
    "/",
    "/index.html",
    "/a/b.c.d/",
    "/a..b",
    "/console/common/contact/nullable/auxiliary",
    "/con-fig/com10/lpt/com/comx/conin/clock",
    "/my.con",
    "/a.nul/b",
    "/filement-1.tmp",
    "/a b",
    "/~$a",
    "/.well-known",
    "/.well-known/",
    "/.well-known/security.txt",
    "/.well-known/.hidden",
  ])("shows %s", (path) => {
    expect(isHiddenPath(path, "ignore")).toBe(false);
    expect(isHiddenPath(path, "allow")).toBe(false);
  });

  test.each(["/.git/config", "/a/.env", "/a/.b/c", "/.a", "/.well-knownx", "/.Well-Known/a", "/a/.well-known/b"])(
    "hides %s unless dot files are allowed",
    (path) => {
      expect(isHiddenPath(path, "ignore")).toBe(true);
      expect(isHiddenPath(path, "allow")).toBe(false);
    },
  );

  test.each([
    "/.filement-1234.tmp",
    "/a/.filement-.tmp",
    "/.FILEMENT-x.TMP",
    "/.filement-a.tmp/b",
    "/.well-known/.filement-1.tmp",
    "/con",
    "/CON",
    "/a/Nul/b",
    "/nul.txt",
    "/nul.tar.gz",
    "/nul .txt",
    "/prn.",
    "/aux/",
    "/com1",
    "/COM0.log",
    "/com¹",
    "/lpt9",
    "/LPT³.txt",
    "/conin$",
    "/CONOUT$.a",
    "/clock$",
    "/secret.html.",
    "/secret.html ",
    "/dir./a",
    "/dir /a",
    "/...",
    "/a:b",
    "/page.html::$DATA",
    "/c:",
    "/.well-known/con",
    "/.well-known./a",
  ])("hides %s, always", (path) => {
    expect(isHiddenPath(path, "ignore")).toBe(true);
    expect(isHiddenPath(path, "allow")).toBe(true);
  });
});

test.each([
  ["a.txt", false, false],
  ["contact", false, false],
  [".env", true, false],
  [".well-known", true, false],
  [".filement-1.tmp", true, true],
  ["NUL", true, true],
  ["com1.txt", true, true],
  ["a.", true, true],
  ["a ", true, true],
  ["a:b", true, true],
])("isHiddenName judges %j by itself", (name, ignoring, allowing) => {
  expect(isHiddenName(name, "ignore")).toBe(ignoring);
  expect(isHiddenName(name, "allow")).toBe(allowing);
});
