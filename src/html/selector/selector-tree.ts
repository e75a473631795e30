import type { Direction, NthPseudoClass, PlainPseudoClass } from "./selector-names.ts";

/** `a, b`: what matches one of them. */
export type SelectorList = readonly ComplexSelector[];

/** `a > b c`: compounds, each with the combinator before it. */
export type ComplexSelector = readonly SelectorStep[];

export interface SelectorStep {
  /** `null` for the first one, except in a relative selector as `:has()` takes it. */
  readonly combinator: Combinator | null;
  readonly compound: CompoundSelector;
}

export type Combinator = "descendant" | "child" | "next-sibling" | "subsequent-sibling";

/** `a.b:hover`: an element matches when it matches every part. */
export type CompoundSelector = readonly SimpleSelector[];

export type SimpleSelector =
  | { readonly kind: "type"; readonly name: string; readonly namespace: "any" | "none" }
  | { readonly kind: "universal"; readonly namespace: "any" | "none" }
  | { readonly kind: "id" | "class"; readonly value: string }
  | AttributeSelector
  | { readonly kind: "pseudo-class"; readonly name: PlainPseudoClass }
  /** What no element of a document at rest matches: `:hover`, `::before`. */
  | { readonly kind: "nothing" }
  | { readonly kind: "is" | "not" | "has"; readonly list: SelectorList }
  | NthSelector
  | { readonly kind: "lang"; readonly ranges: readonly LanguageRange[] }
  | { readonly kind: "dir"; readonly direction: Direction | "unknown" };

/** A part of `:lang()`. In a string `*` stands for any language, region or the like. */
export interface LanguageRange {
  readonly range: string;
  readonly hasWildcards: boolean;
}

export interface AttributeSelector {
  readonly kind: "attribute";
  readonly name: string;
  /** `[*|href]` takes any namespace, `[href]` only attributes without one. */
  readonly namespace: "any" | "none";
  readonly operator: AttributeOperator;
  readonly value: string;
  /** `null` where the attribute decides whether case matters. */
  readonly flag: "i" | "s" | null;
}

export type AttributeOperator = "exists" | "=" | "~=" | "|=" | "^=" | "$=" | "*=";

/** `:nth-child(step n + offset of list)` and its like. */
export interface NthSelector extends AnPlusB {
  readonly kind: "nth";
  readonly name: NthPseudoClass;
  readonly list: SelectorList | null;
}

/** The positions `step * n + offset` for all `n` from 0. */
export interface AnPlusB {
  readonly step: number;
  readonly offset: number;
}
