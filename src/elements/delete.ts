import type { ElementRequest } from "../files/file-request.ts";
import { HttpError } from "../http-error.ts";
import { emptyReply, type Reply } from "../reply.ts";
import { editElements } from "./edit-elements.ts";
import { noMatchReply } from "./element-reply.ts";
import { elementSpan, requireSpan } from "./element-span.ts";
import type { HtmlDocument } from "./html-document.ts";
import { SourceElement } from "./html-nodes.ts";
import { nextOf, previousOf } from "./neighbours.ts";
import { outermost } from "./outermost.ts";
import { pageElements } from "./page-elements.ts";
import type { Replacement } from "./splice.ts";
import { endTagsAt } from "./unclosed-tail.ts";

/** DELETE of elements: every match, the outermost where they nest, is removed (204). */
export async function deleteElements(request: ElementRequest): Promise<Reply> {
  const edited = await editElements(request, async () => ({
    kind: "elements-deleted",
    html: "",
    replacements: removals,
  }));
  if (!edited) return noMatchReply();
  return emptyReply(204, { "x-selector-matches": String(edited.matches.length) });
}

/** Elements that follow each other directly are one removal. */
interface Run {
  first: SourceElement;
  last: SourceElement;
  start: number;
  end: number;
}

function removals({ root }: HtmlDocument, matches: readonly SourceElement[]): readonly Replacement[] {
  const page = Object.values(pageElements(root));
  const runs: Run[] = [];
  for (const element of outermost(matches)) {
    if (page.includes(element)) {
      throw new HttpError(400, "INVALID_TARGET", `Every page has <${element.name}>; it cannot be removed.`);
    }
    const { start, end } = requireSpan(element);
    const run = runs.at(-1);
    if (run && run.end === start && previousOf(element) === run.last) Object.assign(run, { last: element, end });
    else runs.push({ first: element, last: element, start, end });
  }
  runs.sort((a, b) => a.start - b.start);
  return runs.map(({ first, last, start, end }) => ({ start, end, text: separator(first, last, start, end) }));
}

/** What followed the removed elements must not become content of what stood before them. */
function separator(first: SourceElement, last: SourceElement, start: number, end: number): string {
  const next = nextOf(last);
  if (!next) return "";
  const startsHere = next instanceof SourceElement && elementSpan(next)?.start === end;
  return endTagsAt(previousOf(first), start, startsHere ? next.name : undefined);
}
