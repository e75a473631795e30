import { randomBytes, scryptSync } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { version } from "../server/version.ts";

/** What is written, with names in braces in place of values. */
const templates = new URL("../../examples/init/", import.meta.url);
const names = ["users.html", "config.html", "Dockerfile", "compose.yaml", "filement.service"];

// Readable by the operators of the server only: passwords can be guessed from hashes.
const modeOfUsers = 0o640;

/** Writes what a server in production starts with, over nothing that is there. Gives the lines to tell. */
export async function writeFirstFiles(directory: string): Promise<string[]> {
  const password = randomBytes(15).toString("base64url");
  const site = join(resolve(directory), "site");
  const values: Readonly<Record<string, string>> = {
    hash: hashOf(password),
    version,
    // systemd replaces what follows a percent sign.
    directory: resolve(directory).replaceAll("%", "%%"),
    site: JSON.stringify(site).replaceAll("%", "%%"),
  };
  await mkdir(site, { recursive: true });
  const lines: string[] = [];
  for (const name of names) {
    const template = await readFile(new URL(name, templates), "utf8");
    const content = template.replace(/\{\{(\w+)\}\}/g, (_braces, key: string) => values[key] ?? "");
    const isNew = await writeNew(join(directory, name), content, name === "users.html" ? modeOfUsers : undefined);
    lines.push(isNew ? `wrote ${name}` : `kept ${name}, which was there`);
    if (isNew && name === "users.html")
      lines.push(`the user admin has the password ${password}, which is told only here`);
  }
  return lines;
}

async function writeNew(path: string, content: string, mode?: number): Promise<boolean> {
  try {
    await writeFile(path, content, { flag: "wx", mode });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** By node's own scrypt, whose defaults are these numbers. */
function hashOf(password: string): string {
  const salt = randomBytes(16);
  const [written, hash] = [salt, scryptSync(password, salt, 32)].map((bytes) => bytes.toString("base64"));
  return `$scrypt$ln=14,r=8,p=1$${written}$${hash}`;
}
