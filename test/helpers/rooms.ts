/** The rooms of `src` from top to bottom: a module imports, also types, only from its own row or below. */
export const rows: readonly (readonly string[])[] = [
  ["cli"],
  ["index"],
  ["config-page"],
  ["file-server"],
  ["runtime", "hosts"],
  ["plugins", "redis"],
  ["files", "elements"],
  ["config", "server", "options"],
  ["http", "html", "storage", "local-files", "client"],
  ["event-loop"],
];

/** The row of a module, such as `files/read-file`; -1 for one that lies in no room. */
export function rowOf(module: string): number {
  const room = module.split("/", 1)[0] ?? "";
  return rows.findIndex((row) => row.includes(room));
}
