import type { ElementRequest } from "../files/file-request.ts";
import type { SourceElement, TreeParent } from "../html/document/html-nodes.ts";
import type { SourceDocument } from "../html/document/source-document.ts";
import { compileSelector, selectElements } from "../html/selector/select.ts";
import type { SelectedElements } from "../server/access.ts";

/** Throws unless this user may do to each of the elements what the request asks for. */
export function refuseForbidden(
  request: ElementRequest,
  document: SourceDocument,
  elements: readonly SourceElement[],
): void {
  const { exchange, path, right } = request;
  const { access } = exchange;
  if (!access.permits(right, path, selectedElements(request, document, elements))) throw access.refusal();
}

/** Elements of a document as the rules of an {@link Access} see them. Nothing is selected unless a rule asks. */
export function selectedElements(
  { options }: Pick<ElementRequest, "options">,
  document: SourceDocument,
  elements: readonly SourceElement[],
): SelectedElements {
  const { maxSelectionSteps } = options;
  // Whoever announces a change asks for each of many listeners.
  const known = new Map<string, ReadonlySet<TreeParent>>();
  const select = (selector: string): ReadonlySet<TreeParent> => {
    const selected =
      known.get(selector) ??
      new Set(
        selectElements(document, compileSelector(selector), {
          maxSelectionSteps,
          maxMatches: Number.POSITIVE_INFINITY,
        }),
      );
    known.set(selector, selected);
    return selected;
  };
  return {
    areAmong(selector) {
      const selected = select(selector);
      return elements.every((element) => selected.has(element));
    },
    touch(selector) {
      const selected = select(selector);
      const holders = withAncestors(selected);
      return elements.some((element) => holders.has(element) || liesIn(element, selected));
    },
  };
}

/** Elements and everything that they lie in. */
function withAncestors(elements: ReadonlySet<TreeParent>): ReadonlySet<TreeParent> {
  const found = new Set<TreeParent>();
  for (const element of elements) {
    for (let each: TreeParent | null = element; each && !found.has(each); each = each.parent) found.add(each);
  }
  return found;
}

function liesIn(element: SourceElement, holders: ReadonlySet<TreeParent>): boolean {
  for (let each: TreeParent | null = element.parent; each; each = each.parent) if (holders.has(each)) return true;
  return false;
}
