import type { FileServerConfig } from "../config.ts";
import { openHostWarnings as warningsOf } from "../hosts/authentication.ts";

/** Warnings of hosts to which anonymous clients may write. Their plugins have to be started. */
export function openHostWarnings(config: FileServerConfig, address: string): readonly string[] {
  const clients = isLoopback(address) ? "every program on this computer" : `every client that can reach ${address}`;
  return warningsOf(config, clients, "--read-only, or basic-auth in a page, changes that");
}

/** Whether only programs of this computer can reach an address. `false` for names other than `localhost`. */
export function isLoopback(address: string): boolean {
  return address === "localhost" || address === "::1" || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address);
}
