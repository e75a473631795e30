import { describe, expect, it } from "vitest";
import { isXmlDeclaration, readDoctype } from "../../../src/html/document/xml-doctype.ts";

describe("readDoctype", () => {
  it("knows names, identifiers and where it ends", () => {
    const source = `<!DOCTYPE html PUBLIC "-//p//" 's'\n><html/>`;
    const { node, end } = readDoctype(source, 0);
    expect([node["x-name"], node["x-publicId"], node["x-systemId"], source.slice(end)]).toEqual([
      "html",
      "-//p//",
      "s",
      "<html/>",
    ]);
  });

  it("finds the end of an internal subset behind comments, instructions and quoted text", () => {
    const subset = `<!-- ]> ' --> <?p ]> " ?> <!ENTITY a "]>"> <!ATTLIST a b CDATA ']>'>`;
    const source = `<!DOCTYPE a [ ${subset} ] ><a/>`;
    expect(source.slice(readDoctype(source, 0).end)).toBe("<a/>");
  });

  it("reads general entities; the first declaration counts", () => {
    const subset = `<!ENTITY a "1"> <!ENTITY a "2"> <!ENTITY b '&#50;&#38;amp;'> <!ENTITY % p "3"> <!ENTITY x SYSTEM "f">`;
    const { entities } = readDoctype(`<!DOCTYPE r [${subset}]>`, 0);
    expect(entities.resolve("&a;&b;")).toBe("12&");
    expect(() => entities.resolve("&p;")).toThrow("&p; is not declared");
    expect(() => entities.resolve("&x;")).toThrow("&x; is not declared");
  });

  it("knows the names of HTML where the doctype is one of XHTML", () => {
    const { entities } = readDoctype('<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "x">', 0);
    expect(entities.resolve("&nbsp;")).toBe("\u00a0");
  });

  it.each([
    "<!DOCTYPE",
    "<!DOCTYPE a",
    "<!DOCTYPE a [",
    '<!DOCTYPE a ["]>',
    "<!DOCTYPE a [<!--]>",
    '<!DOCTYPE a PUBLIC "x">',
  ])("refuses %s", (source) => {
    expect(() => readDoctype(source, 0)).toThrow("the doctype is not complete");
  });

  it("refuses an endless one without reading to its end", () => {
    expect(() => readDoctype(`<!DOCTYPE a [${"<!ENTITY ".repeat(1_000_000)}`, 0)).toThrow("too long");
  });
});

describe("isXmlDeclaration", () => {
  it.each(['xml version="1.0"', "xml version = '1.1' encoding='utf-8' standalone=\"no\" "])("knows %s", (data) => {
    expect(isXmlDeclaration(data)).toBe(true);
  });

  it.each([
    "xml",
    'xml version="2.0"',
    'xml encoding="x"',
    'xml version="1.0" standalone="maybe"',
    'XML version="1.0"',
  ])("refuses %s", (data) => {
    expect(isXmlDeclaration(data)).toBe(false);
  });
});
