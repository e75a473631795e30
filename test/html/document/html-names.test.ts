import { expect, it } from "vitest";
import {
  attributeNamesIn,
  foreignAttributeName,
  htmlNamespace,
  mathNamespace,
  svgElementName,
  svgNamespace,
} from "../../../src/html/document/html-names.ts";

it("gives names of SVG and MathML back their capitals", () => {
  expect(["clippath", "fegaussianblur", "g"].map(svgElementName)).toEqual(["clipPath", "feGaussianBlur", "g"]);
  expect(attributeNamesIn(svgNamespace)?.("viewbox")).toBe("viewBox");
  expect(attributeNamesIn(svgNamespace)?.("definitionurl")).toBe("definitionurl");
  expect(attributeNamesIn(mathNamespace)?.("definitionurl")).toBe("definitionURL");
  expect(attributeNamesIn(mathNamespace)?.("viewbox")).toBe("viewbox");
  expect(attributeNamesIn(htmlNamespace)).toBeUndefined();
});

it("knows what a selector means that has a name in lower case", () => {
  expect(["viewbox", "definitionurl", "class"].map(foreignAttributeName)).toEqual([
    "viewBox",
    "definitionURL",
    "class",
  ]);
});
