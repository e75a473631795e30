import { TimeSlice } from "../event-loop/sliced-work.ts";
import { elementSpan } from "../html/document/element-span.ts";
import { SourceElement } from "../html/document/html-nodes.ts";
import { pageElements } from "../html/document/page.ts";
import type { SourceDocument } from "../html/document/source-document.ts";
import { firstLineAt } from "../html/document/tag-rules.ts";
import { endTagsAt, nextOf, outermost, type Placement, previousOf } from "../html/edit/placement.ts";
import { removeXml } from "../html/edit/xml-placement.ts";
import { HttpError } from "../http/http-error.ts";
import type { Reply } from "../server/reply.ts";
import { editElements } from "./edit-elements.ts";
import type { ElementRequest } from "./element-request.ts";

/** DELETE of elements: every match, the outermost where they nest, is removed (204). */
export function deleteElements(request: ElementRequest): Promise<Reply> {
  return editElements(request, async () => ({
    kind: "deleted",
    html: "",
    place: (document, matches) => (document.isXml ? removeXml(matches) : removals(document, matches)),
    content: async () => undefined,
  }));
}

/** Elements that follow each other directly are one removal. */
interface Run {
  readonly elements: SourceElement[];
  readonly start: number;
  end: number;
}

async function removals(
  { root, source }: SourceDocument,
  matches: readonly SourceElement[],
): Promise<readonly Placement[] | undefined> {
  const page = Object.values(pageElements(root));
  const runs: Run[] = [];
  const slice = new TimeSlice();
  for (const element of outermost(matches)) {
    if (slice.isOver) await slice.renew();
    if (page.includes(element)) {
      throw new HttpError(400, "INVALID_TARGET", `Every page has <${element.name}>; it cannot be removed.`);
    }
    const span = elementSpan(element);
    if (!span) return undefined;
    const run = runs.at(-1);
    if (run && run.end === span.start && previousOf(element) === run.elements.at(-1)) {
      run.elements.push(element);
      run.end = span.end;
    } else {
      runs.push({ elements: [element], start: span.start, end: span.end });
    }
  }
  runs.sort((a, b) => a.start - b.start);
  return runs.map((run) => ({ start: run.start, end: run.end, text: separator(run, source), removes: run.elements }));
}

/** What followed the removed elements must not become content of what stood before them, nor be lost. */
function separator({ elements, start, end }: Run, source: string): string {
  const [first] = elements;
  const last = elements.at(-1);
  const next = last && nextOf(last);
  if (!first || !next) return "";
  const startsHere = next instanceof SourceElement && elementSpan(next)?.start === end;
  const endTags = endTagsAt(previousOf(first), start, startsHere ? next.name : undefined);
  const line = first.parent instanceof SourceElement ? firstLineAt(first.parent, start, source[end] ?? "") : "";
  return endTags + line;
}
