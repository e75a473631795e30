import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { isHtmlElement, nextNode, SourceElement, TextNode } from "../document/html-nodes.ts";
import { words } from "../words.ts";
import { asciiKeyword, stepsToRead } from "./attribute-selector.ts";
import type { ElementList, MatchContext } from "./match-context.ts";
import type { Direction } from "./selector-names.ts";
import { type EvaluationSteps, nextBehind, parentElement } from "./tree-steps.ts";

/** The first character that has a direction of its own: a letter, or a mark that only gives direction. */
const strongCharacter = /[\p{L}\u200e\u200f]/u;
/** Letters and marks of the scripts that are written from right to left: the blocks that Unicode keeps for them. */
const rightToLeft = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Searched for a letter in half a millisecond. */
const pieceLength = 64 * 1024;

/** Inputs whose value decides, where `dir=auto` (HTML Standard, 3.2.6.4). */
const inputsWithDirection = words("hidden text search tel url email password submit reset button");
const withoutOwnText = words("bdi script style textarea");

/** Those of some elements that have a directionality (HTML Standard, 3.2.6.4), by which `:dir()` goes. */
export function* inDirection(
  elements: ElementList,
  wanted: Direction | "unknown",
  { steps }: MatchContext,
): SlicedWork<ElementList> {
  const known = new Map<SourceElement, Direction>();
  const found: SourceElement[] = [];
  for (const element of elements) {
    const inheriting: SourceElement[] = [];
    let direction: Direction | undefined;
    for (let current: SourceElement | null = element; current && !direction; current = parentElement(current)) {
      steps.spend();
      inheriting.push(current);
      direction = known.get(current) ?? (yield* ownDirection(current, steps));
    }
    direction ??= "ltr";
    for (const heir of inheriting) known.set(heir, direction);
    if (direction === wanted) found.push(element);
    if (steps.isSliceOver()) yield;
  }
  return found;
}

function* ownDirection(element: SourceElement, steps: EvaluationSteps): SlicedWork<Direction | undefined> {
  if (!isHtmlElement(element)) return undefined;
  const dir = statedDirection(element);
  if (dir === "ltr" || dir === "rtl") return dir;
  if (dir === "auto" || element.name === "bdi") return yield* directionOfContent(element, steps);
  const isTelephone = element.name === "input" && asciiKeyword(element.attribs["type"]) === "tel";
  return isTelephone ? "ltr" : undefined;
}

function statedDirection({ attribs }: SourceElement): Direction | "auto" | undefined {
  const dir = asciiKeyword(attribs["dir"]);
  return dir === "ltr" || dir === "rtl" || dir === "auto" ? dir : undefined;
}

function* directionOfContent(element: SourceElement, steps: EvaluationSteps): SlicedWork<Direction> {
  if (element.name === "input") {
    const type = asciiKeyword(element.attribs["type"] ?? "text");
    const { value = "" } = element.attribs;
    steps.spend(stepsToRead(value));
    return (inputsWithDirection.has(type) && directionOfText(value)) || "ltr";
  }
  let node = nextNode(element, element);
  while (node) {
    steps.spend();
    if (steps.isSliceOver()) yield;
    for (const text of node instanceof TextNode ? pieces(node.data) : []) {
      steps.spend(text.length >> 6);
      if (steps.isSliceOver()) yield;
      const direction = directionOfText(text);
      if (direction) return direction;
    }
    const isApart =
      node instanceof SourceElement &&
      isHtmlElement(node) &&
      (withoutOwnText.has(node.name) || statedDirection(node) !== undefined);
    node = isApart ? nextBehind(node, element) : nextNode(node, element);
  }
  return "ltr";
}

/** A text in pieces that are searched in a moment, and end between characters. */
function* pieces(text: string): Generator<string> {
  let end = 0;
  for (let start = 0; start < text.length; start = end) {
    end = start + pieceLength;
    if (text.charCodeAt(end - 1) >>> 10 === 0x36) end += 1; // the first half of a surrogate pair
    yield text.slice(start, end);
  }
}

function directionOfText(text: string): Direction | undefined {
  const strong = strongCharacter.exec(text)?.[0];
  if (strong === undefined) return undefined;
  return rightToLeft.test(strong) ? "rtl" : "ltr";
}
