import { Buffer } from "node:buffer";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HttpError, notFound } from "../../http/http-error.ts";
import type { FileHistory, Version, VersionList } from "../../server/file-history.ts";
import type { Storage } from "../../storage/storage.ts";
import { git, gitOutput, gitRecords, type ObjectReader, shallowCommits } from "./git.ts";
import { pastFile } from "./past-file.ts";

/** What a commit made of a file: the name of the content, empty for a deletion. */
interface Entry {
  readonly commit: number;
  readonly blob: string;
}

/** Of a name of a commit (SHA-1). */
const hashBytes = 20;
/** Stands in differences for a file that is not there. */
const nothing = "0".repeat(2 * hashBytes);

/**
 * The versions of all files, from the commits of one branch. The index grows with each commit by some 100 bytes, and is
 * read on from where it ended when the branch has moved.
 */
export class Versions implements FileHistory {
  readonly base: string;
  readonly #repository: string;
  readonly #ref: string;
  readonly #objects: ObjectReader;
  #head: string | undefined;
  #shallow = "";
  /** Names of commits, one after the other, and their moments in seconds. */
  #commits: Buffer = Buffer.alloc(0);
  #count = 0;
  #times: number[] = [];
  #paths = new Map<string, Entry[]>();
  /** The path that each commit is about; the first of several. */
  #pathOf: string[] = [];
  #updating: Promise<void> | undefined;

  constructor(repository: string, branch: string, objects: ObjectReader, base: string) {
    this.base = base;
    this.#repository = repository;
    this.#ref = `refs/heads/${branch}`;
    this.#objects = objects;
  }

  /** The versions of a file, newest first, `limit` at most, those before the commit `after`. */
  async list(path: string, limit: number, after?: string): Promise<VersionList> {
    await this.#update();
    const entries = this.#paths.get(path) ?? [];
    const end = after === undefined ? entries.length : entries.findIndex(({ commit }) => this.#name(commit) === after);
    return this.#describe(entries.slice(Math.max(0, end - limit), Math.max(0, end)).reverse(), path, end > limit);
  }

  /** The latest changes of all files, newest first. */
  async recent(limit: number): Promise<readonly Version[]> {
    await this.#update();
    const found: Version[] = [];
    for (let commit = this.#count - 1; commit >= 0 && found.length < limit; commit -= 1) {
      const path = this.#pathOf[commit] ?? "";
      const entry = this.#paths.get(path)?.findLast((each) => each.commit === commit);
      if (entry) found.push(await this.#version(entry, path));
    }
    return found;
  }

  async #describe(entries: readonly Entry[], path: string, hasMore: boolean): Promise<VersionList> {
    const versions = await Promise.all(entries.map((entry) => this.#version(entry, path)));
    return { versions, next: hasMore ? versions.at(-1)?.commit : undefined };
  }

  /** The version that a commit made of a file. */
  async find(path: string, commit: string): Promise<Version | undefined> {
    await this.#update();
    const entry = this.#paths.get(path)?.find((each) => this.#name(each.commit) === commit);
    return entry && this.#version(entry, path);
  }

  /** The version that a file had at a moment; before the first, the first. */
  async at(path: string, time: Date): Promise<Version | undefined> {
    await this.#update();
    const seconds = Math.floor(time.getTime() / 1000);
    const entries = this.#paths.get(path) ?? [];
    const entry = entries.findLast(({ commit }) => (this.#times[commit] ?? 0) <= seconds) ?? entries[0];
    return entry && this.#version(entry, path);
  }

  /** The version before; `undefined` for the first. */
  async before({ path, commit }: Version): Promise<Version | undefined> {
    const entries = this.#paths.get(path) ?? [];
    const entry = entries[entries.findIndex((each) => this.#name(each.commit) === commit) - 1];
    return entry && this.#version(entry, path);
  }

  /** The first and the last version. */
  async ends(path: string): Promise<readonly [Version, Version] | undefined> {
    await this.#update();
    const entries = this.#paths.get(path) ?? [];
    const [first, last] = [entries[0], entries.at(-1)];
    return first && last && [await this.#version(first, path), await this.#version(last, path)];
  }

  /** Its content; `undefined` where the file was deleted. */
  async content({ etag }: Version): Promise<Buffer | undefined> {
    return etag === undefined ? undefined : (await this.#objects.read(etag.slice(1, -1)))?.content;
  }

  /** A file at a moment, or after a commit. */
  async storageAt(path: string, at: Date | string): Promise<Storage | undefined> {
    const version = typeof at === "string" ? await this.find(path, at) : await this.at(path, at);
    const content = version && (await this.content(version));
    return content && pastFile(version, content);
  }

  /** See {@link FileHistory.restored}. */
  async restored(
    path: string,
    commit: string,
    how: "without" | "as",
    now: Uint8Array | undefined,
  ): Promise<Buffer | undefined> {
    const version = await this.find(path, commit);
    if (!version) throw notFound();
    const then = await this.content(version);
    if (how === "as") return then;
    const before = await this.before(version);
    const old = before && (await this.content(before));
    const current = now && Buffer.from(now);
    const isAsThen = current === undefined ? then === undefined : then?.equals(current);
    if (isAsThen) return old;
    if (!current || !then || !old) throw conflict("The file was made, deleted or changed again since.");
    const merged = await this.#revert(current, then, old);
    if (!merged.conflict) return merged.content;
    throw conflict(`What was changed then has been changed again:\n${conflictsIn(merged.content.toString())}`);
  }

  /** What a change did, as a unified diff without its head. */
  async difference(version: Version): Promise<string> {
    const before = await this.before(version);
    const [old, now] = [before, version].map((each) => each?.etag?.slice(1, -1) ?? nothing);
    const options = ["--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--full-index", "-p", "-U3"];
    const args = ["diff-tree", "--root", "-m", "--first-parent", "--no-commit-id", ...options, version.commit];
    const said = (await gitOutput(this.#repository, args)).toString();
    const part = said.split(/^(?=diff --git )/m).find((each) => each.includes(`\nindex ${old}..${now}`)) ?? "";
    const start = part.search(/^(?:@@|Binary)/m);
    return start === -1 ? "" : part.slice(start);
  }

  async #revert(
    now: Buffer,
    changed: Buffer,
    old: Buffer,
  ): Promise<{ readonly content: Buffer; readonly conflict: boolean }> {
    const directory = await mkdtemp(join(tmpdir(), "filement-revert-"));
    try {
      const names = ["now", "changed", "old"].map((name) => join(directory, name));
      await Promise.all([now, changed, old].map((content, index) => writeFile(names[index] ?? "", content)));
      const labels = ["now", "then", "before"].flatMap((label) => ["-L", label]);
      const child = git(this.#repository, ["merge-file", "-p", "--quiet", ...labels, ...names]);
      const pieces: Buffer[] = [];
      child.stdout.on("data", (piece: Buffer) => pieces.push(piece));
      const code = await new Promise<number | null>((resolve, reject) =>
        child.once("close", resolve).once("error", reject),
      );
      if (code === null || code < 0 || code > 127) throw new Error("history: git merge-file failed");
      return { content: Buffer.concat(pieces), conflict: code > 0 };
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  /** Paths of the latest commit, with the names of their contents; for what begins to record. */
  async tree(): Promise<ReadonlyMap<string, string>> {
    await this.#update();
    const latest = [...this.#paths].flatMap(([path, entries]) => {
      const blob = entries.at(-1)?.blob ?? "";
      return blob === "" ? [] : [[path, blob] as const];
    });
    return new Map(latest);
  }

  #name(commit: number): string {
    return this.#commits.toString("hex", commit * hashBytes, (commit + 1) * hashBytes);
  }

  async #version({ commit, blob }: Entry, path: string): Promise<Version> {
    const name = this.#name(commit);
    const text = (await this.#objects.read(name))?.content.toString() ?? "";
    const [head = "", ...message] = text.split("\n\n");
    const [, author] = /^author (.*) <.*> \d+ [+-]\d+$/m.exec(head) ?? [];
    const body = message.join("\n\n");
    const [, selector] = /^Selector: (.*)$/m.exec(body) ?? [];
    const size = blob === "" ? undefined : await this.#objects.sizeOf(blob);
    return {
      commit: name,
      path,
      time: new Date((this.#times[commit] ?? 0) * 1000),
      user: author === "anonymous" ? undefined : author,
      summary: body.split("\n", 1)[0] ?? "",
      selector,
      size,
      etag: blob === "" ? undefined : `"${blob}"`,
    };
  }

  /** Reads the commits that have come. */
  async #update(): Promise<void> {
    this.#updating ??= this.#readOn().finally(() => {
      this.#updating = undefined;
    });
    await this.#updating;
  }

  async #readOn(): Promise<void> {
    const head = (await this.#objects.read(this.#ref))?.id;
    if (head === undefined || head === this.#head) return;
    const shallow = await shallowCommits(this.#repository);
    const isCut = shallow !== this.#shallow;
    this.#shallow = shallow;
    const isAfter = !isCut && this.#head !== undefined && (await this.#isAncestor(this.#head, head));
    if (!isAfter) this.#forget();
    const range = isAfter ? `${this.#head}..${head}` : head;
    const format = "--format=%x01%H %at";
    const options = [
      "--first-parent",
      "--reverse",
      "--root",
      "-m",
      "--raw",
      "--no-abbrev",
      "--no-renames",
      "-z",
      format,
    ];
    for await (const text of gitRecords(this.#repository, ["log", ...options, range], "\x01")) this.#note(text);
    this.#head = head;
  }

  async #isAncestor(older: string, newer: string): Promise<boolean> {
    const asked = gitOutput(this.#repository, ["merge-base", "--is-ancestor", older, newer]);
    return asked.then(
      () => true,
      () => false,
    );
  }

  #forget(): void {
    this.#count = 0;
    this.#times = [];
    this.#pathOf = [];
    this.#paths = new Map();
  }

  /** One commit of the list: its name and moment, then for each file modes, contents and path. */
  #note(text: string): void {
    const [head = "", ...parts] = text.split("\0");
    const [name = "", seconds] = head.trim().split(" ");
    const index = this.#count;
    if ((index + 1) * hashBytes > this.#commits.length) {
      const larger = Buffer.alloc(Math.max(1024, index * 2) * hashBytes);
      this.#commits.copy(larger);
      this.#commits = larger;
    }
    this.#commits.write(name, index * hashBytes, "hex");
    this.#times[index] = Number(seconds);
    this.#count += 1;
    for (let i = 0; i + 1 < parts.length; i += 2) {
      const [, , , blob = "", status] = (parts[i] ?? "").trim().split(" ");
      const path = `/${parts[i + 1]}`;
      const entries = this.#paths.get(path) ?? [];
      entries.push({ commit: index, blob: status === "D" ? "" : blob });
      this.#paths.set(path, entries);
      this.#pathOf[index] ??= path;
    }
  }
}

function conflict(details: string): HttpError {
  return new HttpError(409, "WRITE_CONFLICT", details);
}

/** The lines between the marks that `git merge-file` has put. */
function conflictsIn(text: string): string {
  const parts = text.match(/^<{7} .*\n[\s\S]*?^>{7} .*$/gm) ?? [];
  return parts.join("\n").slice(0, 4000);
}
