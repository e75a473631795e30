import { expect, test } from "vitest";
import { canonicalAddress, canonicalIPv6 } from "../../src/http/ip-address.ts";

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:c000:201", "192.0.2.1"],
  ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["::1", "::1"],
  ["::", "::"],
  ["fe80::1%eth0", "fe80::1"],
  ["::ffff:1", "::ffff:1"],
  ["", undefined],
  ["1", undefined],
  ["0x7f.1", undefined],
  ["010.0.0.1", undefined],
  ["192.0.2.256", undefined],
  ["192.0.2.1:80", undefined],
  ["[::1]", undefined],
  [" ::1", undefined],
  ["::ffff:999.0.0.1", undefined],
  ["localhost", undefined],
  ["<script>", undefined],
])("spells %j as %j", (text, expected) => {
  expect(canonicalAddress(text)).toBe(expected);
});

test("keeps a mapped address IPv6 where one is asked for, and refuses zones", () => {
  expect(canonicalIPv6("::ffff:192.0.2.1")).toBe("::ffff:c000:201");
  expect(canonicalIPv6("fe80::1%eth0")).toBeUndefined();
  expect(canonicalIPv6("192.0.2.1")).toBeUndefined();
});
