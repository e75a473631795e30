import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCredentials } from "../../../src/plugins/basic-auth/credentials.ts";
import { anyText } from "../../helpers/any-text.ts";
import { endless } from "../../helpers/counted-work.ts";
import { checks } from "../../helpers/effort.ts";

const encoded = (text: string | Uint8Array): string => Buffer.from(text).toString("base64");

describe("readCredentials", () => {
  it.each([
    ["ada:engine", "ada", "engine"],
    ["ada:a:b::c:", "ada", "a:b::c:"],
    [":secret", "", "secret"],
    ["Jörg:pä$$wörd €", "Jörg", "pä$$wörd €"],
    ["名前:🔑 🗝", "名前", "🔑 🗝"],
    [" ada : x ", " ada ", " x "],
    [`${"a".repeat(5000)}:${"b".repeat(5000)}`, "a".repeat(5000), "b".repeat(5000)],
  ])("reads %j", (text, username, password) => {
    expect(readCredentials(`Basic ${encoded(text)}`, 1)).toEqual({ username, password });
  });

  it.each(["Basic", "basic", "BASIC", "bAsIc"])("takes the scheme %s in any case", (scheme) => {
    expect(readCredentials(`${scheme} ${encoded("ada:x")}`, 1)).toEqual({ username: "ada", password: "x" });
  });

  it("takes several spaces, and base64 without its padding or in its URL form", () => {
    expect(readCredentials("Basic   YTpi", 1)).toEqual({ username: "a", password: "b" });
    expect(readCredentials("Basic YWRhOng", 1)).toEqual({ username: "ada", password: "x" });
    expect(readCredentials("Basic YTo_Pz4-", 1)).toEqual({ username: "a", password: "??>>" });
  });

  it("tells a field that was not sent from one that says nothing", () => {
    expect(readCredentials(undefined, 0)).toBe("none");
    expect(readCredentials("", 1)).toBe("unreadable");
  });

  it("finds none in a field that is too long, and does not take long for that", () => {
    expect(readCredentials(`Basic ${encoded(`ada:${"x".repeat(20_000)}`)}`, 1)).toBe("unreadable");
    expect(readCredentials(`Basic ${endless(" ")}x`, 1)).toBe("unreadable");
    expect(readCredentials(`Basic${" ".repeat(8000)}${"=".repeat(8000)} x`, 1)).toBe("unreadable");
    expect(readCredentials(`Basic${endless(" ")}${endless("=")} x`, 1)).toBe("unreadable");
  });

  it("gives back whatever was encoded", () => {
    const text = fc.string({ unit: "grapheme" }).filter((each) => !/[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffd]/.test(each));
    fc.assert(
      fc.property(text, text, (name, password) => {
        const username = name.replaceAll(":", "");
        expect(readCredentials(`Basic ${encoded(`${username}:${password}`)}`, 1)).toEqual({ username, password });
      }),
      checks({ seed: 23, numRuns: 200, inCampaign: 2_000 }),
    );
  });

  it("never throws", () => {
    fc.assert(
      fc.property(anyText, fc.nat(3), (field, count) => {
        const read = readCredentials(field, count);
        expect(typeof read === "string" ? read : Object.keys(read)).toEqual(
          typeof read === "string" ? "unreadable" : ["username", "password"],
        );
      }),
      checks({ seed: 24, numRuns: 200, inCampaign: 2_000 }),
    );
  });
});
