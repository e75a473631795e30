import { parseSelector } from "../../html/selector/selector-parser.ts";
import { messageOf } from "../../server/logger.ts";

// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what a rule has where the name goes
const placeholder = "${username}";
const behindEscape = /\\[\da-f]{0,6}\$\{username\}/i;

/** The selector of a permission rule. */
export interface RuleSelector {
  /** Whether it holds `${username}`; such a rule does not apply to anonymous requests. */
  readonly hasUsername: boolean;
  /** The selector for one user, whose name has taken the place of `${username}`. */
  of(username: string): string;
}

/**
 * Prepares the selector of a permission rule. The name is written as CSSOM writes identifiers, with an escape before
 * all but letters, digits, `-` and `_`. These escapes mean the same in a quoted string, so whatever the name is and
 * wherever it stands, it remains one value and adds nothing to the selector.
 *
 * Throws a `TypeError` whose message says what was expected, and which part of the selector is wrong at which offset.
 */
export function compileRuleSelector(selector: string): RuleSelector {
  if (behindEscape.test(selector)) throw new TypeError(`a selector without a backslash before ${placeholder}`);
  const pieces = selector.split(placeholder);
  const of = (username: string): string => pieces.join(escapeIdentifier(username));
  // Not the percent-decoded reading that a request may have as well: an escaped quotation mark in a name would count
  // then.
  try {
    parseSelector(of("username"));
  } catch (error) {
    throw new TypeError(`a CSS selector: ${messageOf(error)}`, { cause: error });
  }
  return { hasUsername: pieces.length > 1, of };
}

/** CSSOM, "serialize an identifier", which browsers have as `CSS.escape`. */
export function escapeIdentifier(text: string): string {
  return text.replace(/^-$|(?<=^-?)\d|[\x00-,./:-@[-^`{-\x7f]/g, (character) => {
    if (character === "\0") return "\ufffd";
    return /[\d\x01-\x1f\x7f]/.test(character) ? `\\${character.charCodeAt(0).toString(16)} ` : `\\${character}`;
  });
}
