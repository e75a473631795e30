import { expect, test } from "vitest";
import { isLocalName, parseHost } from "../../src/http/host-name.ts";
import { endless } from "../helpers/counted-work.ts";

test.each([
  [undefined, ""],
  ["", ""],
  ["example.com", "example.com"],
  ["Example.COM", "example.com"],
  ["example.com:8080", "example.com"],
  ["example.com:", "example.com"],
  ["example.com.", "example.com"],
  ["example.com.:80", "example.com"],
  ["localhost", "localhost"],
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

test.each([
  " ",
  "example.com ",
  "a b",
  "a,b",
  "a, b",
  "a/b",
  "a\\b",
  "a?b",
  "a#b",
  "a%2eb",
  "user@host",
  "user:pass@host",
  "http://host",
  "host:80:80",
  "host:-1",
  "host:65536",
  "host:999999",
  "host:8o",
  ":80",
  ".",
  "..",
  "a..b",
  ".a",
  "a..",
  "::1",
  "[::1",
  "::1]",
  "[]",
  "[::1]x",
  "[::g]",
  "[127.0.0.1]",
  "[fe80::1%eth0]",
  "[v1.a]",
  "b\xfccher.example",
  "a\0",
  "*",
  "../../etc",
  "a".repeat(254),
])("refuses %j", (value) => {
  expect(() => parseHost(value)).toThrow(expect.objectContaining({ status: 400, code: "INVALID_HOST" }));
});

test("takes no longer for a hostile value than for its length", () => {
  expect(() => parseHost(`${endless("a.")}!`)).toThrow();
  expect(() => parseHost(`[${endless(":")}`)).toThrow();
});

test.each([
  ["", true],
  ["127.0.0.1", true],
  ["192.0.2.1", true],
  ["[2001:db8::1]", true],
  ["localhost", true],
  ["a.b.localhost", true],
  ["example.com", false],
  ["localhost.example.com", false],
  ["mylocalhost", false],
  ["127.0.0.1.example.com", false],
  ["999.0.0.1", false],
])("knows whether %j may be a registered name: %s", (name, isLocal) => {
  expect(isLocalName(name)).toBe(isLocal);
});
