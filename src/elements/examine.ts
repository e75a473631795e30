import type { ElementRequest } from "../files/file-request.ts";
import { isHtmlElement } from "../html/document/html-document.ts";
import { voidElements } from "../html/document/optional-tags.ts";
import { pageElements } from "../html/document/page-elements.ts";
import type { SelectedElements } from "../server/access.ts";
import type { ReplyHeaders } from "../server/reply.ts";
import { matchHeaders } from "./element-reply.ts";
import { elementFinder } from "./find-elements.ts";
import { loadDocument } from "./load-document.ts";
import { requirePermitted, selectedElements } from "./selected-elements.ts";

/** What is known of the elements that a request is about before anything is done to them. */
export interface ExaminedElements {
  /** Header fields that tell how many there are. */
  readonly headers: ReplyHeaders;
  /** Methods that could not succeed, whoever asks: DELETE of a `body`, POST to an `img`. */
  readonly impossible: ReadonlySet<string>;
  readonly elements: SelectedElements;
}

/** Looks at the elements that a request selects. Throws what a GET of them would throw. */
export async function examineElements(request: ElementRequest): Promise<ExaminedElements> {
  const findElements = elementFinder(request);
  const { document } = await loadDocument(request);
  const matches = await findElements(document);
  if (matches.length > 0) requirePermitted(request, document, matches);
  const page = document.isXml ? document.root.children : Object.values(pageElements(document.root));
  const impossible = new Set<string>();
  if (matches.some((element) => page.includes(element))) impossible.add("DELETE");
  if (matches.some((element) => isHtmlElement(element) && voidElements.has(element.name))) impossible.add("POST");
  const elements = selectedElements(request, document, matches);
  return { headers: matchHeaders(matches.length), impossible, elements };
}
