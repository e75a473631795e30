import { TimeSlice } from "../../event-loop/sliced-work.ts";
import { type FoundUsers, isHash, maxNotes, nothingFound, shown, userNameProblem } from "./found-users.ts";
import type { UserRecord } from "./users.ts";

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
  for (const entry of trimmedLines(text)) {
    if (slice.isOver) await slice.renew();
    if (found.problems.length >= maxNotes) break;
    line += 1;
    if (entry.startsWith("#")) isPlaintext = plaintextAfter(entry, line, isPlaintext, found);
    if (entry === "" || entry.startsWith("#")) continue;
    const user = readEntry(entry, isPlaintext);
    if (typeof user === "string") found.problems.push({ line, text: user });
    else found.users.push({ ...user, line });
  }
  return found;
}

function plaintextAfter(comment: string, line: number, isPlaintext: boolean, found: FoundUsers): boolean {
  const encryption = encryptionComment.exec(comment)?.[1];
  if (encryption === undefined) return isPlaintext;
  if (!["plaintext", "auto"].includes(encryption)) {
    const text = `the encryption is ${shown(encryption)}: expected plaintext or auto; what follows is read as hashes`;
    found.warnings.push({ line, text });
  }
  return encryption === "plaintext";
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

function* trimmedLines(text: string): Generator<string> {
  for (let start = 0; start <= text.length; ) {
    const end = text.indexOf("\n", start);
    yield text.slice(start, end === -1 ? text.length : end).trim();
    start = end === -1 ? text.length + 1 : end + 1;
  }
}
