import { describe, expect, it } from "vitest";
import { ParseBudget } from "../../src/elements/parse-budget.ts";
import { buildXmlTree, parseXmlTree } from "../../src/elements/xml-document.ts";
import { XmlEntities } from "../../src/elements/xml-entities.ts";
import { NamespaceScope } from "../../src/elements/xml-names.ts";
import { elementsIn } from "./pages.ts";

const xhtml = 'xmlns="http://www.w3.org/1999/xhtml"';
const strict = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">';

// Each of these was put to Chromium's DOMParser, which takes the first list and shows an error for the second.
const wellFormed = [
  ...'<a/>|<a></a >| <a/> |<a b = \'1\'/>|<a b=">"/>|<a b="&amp;"/>|<a>&#x41;</a>|<a>]] ></a>|<a><![CDATA[x<y]]></a>'.split(
    "|",
  ),
  ...'<a><!-- - --></a>|<!--x--><a/><!--y-->|<a><?p x?></a>|<?xml version="1.0"?><a/>|<a><?p a>b?></a>'.split("|"),
  ...'<a:b xmlns:a="u"/>|<a xmlns:x="u" x:b="1"/>|<a1-._/>|<é/>|<a é="1"/>|<!DOCTYPE a><a/>'.split("|"),
  ...'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>|<!DOCTYPE a [<!ENTITY x "<b/>">]><a>&lt;</a>'.split("|"),
  ...`${strict}<html ${xhtml}>&nbsp;&eacute;</html>|<a \n b="1"\t/>|<a b='"' c="'"/>|<a>></a>`.split("|"),
  ...'<a xml:lang="en" xml:x="1"/>|<a xmlns="u"><b xmlns=""/></a>|<a>x</a>\n<!-- c -->\n|<?xmlx y?><a/>'.split("|"),
  ...'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><a/>|<!DOCTYPE a []><a/>'.split("|"),
  '<!DOCTYPE a PUBLIC "x" "y" [<!-- ] -->]><a/>',
  "<!DOCTYPE a [<?p ]?> <!ENTITY % x ']'>]><a/>",
  '<a b="&#10;" c="\n"/>',
];
const illFormed = [
  "",
  ...'<a>|</a>|<a></ a>|< a/>|<a/>x|<a/><b/>|<a b=c/>|<a b/>|<a b="1" b="2"/>|<a b="1"c="2"/>|<a b="<"/>'.split("|"),
  ...'<a b="&"/>|<a>&</a>|<a>&#0;</a>|<a>&#xD800;</a>|<a>&nbsp;</a>|<a>&amp</a>|<a>&#38</a>|<a>&a b;</a>'.split("|"),
  ..."<a>]]></a>|<a><![CDATA[x]]</a>|<![CDATA[x]]><a/>|<a><!-- -- --></a>|<a><!-- ---></a>|<a><!--x--!></a>".split("|"),
  ...'<a><?p x></a>|<a><??></a>|<a><?xml x?></a>| <?xml version="1.0"?><a/>|<?XML version="1.0"?><a/>'.split("|"),
  ...'<?xml encoding="UTF-8"?><a/>|<?xml version="2.0"?><a/>|<a:b/>|<a x:b="1"/>|<:a/>|<a: xmlns:a="u"/>'.split("|"),
  ...'<a xmlns:x="u" xmlns:y="u" x:b="1" y:b="2"/>|<a:b:c xmlns:a="u"/>|<1a/>|<a><b></a></b>|<a></a></a>'.split("|"),
  ...'<!doctype a><a/>|<a/><!DOCTYPE a>|<!DOCTYPE a [<!ENTITY x "y&x;">]><a>&x;</a>|<a / >|<a b="1"/ >'.split("|"),
  ...'<a/b="1">|<a>\x01</a>|<a>\ufffe</a>|<a xmlns:b=""/>|<a xmlns:xml="u"/>|<a xmlns:xmlns="u"/>|x'.split("|"),
  ...'<!DOCTYPE><a/>|<!DOCTYPE a PUBLIC "x"><a/>|<!ELEMENT a><a/>|<a><!DOCTYPE a></a>|<a><</a>|<a>&x;</a>|<a'.split(
    "|",
  ),
  '<!DOCTYPE a SYSTEM "q"><a>&zz;</a>'.replace('SYSTEM "q"', ""),
];

describe("parseXmlTree", () => {
  it.each(wellFormed)("takes what a browser takes: %s", async (source) => {
    await expect(parseXmlTree(source)).resolves.toBeDefined();
  });

  it.each(illFormed)("refuses what a browser shows an error for: %s", async (source) => {
    await expect(parseXmlTree(source)).rejects.toMatchObject({ status: 422, code: "NOT_WELL_FORMED" });
  });

  it("says what is wrong, and where", async () => {
    await expect(parseXmlTree("<a>\r\n  <b>\n</a>")).rejects.toThrow(
      "The document is not well-formed XML: </a> stands where <b> should be closed (line 3, column 1).",
    );
  });

  it("makes the same tree whatever the length of the pieces", async () => {
    const source = `<?xml version="1.0"?>\r\n<!-- c --><!DOCTYPE a [<!ENTITY e "f">]><a x:b="1 &e;\r\n" xmlns:x="u">
      t &amp; &#x1f600;\r\n]] <![CDATA[<&]]><x:b c='2'/><!-- - --><?p q?></a>\n`;
    const shape = async (filling: string) => {
      const padded = source.replace("<!-- c -->", `<!--${filling}-->`);
      const { root } = await parseXmlTree(padded);
      const [a] = elementsIn(root);
      return a?.children.map((node) => [node.type, "data" in node ? node.data : node.type]);
    };
    const expected = await shape("c");
    // The pieces have 32 Ki characters: their end falls everywhere.
    for (let length = 32_768 - source.length; length < 32_768; length += 1) {
      expect(await shape("c".repeat(length)), `${length}`).toEqual(expected);
    }
  });

  it("makes several nodes of long text, none of which ends within a reference", async () => {
    const { root } = await parseXmlTree(`<a>${"&amp;\r\n]]".repeat(50_000)}</a>`);
    const [a] = elementsIn(root);
    expect(a?.children.length).toBeGreaterThan(1);
    expect(a?.children.map((node) => ("data" in node ? node.data : "")).join("")).toBe("&\n]]".repeat(50_000));
    await expect(parseXmlTree(`<a>${"]".repeat(200_000)}></a>`)).rejects.toThrow("]]> must be written as ]]&gt;");
  });

  it("is bounded as HTML is", async () => {
    await expect(parseXmlTree("<a>".repeat(200_000))).rejects.toMatchObject({ code: "DOCUMENT_TOO_DEEP" });
    const many = `<r>${"<a/>".repeat(10_000)}</r>`;
    await expect(parseXmlTree(many, { maxTreeBytes: 1_000_000 })).rejects.toMatchObject({
      code: "DOCUMENT_TOO_COSTLY",
    });
    const attributes = Array.from({ length: 20_000 }, (_, i) => `a${i}=''`).join(" ");
    await expect(parseXmlTree(`<a ${attributes}/>`, { maxTreeBytes: 1_000_000 })).rejects.toMatchObject({
      code: "DOCUMENT_TOO_COSTLY",
    });
    const references = `<a b="${"&amp;".repeat(300_000)}"/>`;
    await expect(parseXmlTree(references)).rejects.toMatchObject({ code: "DOCUMENT_TOO_COSTLY" });
  });
});

describe("buildXmlTree", () => {
  it("reads a part of a document: text and several elements, with the namespaces of their place", async () => {
    const scope = new NamespaceScope(new Map([["x", "u"]]));
    const context = { isDocument: false, entities: new XmlEntities(), scope };
    const root = await buildXmlTree("a<b/><x:c/>d", context, new ParseBudget());
    expect(root.children.map(({ type }) => type)).toEqual(["text", "tag", "tag", "text"]);
    expect(elementsIn(root).map(({ name, namespace }) => [name, namespace])).toEqual([
      ["b", ""],
      ["c", "u"],
    ]);
  });
});
