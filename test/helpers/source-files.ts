import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The project's root directory, without a trailing slash. */
export const projectRoot: string = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** Files below a folder of the project that end in `ending`, relative to that folder, with forward slashes. */
export function filesBelow(folder: string, ending: string): string[] {
  const base = join(projectRoot, folder);
  return readdirSync(base, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(base, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort();
}

/** All files of the project that git knows or would, relative to its root. */
export function projectFiles(): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard"];
  const listed = execFileSync("git", args, { cwd: projectRoot, encoding: "utf8" }).trim().split("\n");
  return listed.filter((file) => existsSync(join(projectRoot, file))); // git still lists what was just deleted
}
