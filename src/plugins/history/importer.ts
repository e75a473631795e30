import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { LRUCache } from "lru-cache";
import { type GitProcess, git, gitOutput, patiently, type Repository } from "./git.ts";
import type { ReadRecord } from "./journal.ts";

/** Who did something: as `git log` shows it. */
export interface Person {
  readonly name: string;
  readonly email: string;
}

export interface ImporterOptions {
  authorOf(user: string | undefined): Person;
  /** A file as it is now. */
  stored(path: string): Promise<{ readonly etag: string; readonly content: Uint8Array } | undefined>;
}

/** Of files that were appended to, in bytes. */
const keptContent = 32 * 1024 * 1024;
/** Bytes for git beyond which they are not held back for more to come, so that the event loop also goes on. */
const maxHeldBack = 64 * 1024;
const server: Person = { name: "filement", email: "filement@localhost" };
const trailer = "Filement-Record";
/** What git takes for seconds since 1970 begins here; a disk that does not know when a file was made says 0. */
const earliest = 100_000_000;

/**
 * Makes commits of records by one `git fast-import`, for the one process that does so. A record is in the repository
 * when {@link flush} has said so; a commit names its record, so that a process that takes over knows how far it came.
 */
export class Importer {
  readonly #repository: Repository;
  readonly #options: ImporterOptions;
  readonly #contents = new LRUCache<string, Buffer>({
    maxSize: keptContent,
    sizeCalculation: ({ length }) => length + 1,
  });
  /** Files as git was given them since the last flush; `undefined` for one that is gone. */
  readonly #given = new Map<string, Buffer | undefined>();
  #child: GitProcess | undefined;
  #lines: AsyncIterator<string> | undefined;
  #complaint = "";
  #mark = 0;
  #isNew = true;
  /** The commit that the next ones follow: where the branch has another one by then, git refuses them. */
  #base: string | undefined;
  #latest = 0;

  constructor(repository: Repository, options: ImporterOptions) {
    this.#repository = repository;
    this.#options = options;
  }

  /** How many records of each journal are in the repository, as its latest commits say; `since` in milliseconds. */
  async imported(since: number): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    this.#base = await this.#repository.head();
    if (!this.#base) return found;
    const format = `--format=%(trailers:key=${trailer},valueonly)`;
    const after = `--since=${Math.max(earliest, Math.floor(since / 1000) - 2)}`;
    const said = await gitOutput(this.#repository.location, ["log", "--first-parent", after, format, this.#base]);
    for (const line of said.toString().split("\n")) {
      const [journal = "", number] = line.trim().split(" ");
      const known = found.get(journal) ?? 0;
      if (number !== undefined) found.set(journal, Math.max(known, Number(number) + 1));
    }
    return found;
  }

  /** In seconds, and never less than for the commit before, by which `imported` looks for where to stop. */
  #now(): number {
    this.#latest = Math.max(this.#latest, Math.floor(Date.now() / 1000));
    return this.#latest;
  }

  /** The content that history has of a file; `undefined` if it has no such file. */
  async #contentOf(path: string): Promise<Buffer | undefined> {
    if (this.#given.has(path)) return this.#given.get(path);
    const kept = this.#contents.get(path);
    return kept ?? (await this.#repository.read(`${this.#repository.ref}:${path.slice(1)}`))?.content;
  }

  /** A file after an append. What history lacks of it, as of a process that died, is read if it only grew since. */
  async #appended({ path, content, size, etag }: ReadRecord, before: Buffer = Buffer.alloc(0)): Promise<Buffer> {
    const known = Buffer.concat([before, content]);
    if (known.length === size) return known;
    const file = await this.#options.stored(path);
    const whole = Buffer.from(file?.content.subarray(0, size) ?? []);
    const isSame = whole.subarray(0, before.length).equals(before) && whole.subarray(-content.length).equals(content);
    return file && (file.etag === etag || (isSame && whole.length === size)) ? whole : known;
  }

  /** Adds a commit for a record, unless nothing has changed. */
  async add(record: ReadRecord): Promise<void> {
    const { path, kind, content } = record;
    const before = kind === "written" ? undefined : await this.#contentOf(path);
    if (kind === "found" && before?.equals(content)) return;
    const isGone = kind === "deleted" || kind === "missed";
    if (isGone && !before) return;
    const after = kind === "appended" ? await this.#appended(record, before) : content;
    const child = this.#child ?? this.#start();
    this.#mark += 1;
    const message = messageOf(record);
    const name = quotedPath(path);
    const author = person(this.#options.authorOf(record.user), Math.floor(record.time / 1000));
    const from = this.#isNew && this.#base ? `from ${this.#base}\n` : "";
    this.#isNew = false;
    child.stdin.write(
      `commit ${this.#repository.ref}\nmark :${this.#mark}\n` +
        `author ${author}\ncommitter ${person(server, this.#now())}\n` +
        `data ${Buffer.byteLength(message)}\n${message}\n${from}` +
        (isGone ? `D ${name}\n` : `M 100644 inline ${name}\ndata ${after.length}\n`),
    );
    if (child.stdin.writableLength + after.length < maxHeldBack) child.stdin.write(after);
    else await this.#send(child, after);
    this.#given.set(path, isGone ? undefined : after);
    // Only what `appended` has made: others are parts of all that was read from a journal at once.
    if (kind === "appended") this.#contents.set(path, after);
    else this.#contents.delete(path);
  }

  /** Resolves when all commits are in the repository; rejects where all since the last flush have to be redone. */
  async flush(): Promise<void> {
    const child = this.#child;
    if (!child || this.#mark === 0) return;
    await this.#send(child, `checkpoint\nget-mark :${this.#mark}\nprogress done\n`);
    const made = await this.#line();
    await this.#line();
    if (made === undefined || made !== (await this.#repository.head())) {
      const complaint = this.#complaint.trim() || "the branch was changed by another program";
      await this.close();
      throw new Error(`git fast-import did not make its commits: ${complaint}`);
    }
    this.#base = made;
    this.#given.clear();
  }

  /** Writes something, after what was held back: each write wakes git. Resolves also if git has ended: see `flush`. */
  async #send(child: GitProcess, data: string | Uint8Array): Promise<void> {
    const written = new Promise<void>((resolve) => child.stdin.write(data, () => resolve()));
    child.stdin.uncork();
    child.stdin.cork();
    await patiently(child, written);
  }

  async #line(): Promise<string | undefined> {
    const next = await patiently(this.#child, this.#lines?.next());
    return next?.done ? undefined : next?.value;
  }

  #start(): GitProcess {
    const options = ["--quiet", "--done", "--date-format=raw"];
    const child = git(this.#repository.location, ["-c", "pack.compression=1", "fast-import", ...options]);
    child.stdin.cork();
    child.stderr.on("data", (text: Buffer) => {
      this.#complaint = (this.#complaint + text).slice(-2000);
    });
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    this.#complaint = "";
    this.#mark = 0;
    this.#isNew = true;
    this.#child = child;
    return child;
  }

  /** Ends git, in order where it still listens. */
  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.#contents.clear(); // git may not have made those commits
    this.#given.clear();
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.stdin.end("done\n");
    await patiently(child, once(child, "close"));
  }
}

function person({ name, email }: Person, seconds: number): string {
  const plain = (text: string): string => text.replace(/[\0-\x1f<>]/g, " ").trim();
  return `${plain(name) || "anonymous"} <${plain(email)}> ${seconds} +0000`;
}

/** In quotes, as C has them: a path may hold any character. */
function quotedPath(path: string): string {
  const inside = path.slice(1).replace(/["\\\0-\x1f]/g, (each) => {
    return `\\${each.charCodeAt(0) < 32 ? each.charCodeAt(0).toString(8).padStart(3, "0") : each}`;
  });
  return `"${inside}"`;
}

function messageOf({ kind, summary, requestId, selector, journal, number, etag }: ReadRecord): string {
  const line = (text: string): string => text.replace(/[\0-\x1f]+/g, " ").slice(0, 500);
  const said = (name: string, text: string | undefined): string =>
    text === undefined ? "" : `${name}: ${line(text)}\n`;
  const version = kind === "found" ? undefined : etag; // the process that made it says so itself, perhaps later
  return (
    `${line(summary)}\n\n${said("Request-Id", requestId)}${said("Selector", selector)}${said("Version", version)}` +
    `${trailer}: ${journal} ${number}\n`
  );
}
