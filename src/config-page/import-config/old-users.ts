import { isOfType, type MicrodataItem } from "../../html/microdata.ts";
import { compilePathPattern } from "../../http/path-pattern.ts";
import { isOldItem, isTheirs } from "../../plugins/basic-auth/microdata-users.ts";
import { isHash } from "../../plugins/basic-auth/password.ts";
import type { LineNote } from "../../plugins/basic-auth/users.ts";
import { compileRuleSelector } from "../../plugins/permissions/rule-selector.ts";
import { messageOf } from "../../server/logger.ts";
import { PageWriter, vocabulary } from "./page-writer.ts";

/** A users file in our words. */
export interface ImportedUsers {
  readonly html: string;
  /** Rules that our words cannot say. They are left out, so the new file must not be used as it is. */
  readonly problems: readonly LineNote[];
}

/** What is known of a users file besides its items. */
export interface UsersFileUse {
  /** How the new file calls the old one. */
  readonly name: string;
  /** Whether the plugin `authorization` reads it, which refuses everything where there are no rules. */
  readonly hasAuthorization: boolean;
  /** Whether the users who sign in stand in another file. */
  readonly isRulesOnly: boolean;
}

/** Rights that no two methods share. What POST creates, PUT of the same path could create. */
const rightsOf = { GET: "read list", PUT: "create overwrite", POST: "append", DELETE: "delete" } as const;
type Method = keyof typeof rightsOf;

/** Whom a rule is about, the most important first. `current` is rusty-beam's `:username`: every user. */
type Audience = "user" | "current" | "role" | "anyone";

interface OldRule {
  readonly line: number;
  readonly order: number;
  readonly who: string;
  readonly audiences: readonly Audience[];
  readonly path: string;
  readonly methods: readonly Method[];
  readonly selector: string | undefined;
  readonly allows: boolean;
}

interface NewRule {
  readonly old: OldRule;
  readonly audience: Audience;
  readonly property: "username" | "role";
  readonly who: string;
  readonly path: string;
  /** The same for all rules that stand for one path of a deny. */
  readonly place: number;
}

/** Whether a users file is written for rusty-beam: by its words or, without any of ours, by its vocabulary. */
export function isOldUsersFile(items: readonly MicrodataItem[]): boolean {
  const isOurs = items.some(({ properties }) => properties.has("permission"));
  return items.some((item) => isOldItem(item) || (isTheirs(item) && isOfType(item, "Credential") && !isOurs));
}

/**
 * Writes a users file of rusty-beam in our words, so that it allows nothing that it did not allow there. There, the first rule that
 * applies decides, among those about the user, then `:username`, then the roles, then `*`; here the one with the longest path does.
 */
export function importUsers(items: readonly MicrodataItem[], use: UsersFileUse): ImportedUsers {
  return new UsersImport(items, use).write();
}

class UsersImport {
  readonly #items: readonly MicrodataItem[];
  readonly #use: UsersFileUse;
  readonly #writer = new PageWriter("Users and rules");
  readonly #problems: LineNote[] = [];
  /** Comments of rules, by line. */
  readonly #notes = new Map<number, string[]>();
  readonly #names = new Set<string>();
  readonly #roles = new Set<string>();

  constructor(items: readonly MicrodataItem[], use: UsersFileUse) {
    this.#items = items;
    this.#use = use;
  }

  write(): ImportedUsers {
    const users = this.#items.filter((item) => isOfType(item, "User") || isOfType(item, "Credential"));
    const ruleItems = this.#items.filter(
      (item) => isOfType(item, "AuthorizationRule") || isOfType(item, "Authorization"),
    );
    for (const user of users) {
      this.#names.add(textOf(user, "username") ?? "");
      for (const role of textsOf(user, "role")) this.#roles.add(role);
    }
    const writer = this.#writer;
    writer.add(0, "<main>", "  <h1>Users and rules</h1>");
    writer.comment(1, `written from ${this.#use.name} by filement import-config`);
    for (const user of users) this.#user(user);
    const rules = ruleItems.map((item, order) => this.#oldRule(item, order));
    const found = rules.filter((rule) => rule !== undefined);
    const denies = found.filter(({ allows }) => !allows).flatMap((rule) => this.#denied(rule, found));
    let isEmpty = true;
    for (const [index, item] of ruleItems.entries()) {
      const rule = rules[index];
      const made = rule?.allows ? this.#allowed(rule, denies) : denies.filter(({ old }) => old === rule);
      for (const note of this.#notes.get(item.line) ?? []) writer.comment(1, `line ${item.line}: ${note}`);
      for (const each of made) this.#rule(each, each.methods ?? each.old.methods);
      isEmpty &&= made.length === 0;
    }
    if (isEmpty && (ruleItems.length > 0 || this.#use.hasAuthorization)) {
      writer.comment(1, "no rule had an effect, so that rusty-beam refused every request");
      this.#item(1, "AuthorizationRule", [
        ["username", "*"],
        ["path", "/*"],
        ["permission", "deny"],
      ]);
    }
    writer.add(0, "</main>");
    return { html: writer.html, problems: this.#problems };
  }

  #user(item: MicrodataItem): void {
    const username = textOf(item, "username") ?? "";
    const password = textOf(item, "password") ?? "";
    const note = (text: string): void => this.#writer.comment(1, `line ${item.line}: ${text}`);
    if (item.properties.has("roles")) note("rusty-beam reads role, not roles, which is left out");
    if (password === "") {
      note(`the user ${username} has no password and cannot sign in`);
      return;
    }
    const encryption = textOf(item, "encryption") ?? (isHash(password) ? undefined : "plaintext");
    this.#item(1, "Credential", [
      ["username", username],
      ["password", password],
      ...(encryption === undefined ? [] : [["encryption", encryption] as const]),
      ...textsOf(item, "role").map((role) => ["role", role] as const),
    ]);
  }

  /** A rule as rusty-beam understands it; `undefined` for one that has no effect there. */
  #oldRule(item: MicrodataItem, order: number): OldRule | undefined {
    const { line } = item;
    const isFirstVersion = isOfType(item, "Authorization");
    const action = textOf(item, "action") ?? (isFirstVersion ? textOf(item, "permission") : undefined);
    if (action === undefined && item.properties.has("permission")) {
      this.#problems.push({
        line,
        text: "the rule says permission, as ours do, in a file of rusty-beam: expected action",
      });
    }
    const allows = action?.toLowerCase() === "allow";
    const who = textOf(item, "username") ?? textOf(item, "role") ?? "";
    const path = textOf(item, "path") ?? textOf(item, "resource") ?? "";
    const named = textsOf(item, "method").map((method) => method.toUpperCase());
    // A HEAD that is denied can only be denied together with GET.
    const asked = new Set(allows ? named : named.map((method) => (method === "HEAD" ? "GET" : method)));
    const methods = (Object.keys(rightsOf) as Method[]).filter((method) => asked.has(method));
    const selector = textOf(item, "selector")?.replace(/\$\{\s*username\s*\}/g, "$${username}") || undefined;
    const audiences = this.#audiencesOf(who, textOf(item, "username") === undefined);
    const nothing = this.#withoutEffect({ who, path, methods, audiences });
    if (nothing !== undefined) {
      this.#note(line, `the rule had no effect: ${nothing}`);
      return undefined;
    }
    if (isRulesOnlyRole(audiences, this.#use)) {
      const text = `the rule is about the role ${who}: here the users who sign in have to stand in the same file`;
      this.#problems.push({ line, text });
    }
    return { line, order, who, audiences, path, methods, selector, allows };
  }

  #withoutEffect({ who, path, methods, audiences }: Pick<OldRule, "who" | "path" | "methods" | "audiences">) {
    if (who === "") return "it has neither username nor role";
    if (audiences.length === 0) return `${who} is no user, and no role of one`;
    if (path === "") return "it has no path";
    if (!path.startsWith("/") && path !== "*") return "its path does not begin with a slash";
    return methods.length === 0 ? "it has no method such as GET" : undefined;
  }

  /** There, a name in a rule may be that of a user or of a role, whichever property it stands in. */
  #audiencesOf(who: string, isRole: boolean): readonly Audience[] {
    if (who === "*") return ["anyone"];
    if (who === ":username") return ["current"];
    const isUser = this.#names.has(who) || this.#use.isRulesOnly || (!isRole && !this.#roles.has(who));
    const isOfRole = this.#roles.has(who) || (isRole && !isUser);
    if (isUser && who.includes(":")) return isOfRole ? ["role"] : [];
    return [...(isUser ? (["user"] as const) : []), ...(isOfRole ? (["role"] as const) : [])];
  }

  /** What a deny becomes: it covers at least the paths that it covered there, and stands before what it stood before. */
  #denied(old: OldRule, all: readonly OldRule[]): (NewRule & { readonly methods?: undefined })[] {
    if (!this.#isSelector(old)) return [];
    const { who, path } = old;
    const places = deniedPaths(path, false);
    if (places.some((each) => !isPattern(each))) {
      this.#problems.push({ line: old.line, text: `the path ${path} of what is denied cannot be said here` });
      return [];
    }
    if (path.replace(/^\*$/, "/*") !== places[0])
      this.#note(old.line, `the path ${path} covered ${places.join(" and ")}`);
    const made = (audience: Audience, property: NewRule["property"], name: string, paths = places): NewRule[] =>
      paths.map((each, place) => ({ old, audience, property, who: name, path: each, place }));
    return old.audiences.flatMap((audience) => {
      if (audience === "anyone") return made(audience, "username", ":signed-in");
      if (audience !== "current") return made(audience, audience === "user" ? "username" : "role", who);
      this.#note(old.line, ":username denied it to every user, before the rules about roles");
      const roles = all.filter((each) => each.allows && each.audiences.includes("role")).map((each) => each.who);
      const own = path.split("/").includes(":username") ? deniedPaths(path, true) : [];
      return [
        ...made(audience, "username", ":signed-in"),
        ...made(audience, "username", ":username", own).filter((each) => each.path.split("/").includes(":username")),
        ...[...new Set(roles)].flatMap((role) => made(audience, "role", role)),
      ];
    });
  }

  /** What an allow becomes, without the methods that a deny stood before. */
  #allowed(old: OldRule, denies: readonly NewRule[]): (NewRule & { readonly methods: readonly Method[] })[] {
    const path = allowedPath(old.path);
    if (path === undefined) {
      this.#note(old.line, `the rule is left out: the path ${old.path} covered only a name with these very characters`);
      return [];
    }
    if (!this.#isSelector(old)) return [];
    const isOwn = path.split("/").includes(":username");
    return old.audiences.flatMap((audience) => {
      const property = audience === "role" ? "role" : "username";
      const current = isOwn ? ":username" : ":signed-in";
      const who = audience === "anyone" ? ":signed-in" : audience === "current" ? current : old.who;
      if (who !== old.who) this.#note(old.line, `${old.who} stood for every user who is signed in`);
      const rule: NewRule = { old, audience, property, who, path, place: 0 };
      const methods = old.methods.filter((method) => !this.#isBlocked(rule, method, denies));
      if (methods.includes("POST") && !methods.includes("PUT"))
        this.#note(old.line, "POST appends here; that it makes files in a directory, too, takes the right create");
      return methods.length > 0 ? [{ ...rule, methods }] : [];
    });
  }

  /** Whether a deny decided there about paths that would be allowed here. */
  #isBlocked(allow: NewRule, method: Method, denies: readonly NewRule[]): boolean {
    const { old, path } = allow;
    const before = denies.filter(
      (deny) =>
        deny.old.methods.includes(method) &&
        (deny.old.selector === undefined) === (old.selector === undefined) &&
        stoodBefore(deny, allow) &&
        mayOverlap(deny.path, path),
    );
    const missing = before.filter((deny) => !denies.some((each) => isSame(each, deny) && decidesBefore(each, allow)));
    const [first] = missing;
    if (!first) return false;
    const { line } = first.old;
    const covers = missing.some((deny) => deny.old.selector === undefined && coversAll(deny.path, path));
    if (covers) this.#note(old.line, `${method} had no effect: the deny of line ${line} stands first`);
    else {
      const text = `the deny of line ${line} stands before a part of this rule, which cannot be said here: ${method} is left out`;
      this.#problems.push({ line: old.line, text });
    }
    return true;
  }

  /** Whether our selectors can say it. A deny that they cannot say is a problem. */
  #isSelector({ selector, allows, line }: OldRule): boolean {
    try {
      if (selector !== undefined) compileRuleSelector(selector);
      return true;
    } catch (error) {
      if (allows) this.#note(line, `the rule is left out: expected ${messageOf(error)}`);
      else this.#problems.push({ line, text: `the selector cannot be said here: expected ${messageOf(error)}` });
      return false;
    }
  }

  #rule({ property, who, path, old }: NewRule, methods: readonly Method[]): void {
    this.#item(1, "AuthorizationRule", [
      [property, who],
      ["path", path],
      ["right", methods.map((method) => rightsOf[method]).join(" ")],
      ...(old.selector === undefined ? [] : [["selector", old.selector] as const]),
      ["permission", old.allows ? "allow" : "deny"],
    ]);
  }

  #item(depth: number, type: string, properties: readonly (readonly [string, string])[]): void {
    this.#writer.properties(depth, properties, ` itemscope itemtype="${vocabulary}/${type}"`);
  }

  #note(line: number, text: string): void {
    const notes = this.#notes.get(line) ?? [];
    if (!notes.includes(text)) this.#notes.set(line, [...notes, text]);
  }
}

function isRulesOnlyRole(audiences: readonly Audience[], { isRulesOnly }: UsersFileUse): boolean {
  return isRulesOnly && audiences.includes("role");
}

/** Whether rusty-beam asked a deny before an allow, for some user who is concerned by both. */
function stoodBefore(deny: NewRule, allow: NewRule): boolean {
  const isEarlier = deny.old.order < allow.old.order;
  if (allow.audience === "user") return deny.audience === "user" && deny.old.who === allow.old.who && isEarlier;
  if (deny.audience === "current") return allow.audience !== "current" || isEarlier;
  return deny.audience === allow.audience && isEarlier;
}

/** Whether two rules are about the same path of one deny. */
function isSame(one: NewRule, other: NewRule): boolean {
  return one.old === other.old && one.place === other.place;
}

/** Whether a deny here comes before an allow, among the rules about the same users. */
function decidesBefore(deny: NewRule, allow: NewRule): boolean {
  if (deny.property !== allow.property || (deny.property === "username" && deny.who !== allow.who)) return false;
  return compilePathPattern(deny.path).literalLength >= compilePathPattern(allow.path).literalLength;
}

/** There, `/admin/*` covered `/administrator` as well, and `:name` any name, also none. */
function deniedPaths(path: string, isOwn: boolean): readonly string[] {
  if (path === "*" || path === "/*") return ["/*"];
  const isTree = path.endsWith("/*");
  const segments = path
    .replace(/\/\*?$/, "")
    .split("/")
    .slice(1);
  const last = segments.at(-1) ?? "";
  const names = segments.map((each) => (isOwn && each === ":username" ? each : each.replace(/^:.*$/, "*")));
  const parent = `/${names.slice(0, -1).join("/")}`;
  if (last.startsWith(":")) return [`/${names.join("/")}${isTree ? "/*" : ""}`, parent];
  return [`/${names.join("/")}${isTree ? "*/*" : ""}`];
}

/** `undefined` for a path that would cover more than it did: there, a star stood for itself but at the very end. */
function allowedPath(path: string): string | undefined {
  const stem = path.replace(/\/\*$/, "");
  if (stem.includes("*")) return undefined;
  const segments = path.split("/").map((each) => (each.startsWith(":") && each !== ":username" ? "*" : each));
  return isPattern(segments.join("/")) ? segments.join("/") : undefined;
}

function isPattern(path: string): boolean {
  try {
    compilePathPattern(path);
    return true;
  } catch {
    return false; // why it is none says nothing about the old page
  }
}

function mayOverlap(one: string, other: string): boolean {
  const [segments, otherSegments] = [one, other].map((path) =>
    path
      .replace(/\/\*?$/, "")
      .split("/")
      .slice(1),
  ) as [string[], string[]];
  const areEqual = segments.every((name, index) => {
    const otherName = otherSegments[index];
    return otherName === undefined || mayBeSame(name, otherName) || mayBeSame(otherName, name);
  });
  const isLonger = segments.length > otherSegments.length;
  const isShorter = segments.length < otherSegments.length;
  return areEqual && (!isLonger || other.endsWith("/*")) && (!isShorter || one.endsWith("/*"));
}

function mayBeSame(pattern: string, name: string): boolean {
  if (pattern === ":username") return true;
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) || name.includes("*") : pattern === name;
}

function coversAll(tree: string, path: string): boolean {
  return tree.endsWith("/*") && compilePathPattern(tree).matches(path.replace(/\/\*$/, "") || "/", ":username");
}

/** The values of a property as rusty-beam reads them. */
function textsOf({ properties }: MicrodataItem, name: string): readonly string[] {
  return (properties.get(name) ?? []).flatMap(({ value }) => (typeof value === "string" ? [value.trim()] : []));
}

function textOf(item: MicrodataItem, name: string): string | undefined {
  return textsOf(item, name)[0];
}
