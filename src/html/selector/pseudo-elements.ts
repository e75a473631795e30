import { words } from "../words.ts";
import { logicalPseudoClasses, scrollbarStates, structuralPseudoClasses } from "./selector-names.ts";

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

/** Pseudo-elements that have a rule in common; a function is written with its parentheses. */
const namesOfRules: readonly (readonly [PseudoElementRule, string])[] = [
  [
    isolated,
    "backdrop checkmark first-letter first-line grammar-error interest-button marker picker-icon placeholder " +
      "spelling-error target-text view-transition",
  ],
  [generated, "after before"],
  [interactive, "cue file-selector-button"],
  [elementBacked, "details-content permission-icon select-listbox"],
  [
    transitionPart,
    "view-transition-group() view-transition-group-children() view-transition-image-pair() view-transition-new() " +
      "view-transition-old()",
  ],
  [{ pseudoClasses: "none", pseudoElements: words("scroll-marker") }, "column"],
  [{ ...isolated, argument: "compounds" }, "cue()"],
  [{ ...isolated, argument: new RegExp(`^${name}$`, "s") }, "highlight()"],
  [{ ...elementBacked, argument: new RegExp(String.raw`^${name}(?:\s+${name})*$`, "s") }, "part()"],
  [{ ...elementBacked, argument: /^select$/i }, "picker()"],
  [
    {
      argument: /^(?:\*|left|right|up|down|(?:block|inline)-(?:start|end))$/i,
      pseudoClasses: new Set([...userActions, "disabled", "enabled"]),
      pseudoElements: nothing,
    },
    "scroll-button()",
  ],
  [
    { ...isolated, pseudoClasses: new Set([...userActions, ...words("target-after target-before target-current")]) },
    "scroll-marker",
  ],
  [{ ...isolated, pseudoClasses: words("focus-within hover") }, "scroll-marker-group"],
  [{ ...isolated, pseudoClasses: words("current") }, "search-text"],
  [{ ...isolated, pseudoClasses: words("window-inactive") }, "selection"],
  [{ argument: "compound", pseudoClasses: "none", pseudoElements: treeAbiding }, "slotted()"],
];

const pseudoElements: ReadonlyMap<string, PseudoElementRule> = new Map(
  namesOfRules.flatMap(([rule, names]) => names.split(" ").map((each) => [each, rule] as const)),
);

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
    return (
      !structuralPseudoClasses.has(pseudoClass) &&
      (pseudoClass === "window-inactive" || !scrollbarStates.has(pseudoClass))
    );
  return pseudoClasses.has(pseudoClass);
}
