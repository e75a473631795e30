import { type DefaultTreeAdapterTypes, parse } from "parse5";

type ParentNode = DefaultTreeAdapterTypes.ParentNode;
export type PlainElement = DefaultTreeAdapterTypes.Element;

/** An element as the developer tools of a browser name it. */
export interface BrowserPath {
  readonly element: PlainElement;
  /** `html:nth-child(1) > body:nth-child(2) > p:nth-child(1)`. */
  readonly full: string;
  /** `#news > li:nth-child(2)`: from the nearest ancestor, or the element itself, that has an id of its own. */
  readonly short: string | undefined;
  readonly hasBytes: boolean;
}

/** The paths of all elements in document order, from a tree that parse5 makes without any help of ours. */
export function browserPaths(html: string): BrowserPath[] {
  const document = parse(html, { sourceCodeLocationInfo: true });
  const ids = new Map<string, number>();
  for (const { attrs } of descendants(document)) {
    const id = attrs.find(({ name }) => name === "id")?.value;
    // In quirks mode `#a` is `#A` as well.
    if (id) ids.set(id.toLowerCase(), (ids.get(id.toLowerCase()) ?? 0) + 1);
  }
  const known = new Map<ParentNode, { full: string; short: string | undefined }>();
  return descendants(document).map((element) => {
    const { parentNode, tagName, attrs, sourceCodeLocation } = element;
    const parent = parentNode && known.get(parentNode);
    const place = elementsIn(parentNode).indexOf(element) + 1;
    const step = `${escapeName(tagName)}:nth-child(${place})`;
    const id = attrs.find(({ name }) => name === "id")?.value;
    const isUnique = id !== undefined && ids.get(id.toLowerCase()) === 1;
    const path = {
      full: parent ? `${parent.full} > ${step}` : step,
      short: isUnique ? `#${escapeName(id)}` : parent?.short && `${parent.short} > ${step}`,
    };
    known.set(element, path);
    return { element, ...path, hasBytes: Boolean(sourceCodeLocation) };
  });
}

/** `CSS.escape` (CSSOM, 2.1). */
export function escapeName(name: string): string {
  if (name === "-") return "\\-";
  const escaped = [...name].map((character, index) => {
    if (character === "\0") return "\ufffd";
    const isFirst = index === 0 || (index === 1 && name.startsWith("-"));
    if (/[\x01-\x1f\x7f]/.test(character) || (isFirst && /\d/.test(character))) {
      return `\\${character.charCodeAt(0).toString(16)} `;
    }
    return /[\w\x80-\u{10ffff}-]/u.test(character) ? character : `\\${character}`;
  });
  return escaped.join("");
}

function descendants(root: ParentNode): PlainElement[] {
  const found: PlainElement[] = [];
  const open: PlainElement[] = elementsIn(root).reverse();
  for (let element = open.pop(); element; element = open.pop()) {
    found.push(element);
    open.push(...elementsIn(element).reverse());
  }
  return found;
}

function elementsIn(parent: ParentNode | null): PlainElement[] {
  return (parent?.childNodes ?? []).filter((node): node is PlainElement => "tagName" in node);
}
