import { isOfType, type MicrodataItem } from "../../html/microdata.ts";
import { escapeHtml } from "../../http/escape-html.ts";
import { compilePathPattern } from "../../http/path-pattern.ts";
import { accepts } from "../../options/schema.ts";
import { isOldItem, isTheirs } from "../../plugins/basic-auth/microdata-users.ts";
import { formatOf } from "../../plugins/basic-auth/password.ts";
import { ruleSchema } from "../../plugins/permissions/rules.ts";

/** The vocabulary of pages that are written; only the last word of a type counts. */
export const vocabulary = "https://example.org/schema";

export interface UsersFileUse {
  /** Whether the plugin `authorization` reads it, which refuses everything where there are no rules. */
  readonly hasAuthorization: boolean;
  /** Whether the users who sign in stand in another file. */
  readonly isRulesOnly: boolean;
}

/** Rights that no two methods share. What POST creates, PUT of the same path could create. */
const rightsOf = { GET: "read list", PUT: "create overwrite", POST: "append", DELETE: "delete" } as const;
type Method = keyof typeof rightsOf;

/** Whom a rule is about; rusty-beam asks them in this order. `current` is its `:username`: every user. */
const audiences = ["user", "current", "role", "anyone"] as const;
type Audience = (typeof audiences)[number];

interface Rule {
  readonly order: number;
  readonly audience: Audience;
  readonly who: string;
  readonly path: string;
  readonly methods: readonly Method[];
  readonly selector: string | undefined;
  readonly permission: "allow" | "deny";
  /** What it becomes here; `undefined` for a rule that our words cannot say. */
  readonly made: MadeRule | undefined;
}

interface MadeRule {
  readonly property: "username" | "role";
  readonly who: string;
  readonly path: string;
}

/** Whether a users file is written for rusty-beam: by its words or, without any of ours, by its vocabulary. */
export function isOldUsersFile(items: readonly MicrodataItem[]): boolean {
  const isOurs = items.some(({ properties }) => properties.has("permission"));
  return items.some((item) => isOldItem(item) || (isTheirs(item) && isOfType(item, "Credential") && !isOurs));
}

/**
 * Writes a users file of rusty-beam in our words, so that it allows nothing that it did not allow there. There, the
 * first rule that applies decides, among those about the user, then `:username`, then the roles, then `*`; here the one
 * with the longest path does. What our words cannot say is left out: a deny together with every allow that it stood
 * before.
 */
export function importUsers(items: readonly MicrodataItem[], use: UsersFileUse): string {
  const writer = new PageWriter("Users and rules");
  writer.add(0, "<main>", "  <h1>Users and rules</h1>");
  const users = items.filter((item) => isOfType(item, "User") || isOfType(item, "Credential"));
  for (const user of users) writeUser(writer, user);
  const old = items.filter((item) => isOfType(item, "AuthorizationRule") || isOfType(item, "Authorization"));
  const rules = rulesOf(old, users, use);
  let isEmpty = true;
  for (const [order, { line }] of old.entries()) {
    const ofItem = rules.filter((rule) => rule.order === order);
    if (ofItem.length === 0) writer.comment(1, `line ${line}: the rule had no effect in rusty-beam`);
    for (const rule of ofItem) {
      const methods = rule.methods.filter((method) => rule.permission === "deny" || !isBlocked(rule, method, rules));
      const text = `the rule about ${rule.who} and ${rule.path}`;
      if (!rule.made) writer.comment(1, `line ${line}: ${text} is left out, as it cannot be said here`);
      else if (methods.length < rule.methods.length)
        writer.comment(1, `line ${line}: ${text} is left out, where a deny stood before it`);
      if (!rule.made || methods.length === 0) continue;
      isEmpty = false;
      const { property, who, path } = rule.made;
      const right = methods.map((method) => rightsOf[method]).join(" ");
      const { selector, permission } = rule;
      writeItem(writer, "AuthorizationRule", { [property]: who, path, right, selector, permission });
    }
  }
  if (isEmpty && (old.length > 0 || use.hasAuthorization)) {
    writer.comment(1, "no rule is left: as in rusty-beam, every request is refused");
    writeItem(writer, "AuthorizationRule", { username: "*", path: "/*", permission: "deny" });
  }
  writer.add(0, "</main>");
  return writer.html;
}

function writeUser(writer: PageWriter, item: MicrodataItem): void {
  const username = textOf(item, "username") ?? "";
  const password = textOf(item, "password") ?? "";
  if (password === "") {
    writer.comment(1, `line ${item.line}: the user ${username} has no password and cannot sign in`);
    return;
  }
  const encryption = textOf(item, "encryption") ?? (formatOf(password) ? undefined : "plaintext");
  writeItem(writer, "Credential", { username, password, encryption, role: textsOf(item, "role") });
}

/** Without the properties that are `undefined`. */
function writeItem(
  writer: PageWriter,
  type: string,
  properties: Readonly<Record<string, string | readonly string[] | undefined>>,
): void {
  const values = Object.entries(properties).flatMap(([name, texts = []]) =>
    [texts].flat().map((text) => [name, text] as const),
  );
  writer.properties(1, values, ` itemscope itemtype="${vocabulary}/${type}"`);
}

/** The rules as rusty-beam understands them, without those that have no effect there. */
function rulesOf(
  items: readonly MicrodataItem[],
  users: readonly MicrodataItem[],
  { isRulesOnly }: UsersFileUse,
): readonly Rule[] {
  const names = new Set(users.map((user) => textOf(user, "username") ?? ""));
  const roles = new Set(users.flatMap((user) => textsOf(user, "role")));
  // A name in a rule may be that of a user or of a role, whichever property it stands in.
  const audiencesOf = (who: string): readonly Audience[] => {
    if (who === "*") return ["anyone"];
    if (who === ":username") return ["current"];
    const isUser = !who.includes(":") && (names.has(who) || isRulesOnly);
    return [...(isUser ? (["user"] as const) : []), ...(roles.has(who) ? (["role"] as const) : [])];
  };
  return items.flatMap((item, order) => {
    const action = textOf(item, "action") ?? (isOfType(item, "Authorization") ? textOf(item, "permission") : undefined);
    const allows = action?.toLowerCase() === "allow";
    const who = textOf(item, "username") ?? textOf(item, "role") ?? "";
    const path = textOf(item, "path") ?? textOf(item, "resource") ?? "";
    // A HEAD that is denied can only be denied together with GET.
    const named = textsOf(item, "method").map((method) =>
      method.toUpperCase().replace(/^HEAD$/, allows ? "HEAD" : "GET"),
    );
    const methods = (Object.keys(rightsOf) as Method[]).filter((method) => named.includes(method));
    const selector = textOf(item, "selector")?.replace(/\$\{\s*username\s*\}/g, "$${username}") || undefined;
    if (who === "" || methods.length === 0 || !(path.startsWith("/") || path === "*")) return [];
    return audiencesOf(who).map((audience) => {
      const newPath = allows ? allowedPath(path) : deniedPath(path);
      const property = audience === "role" ? "role" : "username";
      // The rules of a role need its users in the same file, and a deny of `:username` came before those of the roles.
      const isRule = !(property === "role" && isRulesOnly) && (allows || audience !== "current");
      const isOwn = audience === "current" && path.split("/").includes(":username");
      const newWho = audience === "anyone" || (audience === "current" && !isOwn) ? ":signed-in" : who;
      const permission = allows ? "allow" : "deny";
      const isSayable = isRule && accepts(ruleSchema, { [property]: newWho, path: newPath, selector, permission });
      const made = isSayable && newPath !== undefined ? ({ property, who: newWho, path: newPath } as const) : undefined;
      return { order, audience, who, path, methods, selector, permission, made };
    });
  });
}

/** Whether a deny decided there about paths of an allow, and does not decide about them here. */
function isBlocked(allow: Rule, method: Method, rules: readonly Rule[]): boolean {
  return rules.some(
    (deny) =>
      deny.permission === "deny" &&
      deny.methods.includes(method) &&
      (deny.selector === undefined) === (allow.selector === undefined) &&
      stoodBefore(deny, allow) &&
      mayOverlap(deny.path, allow.path) &&
      !decidesHere(deny.made, allow.made),
  );
}

/** Whether rusty-beam asked a deny before an allow, for some user who is concerned by both. */
function stoodBefore(deny: Rule, allow: Rule): boolean {
  if (deny.audience === "user" && allow.audience === "user" && deny.who !== allow.who) return false;
  const ranks = audiences.indexOf(allow.audience) - audiences.indexOf(deny.audience);
  return ranks > 0 || (ranks === 0 && deny.order < allow.order);
}

/** Whether a deny comes before an allow here, among the rules about the same users. */
function decidesHere(deny: MadeRule | undefined, allow: MadeRule | undefined): boolean {
  if (!deny || !allow || deny.property !== allow.property) return false;
  if (deny.property === "username" && deny.who !== allow.who) return false;
  return compilePathPattern(deny.path).literalLength >= compilePathPattern(allow.path).literalLength;
}

/** A path that covers at least as much: there, `/admin/*` covered `/administrator` as well. */
function deniedPath(path: string): string | undefined {
  if (path === "*" || path === "/*") return "/*";
  return path.includes(":") ? undefined : path.replace(/\/\*$/, "*/*");
}

/** `undefined` for a path that would cover more than it did: there, a star stood for itself but at the very end. */
function allowedPath(path: string): string | undefined {
  if (path.replace(/\/\*$/, "").includes("*")) return undefined;
  const names = path.split("/").map((each) => (each.startsWith(":") && each !== ":username" ? "*" : each));
  return names.join("/");
}

function mayOverlap(one: string, other: string): boolean {
  const [beginning, otherBeginning] = [one, other].map((path) => path.replace(/\/?[*:].*$/s, "")) as [string, string];
  return beginning.startsWith(otherBeginning) || otherBeginning.startsWith(beginning);
}

function textsOf({ properties }: MicrodataItem, name: string): readonly string[] {
  return (properties.get(name) ?? []).flatMap(({ value }) => (typeof value === "string" ? [value.trim()] : []));
}

function textOf(item: MicrodataItem, name: string): string | undefined {
  return textsOf(item, name)[0];
}

export class PageWriter {
  readonly #lines: string[] = [];

  constructor(title: string) {
    this.add(0, "<!doctype html>", '<meta charset="utf-8">', `<title>${title}</title>`);
  }

  get html(): string {
    return `${this.#lines.join("\n")}\n`;
  }

  add(depth: number, ...lines: readonly string[]): void {
    for (const line of lines) this.#lines.push("  ".repeat(depth) + line);
  }

  /** Two hyphens could end the comment. */
  comment(depth: number, text: string): void {
    this.add(depth, `<!-- ${text.replace(/-(?=-)/g, "- ").replaceAll(">", "›")} -->`);
  }

  /** A list of names and values; `attributes` belong to the list itself. */
  properties(depth: number, values: readonly (readonly [name: string, text: string])[], attributes = ""): void {
    const lines = values.map(
      ([name, text]) => `  <dt>${escapeHtml(name)}</dt> <dd itemprop="${escapeHtml(name)}">${escapeHtml(text)}</dd>`,
    );
    if (lines.length > 0) this.add(depth, `<dl${attributes}>`, ...lines, "</dl>");
  }
}
