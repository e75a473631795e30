import { pageElements } from "../../src/html/document/element-span.ts";
import { serialisedParts } from "../../src/html/document/serialise.ts";
import { parseHtml } from "../helpers/parse-html.ts";

/** All that {@link serialisedParts} gives. */
export function serialise(...given: Parameters<typeof serialisedParts>): string {
  return [...serialisedParts(...given)].join("");
}

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
