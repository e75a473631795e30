import { parseSelector } from "../../html/selector/selector-parser.ts";
import { fileMethods } from "../../http/methods.ts";
import { compilePathPattern, type PathPattern } from "../../http/path-pattern.ts";
import { documentKind } from "../../http/selector-range.ts";
import { expectedBy, pathPattern, textNotEmpty } from "../../options/option-types.ts";
import { listOf, oneOf, optionsOf, type Schema, withRule } from "../../options/schema.ts";
import { type Right, rightsOf, type SelectedElements, type User } from "../../server/access.ts";
import { messageOf } from "../../server/logger.ts";

/**
 * Allows or denies rights to users. Of the rules that apply to a user, a path and a right, the most specific one
 * decides. Where there are rules but no rule applies, the request is refused.
 */
export interface PermissionRule {
  /**
   * Who: a user name, `":username"` for the owner of that segment of the path, `":signed-in"` for every user, or `"*"`
   * for everyone, known or not.
   */
  readonly username?: string | undefined;
  /** Who: everyone with this role. Either this or `username`. */
  readonly role?: string | undefined;
  /** Where: `"/docs/*"` is the directory and all below it, `"/users/:username/*"` the part that a user owns. */
  readonly path: string;
  /**
   * What, by method: `"GET"` is read and list, `"PUT"` create and overwrite, `"POST"` append and create, `"PATCH"`
   * overwrite, append and delete. @default all
   */
  readonly methods?: readonly string[] | undefined;
  /** What, by right. @default all */
  readonly rights?: readonly Right[] | undefined;
  /** Only these elements of documents. `${username}` stands for the user's name, quoted. @default whole files */
  readonly selector?: string | undefined;
  readonly permission: "allow" | "deny";
}

export interface Permissions {
  /**
   * Whether a user, or an anonymous client (`undefined`), has a right to the file at a canonical path. With `elements`,
   * to those elements; with `"any"`, possibly to some elements.
   */
  permits(user: User | undefined, right: Right, path: string, elements?: SelectedElements | "any"): boolean;
  /** The selectors of the rules for a user about elements of the document at a path. */
  selectorsOf(user: User | undefined, path: string): readonly string[];
  /** Whether a rule allows anonymous clients to write somewhere. Another rule may still deny it. */
  readonly anyoneMayWrite: boolean;
}

const writing: ReadonlySet<Right> = new Set(["create", "overwrite", "append", "delete"]);
const allRights: readonly Right[] = ["read", "list", "create", "overwrite", "append", "delete"];

// OPTIONS needs no right of its own: any right to the path is enough. What MOVE, COPY and MKCOL need is said by rights.
const methodsOfRules = fileMethods.filter((each) => !["MOVE", "COPY", "MKCOL"].includes(each));

const method = oneOf(methodsOfRules, "GET, HEAD, PUT, POST, DELETE, PATCH or OPTIONS");
const right = oneOf(allRights, "read, list, create, overwrite, append or delete");

/** What a permission rule has to be, in the words of `checkOptions`. */
export const ruleSchema: Schema = withRule(
  optionsOf(
    {
      username: textNotEmpty,
      role: textNotEmpty,
      path: pathPattern,
      methods: listOf(method, "a list of methods", "at least one method"),
      rights: listOf(right, "a list of rights", "at least one right"),
      selector: withRule(textNotEmpty, expectedBy(compileRuleSelector)),
      permission: oneOf(["allow", "deny"]),
    },
    "a rule: an object with username or role, path and permission",
    ["path", "permission"],
  ),
  inconsistency,
);

/** What each property of a rule allows but their combination does not. */
function inconsistency(rule: PermissionRule): string | undefined {
  const { username, role, path, methods, rights } = rule;
  if ((username === undefined) === (role === undefined)) return "either a username or a role";
  if (methods && rights) return "methods or rights, not both";
  if (methods?.every((each) => each === "OPTIONS")) return "more than OPTIONS, which comes with every right";
  // Taken for the name of a user, ":signedin" would apply to no request.
  if (username?.startsWith(":") && !isPrincipal(username)) return 'a username, ":username", ":signed-in" or "*"';
  if (username === ":username" && !path.split("/").includes(":username")) return 'a path with the segment ":username"';
  return undefined;
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what a rule has where the name goes
const placeholder = "${username}";
const behindEscape = /\\[\da-f]{0,6}\$\{username\}/i;

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
  // Not the percent-decoded reading, too: an escaped quotation mark in a name would count then.
  try {
    parseSelector(of("username"));
  } catch (error) {
    throw new TypeError(`a CSS selector: ${messageOf(error)}`, { cause: error });
  }
  return { hasUsername: pieces.length > 1, of };
}

/** CSSOM, "serialize an identifier", which browsers have as `CSS.escape`. */
function escapeIdentifier(text: string): string {
  return text.replace(/^-$|(?<=^-?)\d|[\x00-,./:-@[-^`{-\x7f]/g, (character) => {
    if (character === "\0") return "\ufffd";
    return /[\d\x01-\x1f\x7f]/.test(character) ? `\\${character.charCodeAt(0).toString(16)} ` : `\\${character}`;
  });
}

/** More than twice the characters of any path. */
const longestPath = 2 ** 30;

interface CompiledRule {
  readonly rights: readonly Right[];
  readonly path: PathPattern;
  readonly selector: RuleSelector | undefined;
  readonly allows: boolean;
  /** Of the rules about the same users, the one with the highest decides. */
  readonly rank: number;
}

const everythingForUsers: PermissionRule = { username: ":signed-in", path: "/*", permission: "allow" };

/**
 * Prepares rules that `ruleSchema` accepts. The most specific one that applies decides: first by who (user name, role,
 * owner, anyone signed in, anyone), then one with a selector before one without, then the longer literal path, then
 * deny. Where rules exist but no rule applies, the answer is no; without any rules every user may do everything, and
 * anonymous clients nothing.
 */
export function createPermissions(given: readonly PermissionRule[]): Permissions {
  const rules = given.length > 0 ? given : [everythingForUsers];
  const rulesFor = ruleFinder(rules);
  return {
    anyoneMayWrite: rules.some(
      ({ username, permission, ...rule }) =>
        username === "*" && permission === "allow" && rightsIn(rule).some((right) => writing.has(right)),
    ),
    selectorsOf(user, path) {
      const concerned = rulesFor(user).filter((rule) => rule.path.matches(path, user?.name));
      const selectors = concerned.flatMap(({ selector }) =>
        !selector || (selector.hasUsername && !user?.name) ? [] : [selector.of(user?.name ?? "")],
      );
      return [...new Set(selectors)];
    },
    permits(user, right, path, elements) {
      const decisive = rulesFor(user).find(
        (rule) =>
          rule.rights.includes(right) && rule.path.matches(path, user?.name) && applies(rule, user, path, elements),
      );
      return decisive?.allows ?? false;
    },
  };
}

/** Whether a rule has a say about what of a file is meant. */
function applies(
  { selector, allows }: CompiledRule,
  user: User | undefined,
  path: string,
  elements: SelectedElements | "any" | undefined,
): boolean {
  if (!selector) return true;
  if (selector.hasUsername && !user?.name) return false;
  // While the elements are unknown, an allow may apply to them, and a deny may not.
  if (elements === "any") return allows;
  // A whole file includes the denied elements.
  if (elements === undefined) return !allows && documentKind(path) !== undefined;
  const text = selector.of(user?.name ?? "");
  return allows ? elements.areAmong(text) : elements.touch(text);
}

/** Names in rules that stand for several users, the most specific first. */
const principals = [":username", ":signed-in", "*"];

/** Whether a name in a rule stands for several users. A user with such a name is not one of them. */
export function isPrincipal(name: string): boolean {
  return principals.includes(name);
}

/** Finds the rules that can apply to a user, the most specific first. This part does not depend on the path. */
function ruleFinder(rules: readonly PermissionRule[]): (user: User | undefined) => readonly CompiledRule[] {
  const groups = new Map<string, PermissionRule[]>();
  for (const rule of rules) {
    const who = rule.role === undefined ? `user ${rule.username}` : `role ${rule.role}`;
    const group = groups.get(who);
    if (group) group.push(rule);
    else groups.set(who, [rule]);
  }
  const compiled = new Map<string, readonly CompiledRule[]>();

  /** Compiled when they are first needed, since a file may have thousands. */
  function rulesAbout(who: string): readonly CompiledRule[] {
    const group = groups.get(who);
    if (!group) return [];
    const found = compiled.get(who) ?? bySpecificity(group.map(compile));
    compiled.set(who, found);
    return found;
  }

  const remembered = new WeakMap<User, readonly CompiledRule[]>();
  return (user) => {
    if (!user) return rulesAbout("user *");
    const before = remembered.get(user);
    if (before) return before;
    const own = isPrincipal(user.name) ? [] : rulesAbout(`user ${user.name}`);
    const inRoles = [...new Set(user.roles)].flatMap((role) => rulesAbout(`role ${role}`));
    const about = principals.flatMap((each) => rulesAbout(`user ${each}`));
    const found = [...own, ...bySpecificity(inRoles), ...about];
    remembered.set(user, found);
    return found;
  };
}

function rightsIn({ rights, methods }: Pick<PermissionRule, "rights" | "methods">): readonly Right[] {
  return rights ?? methods?.flatMap((each) => (each === "OPTIONS" ? [] : rightsOf(each))) ?? allRights;
}

function compile({ methods, rights, permission, ...rule }: PermissionRule): CompiledRule {
  const path = compilePathPattern(rule.path);
  const selector = rule.selector === undefined ? undefined : compileRuleSelector(rule.selector);
  const allows = permission === "allow";
  const rank = (selector ? longestPath : 0) + 2 * path.literalLength + (allows ? 0 : 1);
  return { rights: rightsIn({ rights, methods }), path, selector, allows, rank };
}

/** Rules with a selector before those without, then the longer literal path, then deny. */
function bySpecificity(rules: readonly CompiledRule[]): readonly CompiledRule[] {
  return rules.toSorted((one, other) => other.rank - one.rank);
}
