import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Where the first of these programs is on the `PATH`, if any. @param {readonly string[]} names */
export function onPath(names) {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
