import { Buffer } from "node:buffer";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { HttpError, notFound } from "../../http/http-error.ts";
import type { FileHistory, Version, VersionList } from "../../server/file-history.ts";
import { BytesFile } from "../../storage/bytes-file.ts";
import { type Storage, StorageError, type StoredStat } from "../../storage/storage.ts";
import { gitRecords, gitResult, type Repository } from "./git.ts";

const empty = Buffer.alloc(0);
/** Lines of a content that are compared with others at most: git takes some 150 bytes of memory for each. */
const maxLines = 500_000;
const newLine = 10;

/** The lines in which two contents differ, as a unified diff without its head. */
export interface Difference {
  readonly text: string;
  /** Whether there are more. */
  readonly isCut: boolean;
}

interface Entry {
  readonly commit: string;
  readonly path: string;
  /** In seconds since 1970. */
  readonly time: number;
  /** Name of the content; empty for a deletion. */
  readonly blob: string;
}

/** All versions, from the commits of one branch. The index takes 400 bytes for each and follows the branch. */
export class Versions implements FileHistory {
  readonly base: string;
  readonly covers: (path: string) => boolean;
  readonly #repository: Repository;
  #head: string | undefined;
  #shallow = "";
  /** Oldest first; so are those of each file. */
  #all: Entry[] = [];
  #byPath = new Map<string, Entry[]>();
  #updating: Promise<void> | undefined;

  constructor(repository: Repository, { base, covers }: Pick<FileHistory, "base" | "covers">) {
    this.base = base;
    this.covers = covers;
    this.#repository = repository;
  }

  async has(path: string): Promise<boolean> {
    return (await this.#entriesOf(path)).length > 0;
  }

  async list(path: string, limit: number, after?: string): Promise<VersionList> {
    const entries = await this.#entriesOf(path);
    const end = after === undefined ? entries.length : Math.max(0, indexOf(entries, after));
    const versions = await this.#described(entries.slice(Math.max(0, end - limit), end));
    return { versions, next: end > limit ? versions.at(-1)?.commit : undefined };
  }

  /** The latest changes of all files, newest first. */
  async recent(limit: number): Promise<readonly Version[]> {
    await this.#update();
    return this.#described(this.#all.slice(-limit));
  }

  #described(entries: readonly Entry[]): Promise<readonly Version[]> {
    return Promise.all([...entries].reverse().map((entry) => this.#version(entry)));
  }

  /** The version that a commit made of a file. Throws 404 if it made no version. */
  async known(path: string, commit: string): Promise<Version> {
    const entries = await this.#entriesOf(path);
    const entry = entries[indexOf(entries, commit)];
    if (!entry) throw notFound();
    return this.#version(entry);
  }

  /** The version that a file had at a moment; before the first, the first. */
  async at(path: string, moment: Date): Promise<Version | undefined> {
    const entries = await this.#entriesOf(path);
    const entry = entries.findLast(({ time }) => time * 1000 <= moment.getTime()) ?? entries[0];
    return entry && this.#version(entry);
  }

  /** The version before; `undefined` for the first. */
  async before({ path, commit }: Version): Promise<Version | undefined> {
    const entries = await this.#entriesOf(path);
    const entry = entries[indexOf(entries, commit) - 1];
    return entry && this.#version(entry);
  }

  /** Its content; `undefined` where the file was deleted. */
  async content({ etag }: Version): Promise<Buffer | undefined> {
    return etag === undefined ? undefined : (await this.#repository.read(etag.slice(1, -1)))?.content;
  }

  /** A version as files that only can be read; `undefined` where the file was deleted. */
  async storageOf(version: Version): Promise<Storage | undefined> {
    const content = await this.content(version);
    return content && pastFile(version, content);
  }

  async storageAt(path: string, at: Date | string): Promise<Storage | undefined> {
    const version = typeof at === "string" ? await this.known(path, at) : await this.at(path, at);
    return version && this.storageOf(version);
  }

  async restored(
    path: string,
    commit: string,
    how: "without" | "as",
    now: Uint8Array | undefined,
  ): Promise<Buffer | undefined> {
    const version = await this.known(path, commit);
    const then = await this.content(version);
    if (how === "as") return then;
    const before = await this.before(version);
    const old = before && (await this.content(before));
    const current = now && Buffer.from(now);
    const isAsThen = current === undefined ? then === undefined : then?.equals(current);
    if (isAsThen) return old;
    if (!current || !then || !old) throw conflict("The file was made, deleted or changed again since.");
    if ([current, then, old].some(hasManyLines))
      throw conflict("The file has too many lines to undo one change of it.");
    const labels = ["now", "then", "before"].flatMap((label) => ["-L", label]);
    const args = ["merge-file", "-p", "--quiet", ...labels];
    const { code, output } = await this.#gitOfFiles(args, [current, then, old], 127);
    if (code === 0) return output;
    throw conflict(`What was changed then has been changed again:\n${conflictsIn(output.toString())}`);
  }

  /** The lines in which two contents differ, and some around, as far as they fit into so many bytes. */
  async compared(contents: readonly (Buffer | undefined)[], around: number, mostBytes: number): Promise<Difference> {
    if (contents.some((content = empty) => hasManyLines(content))) return { text: "", isCut: true };
    const options = ["--no-index", "--no-ext-diff", "--no-textconv", "--no-color", `-U${around}`, "--"];
    const { output } = await this.#gitOfFiles(["diff", ...options], contents, 1, mostBytes);
    const isCut = output.length > mostBytes;
    const text = output.toString();
    const start = text.search(/^(?:@@|Binary)/m);
    return { text: start === -1 ? "" : text.slice(start, isCut ? text.lastIndexOf("\n") + 1 : undefined), isCut };
  }

  /** What git answers about contents that the repository need not have. A status above `most` is a failure. */
  async #gitOfFiles(
    args: readonly string[],
    contents: readonly (Buffer | undefined)[],
    most: number,
    mostBytes?: number,
  ): Promise<{ code: number | null; output: Buffer }> {
    const { location } = this.#repository;
    const madeIn = (parent: string): Promise<string> => mkdtemp(join(parent, "filement-history-"));
    const directory = await madeIn(tmpdir()).catch(() => madeIn(location)); // a container may be only read
    try {
      const files = contents.map((content = empty, index) => [join(directory, `${index}`), content] as const);
      await Promise.all(files.map(([name, content]) => writeFile(name, content)));
      const all = [...args, ...files.map(([name]) => name)];
      const { code, output } = await gitResult(location, all, mostBytes);
      const isCut = mostBytes !== undefined && output.length > mostBytes;
      if (!isCut && (code === null || code > most)) throw new Error(`history: git ${args[0]} failed`);
      return { code, output };
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  /** Paths of the latest commit, with the names of their contents; for what begins to record. */
  async tree(): Promise<Map<string, string>> {
    await this.#update();
    const latest = [...this.#byPath].map(([path, entries]) => [path, entries.at(-1)?.blob ?? ""] as const);
    return new Map(latest.filter(([, blob]) => blob !== ""));
  }

  async #version({ commit, path, time, blob }: Entry): Promise<Version> {
    const text = (await this.#repository.read(commit))?.content.toString() ?? "";
    const [head = "", ...message] = text.split("\n\n");
    const [, author] = /^author (.*) <.*> \d+ [+-]\d+$/m.exec(head) ?? [];
    const body = message.join("\n\n");
    const [, selector] = /^Selector: (.*)$/m.exec(body) ?? [];
    return {
      commit,
      path,
      time: new Date(time * 1000),
      user: author === "anonymous" ? undefined : author,
      summary: body.split("\n", 1)[0] ?? "",
      selector,
      size: blob === "" ? undefined : await this.#repository.sizeOf(blob),
      etag: blob === "" ? undefined : `"${blob}"`,
    };
  }

  /** Oldest first. */
  async #entriesOf(path: string): Promise<readonly Entry[]> {
    await this.#update();
    return this.#byPath.get(path) ?? [];
  }

  async #update(): Promise<void> {
    this.#updating ??= this.#readOn().finally(() => {
      this.#updating = undefined;
    });
    await this.#updating;
  }

  async #readOn(): Promise<void> {
    const { location } = this.#repository;
    const head = await this.#repository.head();
    if (head === undefined || head === this.#head) return;
    const shallow = await readFile(join(location, "shallow"), "latin1").catch(() => "");
    const isLonger = async (former = this.#head): Promise<boolean> =>
      former !== undefined && (await gitResult(location, ["merge-base", "--is-ancestor", former, head])).code === 0;
    const isAfter = shallow === this.#shallow && (await isLonger());
    this.#shallow = shallow;
    if (!isAfter) [this.#all, this.#byPath] = [[], new Map()];
    const range = isAfter ? `${this.#head}..${head}` : head;
    this.#head = undefined; // until all of it is read
    const order = ["--first-parent", "--reverse", "--root", "-m"];
    const format = ["--raw", "--no-abbrev", "--no-renames", "-z", "--format=%x01%H %at"];
    for await (const text of gitRecords(location, ["log", ...order, ...format, range], "\x01")) this.#note(text);
    this.#head = head;
  }

  /** One commit of the list: its name and moment, then for each file modes, contents and path. */
  #note(text: string): void {
    const [head = "", ...parts] = text.split("\0");
    const [commit = "", seconds] = head.trim().split(" ");
    for (let i = 0; i + 1 < parts.length; i += 2) {
      const [, , , blob = "", status] = (parts[i] ?? "").trim().split(" ");
      const path = `/${parts[i + 1]}`;
      const entries = this.#byPath.get(path) ?? [];
      const entry = { commit, path: entries[0]?.path ?? path, time: Number(seconds), blob: status === "D" ? "" : blob };
      if (entries.push(entry) === 1) this.#byPath.set(path, entries);
      this.#all.push(entry);
    }
  }
}

function pastFile({ path, time, etag = "" }: Version, content: Buffer): Storage {
  const stat: StoredStat = { type: "file", size: content.length, modified: time, version: etag.slice(1, -1) };
  const refuse = async (): Promise<never> => {
    throw new StorageError("read-only");
  };
  return {
    stat: async (asked) => (asked === path ? stat : undefined),
    open: async (asked) => (asked === path ? new BytesFile(stat, content) : undefined),
    list: () => Readable.from([]),
    ...{ write: refuse, append: refuse, update: refuse, remove: refuse },
  };
}

function indexOf(entries: readonly Entry[], commit: string): number {
  return entries.findIndex((each) => each.commit === commit);
}

function hasManyLines(content: Buffer): boolean {
  let count = 0;
  for (let at = content.indexOf(newLine); at !== -1 && count <= maxLines; at = content.indexOf(newLine, at + 1))
    count += 1;
  return count > maxLines;
}

function conflict(details: string): HttpError {
  return new HttpError(409, "WRITE_CONFLICT", details);
}

/** The lines between the marks that `git merge-file` has put, which end as the lines of the file do. */
function conflictsIn(text: string): string {
  const mark = "\n>>>>>>> before";
  let shown = "";
  for (let at = 0; shown.length < 4000; ) {
    const start = text.indexOf("<<<<<<< now", at);
    const end = text.indexOf(mark, start);
    if (start === -1 || end === -1) break;
    at = end + mark.length;
    shown += `${text.slice(start, at)}\n`;
  }
  return shown.slice(0, 4000);
}
