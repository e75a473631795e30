import { TimeSlice } from "../../event-loop/sliced-work.ts";
import { isHash } from "./password.ts";
import { type FoundUsers, maxProblems, nothingFound, shown, type UserRecord, userNameProblem } from "./users.ts";

/** Begins or ends the entries that are passwords in plain text. `htpasswd` keeps comments when it writes a file. */
const encryptionComment = /^#\s*encryption\s*:\s*(\S*)$/i;

/**
 * Reads an Apache `htpasswd` file: `name:hash` in each line; further fields are ignored. An entry after
 * the comment `# encryption: plaintext` is a password in plain text, unless it is a hash: `htpasswd` puts hashes there
 * when it changes a password or adds a user.
 */
export async function readHtpasswd(text: string): Promise<FoundUsers> {
  const found = nothingFound();
  const slice = new TimeSlice();
  let isPlaintext = false;
  let line = 0;
  for (const [untrimmed] of text.matchAll(/[^\n]*\n?/g)) {
    if (slice.isOver) await slice.renew();
    if (found.problems.length >= maxProblems) break;
    line += 1;
    const entry = untrimmed.trim();
    const encryption = encryptionComment.exec(entry)?.[1];
    if (encryption !== undefined) {
      isPlaintext = encryption === "plaintext";
      if (!isPlaintext && encryption !== "auto") found.warnings.push({ line, text: unknownEncryption(encryption) });
    }
    if (entry === "" || entry.startsWith("#")) continue;
    const user = readEntry(entry, isPlaintext);
    if (typeof user === "string") found.problems.push({ line, text: user });
    else found.users.push({ ...user, line });
  }
  return found;
}

function unknownEncryption(name: string): string {
  return `the encryption is ${shown(name)}: expected plaintext or auto; what follows is read as hashes`;
}

/** The user of an entry, or what is wrong with it; never with what may be a password. */
function readEntry(entry: string, isPlaintext: boolean): UserRecord | string {
  const [username = "", password, ...further] = entry.split(":");
  if (password === undefined) return "there is no colon: expected name:hash";
  const nameProblem = userNameProblem(username);
  if (nameProblem !== undefined) return nameProblem;
  const user = shown(username);
  if (username !== username.trim() || password !== password.trim())
    return `there is white space beside the colon after ${user}: expected name:hash`;
  if (password === "") return `user ${user} has no password: expected a hash after the colon`;
  if (!isPlaintext || isHash(password)) return { username, password };
  // Apache would take the part before the second colon for the password, `htpasswd -p` writes one that has it.
  if (further.length > 0) return `the plain-text password of user ${user} has a colon: expected one without, or a hash`;
  return { username, password, encryption: "plaintext" };
}
