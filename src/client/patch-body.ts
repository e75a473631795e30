import { dom } from "./dom.ts";
import { localMark } from "./selector-of.ts";

export type PatchBody = (before: Document | undefined, after: Document) => void;

/**
 * Makes a function that changes in the open document what differs between two versions of its file. What is in the body
 * now counts as the file's, except for `data-local`; what scripts add later is theirs, and stays.
 */
export function bodyPatcher(): PatchBody {
  const fromFile = new WeakSet<Node>();
  adopt(dom(document).body);

  return (before, after) => {
    const { activeElement: focused, body } = dom(document);
    const title = titleOf(after);
    // `document.title` has one blank for several, and is the same for no title and an empty one.
    if (!title) titleOf(document)?.remove();
    else if (title.text !== titleOf(before ?? document)?.text) {
      Reflect.set(Document.prototype, "title", title.text, document);
    }
    patch(body, before ? dom(before).body : body, dom(after).body);
    if (focused instanceof HTMLElement) dom(focused).focus({ preventScroll: true }); // lost if it was moved
  };

  function adopt(node: Node): void {
    if (isLocal(node)) return;
    fromFile.add(node);
    for (const child of dom(node).childNodes) adopt(child);
  }

  function patch(live: Element, before: Element, after: Element): void {
    if (live !== before || live !== dom(document).body) patchAttributes(live, before, after);
    const old = [...dom(before).childNodes].filter((node) => (before === live ? fromFile.has(node) : !isLocal(node)));
    const wanted = [...dom(after).childNodes].filter((node) => !isLocal(node));
    // Of a long list, mostly all but one item is the same.
    let start = 0;
    let end = 0;
    const isEqual = (one: Node | undefined, other: Node | undefined): unknown =>
      one && other && dom(other).isEqualNode(one);
    while (isEqual(old[start], wanted[start])) start += 1;
    const most = Math.min(old.length, wanted.length) - start;
    if (most === 0 && old.length === wanted.length) return;
    while (end < most && isEqual(old.at(-1 - end), wanted.at(-1 - end))) end += 1;

    // Where scripts have changed these children, they are compared as they are, and not as they were in the file.
    const present = [...dom(live).childNodes].filter((node) => fromFile.has(node));
    const isAsBefore =
      present.length === old.length &&
      present.every((node, at) => dom(node).nodeName === dom(old[at] as Node).nodeName);
    if (!isAsBefore) start = end = 0;
    const middle = <Item>(nodes: readonly Item[]): Item[] => nodes.slice(start, nodes.length - end);
    const known = middle(isAsBefore ? old : present);
    const mine = middle(present);
    const kept = pair(known, middle(wanted));
    const claimed = new Set([...kept.values()].map((index) => mine[index]));

    const staying = longestIncreasing(middle(wanted).flatMap((node) => kept.get(node) ?? []));
    // In their old order, without those that move: nothing may be inserted before one that is still to leave.
    const rest = mine.filter((node, index) => staying.has(index) || !claimed.has(node));
    const beyond = present[present.length - end];
    let last = present[start - 1];
    const insert = (node: ChildNode, next = beyond): void => {
      const place = next ?? (last ? dom(last).nextSibling : null); // before what scripts have put at the end
      // By `moveBefore`, which not all browsers have, a frame or a video goes on.
      const put = "moveBefore" in live && dom(node).isConnected ? "moveBefore" : "insertBefore";
      dom(live)[put](node, place);
    };
    for (const node of middle(wanted)) {
      const index = kept.get(node) ?? -1;
      let placed = mine[index];
      let next = rest[0];
      if (placed) {
        for (; next && !claimed.has(next); next = rest[0]) dom(rest.shift() as ChildNode).remove();
        if (next === placed) rest.shift();
        else insert(placed, next);
        patch(placed as Element, known[index] as Element, node as Element);
      } else if (next && !(node instanceof Element) && next.nodeType === node.nodeType) {
        placed = next;
        if (placed.nodeValue !== node.nodeValue) placed.nodeValue = node.nodeValue;
        rest.shift();
      } else {
        placed = dom(document).importNode(node, true) as ChildNode; // scripts do not run: another document parsed them
        adopt(placed);
        insert(placed, next);
      }
      last = placed;
    }
    for (const node of rest) dom(node).remove();
    showDefault(live);
  }
}

function titleOf(page: Document): HTMLTitleElement | null {
  return dom(page).querySelector<HTMLTitleElement>("title:not(svg title)");
}

/** Which wanted elements are there already, by index: those with the same id, alike, or of the same name. */
function pair(old: readonly Node[], wanted: readonly Node[]): Map<Node, number> {
  const free = new Set([...old.keys()].filter((index) => old[index] instanceof Element));
  const pairs = new Map<Node, number>();
  // A node that is not an element has no local name, and finds nothing.
  const take = (node: Node, fits: (candidate: Element) => boolean): void => {
    const { localName, id } = dom(node as Element);
    for (const index of free) {
      const candidate = old[index] as Element;
      if (dom(candidate).localName !== localName || dom(candidate).id !== id || !fits(candidate)) continue;
      free.delete(index);
      pairs.set(node, index);
      return;
    }
  };
  for (const node of wanted) take(node, (candidate) => dom(candidate).id !== "" || dom(candidate).isEqualNode(node));
  for (const node of wanted) if (!pairs.has(node)) take(node, () => true);
  return pairs;
}

/** The longest increasing subsequence. Its elements stay: in some browsers, a frame that moves would start anew. */
function longestIncreasing(numbers: readonly number[]): ReadonlySet<number> {
  const ends: number[] = []; // of the subsequences of each length, the lowest last number
  const before = new Map<number, number | undefined>();
  for (const number of numbers) {
    const isHighest = number > (ends.at(-1) ?? -1); // as mostly: few elements move
    const length = isHighest ? ends.length : ends.findIndex((end) => end > number);
    before.set(number, ends[length - 1]);
    ends[length] = number;
  }
  const increasing = new Set<number>();
  for (let number = ends.at(-1); number !== undefined; number = before.get(number)) increasing.add(number);
  return increasing;
}

function patchAttributes(live: Element, before: Element, after: Element): void {
  for (const name of new Set([...dom(before).getAttributeNames(), ...dom(after).getAttributeNames()])) {
    const wanted = dom(after).getAttributeNode(name);
    if (dom(before).getAttribute(name) === (wanted?.value ?? null)) continue;
    if (wanted) dom(live).setAttributeNode(wanted.cloneNode() as Attr);
    else dom(live).removeAttribute(name);
    if (name === "value" || name === "checked") showDefault(live);
  }
}

/** Resets a used field to the value in the file, unless it has the focus. */
function showDefault(field: Element): void {
  if (field === dom(document).activeElement) return;
  if (field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement) field.value = field.defaultValue;
  if (field instanceof HTMLInputElement) field.checked = field.defaultChecked;
}

function isLocal(node: Node): boolean {
  return node instanceof Element && dom(node).matches(localMark);
}
