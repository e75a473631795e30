import { isHtmlElement, permanentElements, voidElements } from "../html/engine.ts";
import type { Right, SelectedElements } from "../server/access.ts";
import type { ReplyHeaders } from "../server/reply.ts";
import { loadDocument } from "./document-cache.ts";
import { matchHeaders } from "./element-reply.ts";
import type { ElementRequest } from "./element-request.ts";
import { ChosenElements, clientOf, elementFinder } from "./selection.ts";

/** What is known of the elements that a request is about before anything is done to them. */
export interface ExaminedElements {
  /** Header fields that tell how many there are. */
  readonly headers: ReplyHeaders;
  /** Methods that could not succeed for anybody: DELETE of a `body`, POST to an `img`. */
  readonly impossible: ReadonlySet<string>;
  readonly elements: SelectedElements;
}

const rightsToChange: readonly Right[] = ["overwrite", "append", "delete"];

/** Looks at the elements that a request selects. Throws what a GET of them would throw. */
export async function examineElements(request: ElementRequest): Promise<ExaminedElements> {
  const { exchange, options, path, right } = request;
  const { access } = exchange;
  const client = clientOf(exchange);
  const findElements = elementFinder(request.selector, options, client);
  const { document, release } = await loadDocument(request, request.documents, options, client);
  exchange.defer(release); // the elements are asked about until there is a reply
  const matches = await findElements(document);
  const elements = new ChosenElements(document, matches, options.maxSelectionSteps);
  if (matches.length > 0 && !(await elements.isGiven(access, right, path, client))) throw access.refusal();
  // What the rules select is known from here on, when the rights are asked for again.
  for (const each of rightsToChange) await elements.isGiven(access, each, path, client);
  const permanent = permanentElements(document);
  const impossible = new Set<string>();
  if (matches.some((element) => permanent.includes(element))) impossible.add("DELETE");
  if (matches.some((element) => isHtmlElement(element) && voidElements.has(element.name))) impossible.add("POST");
  return { headers: matchHeaders(matches.length), impossible, elements };
}
