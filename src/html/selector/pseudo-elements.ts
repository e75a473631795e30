import { logicalPseudoClasses, scrollbarStates, structuralPseudoClasses, words } from "./selector-names.ts";

/** Written with one colon as well, since CSS 2. */
export const legacyPseudoElements: ReadonlySet<string> = words("before after first-line first-letter");

/** What browsers take between the parentheses of a pseudo-element, and behind it. */
export interface PseudoElementRule {
  /** Without: the pseudo-element has no parentheses. A pattern is asked of the text between them, trimmed. */
  readonly argument?: "compound" | "compounds" | RegExp;
  /** Pseudo-classes behind it, besides those that combine others. `"none"` excludes these as well. */
  readonly pseudoClasses: "none" | "not structural" | ReadonlySet<string>;
  /** Pseudo-elements behind it. */
  readonly pseudoElements: "any" | ReadonlySet<string>;
}

const nothing: ReadonlySet<string> = new Set();
const userActions = words("active focus focus-visible focus-within hover");
const isolated: PseudoElementRule = { pseudoClasses: nothing, pseudoElements: nothing };
const interactive: PseudoElementRule = { pseudoClasses: userActions, pseudoElements: nothing };
/** Stands for a whole element of a shadow tree. */
const elementBacked: PseudoElementRule = { pseudoClasses: "not structural", pseudoElements: "any" };
const generated: PseudoElementRule = { pseudoClasses: nothing, pseudoElements: words("marker") };
const scrollbar: PseudoElementRule = {
  pseudoClasses: new Set([...scrollbarStates, ...words("active disabled enabled hover")]),
  pseudoElements: nothing,
};

const name = String.raw`(?!\d)(?:[\w\x80-\uffff-]|\\.)+`;
const transitionPart: PseudoElementRule = {
  argument: new RegExp(String.raw`^(?:(?:\*|${name}\s*)(?:\.${name})*|(?:\.${name})+)$`, "s"),
  pseudoClasses: words("only-child"),
  pseudoElements: nothing,
};

/** Behind `::slotted()`: those that stand in the tree of boxes. */
const treeAbiding = words(
  "after backdrop before checkmark details-content file-selector-button interest-button marker permission-icon picker " +
    "picker-icon placeholder select-listbox view-transition view-transition-group view-transition-group-children " +
    "view-transition-image-pair view-transition-new view-transition-old",
);

const pseudoElements: ReadonlyMap<string, PseudoElementRule> = new Map<string, PseudoElementRule>([
  ["after", generated],
  ["backdrop", isolated],
  ["before", generated],
  ["checkmark", isolated],
  ["column", { pseudoClasses: "none", pseudoElements: words("scroll-marker") }],
  ["cue", interactive],
  ["cue()", { ...isolated, argument: "compounds" }],
  ["details-content", elementBacked],
  ["file-selector-button", interactive],
  ["first-letter", isolated],
  ["first-line", isolated],
  ["grammar-error", isolated],
  ["highlight()", { ...isolated, argument: new RegExp(`^${name}$`, "s") }],
  ["interest-button", isolated],
  ["marker", isolated],
  ["part()", { ...elementBacked, argument: new RegExp(String.raw`^${name}(?:\s+${name})*$`, "s") }],
  ["permission-icon", elementBacked],
  ["picker()", { ...elementBacked, argument: /^select$/i }],
  ["picker-icon", isolated],
  ["placeholder", isolated],
  [
    "scroll-button()",
    {
      argument: /^(?:\*|left|right|up|down|(?:block|inline)-(?:start|end))$/i,
      pseudoClasses: new Set([...userActions, "disabled", "enabled"]),
      pseudoElements: nothing,
    },
  ],
  [
    "scroll-marker",
    {
      pseudoClasses: new Set([...userActions, "target-after", "target-before", "target-current"]),
      pseudoElements: nothing,
    },
  ],
  ["scroll-marker-group", { pseudoClasses: words("focus-within hover"), pseudoElements: nothing }],
  ["search-text", { pseudoClasses: words("current"), pseudoElements: nothing }],
  ["select-listbox", elementBacked],
  ["selection", { pseudoClasses: words("window-inactive"), pseudoElements: nothing }],
  ["slotted()", { argument: "compound", pseudoClasses: "none", pseudoElements: treeAbiding }],
  ["spelling-error", isolated],
  ["target-text", isolated],
  ["view-transition", isolated],
  ["view-transition-group()", transitionPart],
  ["view-transition-group-children()", transitionPart],
  ["view-transition-image-pair()", transitionPart],
  ["view-transition-new()", transitionPart],
  ["view-transition-old()", transitionPart],
]);

const scrollbarParts = /^-webkit-(?:resizer|scrollbar(?:-(?:button|corner|thumb|track|track-piece))?)$/;

/** The rule of `::name`, or of `::name()` as `"name()"`; every `::-webkit-` name is known (Selectors 4, §3.6.4). */
export function pseudoElementRule(name: string): PseudoElementRule | undefined {
  if (scrollbarParts.test(name)) return scrollbar;
  const isWebkit = name.startsWith("-webkit-") && !name.endsWith(")");
  return isWebkit ? interactive : pseudoElements.get(name);
}

/** Whether a pseudo-class may stand behind a pseudo-element. */
export function mayFollow({ pseudoClasses }: PseudoElementRule, pseudoClass: string): boolean {
  if (pseudoClasses === "none") return false;
  if (logicalPseudoClasses.has(pseudoClass)) return true;
  if (pseudoClasses === "not structural")
    return !structuralPseudoClasses.has(pseudoClass) && !isScrollbarOnly(pseudoClass);
  return pseudoClasses.has(pseudoClass);
}

function isScrollbarOnly(pseudoClass: string): boolean {
  return scrollbarStates.has(pseudoClass) && pseudoClass !== "window-inactive";
}
