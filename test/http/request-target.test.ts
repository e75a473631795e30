import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  encodePath,
  isHiddenPath,
  isLocalName,
  locationOf,
  parseHost,
  parseRequestPath,
} from "../../src/http/request-target.ts";
import { endless } from "../helpers/counted-work.ts";
import { checks } from "../helpers/effort.ts";

const pathOf = (target: string) => parseRequestPath(target).path;
const invalidPath = expect.objectContaining({ status: 400, code: "INVALID_PATH" });

describe("parseRequestPath", () => {
  test.each([
    ["/", "/"],
    ["/index.html", "/index.html"],
    ["/a/b/", "/a/b/"],
    ["/!\"$&'()*+,-.;<=>@[]^_`{|}~:", "/!\"$&'()*+,-.;<=>@[]^_`{|}~:"],
    ["/a b", "/a b"],
    ["/a%20b", "/a b"],
    ["/%61%2Ehtml", "/a.html"],
    ["/100%25", "/100%"],
    ["/a%3Fb%23c", "/a?b#c"],
    ["/caf%C3%A9", "/café"],
    ["/caf\xc3\xa9", "/café"],
    ["/caf%C3\xa9", "/café"],
    ["/%F0%9F%98%80", "/😀"],
    ["/cafe%CC%81", "/cafe\u0301"],
    ["/%EF%BB%BFa", "/\ufeffa"],
    ["/.hidden", "/.hidden"],
    ["/..a", "/..a"],
    ["/a/...b", "/a/...b"],
  ])("reads %s as %s", (target, path) => {
    expect(parseRequestPath(target)).toEqual({ path, search: "" });
  });

  const printable = String.raw`
    /.. /../ /../etc/passwd /a/../../../../etc/passwd //../a /%2e%2e /%2e%2e/etc/passwd /.%2e/ /a/%2e%2e/%2e%2e/b
    /a%2Fb /..%2f..%2fetc/passwd /a%5Cb /..%5c..%5cwindows /a\b /..\..\windows /\evil.com /%5Cevil.com
    /a%00.html /a%0d%0aSet-Cookie:%20x /a%09b /%C2%80
    /% /a%zz /%u002e /%80 /%C3 /%C0%AE%C0%AE/ /%E0%80%AF /%ED%A0%80
    ../a ** # /a#b /a?b#c host:443 ftp://host/a file:///etc/passwd javascript:alert(1) http:a
    http://host/../a http://host/a%2fb http://host#a`;
  const others = [
    "",
    "/a\0b",
    "/a\r\nb",
    "/\x7f",
    "/\xc2\x9f",
    "/na\xefve",
    "/\u012f",
    "/\u{1f600}",
    "/a?b\0",
    "/a?\x7f",
  ];

  test.each([...printable.trim().split(/\s+/), ...others])("refuses %j", (target) => {
    expect(() => parseRequestPath(target)).toThrow(invalidPath);
  });

  test.each([
    ["/a?", "/a", "?"],
    ["/a?b=c", "/a", "?b=c"],
    ["/a?b?c", "/a", "?b?c"],
    ["/a/../b?c", "/b", "?c"],
  ])("strips the query of %s, as it is", (target, path, search) => {
    expect(parseRequestPath(target)).toEqual({ path, search });
  });

  test.each([
    ["http://example.com/a/../b?c", { path: "/b", search: "?c", authority: "example.com" }],
    ["HTTPS://Example.com:8443", { path: "/", search: "", authority: "Example.com:8443" }],
    ["http://[::1]:80?c", { path: "/", search: "?c", authority: "[::1]:80" }],
    ["http://a//b", { path: "/b", search: "", authority: "a" }],
    ["*", { path: "*", search: "" }],
  ])("reads the form of %s", (target, expected) => {
    expect(parseRequestPath(target)).toEqual(expected);
  });

  test.each(["http://", "http:///a", "https://?a"])("refuses %s, which names no host", (target) => {
    expect(() => parseRequestPath(target)).toThrow(expect.objectContaining({ status: 400, code: "INVALID_HOST" }));
  });

  test("counts the limits in bytes, after decoding", () => {
    const longest = "a".repeat(255);
    expect(pathOf(`/${longest}`)).toBe(`/${longest}`);
    expect(pathOf(`/${"%61".repeat(255)}`)).toBe(`/${longest}`);
    expect(() => pathOf(`/${longest}a`)).toThrow(invalidPath);
    expect(() => pathOf(`/${"%C3%A9".repeat(128)}`)).toThrow(invalidPath);
    expect(() => pathOf(`/${longest}a/../b`)).toThrow(invalidPath);

    const deepest = `/${longest}`.repeat(16);
    expect(deepest).toHaveLength(4096);
    expect(pathOf(deepest)).toBe(deepest);
    expect(() => pathOf(`${deepest}/`)).toThrow(invalidPath);
    expect(pathOf(`${"/.".repeat(4096)}/a`)).toBe("/a");
  });

  test("yields only canonical paths, whatever is sent", () => {
    const piece = fc.constantFrom(
      ...["/", "/", ".", "..", "%2e", "%2E%2e", "%2f", "%5c", "\\", "%00", "%25", "%", "a", "é", "\xc3\xa9", "?", "#"],
      ...["//", "http://h", "%C3%A9", "%c0%af", " ", "~", "\x7f", "%7f", "...", "*"],
    );
    const target = fc.array(piece, { maxLength: 14 }).map((pieces) => `/${pieces.join("")}`);
    fc.assert(
      fc.property(target, (sent) => {
        const path = readable(sent);
        fc.pre(path !== undefined);
        expect(path).toMatch(/^\//);
        expect(path).not.toMatch(/[\x00-\x1f\x7f-\x9f\\]|\/\//);
        expect(path.split("/")).not.toContain("..");
        expect(path.split("/")).not.toContain(".");
        expect(pathOf(encodePath(path))).toBe(path);
      }),
      checks({ seed: 2, numRuns: 1_000, inCampaign: 12_000 }),
    );
  });
});

describe("encodePath", () => {
  test.each([
    ["/", "/"],
    ["", "/"],
    ["/a b/c?d#e%f", "/a%20b/c%3Fd%23e%25f"],
    ["/café/😀", "/caf%C3%A9/%F0%9F%98%80"],
    ["//evil.com", "/evil.com"],
    ["a", "/a"],
    ["\\\\evil.com", "/%5C%5Cevil.com"],
    ['/"<>^`{|}', "/%22%3C%3E%5E%60%7B%7C%7D"],
    ["/a:b@c,d;e=f&g+h$i!j'k(l)*m~", "/a:b@c,d;e=f&g+h$i!j'k(l)*m~"],
  ])("spells %s as %s", (path, encoded) => {
    expect(encodePath(path)).toBe(encoded);
  });
});

function readable(target: string): string | undefined {
  try {
    return pathOf(target);
  } catch {
    return undefined;
  }
}

describe("isHiddenPath", () => {
  const shown = `
    / /index.html /a/b.c.d/ /a..b /console/common/contact/nullable/auxiliary /con-fig/com10/lpt/com/comx/conin/clock
    /my.con /a.nul/b /filement-1.tmp /~$a /.well-known /.well-known/ /.well-known/security.txt /.well-known/.hidden`;

  test.each([...shown.trim().split(/\s+/), "/a b"])("shows %s", (path) => {
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

  const hidden = `
    /.filement-1234.tmp /.FILEMENT-x.TMP /.filement-a.tmp/b /.well-known/.filement-1.tmp /.well-known/con
    /con /CON /a/Nul/b /nul.txt /nul.tar.gz /aux/ /com1 /com¹ /lpt9 /conin$ /clock$
    /secret.html. /dir./a /... /a:b /page.html::$DATA`;

  test.each([...hidden.trim().split(/\s+/), "/nul .txt", "/secret.html "])("hides %s, always", (path) => {
    expect(isHiddenPath(path, "ignore")).toBe(true);
    expect(isHiddenPath(path, "allow")).toBe(true);
  });
});

const location = (mount: string, path: string): string => locationOf({ mount }, path);

describe("the location of a path", () => {
  it.each([
    ["", "/a.txt", "/a.txt"],
    ["/docs", "/a.txt", "/docs/a.txt"],
    ["/docs", "/", "/docs/"],
    ["", "/naïve/50% #?.txt", "/na%C3%AFve/50%25%20%23%3F.txt"],
    ["/na%C3%AFve", "/a.txt", "/na%C3%AFve/a.txt"],
  ])("is below the mount %j for %s: %s", (mount, path, expected) => {
    expect(location(mount, path)).toBe(expected);
  });

  it.each([
    ["//evil.com", "/"],
    ["///evil.com", "/"],
    ["", "//evil.com/"],
  ])("begins with just one slash for the mount %j and %s", (mount, path) => {
    expect(location(mount, path)).toBe("/evil.com/");
  });
});

describe("parseHost", () => {
  test.each([
    [undefined, ""],
    ["", ""],
    ["example.com", "example.com"],
    ["Example.COM", "example.com"],
    ["example.com:8080", "example.com"],
    ["example.com.", "example.com"],
    ["my_service:65535", "my_service"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["127.0.0.1:80", "127.0.0.1"],
    ["[::1]", "[::1]"],
    ["[::1]:8080", "[::1]"],
    ["[2001:DB8:0:0::0001]:80", "[2001:db8::1]"],
    ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]"],
  ])("reads %s as %j", (value, host) => {
    expect(parseHost(value)).toBe(host);
  });

  const wrong = `
    a,b a/b a?b a%2eb user@host http://host host:80:80 host:-1 host:65536 host:8o :80 . a..b .a
    ::1 [::1 [::1]x [::g] [127.0.0.1] [fe80::1%eth0] * ../../etc ${"a".repeat(254)}`;

  test.each([...wrong.trim().split(/\s+/), " ", "example.com ", "a b", "b\xfccher.example"])("refuses %j", (value) => {
    expect(() => parseHost(value)).toThrow(expect.objectContaining({ status: 400, code: "INVALID_HOST" }));
  });

  test("takes no longer for a hostile value than for its length", () => {
    expect(() => parseHost(`${endless("a.")}!`)).toThrow();
    expect(() => parseHost(`[${endless(":")}`)).toThrow();
  });
});

describe("isLocalName", () => {
  test.each([
    ["", true],
    ["127.0.0.1", true],
    ["192.0.2.1", true],
    ["[2001:db8::1]", true],
    ["localhost", true],
    ["example.com", false],
    ["127.0.0.1.example.com", false],
    ["999.0.0.1", false],
  ])("knows whether %j may be a registered name: %s", (name, isLocal) => {
    expect(isLocalName(name)).toBe(isLocal);
  });
});
