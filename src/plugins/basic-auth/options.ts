import { ConfigError } from "../../config.ts";
import { checkOptions } from "../../options/check-config.ts";
import { fileLocation, pluginOptions } from "../../options/option-types.ts";
import { listOf, type OptionsSchema, text, valueThat, yesOrNo } from "../../options/schema.ts";
import { ruleSchema } from "../permissions/rules.ts";
import { parseHash } from "./password.ts";
import { type UserRecord, userNameProblem } from "./users.ts";

/** What the options of `basicAuth` are checked against. */
export const basicAuthOptions: OptionsSchema = pluginOptions({
  authfile: fileLocation,
  users: valueThat(() => true, "users"), // checked below: the sentence of a problem would show the passwords
  rules: listOf(ruleSchema, "a list of rules"),
  // It stands between quotes in a header field, and many clients know no more than this.
  requireUser: yesOrNo,
  realm: text("printable ASCII characters", (value) => /^[\x20-\x7e]+$/.test(value)),
});

const userProperties: ReadonlySet<string> = new Set(["username", "password", "encryption", "roles"]);

/** Throws a `ConfigError` that names everything that is wrong with the options. No text in it repeats any password. */
export function checkBasicAuthOptions(options: unknown): void {
  checkOptions("basicAuth", basicAuthOptions, options);
  const { authfile, users } = options as { readonly authfile?: unknown; readonly users?: unknown };
  const problems = users === undefined || typeof users === "function" ? [] : problemsOfUsers(users);
  if ((authfile === undefined) === (users === undefined)) problems.push("expected either authfile or users");
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => `basicAuth: ${problem}`));
}

function problemsOfUsers(users: unknown): string[] {
  if (!Array.isArray(users)) return ["users: expected a list of users or a function"];
  if (users.length === 0) return ["users is []: expected at least one user"];
  const problems: string[] = [];
  const names = new Set<string>();
  for (const [index, record] of users.entries()) {
    const problem = problemOfRecord(record);
    if (problem !== undefined) {
      problems.push(`users[${index}]: ${problem}`);
      continue;
    }
    const user = record as UserRecord;
    const { problem: hashProblem } = parseHash(user);
    if (hashProblem !== undefined) problems.push(`user ${JSON.stringify(user.username)}: ${hashProblem}`);
    if (names.has(user.username)) problems.push(`user ${JSON.stringify(user.username)} is there twice`);
    names.add(user.username);
  }
  return problems;
}

function problemOfRecord(record: unknown): string | undefined {
  if (typeof record !== "object" || record === null) return "expected an object with username and password";
  const unknown = Object.keys(record).find((key) => !userProperties.has(key));
  if (unknown !== undefined) return `expected no property ${JSON.stringify(unknown)}`;
  const { username, password, encryption, roles } = record as Partial<Record<keyof UserRecord, unknown>>;
  if (typeof username !== "string") return "expected a username";
  const nameProblem = userNameProblem(username);
  if (nameProblem !== undefined) return nameProblem;
  if (typeof password !== "string") return "expected a password";
  if (encryption !== undefined && typeof encryption !== "string") return "expected the name of an encryption";
  const isRoles = roles === undefined || (Array.isArray(roles) && roles.every((role) => typeof role === "string"));
  return isRoles ? undefined : "expected roles that are a list of names";
}
