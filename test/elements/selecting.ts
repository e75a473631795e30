import { parseDocument } from "../../src/html/document/parse-document.ts";
import { compileSelector, type SelectionLimits } from "../../src/html/selector/select.ts";
import { done } from "../helpers/done.ts";
import { selectElements } from "./selected.ts";

/** The ids, or the names, of the elements of a page that a selector gives. */
export async function select(page: string, selector: string, limits: SelectionLimits = {}): Promise<string[]> {
  return selectIn("html", page, selector, limits);
}

/** The same of an XML document. */
export async function selectInXml(document: string, selector: string): Promise<string[]> {
  return selectIn("xml", document, selector, {});
}

async function selectIn(
  kind: "html" | "xml",
  text: string,
  selector: string,
  limits: SelectionLimits,
): Promise<string[]> {
  const elements = selectElements(
    await done(parseDocument(kind, Buffer.from(text))),
    compileSelector(selector),
    limits,
  );
  return elements.map(({ name, attribs }) => attribs["id"] ?? name);
}
