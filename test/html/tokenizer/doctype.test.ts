import { expect, it } from "vitest";
import { modeOf, readDoctype } from "../../../src/html/tokenizer/doctype.ts";

it.each([
  [" html", true, ["html", null, null, false]],
  [" HTML ", true, ["html", null, null, false]],
  ["html", true, ["html", null, null, false]],
  ["", true, [null, null, null, true]],
  [" html", false, ["html", null, null, true]],
  [' html PUBLIC "p" "s"', true, ["html", "p", "s", false]],
  [" html public'p''s'x", true, ["html", "p", "s", false]],
  [' html PUBLIC "p"', true, ["html", "p", null, false]],
  [' html PUBLIC "p" s', true, ["html", "p", null, true]],
  [' html PUBLIC "p', true, ["html", "p", null, true]],
  [" html PUBLIC", true, ["html", null, null, true]],
  [' html SYSTEM "s"', true, ["html", null, "s", false]],
  [' html SYSTEM "s" x', false, ["html", null, "s", false]],
  [" html SYSTEM ''", true, ["html", null, "", false]],
  [" html x", true, ["html", null, null, true]],
  [" h\0\r\nx", true, ["h\ufffd", null, null, true]],
] as const)("reads <!doctype%s", (text, isComplete, [name, publicId, systemId, forcesQuirks]) => {
  expect(readDoctype(text, isComplete)).toEqual({ name, publicId, systemId, forcesQuirks });
});

const doctype = { name: "html", publicId: null, systemId: null, forcesQuirks: false };

it.each([
  [{}, "no-quirks"],
  [{ systemId: "about:legacy-compat" }, "no-quirks"],
  [{ forcesQuirks: true }, "quirks"],
  [{ name: "svg" }, "quirks"],
  [{ name: null }, "quirks"],
  [{ publicId: "HTML" }, "quirks"],
  [{ publicId: "-//W3C//DTD HTML 3.2 Final//EN" }, "quirks"],
  [{ publicId: "-//W3C//DTD HTML 4.01//EN", systemId: "x" }, "no-quirks"],
  [{ publicId: "-//W3C//DTD HTML 4.01 Transitional//EN" }, "quirks"],
  [{ publicId: "-//W3C//DTD HTML 4.01 Transitional//EN", systemId: "" }, "limited-quirks"],
  [{ publicId: "-//W3C//DTD XHTML 1.0 Frameset//EN" }, "limited-quirks"],
  [{ systemId: "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd" }, "quirks"],
])("takes %j for %s", (said, mode) => {
  expect(modeOf({ ...doctype, ...said })).toBe(mode);
});
