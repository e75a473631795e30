import { pageElements } from "../../src/html/document/element-span.ts";
import { serialise } from "../../src/html/document/serialise.ts";
import { parseHtml } from "../helpers/parse-html.ts";

/** What a page reads as, written with all its tags. */
export async function pageOf(html: string): Promise<string> {
  const document = await parseHtml(html);
  return serialise(document, document.root);
}

/** The content of the body that a page has. */
export async function bodyOf(html: string): Promise<string> {
  const document = await parseHtml(html);
  const { body } = pageElements(document.root);
  return body ? serialise(document, body).replace(/^<body[^>]*>|<\/body>$/g, "") : "no body";
}
