import { expect, it } from "vitest";
import { readDoctype } from "../../../src/html/tokenizer/read-doctype.ts";

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
