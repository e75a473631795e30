import { type WordOf, words } from "../words.ts";

export type Direction = "ltr" | "rtl";
export type NthPseudoClass = "nth-child" | "nth-last-child" | "nth-of-type" | "nth-last-of-type";
export type PlainPseudoClass = WordOf<typeof ofElements | typeof ofControls>;

/** Pseudo-classes without an argument that go by the tree and its attributes. */
const ofElements = "any-link defined empty first-child last-child link only-child open root scope -webkit-any-link";
const ofControls =
  "checked default disabled enabled indeterminate optional placeholder-shown read-only read-write required";
const plainPseudoClasses = words(`${ofElements} ${ofControls}`);

/** Pseudo-classes of scrollbars and their parts. */
export const scrollbarStates: ReadonlySet<string> = words(
  "corner-present decrement double-button end horizontal increment no-button single-button start vertical window-inactive",
);

/**
 * Pseudo-classes of what happens in a browser: what is pointed at, typed (`:valid` judges the value that a user gives),
 * or plays. A file is in no such state. They are valid and match nothing. The second row is that of media, which not
 * all browsers know.
 */
const states = new Set([
  ...words(
    "active active-view-transition autofill current focus focus-visible focus-within fullscreen future host hover " +
      "in-range interest-source interest-target invalid modal navigation-source out-of-range past picture-in-picture " +
      "popover-open target target-after target-before target-current user-invalid user-valid valid visited xr-overlay -webkit-autofill -webkit-drag " +
      "-webkit-full-page-media -webkit-full-screen -webkit-full-screen-ancestor",
  ),
  ...words("buffering muted paused playing seeking stalled volume-locked"),
  ...scrollbarStates,
]);

/** The pseudo-class without argument of a name: one to be evaluated, or a state. `undefined` for unknown names. */
export function plainPseudoClass(name: string): PlainPseudoClass | "state" | undefined {
  if (plainPseudoClasses.has(name)) return name as PlainPseudoClass;
  return states.has(name) ? "state" : undefined;
}

const argumentsOfFunctions = {
  is: "forgiving-list",
  where: "forgiving-list",
  not: "list",
  has: "relative-list",
  "-webkit-any": "compounds",
  "nth-child": "nth-of",
  "nth-last-child": "nth-of",
  "nth-of-type": "nth",
  "nth-last-of-type": "nth",
  lang: "languages",
  dir: "direction",
  host: "compound",
  "host-context": "compound",
  state: "name",
  "active-view-transition-type": "names",
} as const;

/** What stands between the parentheses of a functional pseudo-class. */
export type PseudoArgument = (typeof argumentsOfFunctions)[keyof typeof argumentsOfFunctions];

export const functionalPseudoClasses: ReadonlyMap<string, PseudoArgument> = new Map(
  Object.entries(argumentsOfFunctions),
);

/** Those that combine other selectors, so that they may stand wherever these may. */
export const logicalPseudoClasses: ReadonlySet<string> = words("is where not");

/** Those that go by an element's place in the tree; pseudo-elements are not in the tree. */
export const structuralPseudoClasses: ReadonlySet<string> = words(
  "empty first-child first-of-type has host host-context last-child last-of-type nth-child nth-last-child " +
    "nth-last-of-type nth-of-type only-child only-of-type root scope -webkit-any",
);
