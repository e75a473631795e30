import type { AccessLogEntry } from "../../../src/plugins/access-log/entry.ts";

/** The lines of a log so far, and a way to wait for more. */
export interface Collected {
  readonly lines: string[];
  readonly entries: AccessLogEntry[];
  readonly write: (line: string, entry: AccessLogEntry) => void;
  /** The lines, as soon as there are that many. */
  first(count: number): Promise<readonly string[]>;
}

/** Takes the lines of an access log. */
export function collect(): Collected {
  const lines: string[] = [];
  const entries: AccessLogEntry[] = [];
  const waiting = new Set<() => void>();
  return {
    lines,
    entries,
    write(line, entry) {
      lines.push(line);
      entries.push(entry);
      for (const look of waiting) look();
    },
    first: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (lines.length < count) return;
          waiting.delete(look);
          resolve(lines.slice(0, count));
        };
        waiting.add(look);
        look();
      }),
  };
}
