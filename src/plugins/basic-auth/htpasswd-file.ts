import { TimeSlice } from "../../event-loop/sliced-work.ts";
import { type FoundUsers, maxProblems, nothingFound, shown, type UserRecord, userNameProblem } from "./users.ts";

/** Reads an Apache `htpasswd` file: `name:hash` in each line; further fields are ignored, and so are comments. */
export async function readHtpasswd(text: string): Promise<FoundUsers> {
  const found = nothingFound();
  const slice = new TimeSlice();
  let line = 0;
  for (const [untrimmed] of text.matchAll(/[^\n]*\n?/g)) {
    if (slice.isOver) await slice.renew();
    if (found.problems.length >= maxProblems) break;
    line += 1;
    const entry = untrimmed.trim();
    if (entry === "" || entry.startsWith("#")) continue;
    const user = readEntry(entry);
    if (typeof user === "string") found.problems.push({ line, text: user });
    else found.users.push({ ...user, line });
  }
  return found;
}

/** The user of an entry, or what is wrong with it; never with what may be a password. */
function readEntry(entry: string): UserRecord | string {
  const [username = "", password] = entry.split(":");
  if (password === undefined) return "there is no colon: expected name:hash";
  const nameProblem = userNameProblem(username);
  if (nameProblem !== undefined) return nameProblem;
  const user = shown(username);
  if (username !== username.trim() || password !== password.trim())
    return `there is white space beside the colon after ${user}: expected name:hash`;
  return password === "" ? `user ${user} has no password: expected a hash after the colon` : { username, password };
}
