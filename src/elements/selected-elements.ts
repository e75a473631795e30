import type { ElementRequest } from "../files/file-request.ts";
import type { SourceElement, TreeParent } from "../html/document/html-nodes.ts";
import type { SourceDocument } from "../html/document/source-document.ts";
import { compileSelector, selectElements } from "../html/selector/select.ts";
import type { SelectedElements } from "../server/access.ts";

/** The elements as rules see them. Throws unless this user may do to each of them what the request asks for. */
export function requirePermitted(
  request: ElementRequest,
  document: SourceDocument,
  elements: readonly SourceElement[],
): SelectedElements {
  const { exchange, path, right } = request;
  const selected = selectedElements(request, document, elements);
  if (!exchange.access.permits(right, path, selected)) throw exchange.access.refusal();
  return selected;
}

/** Whether this user may read elements. A user who may change them need not. */
export function mayRead({ exchange, path }: ElementRequest, selected: SelectedElements): boolean {
  return exchange.access.permits("read", path, selected);
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
