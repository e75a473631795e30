import { TimeSlice } from "../../event-loop/sliced-work.ts";
import { isPrincipal, type PermissionRule, ruleSchema } from "../permissions/rules.ts";
import { type FoundUsers, type LineNote, maxNotes, shown } from "./found-users.ts";
import { parseHash } from "./password.ts";
import type { UserRecord } from "./users.ts";

/** The content of a users file, with its problems and warnings. */
export interface CheckedUsers {
  readonly users: readonly UserRecord[];
  readonly rules: readonly PermissionRule[];
  /** By line. */
  readonly problems: readonly LineNote[];
  /** By line; one for all users with the same problem. */
  readonly warnings: readonly LineNote[];
}

/** Most users named in one warning. */
const maxNamed = 5;

/** Checks the users and the rules of a file together: names that come twice, passwords and rules that cannot work. */
export async function checkUsers(found: FoundUsers): Promise<CheckedUsers> {
  const problems = [...found.problems];
  const warnings = [...found.warnings];
  const lines = new Map<string, number>();
  const roles = new Set<string>();
  const passwordWarnings = new Map<string, LineNote[]>();
  const users: UserRecord[] = [];
  const rules: PermissionRule[] = [];
  const slice = new TimeSlice();

  for (const { line, ...user } of found.users) {
    if (slice.isOver) await slice.renew();
    if (problems.length >= maxNotes) break;
    users.push(user);
    const name = shown(user.username);
    const earlier = lines.get(nameKey(user.username));
    if (earlier !== undefined)
      problems.push({ line, text: `the user name ${name} stands in line ${earlier} already: expected another one` });
    else lines.set(nameKey(user.username), line);
    for (const role of user.roles ?? []) roles.add(role);

    const { problem, warning } = parseHash(user);
    if (problem !== undefined) problems.push({ line, text: `user ${name}: ${problem}` });
    if (warning === undefined) continue;
    const warned = passwordWarnings.get(warning);
    if (warned) warned.push({ line, text: name });
    else passwordWarnings.set(warning, [{ line, text: name }]);
  }
  for (const [warning, warned] of passwordWarnings) warnings.push(aboutUsers(warned, warning));

  for (const { line, ...rule } of found.rules) {
    if (slice.isOver) await slice.renew();
    if (problems.length >= maxNotes) break;
    rules.push(rule);
    problems.push(...ruleProblems(rule).map((text) => ({ line, text })));
    const { username, role } = rule;
    if (warnings.length >= maxNotes) continue;
    if (username !== undefined && !isPrincipal(username) && !lines.has(nameKey(username)))
      warnings.push({ line, text: `the rule is about the user ${shown(username)}, but there is no such user` });
    if (role !== undefined && !roles.has(role))
      warnings.push({ line, text: `the rule is about the role ${shown(role)}, which no user has` });
  }
  return { users, rules, problems: byLine(problems), warnings: byLine(warnings) };
}

/** Two encodings of "é" look the same, so they are one name. */
function nameKey(username: string): string {
  return username.normalize("NFC");
}

function aboutUsers(users: readonly LineNote[], warning: string): LineNote {
  const [first, second] = users;
  const named = users.slice(0, maxNamed).map(({ text }) => text);
  const more = users.length > maxNamed ? ` and ${users.length - maxNamed} more` : "";
  return { line: first?.line ?? 1, text: `${second ? "users" : "user"} ${named.join(", ")}${more}: ${warning}` };
}

function ruleProblems(rule: PermissionRule): string[] {
  return ruleSchema.problemsOf(rule).map(({ path: [option], expected }) => {
    if (option === undefined) return `the rule: expected ${expected}`;
    const name = option === "methods" || option === "rights" ? option.slice(0, -1) : String(option);
    return `${name}: expected ${expected}`;
  });
}

/** In order, and each once: a rule with two paths is two rules with one method. */
function byLine(notes: readonly LineNote[]): LineNote[] {
  const unique = new Map(notes.map((note) => [`${note.line} ${note.text}`, note]));
  return [...unique.values()].sort((one, other) => one.line - other.line);
}
