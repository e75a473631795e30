import { nextNode, SourceElement, type TreeParent } from "../../html/engine.ts";

const plainName = /^[a-z_][\w-]*$/i;

/** A selector that selects one element of a page and no other. */
export type SelectorOf = (element: SourceElement) => string;

/**
 * `#id` where that is unique, otherwise the way from the nearest element that has such an id. `tellsAncestors`: whether
 * the ids of elements around may be told.
 */
export function selectorsIn(root: TreeParent, tellsAncestors: boolean): SelectorOf {
  let counts: ReadonlyMap<string, number> | undefined;
  const uniqueId = ({ attribs: { id } }: SourceElement): string | undefined => {
    if (id === undefined || !plainName.test(id)) return undefined;
    counts ??= countIds(root);
    return counts.get(id) === 1 ? `#${id}` : undefined;
  };
  return (element) => {
    const steps: string[] = [];
    for (let each: TreeParent | null = element; each instanceof SourceElement; each = each.parent) {
      const id = each === element || tellsAncestors ? uniqueId(each) : undefined;
      steps.unshift(id ?? stepTo(each));
      if (id !== undefined || !(each.parent instanceof SourceElement)) break;
    }
    return steps.join(" > ");
  };
}

/** All elements below a node, in document order; `template` contents are none of them. */
export function* elementsBelow(root: TreeParent): Generator<SourceElement> {
  for (let node = nextNode(root, root); node; node = nextNode(node, root))
    if (node instanceof SourceElement) yield node;
}

function countIds(root: TreeParent): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { attribs } of elementsBelow(root)) {
    if (attribs["id"]) counts.set(attribs["id"], (counts.get(attribs["id"]) ?? 0) + 1);
  }
  return counts;
}

/** `li:nth-of-type(3)`; an element that is the only one of its kind needs no number. */
function stepTo(element: SourceElement): string {
  const { name, namespace, parent } = element;
  const siblings = (parent?.children ?? []).filter((each) => each instanceof SourceElement);
  // By all siblings where a name cannot stand in a selector as it is.
  if (!plainName.test(name)) return `:nth-child(${siblings.indexOf(element) + 1})`;
  const alike = siblings.filter((each) => each.name === name && each.namespace === namespace);
  return alike.length === 1 ? name : `${name}:nth-of-type(${alike.indexOf(element) + 1})`;
}
