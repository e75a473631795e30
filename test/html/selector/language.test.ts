import { describe, expect, it } from "vitest";
import { select, selectInXml } from "../../elements/selecting.ts";

describe(":lang()", () => {
  it.each([
    ["<p id=a lang=en><i id=b></i>", ["a", "b"]],
    ["<p id=a lang=en><i id=b lang=''></i>", ["a"]],
    ["<p id=a xml:lang=en>", []],
    ["<svg id=a lang=de xml:lang=en></svg>", ["a"]],
    ["<svg id=a lang=en><g id=b></svg>", ["a", "b"]],
    ["<math id=a lang=en></math>", []],
    ["<math id=a xml:lang=en></math>", ["a"]],
    ["<meta http-equiv=Content-Language content=de>", []],
  ])("it inherits in %s", async (html, expected) => {
    expect(await select(html, ":lang(en)")).toEqual(expected);
  });

  it("falls back on what the page says of itself", async () => {
    const page = "<meta http-equiv=Content-Language content=de><p><p lang=en>";
    expect(await select(page, "p:lang(de)")).toEqual(["p"]);
  });

  it.each([
    ["en-US", "EN", true],
    ["en", "en-US", false],
    ["english", "en", false],
    ["de-Latn-DE", "de-DE", false],
    ["de-Latn-DE", "'*-DE'", true],
    ["de-Latn-DE", "'de-*-DE'", true],
    ["de-x-DE", "'*-DE'", false],
    ["fr", "'*'", true],
    ["", "'*'", false],
    ["", "''", true],
    ["en", "''", false],
  ])("compares %j with %s: %s", async (language, range, expected) => {
    expect(await select(`<p lang="${language}">`, `p:lang(${range})`)).toEqual(expected ? ["p"] : []);
  });

  it("takes several languages", async () => {
    expect(await select("<p id=a lang=en><p id=b lang=de><p id=c lang=fr>", ":lang(en, 'de')")).toEqual(["a", "b"]);
  });

  it("goes by xml:lang in XML", async () => {
    expect(await selectInXml('<r xml:lang="en"><a/><b xml:lang="de"/></r>', ":lang(en)")).toEqual(["r", "a"]);
    expect(
      await selectInXml('<r lang="en"><svg xmlns="http://www.w3.org/2000/svg" lang="en"/></r>', ":lang(en)"),
    ).toEqual(["svg"]);
  });
});
