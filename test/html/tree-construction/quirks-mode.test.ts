import { expect, it } from "vitest";
import { modeOf } from "../../../src/html/tree-construction/quirks-mode.ts";

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
