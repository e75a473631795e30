import { words } from "./selector-names.ts";

/** Written with one colon as well, since CSS 2. */
export const legacyPseudoElements: ReadonlySet<string> = words("before after first-line first-letter");

const plain = words(
  "after backdrop before checkmark column cue details-content file-selector-button first-letter first-line grammar-error " +
    "interest-button marker permission-icon picker-icon placeholder scroll-marker scroll-marker-group search-text " +
    "select-listbox selection spelling-error target-text view-transition",
);

const name = String.raw`(?!\d)(?:[\w\x80-\uffff-]|\\.)+`;
const transitionPart = new RegExp(String.raw`^(?:(?:\*|${name}\s*)(?:\.${name})*|(?:\.${name})+)$`, "s");

/** Those with parentheses, and what browsers take between these: selectors, or a text that a pattern matches, trimmed. */
const functional: ReadonlyMap<string, PseudoElementArgument> = new Map<string, PseudoElementArgument>([
  ["cue", "compounds"],
  ["highlight", new RegExp(`^${name}$`, "s")],
  ["part", new RegExp(String.raw`^${name}(?:\s+${name})*$`, "s")],
  ["picker", /^select$/i],
  ["scroll-button", /^(?:\*|left|right|up|down|(?:block|inline)-(?:start|end))$/i],
  ["slotted", "compound"],
  ["view-transition-group", transitionPart],
  ["view-transition-group-children", transitionPart],
  ["view-transition-image-pair", transitionPart],
  ["view-transition-new", transitionPart],
  ["view-transition-old", transitionPart],
]);

export type PseudoElementArgument = "compound" | "compounds" | RegExp;

/** Whether there is `::name`; every `::-webkit-` name is known (Selectors 4, §3.6.4). */
export function isPseudoElement(name: string): boolean {
  return plain.has(name) || name.startsWith("-webkit-");
}

/** What `::name()` takes; `undefined` where there is no such pseudo-element. */
export function pseudoElementArgument(name: string): PseudoElementArgument | undefined {
  return functional.get(name);
}
