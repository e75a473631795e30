import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formats } from "../../../src/plugins/access-log/formats.ts";
import type { Exchange } from "../../../src/server/exchange.ts";
import type { Outcome } from "../../../src/server/plugin.ts";
import { anyText } from "../../helpers/any-text.ts";
import { checks } from "../../helpers/effort.ts";
import { parseCombined, parseCommon } from "./parse.ts";

interface Asked {
  readonly address?: string;
  readonly user?: string;
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly outcome?: Partial<Outcome>;
  readonly time?: Date;
}

/** The line for an exchange as no parser of requests would let it through. */
function line(format: keyof typeof formats, asked: Asked): string {
  const { address = "192.0.2.1", user, method = "GET", url = "/", headers = {}, time = new Date(0) } = asked;
  const exchange = {
    id: "id-1",
    address,
    user: user === undefined ? undefined : { name: user, roles: [] },
    method,
    host: "a.example",
    url,
    protocol: "https",
    httpVersion: "1.1",
    header: (name: string) => headers[name],
  } as unknown as Exchange;
  const outcome = {
    status: 200,
    headers: {},
    bytes: 5,
    received: 0,
    durationMs: 1.23456,
    aborted: false,
    ...asked.outcome,
  };
  return formats[format](exchange, outcome, time);
}

describe("the Common Log Format", () => {
  it("is what Apache's documentation shows", () => {
    const time = new Date("2000-10-10T20:55:36.999Z");
    expect(
      line("common", { address: "127.0.0.1", user: "frank", url: "/apache_pb.gif", outcome: { bytes: 2326 }, time }),
    ).toBe('127.0.0.1 - frank [10/Oct/2000:20:55:36 +0000] "GET /apache_pb.gif HTTP/1.1" 200 2326');
  });

  it("says of an aborted reply so where programs expect a name that nobody uses", () => {
    expect(parseCommon(line("common", { outcome: { aborted: true } }))).toMatchObject({
      ident: "aborted",
      status: 200,
    });
  });

  it.each([
    ["ada", "ada"],
    ["Ada L", "Ada\\x20L"],
    ["ada\u00e9", "ada\\xc3\\xa9"],
    ["-", "\\x2d"],
    ["", "-"],
    ['a"\n', "a\\x22\\x0a"],
  ])("writes the user %j as %s", (user, expected) => {
    expect(parseCommon(line("common", { user })).user).toBe(expected);
  });

  it.each([
    ["/a b", "/a\\x20b"],
    ['/"\\', "/\\x22\\x5c"],
    ["/\r\n\0\x1b\x7f\x80\x9f", "/\\x0d\\x0a\\x00\\x1b\\x7f\\x80\\x9f"],
    ["/\u2028\u012f", "/\\xe2\\x80\\xa8\\xc4\\xaf"],
    ["http://ada:s3cret@a.example/x?y=z@q", "http://a.example/x?y=z@q"],
    ["https://ada@a.example", "https://a.example"],
    ["http://a@b:c@a.example/", "http://a.example/"],
    ["ada:s3cret@a.example:80", "a.example:80"],
    ["/x@y", "/x@y"],
    ["//ada:x@a.example/", "//ada:x@a.example/"],
    ["*", "*"],
  ])("writes the target %j as %s", (url, expected) => {
    expect(parseCommon(line("common", { url })).request).toBe(`GET ${expected} HTTP/1.1`);
  });
});

describe("every format", () => {
  const headers = fc.record({ referer: anyText, "user-agent": anyText });
  const asked = fc.record({ address: anyText, user: anyText, method: anyText, url: anyText, headers });
  const options = checks({ seed: 20240601, numRuns: 500 });

  it("can be read whatever is in the fields, and is printable ASCII where it is text", () => {
    fc.assert(
      fc.property(asked, (fields) => {
        const [common, combined] = [line("common", fields), line("combined", fields)];
        expect(common + combined).toMatch(/^[ -~]+$/);
        expect(parseCommon(common)).toMatchObject({ status: 200, bytes: "5" });
        expect(parseCombined(combined)).toMatchObject({ status: 200, bytes: "5" });
      }),
      options,
    );
  });

  it("gives everything back in JSON, and nothing in that is invisible", () => {
    fc.assert(
      fc.property(asked, (fields) => {
        const json = line("json", fields);
        expect(json).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(JSON.parse(json)).toMatchObject({ user: fields.user, method: fields.method, address: fields.address });
      }),
      options,
    );
  });
});

describe("JSON", () => {
  it("has no credentials of a referring page", () => {
    expect(line("json", { headers: { referer: "http://ada:s3cret@a.example/" } })).toContain(
      '"referer":"http://a.example/"',
    );
  });
});
