import { sep } from "node:path";

/** A message as other systems than Windows have it, with the name of a directory replaced. */
export function asOnPosix(message: string, directory: string, name = "DIR"): string {
  if (sep === "/") return message.replaceAll(directory, name);
  return message.replaceAll("\\\\", "\\").replaceAll(directory, name).replaceAll("\\", "/"); // twice in JSON
}
