import type { SourceElement, TreeChild } from "../document/html-nodes.ts";
import type { OpenElement } from "./open-elements.ts";

/** The insertion modes (HTML Standard, 13.2.4.1); "in select" is gone, "in head noscript" is without scripting only. */
export type ModeName = ModeBeforeBody | ModeInBody | ModeInTable | ModeAfterBody;
export type ModeBeforeBody = "initial" | "before html" | "before head" | "in head" | "after head" | "in template";
export type ModeInBody = "in body" | "text";
export type ModeInTable = "in table" | "in caption" | "in column group" | "in table body" | "in row" | "in cell";
export type ModeAfterBody =
  | "after body"
  | "in frameset"
  | "after frameset"
  | "after after body"
  | "after after frameset";

/**
 * Where a parse stands between two tokens: all that what follows depends on. The tree that was built by then is the
 * part of the whole tree up to `last`, along the open elements. When an edit takes over a tree, it takes over the
 * states with it.
 */
export interface ParserState {
  /** Offset of the next token. */
  position: number;
  readonly mode: ModeName;
  readonly templateModes: readonly ModeName[];
  readonly framesetOk: boolean;
  head: SourceElement | undefined;
  form: SourceElement | undefined;
  /** States that follow each other have the entries of elements in common that are open in both. */
  open: readonly OpenElement[];
  /** Active formatting elements; `null` is a marker. */
  formatting: readonly (OpenElement | null)[];
  /** The last child of the innermost open element. */
  last: TreeChild | null;
  /** How many formatting elements were made again by then. */
  copies: number;
  /** What the parse has cost by then. */
  treeBytes: number;
  steps: number;
}

/** What is known of a parse beside the tree: what another one needs that goes on in the middle. */
export interface HtmlParse extends Pick<ParserState, "treeBytes" | "steps"> {
  readonly states: readonly ParserState[];
  /** Formatting elements that were made again further on, and where the tag stands that is meant. */
  readonly copies: ReadonlyMap<SourceElement, number>;
  /** Memory of former sources that nodes may still have slices of, in bytes. */
  olderBytes: number;
}
