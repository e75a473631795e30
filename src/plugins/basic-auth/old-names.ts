import { isOfType, type MicrodataItem, type MicrodataValue } from "../../html/microdata.ts";
import type { PermissionRule } from "../permissions/rules.ts";
import { type FoundUsers, shown } from "./found-users.ts";

type Values = readonly MicrodataValue[];
type OldRule = FoundUsers["rules"][number];

/** What users pages of rusty-beam call otherwise. */
const oldTypes = { User: "Credential", Authorization: "AuthorizationRule" } as const;
const oldProperties: Readonly<Record<string, string>> = { roles: "role", action: "permission", resource: "path" };

const vocabulary = /^https?:\/\/(?:www\.)?rustybeam\.net\//i;
const methodsHere: readonly string[] = ["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"];
/** Each rule is compared with those before it. */
const maxCompared = 500;

/** Reads the items of a users page of rusty-beam as if they had our names, and says once for each name that they do not. */
export class OldNames {
  readonly #found: FoundUsers;
  readonly #warned = new Set<string>();

  constructor(found: FoundUsers) {
    this.#found = found;
  }

  /** Whether an item is a rule in the words of rusty-beam, whose meaning is another one. */
  static isOldRule(item: MicrodataItem): boolean {
    const isRule = isOfType(item, "AuthorizationRule");
    const { properties } = item;
    if (isRule && (properties.has("action") || properties.has("resource"))) return true;
    return isTheirs(item) && (isOfType(item, "Authorization") || (isRule && !properties.has("permission")));
  }

  /** The item in our words: the same one where it has no old names, `undefined` where it has no effect. */
  translated(item: MicrodataItem): MicrodataItem | undefined {
    if (OldNames.isOldRule(item)) return this.#rule(item);
    const isUser = isOfType(item, "User") && isTheirs(item);
    const isCredential = isOfType(item, "Credential");
    const hasOldNames = item.properties.has("roles") || (isTheirs(item) && !item.properties.has("password"));
    return isUser || (isCredential && hasOldNames) ? this.#user(item) : item;
  }

  #user(item: MicrodataItem): MicrodataItem | undefined {
    const properties = this.#renamed(item);
    const [username] = properties.get("username") ?? [];
    if (!properties.has("password")) {
      const name = typeof username?.value === "string" ? shown(username.value.trim()) : "without a name";
      this.#warn(item.line, `the user ${name} has no password and cannot sign in: the item is left out`);
      return undefined;
    }
    const roles = item.properties.get("roles");
    if (roles) properties.set("role", roles.flatMap(wordsOf));
    return { ...item, types: ["/Credential"], properties };
  }

  /** A rule that could not work there: one that allows is left out, one that denies says what it was meant to. */
  #rule(item: MicrodataItem): MicrodataItem | undefined {
    const properties = this.#renamed(item);
    const { line } = item;
    const [selector] = properties.get("selector") ?? [];
    if (selector?.value === "") properties.delete("selector");
    if (!properties.has("permission")) {
      this.#warnOnce(
        line,
        "a rule without action denies, as it did in rusty-beam; here, one without permission allows",
      );
      properties.set("permission", [{ value: "deny", line }]);
    }
    const permissions = (properties.get("permission") ?? []).map(inLowerCase);
    properties.set("permission", permissions);
    const isDeny = permissions.some(({ value }) => value === "deny");
    const problems = [
      this.#who(properties, line, isDeny),
      this.#paths(properties, isDeny),
      this.#methods(properties, line, isDeny),
    ];
    const [problem] = problems.filter((each) => each !== undefined);
    if (problem !== undefined && !isDeny) {
      this.#warn(line, `the rule had no effect in rusty-beam, and has none here: ${problem}`);
      return undefined;
    }
    if (problem !== undefined) this.#warn(line, `the rule denies more than it did in rusty-beam: ${problem}`);
    return { ...item, types: ["/AuthorizationRule"], properties };
  }

  #who(properties: Map<string, Values>, line: number, isDeny: boolean): string | undefined {
    if (properties.has("username") || properties.has("role")) {
      const isOwner = properties.get("username")?.some(({ value }) => value === ":username");
      if (isOwner && isDeny)
        this.#warn(
          line,
          "a deny for :username is about the user's own directory only here, and an allow for a role comes before it",
        );
      return undefined;
    }
    properties.set("username", [{ value: "*", line }]);
    return "it has neither username nor role";
  }

  #paths(properties: Map<string, Values>, isDeny: boolean): string | undefined {
    const isForAll = properties.get("username")?.some(({ value }) => value === "*");
    let problem: string | undefined;
    const paths = (properties.get("path") ?? []).map(({ value, line }) => {
      let path = typeof value === "string" ? value.trim() : value;
      if (path === "*") {
        problem = 'the path "*" is no path: expected "/*"';
        path = "/*";
      }
      if (typeof path !== "string" || !isDeny) return { value: path, line };
      // There, "/admin/*" denied "/administrator" as well, and ":username" in a path stood for any name.
      const named = isForAll ? path.replace(/(?<=\/):[^/*]+/g, "*") : path;
      return { value: named.replace(/(?<=\/)([^/*:]+)\/\*$/, "$1*/*"), line };
    });
    properties.set("path", paths);
    return problem;
  }

  #methods(properties: Map<string, Values>, line: number, isDeny: boolean): string | undefined {
    const values = properties.get("method") ?? [];
    const known = values.filter(
      ({ value }) => typeof value === "string" && methodsHere.includes(value.trim().toUpperCase()),
    );
    if (known.length > 0) {
      properties.set(
        "method",
        known.map(({ value, line: at }) => ({ value: String(value).trim().toUpperCase(), line: at })),
      );
      if (known.length < values.length)
        this.#warnOnce(line, "methods other than GET, HEAD, PUT, POST, DELETE and OPTIONS are left out");
      return undefined;
    }
    const words = values.flatMap(wordsOf).filter(({ value }) => methodsHere.includes(String(value)));
    if (isDeny && words.length > 0) properties.set("method", words);
    else properties.delete("method");
    return values.length === 0 ? "it has no method" : "no method of it is a single one such as GET";
  }

  #renamed(item: MicrodataItem): Map<string, Values> {
    for (const [old, now] of Object.entries(oldTypes)) {
      if (isOfType(item, old)) this.#warnOnce(item.line, `the type ${old} is called ${now} here`);
    }
    const properties = new Map<string, Values>();
    for (const [name, values] of item.properties) {
      const now = Object.hasOwn(oldProperties, name) ? (oldProperties[name] as string) : name;
      if (now !== name) this.#warnOnce(values[0]?.line ?? item.line, `the property ${name} is called ${now} here`);
      properties.set(now, [...(properties.get(now) ?? []), ...values]);
    }
    return properties;
  }

  #warnOnce(line: number, text: string): void {
    if (!this.#warned.has(text)) this.#warn(line, text);
    this.#warned.add(text);
  }

  #warn(line: number, text: string): void {
    this.#found.warnings.push({ line, text });
  }
}

/**
 * Warns of rules for which the order was decisive: rusty-beam obeyed the first of those about the same user, here the most
 * specific one decides. Only where that would allow what was denied.
 */
export function warnOfOrder({ rules, warnings }: FoundUsers): void {
  const denies: OldRule[] = [];
  for (const rule of rules.filter(({ isOld }) => isOld).slice(0, maxCompared)) {
    if (rule.permission === "deny") denies.push(rule);
    const deny = rule.permission === "allow" && denies.find((each) => stoodInTheWayOf(rule, each));
    if (!deny) continue;
    const text = `rusty-beam obeyed the deny of line ${deny.line}, because it stands first; here this rule decides, because its path is longer`;
    warnings.push({ line: rule.line, text });
  }
}

function stoodInTheWayOf(allow: OldRule, deny: OldRule): boolean {
  const isAboutTheSame =
    allow.username === deny.username && allow.role === deny.role && !allow.selector === !deny.selector;
  const isLonger = allow.path.length > deny.path.length && allow.path.startsWith(deny.path.replace(/\*?\/\*$/, ""));
  return (
    isAboutTheSame &&
    isLonger &&
    deny.path.endsWith("/*") &&
    methodsOf(allow).some((each) => methodsOf(deny).includes(each))
  );
}

function methodsOf({ methods = methodsHere }: PermissionRule): readonly string[] {
  return methods;
}

function isTheirs({ types }: MicrodataItem): boolean {
  return types.some((type) => vocabulary.test(type));
}

function inLowerCase({ value, line }: MicrodataValue): MicrodataValue {
  return { value: typeof value === "string" ? value.trim().toLowerCase() : value, line };
}

function wordsOf({ value, line }: MicrodataValue): MicrodataValue[] {
  if (typeof value !== "string") return [{ value, line }];
  return value
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((word) => ({ value: word, line }));
}
