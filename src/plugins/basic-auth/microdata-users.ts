import { inSlices, itemsInSlices } from "../../event-loop/sliced-work.ts";
import {
  findItems,
  isOfType,
  MicrodataError,
  type MicrodataItem,
  type MicrodataPage,
  readMicrodataPage,
} from "../../html/microdata.ts";
import { shown } from "../../options/schema.ts";
import { isPrincipal, type PermissionRule, ruleSchema } from "../permissions/rules.ts";
import { type Encryption, type FoundUsers, maxProblems, nothingFound, userNameProblem } from "./users.ts";

const credentialProperties = ["username", "password", "encryption", "role"];
const ruleProperties = ["username", "role", "path", "method", "right", "selector", "permission"];

/** Reads the items of type `.../Credential` and `.../AuthorizationRule` of an HTML page, wherever they stand in it. */
export async function readMicrodataUsers(html: string): Promise<FoundUsers> {
  const found = nothingFound();
  const page = await readPage(html, found);
  found.problems.push(...page.mistakes);
  const items = await inSlices(findItems(page.items));
  let isOld = false;
  for await (const item of itemsInSlices(items)) {
    if (found.problems.length >= maxProblems) break;
    isOld ||= isOldItem(item);
    const isCredential = isOfType(item, "Credential");
    const isRule = isOfType(item, "AuthorizationRule");
    if (isCredential) readCredential(new ItemTexts(item, credentialProperties, found), found);
    if (isRule) readRule(new ItemTexts(item, ruleProperties, found), found);
    if (!isCredential && !isRule) warnOfLookalike(item, found);
  }
  const remedy =
    "filement import-config, with the configuration page or this file, writes it anew in the words used here";
  if (isOld) found.problems.push({ line: 1, text: `the file is written for rusty-beam: ${remedy}` });
  return found;
}

const vocabulary = /^https?:\/\/(?:www\.)?rustybeam\.net\//i;

/** Whether an item is one of the vocabulary of rusty-beam, whose words may mean something else. */
export function isTheirs({ types }: Pick<MicrodataItem, "types">): boolean {
  return types.some((type) => vocabulary.test(type));
}

/** Whether an item is written for rusty-beam. A rule that says `permission` is written for this server. */
export function isOldItem(item: MicrodataItem): boolean {
  const { properties } = item;
  if (["action", "resource", "roles"].some((name) => properties.has(name))) return true;
  const isRule = isOfType(item, "AuthorizationRule") && !properties.has("permission");
  return isTheirs(item) && (isRule || isOfType(item, "User") || isOfType(item, "Authorization"));
}

async function readPage(html: string, found: FoundUsers): Promise<MicrodataPage> {
  try {
    return await readMicrodataPage(html);
  } catch (error) {
    if (!(error instanceof MicrodataError)) throw error;
    found.problems.push({ line: error.line, text: error.message });
    return { items: [], mistakes: [] };
  }
}

/** Warns of an item that looks like a user or a rule and is not read: it may be a rule that denies something. */
function warnOfLookalike({ types, properties, line }: MicrodataItem, found: FoundUsers): void {
  if (!properties.has("password") && !properties.has("permission")) return;
  const type = types.length === 0 ? "has no type" : `is of the type ${shown(types.join(" "))}`;
  const text = `the item ${type} and is not read: expected a type that ends in /Credential or /AuthorizationRule`;
  found.warnings.push({ line, text });
}

function readCredential(texts: ItemTexts, found: FoundUsers): void {
  const username = texts.one("username", "the name of the user");
  const password = texts.one("password", "the hash of the password");
  const encryption = texts.one("encryption");
  const roles = texts.all("role");
  for (const role of roles) {
    if (role.includes(",")) texts.problem(`role is ${shown(role)}: expected one role for each element`, "role");
  }
  const nameProblem = username && userNameProblem(username);
  if (nameProblem) texts.problem(nameProblem, "username");
  if (texts.hasProblems || !username || !password) return;
  found.users.push({
    username,
    password,
    // Another word is a problem of the password.
    ...(encryption && { encryption: encryption === "argon2id" ? "argon2" : (encryption as Encryption) }),
    ...(roles.length > 0 && { roles: [...new Set(roles)] }),
    line: texts.line,
  });
}

function readRule(texts: ItemTexts, found: FoundUsers): void {
  const username = texts.one("username");
  const role = texts.one("role");
  const methods = texts.words("method");
  const rights = texts.words("right");
  const selector = texts.one("selector");
  const permission = texts.one("permission") ?? "allow";
  const paths = texts.all("path", 'what the rule is about, such as "/docs/*"');
  const nameProblem = username && !isPrincipal(username) && userNameProblem(username);
  if (nameProblem) texts.problem(nameProblem, "username");
  for (const path of paths) {
    if (texts.hasProblems) return;
    const rule = {
      ...(username && { username }),
      ...(role && { role }),
      path,
      ...(methods.length > 0 && { methods }),
      ...(rights.length > 0 && { rights }),
      ...(selector && { selector }),
      permission,
    };
    for (const {
      path: [option],
      expected,
    } of ruleSchema.problemsOf(rule)) {
      const property = option === "methods" || option === "rights" ? option.slice(0, -1) : String(option ?? "the rule");
      texts.problem(`${property}: expected ${expected}`, property);
    }
    if (!texts.hasProblems) found.rules.push({ ...(rule as PermissionRule), line: texts.line });
  }
}

/** The properties of an item as texts, without white space around them. What is wrong is a problem of the file. */
class ItemTexts {
  hasProblems = false;
  readonly line: number;
  readonly #item: MicrodataItem;
  readonly #found: FoundUsers;

  constructor(item: MicrodataItem, known: readonly string[], found: FoundUsers) {
    this.#item = item;
    this.#found = found;
    this.line = item.line;
    for (const name of item.properties.keys()) {
      if (known.includes(name)) continue;
      this.problem(`there is no property ${shown(name)}: expected one of ${known.join(", ")}`, name);
    }
  }

  /** Notes what is wrong with a property, in its line. */
  problem(text: string, property: string): void {
    this.hasProblems = true;
    this.#found.problems.push({ line: this.#item.properties.get(property)?.[0]?.line ?? this.line, text });
  }

  /** All values. Empty ones and those that are not text are problems, and so is a missing one that is `expected`. */
  all(name: string, expected?: string): string[] {
    const values = this.#item.properties.get(name);
    if (!values && expected !== undefined) this.problem(`there is no ${name}: expected ${expected}`, name);
    return (values ?? []).flatMap(({ value }) => {
      if (typeof value !== "string") this.problem(`${name} is an item: expected text`, name);
      else if (value.trim() === "") this.problem(`${name} is empty: expected a text, or no such property`, name);
      else return [value.trim()];
      return [];
    });
  }

  /** The only value; a second one is a problem. */
  one(name: string, expected?: string): string | undefined {
    const [first, second] = this.all(name, expected);
    if (second !== undefined) this.problem(`there is more than one ${name}: expected one`, name);
    return first;
  }

  /** The words of all values, with spaces or commas between them, each once. */
  words(name: string): string[] {
    const words = this.all(name).flatMap((text) => text.split(/[\s,]+/).filter(Boolean));
    if (words.length === 0 && this.#item.properties.has(name))
      this.problem(`${name}: expected at least one word`, name);
    return [...new Set(words)];
  }
}
