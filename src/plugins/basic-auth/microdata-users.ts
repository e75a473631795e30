import { inSlices, TimeSlice } from "../../event-loop/sliced-work.ts";
import {
  findItems,
  isOfType,
  MicrodataError,
  type MicrodataItem,
  type MicrodataPage,
  readMicrodataPage,
} from "../../html/microdata.ts";
import type { Right } from "../../server/access.ts";
import { isPrincipal } from "../permissions/rules.ts";
import { type FoundUsers, maxNotes, nothingFound, shown, userNameProblem } from "./found-users.ts";
import { ItemValues } from "./item-values.ts";
import type { Encryption } from "./users.ts";

const encryptions: Readonly<Record<Encryption | "argon2id", Encryption>> = {
  plaintext: "plaintext",
  bcrypt: "bcrypt",
  argon2: "argon2",
  argon2id: "argon2",
  scrypt: "scrypt",
  apr1: "apr1",
  sha1: "sha1",
};
const permissions = { allow: "allow", deny: "deny" } as const;
const rights: Readonly<Record<Right, Right>> = {
  read: "read",
  list: "list",
  create: "create",
  overwrite: "overwrite",
  append: "append",
  delete: "delete",
};

const credentialProperties = ["username", "password", "encryption", "role"];
const ruleProperties = ["username", "role", "path", "method", "right", "selector", "permission"];

/** Reads the items of type `.../Credential` and `.../AuthorizationRule` of an HTML page, wherever they stand in it. */
export async function readMicrodataUsers(html: string): Promise<FoundUsers> {
  const found = nothingFound();
  const page = await readPage(html, found);
  found.problems.push(...page.mistakes);
  const items = await inSlices(findItems(page.items));
  const slice = new TimeSlice();
  let isOld = false;
  for (const item of items) {
    if (slice.isOver) await slice.renew();
    if (found.problems.length >= maxNotes) break;
    isOld ||= isOldItem(item);
    const isCredential = isOfType(item, "Credential");
    const isRule = isOfType(item, "AuthorizationRule");
    if (isCredential) readCredential(new ItemValues(item, credentialProperties, found), found);
    if (isRule) readRule(new ItemValues(item, ruleProperties, found), found);
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
    return { items: [], mistakes: [], strays: [], strayMistakes: new Set() };
  }
}

/** Warns of an item that looks like a user or a rule and is not read: it may be a rule that denies something. */
function warnOfLookalike({ types, properties, line }: MicrodataItem, found: FoundUsers): void {
  if (!properties.has("password") && !properties.has("permission")) return;
  const type = types.length === 0 ? "has no type" : `is of the type ${shown(types.join(" "))}`;
  const text = `the item ${type} and is not read: expected a type that ends in /Credential or /AuthorizationRule`;
  found.warnings.push({ line, text });
}

function readCredential(values: ItemValues, found: FoundUsers): void {
  const username = values.one("username");
  const password = values.one("password");
  const encryption = values.one("encryption");
  const roles = values.all("role").map(({ text, line }) => {
    if (text.includes(",")) values.problem(`role is ${shown(text)}: expected one role for each element`, line);
    return text;
  });
  if (!values.has("username")) values.missing("username", "the name of the user");
  if (!values.has("password")) values.missing("password", "the hash of the password");
  const nameProblem = username && userNameProblem(username.text);
  if (nameProblem) values.problem(nameProblem, username.line);
  const encryptionName = encryption && values.oneOf(encryption, "encryption", encryptions);
  if (values.hasProblems || !username || !password) return;
  found.users.push({
    username: username.text,
    password: password.text,
    ...(encryptionName && { encryption: encryptionName }),
    ...(roles.length > 0 && { roles: [...new Set(roles)] }),
    line: values.line,
  });
}

function readRule(values: ItemValues, found: FoundUsers): void {
  const username = values.one("username");
  const role = values.one("role");
  const paths = values.all("path");
  const methods = values.words("method");
  const meantRights = values.words("right").map((word) => values.oneOf(word, "right", rights));
  const selector = values.one("selector");
  const permission = values.one("permission");
  const effect = permission ? values.oneOf(permission, "permission", permissions) : "allow";

  if (username && role) values.problem("there is both username and role: expected one of them", values.line);
  if (!values.has("username") && !values.has("role")) values.missing("username or role", "whom the rule is about");
  if (!values.has("path")) values.missing("path", 'what the rule is about, such as "/docs/*"');
  const special = username && isPrincipal(username.text);
  const nameProblem = username && !special && userNameProblem(username.text);
  if (nameProblem) values.problem(nameProblem, username.line);
  for (const { text, line } of paths) {
    if (!text.startsWith("/")) values.problem(`path is ${shown(text)}: expected one that begins with "/"`, line);
  }
  for (const { text, line } of methods) {
    if (!/^[A-Z]+$/.test(text)) values.problem(`method is ${shown(text)}: expected one such as GET`, line);
  }
  if (values.hasProblems || !effect) return;
  for (const { text: path, line } of paths) {
    found.rules.push({
      ...(username && { username: username.text }),
      ...(role && { role: role.text }),
      path,
      ...(methods.length > 0 && { methods: [...new Set(methods.map(({ text }) => text))] }),
      ...(meantRights.length > 0 && { rights: [...new Set(meantRights)].filter((right) => right !== undefined) }),
      ...(selector && { selector: selector.text }),
      permission: effect,
      line,
    });
  }
}
