import fc, { type Arbitrary } from "fast-check";

const blocks = ["div", "p", "ul", "li", "section", "h1", "h2", "pre", "blockquote", "dl", "dt", "dd", "form", "center"];
const inline = ["b", "i", "a", "em", "font", "nobr", "span", "button", "ruby", "rt", "x-y", "label"];
const tables = ["table", "tbody", "thead", "tr", "td", "th", "caption", "colgroup", "col"];
const voids = ["br", "img", "hr", "input", "meta", "wbr"];
const texts = ["script", "style", "title", "textarea", "noscript", "iframe", "xmp"];
const foreign = ["svg", "g", "path", "foreignObject", "desc", "math", "mi", "annotation-xml"];
/** No `select`, which browsers read in two ways: as before 2025, and with any content. */
const others = ["template", "option", "optgroup", "object", "marquee", "html", "head", "body", "frameset"];
const names = [blocks, inline, tables, voids, texts, foreign, others].flat();

const attribute = fc.constantFrom(
  "",
  "",
  "",
  " id=a",
  " id=b",
  " class=x",
  ' class="x y"',
  " title='a>b'",
  " data-x='&lt;&eacute;\"'",
  " hidden",
  " ID=c CLASS=z",
);
// To parse5 a NUL begins the body as text does, to browsers it does not: it comes behind text that does.
const word = fc.constantFrom(
  ..."a|b | |\n|\r\n|\r|&amp;|&lt;|&notin;|&am|p;|&|<|x<y|é|\u{1f600}|&nbsp;|&#13;|&#0;|n\0|<!--c-->|<!-- <p> -->|<!-->|<!--x--!>".split(
    "|",
  ),
);
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...blocks) },
  { weight: 4, arbitrary: fc.constantFrom(...inline) },
  { weight: 4, arbitrary: fc.constantFrom(...tables) },
  { weight: 3, arbitrary: fc.constantFrom(...names) },
);

const openTag = fc
  .tuple(name, attribute, fc.constantFrom(">", ">", ">", "/>", "\n>"))
  .map((parts) => `<${parts.join("")}`);
const closeTag = fc.oneof(name, fc.constantFrom("p", "br", "body", "html")).map((each) => `</${each}>`);

/** What no author wrote on purpose: tags in any order. */
const soup = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: openTag },
      { weight: 3, arbitrary: closeTag },
      { weight: 4, arbitrary: word },
      {
        weight: 1,
        arbitrary: fc.constantFrom("<?pi x?>", "<![CDATA[x]]>", "</>", "<!doctype html>", "<image>", "<plaintext>"),
      },
    ),
    { minLength: 3, maxLength: 16 },
  )
  .map((parts) => parts.join(""));

/** What an author would write, end tags left out here and there. */
const { content, element } = fc.letrec<{ content: string; element: string }>((tie) => ({
  content: fc
    .array(fc.oneof({ depthSize: "small" }, word, tie("element")), { maxLength: 4 })
    .map((parts) => parts.join("")),
  element: fc.oneof(
    { depthSize: "small" },
    fc.tuple(fc.constantFrom(...voids), attribute).map(([tag, attributes]) => `<${tag}${attributes}>`),
    fc
      .tuple(fc.constantFrom(...blocks, ...inline), attribute, tie("content"))
      .map(([tag, attributes, inner]) => `<${tag}${attributes}>${inner}</${tag}>`),
    fc
      .tuple(fc.constantFrom("ul", "ol"), attribute, fc.array(tie("content"), { maxLength: 4 }))
      .map(
        ([tag, attributes, items]) => `<${tag}>${items.map((item) => `<li${attributes}>${item}`).join("")}</${tag}>`,
      ),
    fc
      .array(fc.array(tie("content"), { maxLength: 3 }), { maxLength: 3 })
      .map(
        (rows) => `<table>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}`).join("")}`).join("")}</table>`,
      ),
    fc.tuple(attribute, tie("content")).map(([attributes, inner]) => `<p${attributes}>${inner}`),
    tie("content").map((inner) => `<template>${inner}</template>`),
    tie("content").map((inner) => `<svg><g id=a><path/>${inner}</g><title>t</title></svg>`),
    fc.constantFrom("<script>a='<p>'</script>", "<style>p{}</style>", "<textarea>\n\nx</textarea>"),
  ),
}));

const written = fc.tuple(content, element, content, element).map((parts) => parts.join(""));
const body = fc.oneof(
  written,
  soup,
  fc.tuple(element, soup, written).map((parts) => parts.join("")),
);
const start = fc.constantFrom(
  "",
  "",
  "<!doctype html>",
  "\ufeff<!doctype html>\r\n",
  "<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.01//EN' 'x'>\n<html lang=en>\n<head><title>t</title>\n</head>\n<body>",
  "<!doctype html><html><head></head><body class=x>",
  "<title>t</title>\n",
  "<head><meta charset=utf-8></head>",
);
const end = fc.constantFrom(
  "",
  "",
  "\n",
  "</body></html>\n",
  "</body>\n</html>\n<!-- end -->",
  "</body>tail",
  "</html>",
);

/** A page, well-formed or broken; sometimes not UTF-8. */
export const page: Arbitrary<Buffer> = fc
  .tuple(start, body, end, fc.constantFrom("utf8", "utf8", "utf8", "utf8", "latin1"))
  .map(([before, between, after, encoding]) => Buffer.from(before + between + after, encoding as BufferEncoding));

/** HTML to put into a page; most of it could stand somewhere. */
export const fragment: Arbitrary<string | Uint8Array> = fc.oneof(
  { weight: 6, arbitrary: content },
  { weight: 2, arbitrary: soup },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ..."text|<div>d</div>|<p>q|<li>n|<tr><td>n|<td>n|<option>n|<b>n</b>|<a>n</a>|<h2>n</h2>|<button>n</button>|<br>".split(
        "|",
      ),
      ..."<tbody></tbody>|<col>|<!--c-->|<html><body>n</html>|<head></head>|<body>n</body>| |\n|\nx|<path/>|<svg/>".split(
        "|",
      ),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<string | Uint8Array>(
      ..."</ul><script>|<!--|<plaintext>|</body>|</p>|<script>|<b>|<a><a></a></a>|<form><form></form></form>".split(
        "|",
      ),
      ..."<table>x<tr><td>y</table>|<body>|<!doctype html>|</script|<svg><p>x</p></svg>|&am|p;|<p".split("|"),
      "\0",
      new Uint8Array([0x3c, 0x70, 0x3e, 0xed, 0xa0, 0x80]),
    ),
  },
);

/** A selector, or which element of the page is meant, as a fraction. */
export const target: Arbitrary<string | number> = fc.oneof(
  { weight: 8, arbitrary: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }) },
  { weight: 1, arbitrary: name },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ..."body *|.x|#a|p:nth-child(2)|:nth-child(odd)|body|html|head|body > *|li + li|:empty|:last-child|:first-child|b, i".split(
        "|",
      ),
      ..."tbody > *|td, tr|table *|body :not(p)|[title]|p, div, li|svg *|select *|a a|body > :nth-child(even)|#b, .x".split(
        "|",
      ),
    ),
  },
);

export type EditMethod = "PUT" | "POST" | "DELETE";

export const method: Arbitrary<EditMethod> = fc.constantFrom("PUT", "POST", "DELETE");
