import type { FileServerConfig } from "../config.ts";
import { openHostWarnings as warningsOf } from "../hosts/authentication.ts";
import type { CommandLine } from "./command-line.ts";

/** Warnings of hosts to which anonymous clients may write. Their plugins have to be started. */
export function openHostWarnings(config: FileServerConfig, address: string): readonly string[] {
  const clients = isLoopback(address) ? "every program on this computer" : `every client that can reach ${address}`;
  return warningsOf(config, clients, "--read-only or --users FILE changes that, and basic-auth in a page");
}

/** Who may change files, where anonymous clients may not. */
export function writersNotice({ readOnly, users }: Pick<CommandLine, "readOnly" | "users">): string {
  if (readOnly) return "files can only be read (--read-only)";
  return users === undefined
    ? "only clients that the page lets in can change files"
    : `only users of ${users} can change the files here, after signing in`;
}

/** Whether only programs of this computer can reach an address. `false` for names other than `localhost`. */
export function isLoopback(address: string): boolean {
  return address === "localhost" || address === "::1" || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address);
}
