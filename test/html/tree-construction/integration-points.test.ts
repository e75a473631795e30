import { expect, it } from "vitest";
import { SourceElement } from "../../../src/html/document/html-nodes.ts";
import { htmlNamespace, mathNamespace, svgNamespace } from "../../../src/html/document/namespaces.ts";
import {
  isHtmlIntegrationPoint,
  isTextIntegrationPoint,
  openTagOf,
} from "../../../src/html/tree-construction/integration-points.ts";
import { foreignBoundaryTag, foreignTag } from "../../../src/html/tree-construction/tags.ts";

it.each([
  [mathNamespace, "mi", {}, true, false],
  [svgNamespace, "mi", {}, false, false],
  [svgNamespace, "foreignObject", {}, false, true],
  [svgNamespace, "title", {}, false, true],
  [htmlNamespace, "title", {}, false, false],
  [mathNamespace, "annotation-xml", {}, false, false],
  [mathNamespace, "annotation-xml", { encoding: "Text/HTML" }, false, true],
  [mathNamespace, "annotation-xml", { encoding: "application/xhtml+xml" }, false, true],
  [mathNamespace, "annotation-xml", { encoding: "image/svg+xml" }, false, false],
])("knows whether HTML may stand in %s %s %j", (namespace, name, attributes, isText, isHtml) => {
  const element = new SourceElement(name, namespace, attributes);
  expect([isTextIntegrationPoint(element), isHtmlIntegrationPoint(element)]).toEqual([isText, isHtml]);
});

it("tells what ends a scope from what does not", () => {
  expect(openTagOf(svgNamespace, "desc")).toBe(foreignBoundaryTag);
  expect(openTagOf(svgNamespace, "g")).toBe(foreignTag);
  expect(openTagOf(mathNamespace, "annotation-xml")).toBe(foreignBoundaryTag);
  expect(openTagOf(mathNamespace, "desc")).toBe(foreignTag);
});
