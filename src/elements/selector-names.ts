/** What stands between the parentheses of a functional pseudo-class. */
export type PseudoArgument =
  | "forgiving-list"
  | "list"
  | "relative-list"
  | "compound"
  | "nth"
  | "nth-of"
  | "languages"
  | "direction"
  | "name";

/**
 * Pseudo-classes that browsers know and that a document at rest never is in: nobody points at it, nothing plays, there
 * is no shadow tree. They are valid and match nothing.
 */
export const statePseudoClasses: ReadonlySet<string> = new Set(
  (
    "active autofill buffering focus focus-visible focus-within fullscreen host host-context hover modal muted paused " +
    "picture-in-picture playing popover-open seeking stalled state target user-invalid user-valid visited volume-locked"
  ).split(" "),
);

/** Pseudo-classes without an argument that go by the tree and its attributes. */
export const treePseudoClasses: ReadonlySet<string> = new Set(
  (
    "any-link checked disabled empty enabled first-child first-of-type last-child last-of-type link only-child " +
    "only-of-type optional read-only read-write required root scope"
  ).split(" "),
);

export const functionalPseudoClasses: ReadonlyMap<string, PseudoArgument> = new Map<string, PseudoArgument>([
  ["is", "forgiving-list"],
  ["where", "forgiving-list"],
  ["not", "list"],
  ["has", "relative-list"],
  ["nth-child", "nth-of"],
  ["nth-last-child", "nth-of"],
  ["nth-of-type", "nth"],
  ["nth-last-of-type", "nth"],
  ["lang", "languages"],
  ["dir", "direction"],
  ["host", "compound"],
  ["host-context", "compound"],
  ["state", "name"],
]);

/** Written with one colon as well, since CSS 2. */
export const legacyPseudoElements: ReadonlySet<string> = new Set(["before", "after", "first-line", "first-letter"]);

const pseudoElements: ReadonlySet<string> = new Set(
  (
    "after backdrop before cue cue-region details-content file-selector-button first-letter first-line grammar-error " +
    "highlight marker part placeholder selection slotted spelling-error target-text view-transition " +
    "view-transition-group view-transition-image-pair view-transition-new view-transition-old"
  ).split(" "),
);

/** Whether browsers know `::name`; every `::-webkit-` name counts as known (Selectors 4, §3.6.4). */
export function isPseudoElement(name: string): boolean {
  return pseudoElements.has(name) || name.startsWith("-webkit-");
}
