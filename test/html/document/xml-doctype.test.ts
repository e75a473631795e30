import { describe, expect, it } from "vitest";
import { readDoctype } from "../../../src/html/document/xml-doctype.ts";

const entitiesIn = (subset: string) => readDoctype(` r [${subset}]`, 0).entities;

describe("readDoctype", () => {
  it("knows names and identifiers", () => {
    const { node } = readDoctype(` html PUBLIC "-//p//" 's'\n`, 0);
    expect([node.name, node.publicId, node.systemId]).toEqual(["html", "-//p//", "s"]);
  });

  it("reads general entities; the first declaration counts", () => {
    const entities = entitiesIn(`<!-- <!ENTITY a "0"> --> <?p <!ENTITY a "0"> ?> <!ATTLIST a b CDATA '<!ENTITY a "0">'>
      <!ENTITY a "1"> <!ENTITY a "2"> <!ENTITY b '&#50;&#38;amp;&a;'> <!ENTITY % p "3"> <!ENTITY x SYSTEM "f">`);
    expect(["a", "b", "p", "x", "lt"].map((name) => entities[name])).toEqual(["1", "2&1", undefined, undefined, "<"]);
  });

  it("knows the names of HTML where the doctype is one of XHTML", () => {
    const { entities } = readDoctype(' html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "x"', 0);
    expect(["nbsp", "nosuch"].map((name) => entities[name])).toEqual(["\u00a0", undefined]);
  });

  it.each(["", " ", ' a PUBLIC "x"', " a b"])("refuses <!DOCTYPE%s>", (text) => {
    expect(() => readDoctype(text, 0)).toThrow("the doctype is not complete");
  });

  it("refuses one that is too long to be read at once", () => {
    expect(() => entitiesIn("<!ENTITY ".repeat(100_000))).toThrow("too long");
  });

  it.each([
    ["me", "stands for itself"],
    ["markup", "stands for markup, which is not supported"],
    ["bad", "is not declared"],
  ])("refuses &%s;", (name, message) => {
    const entities = entitiesIn('<!ENTITY me "&you;"><!ENTITY you "&me;"><!ENTITY markup "<b/>"><!ENTITY bad "&">');
    expect(() => entities[name]).toThrow(message);
  });

  it("refuses entities that stand for ever more text, and resolves those that stand for none", () => {
    const laughs = (first: string): string =>
      [first, ...Array.from({ length: 30 }, (_, i) => `&l${i};`.repeat(10))]
        .map((text, i) => `<!ENTITY l${i} "${text}">`)
        .join("");
    expect(() => entitiesIn(laughs("lol"))["l30"]).toThrow("stand for too much text");
    expect(entitiesIn(laughs(""))["l30"]).toBe("");
  });
});
