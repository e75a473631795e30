import { expect, test } from "vitest";
import { forwardedFor } from "../../src/http/forwarded-for.ts";
import { endless } from "../helpers/counted-work.ts";

test.each([
  ["", []],
  [",, ,", []],
  ["192.0.2.1", ["192.0.2.1"]],
  ["192.0.2.1, 192.0.2.2,192.0.2.3", ["192.0.2.3", "192.0.2.2", "192.0.2.1"]],
  ["192.0.2.1:4711", ["192.0.2.1"]],
  ["2001:DB8::1", ["2001:db8::1"]],
  ["[2001:db8::1]:4711", ["2001:db8::1"]],
  ["[2001:db8::1]", ["2001:db8::1"]],
  ["::ffff:192.0.2.1", ["192.0.2.1"]],
  ["unknown", [undefined]],
  ["<script>, 192.0.2.1", ["192.0.2.1", undefined]],
  ['", 192.0.2.1', ["192.0.2.1", undefined]],
  ["999.0.2.1", [undefined]],
  ["[192.0.2.1]", ["192.0.2.1"]],
])("reads X-Forwarded-For: %s", (value, addresses) => {
  expect([...forwardedFor("x-forwarded-for", value)]).toEqual(addresses);
});

test.each([
  ["for=192.0.2.43", ["192.0.2.43"]],
  ["For=192.0.2.43", ["192.0.2.43"]],
  ['for="192.0.2.43:47011"', ["192.0.2.43"]],
  ['for="[2001:db8:cafe::17]:4711"', ["2001:db8:cafe::17"]],
  ['for="[2001:db8:cafe::17]"', ["2001:db8:cafe::17"]],
  ['for="192.0.2.43:_port"', ["192.0.2.43"]],
  ["for=192.0.2.60;proto=http;by=203.0.113.43", ["192.0.2.60"]],
  ["proto=http ; for=192.0.2.60;", ["192.0.2.60"]],
  ["for=192.0.2.43, for=198.51.100.17", ["198.51.100.17", "192.0.2.43"]],
  ['for=192.0.2.43;host="a,b;for=6.6.6.6"', ["192.0.2.43"]],
  ['for=192.0.2.43;host="a\\",\\"b", for=192.0.2.44', ["192.0.2.44", "192.0.2.43"]],
  ['for=192.0.2.43, for=192.0.2.44;host="a\\\\"', ["192.0.2.44", "192.0.2.43"]],
  ["for=unknown", [undefined]],
  ['for="_hidden"', [undefined]],
  ["for=_SEVKISEK", [undefined]],
  ["for=", [undefined]],
  ["for", [undefined]],
  ["proto=https", [undefined]],
  ["192.0.2.1", [undefined]],
  ["for=192.0.2.1;for=192.0.2.2", [undefined]],
  ["for=192.0.2.1 garbage", [undefined]],
  ["for = 192.0.2.1", [undefined]],
])("reads Forwarded: %s", (value, addresses) => {
  expect([...forwardedFor("forwarded", value)]).toEqual(addresses);
});

test.each(['for="', 'for="a', 'x="\\', '"', 'for=6.6.6.6;host="', 'for="6.6.6.6'])(
  "reads what the proxy appended after the client's %s",
  (forged) => {
    const [nearest] = forwardedFor("forwarded", `${forged}, for=192.0.2.1;proto=https`);
    expect(nearest).toBe("192.0.2.1");
    const [quoted] = forwardedFor("forwarded", `${forged}, for="[2001:db8::1]:80";host="a"`);
    expect(quoted).toBe("2001:db8::1");
  },
);

test.each(['"', ",", "for=1.1.1.1,", "\\", '\\"', "for=a;", 'for="a', " "])(
  "takes no longer for %j repeated than for its length",
  (piece) => {
    for (const [header, element] of [
      ["forwarded", "for=192.0.2.1"],
      ["x-forwarded-for", "192.0.2.1"],
    ] as const) {
      const [nearest] = Array.from(forwardedFor(header, `${endless(piece)},${element}`));
      expect(nearest).toBe("192.0.2.1");
    }
  },
);
