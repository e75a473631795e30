import { Buffer } from "node:buffer";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { env } from "node:process";
import type { Readable, Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { ConfigError } from "../../config.ts";
import { beginningOf } from "../../server/reply.ts";
import { StorageError } from "../../storage/storage.ts";

/** `cat-file --batch-command` came with it. */
const oldest = [2, 36] as const;

/** Where git looks for programs and the home directory. `GIT_DIR` and the like would lead it elsewhere. */
function environment(): Record<string, string | undefined> {
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("GIT_"))),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_TERMINAL_PROMPT: "0",
    MALLOC_TRIM_THRESHOLD_: "1048576", // or glibc gives back what zlib used, and takes it again, for each object
    LC_ALL: "C",
  };
}

/** No setting of a given repository may run a program; and packing versions of 16 MiB would take a gigabyte. */
const settings = [
  ...["core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0"],
  ...["core.quotePath=false", "pack.windowMemory=32m"],
];

export type GitProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts git in a repository, without a shell. Arguments from clients are only names of objects that git gave. */
export function git(repository: string, args: readonly string[]): GitProcess {
  const all = [...settings.flatMap((setting) => ["-c", setting]), "--git-dir", repository, ...args];
  const child = spawn("git", all, { env: environment(), stdio: ["pipe", "pipe", "pipe"] });
  child.on("error", () => {}); // its output ends as well
  if (!child.stdin) throw new StorageError("busy"); // too many files are open for its pipes
  child.stdin.on("error", () => {}); // its end says it, too
  return child;
}

/** What git may take for an answer, in milliseconds. */
const patienceMs = 60_000;
/** And for a command that ends by itself, such as `gc`, which says nothing meanwhile. */
const endMs = 3_600_000;
/** Time without a question after which `cat-file` is ended, in milliseconds: more than an answer may take. */
const idleMs = 2 * patienceMs;

/** An answer of git; one that is silent for too long is ended, by which the answer fails. */
export async function patiently<T>(
  child: GitProcess | undefined,
  answer: T | PromiseLike<T>,
  ms: number = patienceMs,
): Promise<T> {
  const timer = setTimeout(() => child?.kill("SIGKILL"), ms).unref();
  return Promise.resolve(answer).finally(() => clearTimeout(timer));
}

/** What git answers; rejects with what it says where it fails. */
export async function gitOutput(repository: string, args: readonly string[]): Promise<Buffer> {
  const { code, output, complaint } = await gitResult(repository, args);
  if (code !== 0) throw new Error(`git ${args[0]} failed: ${complaint.toString().trim()}`);
  return output;
}

/** What git answers, and its exit code; `null` if it was killed. More than `mostBytes` is cut, and ends it. */
export async function gitResult(
  repository: string,
  args: readonly string[],
  mostBytes: number = Number.POSITIVE_INFINITY,
): Promise<{ code: number | null; output: Buffer; complaint: Buffer }> {
  const child = git(repository, args);
  child.stdin.end();
  const end = Promise.all([once(child, "close"), beginningOf(child.stdout, mostBytes), buffer(child.stderr)]);
  const [[code], output, complaint] = await patiently(child, end, endMs);
  return { code, output, complaint };
}

/** Packs what is loose, and forgets what is too old: the repository becomes shallow, as by `git clone --depth`. */
export async function tidyRepository(repository: Repository, days?: number, commits?: number): Promise<void> {
  const { location, ref } = repository;
  const head = await repository.head();
  if (head === undefined) return;
  if (days === undefined && commits === undefined) {
    // By itself it would go on in the background, beside the commits and after the server is closed.
    await gitOutput(location, ["-c", "gc.auto=6700", "-c", "gc.autoDetach=false", "gc", "--auto", "--quiet"]);
    return;
  }
  const limits = days === undefined ? [] : [`--since=${days} days ago`];
  if (commits !== undefined) limits.push(`--max-count=${commits}`);
  const kept = await gitOutput(location, ["rev-list", "--first-parent", ...limits, ref]);
  const oldest = kept.toString().trim().split("\n").at(-1) || head; // the latest commit stays in any case
  const shallow = join(location, "shallow");
  await writeFile(`${shallow}.new`, `${oldest}\n`);
  await rename(`${shallow}.new`, shallow);
  await gitOutput(location, ["reflog", "expire", "--expire=now", "--all"]);
  await gitOutput(location, ["gc", "--prune=now", "--quiet"]);
}

/** The parts of what git prints, between separators, as they come. */
export async function* gitRecords(
  repository: string,
  args: readonly string[],
  separator: string,
): AsyncGenerator<string> {
  const child = git(repository, args);
  child.stdin.end();
  const ended = Promise.all([once(child, "close"), buffer(child.stderr)]);
  ended.catch(() => {}); // it may fail while the output is awaited
  let rest = "";
  for await (const piece of child.stdout.setEncoding("utf8")) {
    const parts = (rest + piece).split(separator);
    rest = parts.pop() ?? "";
    yield* parts;
  }
  yield rest;
  const [[code], complaint] = await ended;
  if (code !== 0) throw new Error(`git ${args[0]} failed: ${complaint.toString().trim()}`);
}

/** Makes a bare repository if it does not exist. Throws a {@link ConfigError} where git is missing or too old. */
export async function openRepository(repository: string, branch: string): Promise<void> {
  const said = await gitOutput(repository, ["--version"]).catch((error: unknown) => {
    throw new ConfigError([`history: git could not be started: install git ${oldest.join(".")} or newer (${error})`]);
  });
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(said.toString()) ?? []).slice(1).map(Number);
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
    throw new ConfigError([`history: git is ${major}.${minor}: expected ${oldest.join(".")} or newer`]);
  }
  await gitOutput(repository, ["init", "--quiet", "--bare", `--initial-branch=${branch}`]);
}

interface GitObject {
  readonly id: string;
  readonly size: number;
  readonly content: Buffer;
}

/**
 * A repository, and the branch of it that the history is. Objects are read by one `git cat-file`, started when it is
 * needed, and ended when it has nothing to do for a while. Requests are answered in order.
 */
export class Repository {
  readonly location: string;
  readonly ref: string;
  #child: GitProcess | undefined;
  #pieces: AsyncIterator<Buffer> | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(location: string, branch: string) {
    this.location = location;
    this.ref = `refs/heads/${branch}`;
  }

  /** The latest commit; `undefined` before the first. */
  async head(): Promise<string | undefined> {
    return (await this.read(this.ref))?.id;
  }

  /** An object by its name, or by a name such as `refs/heads/main:a.txt`; `undefined` if it is missing. */
  read(name: string): Promise<GitObject | undefined> {
    return this.#inTurn("contents", name);
  }

  /** The size of an object in bytes; `undefined` if it is missing. */
  async sizeOf(name: string): Promise<number | undefined> {
    return (await this.#inTurn("info", name))?.size;
  }

  #inTurn(command: "contents" | "info", name: string): Promise<GitObject | undefined> {
    const answer = this.#last.then(() => this.#ask(command, name));
    this.#last = answer.catch(() => this.close());
    return answer;
  }

  async #ask(command: "contents" | "info", name: string): Promise<GitObject | undefined> {
    if (/[\n\0]/.test(name)) return undefined; // git reads lines
    this.#child ??= this.#start();
    this.#child.stdin.write(`${command} ${name}\n`);
    while (!this.#rest.includes("\n")) this.#rest = Buffer.concat([this.#rest, await this.#piece()]);
    const header = (await this.#take(this.#rest.indexOf("\n") + 1)).toString();
    const [, id, bytes] = /^([0-9a-f]{40,64}) \w+ (\d+)\n$/.exec(header) ?? [];
    if (id === undefined) return undefined;
    const size = Number(bytes);
    const content = await this.#take(command === "info" ? 0 : size);
    if (command === "contents") await this.#take(1);
    return { id, size, content };
  }

  /** Takes bytes off what git prints. */
  async #take(length: number): Promise<Buffer> {
    const pieces = [this.#rest];
    for (let size = this.#rest.length; size < length; size += pieces.at(-1)?.length ?? 0) {
      pieces.push(await this.#piece());
    }
    const all = pieces.length === 1 ? this.#rest : Buffer.concat(pieces);
    this.#rest = all.subarray(length);
    return all.subarray(0, length);
  }

  async #piece(): Promise<Buffer> {
    this.#idle?.refresh();
    const { value, done } = (await patiently(this.#child, this.#pieces?.next())) ?? { done: true };
    if (done) throw new Error("git cat-file has ended");
    return value;
  }

  #start(): GitProcess {
    const child = git(this.location, ["cat-file", "--batch-command"]);
    child.unref();
    this.#rest = Buffer.alloc(0);
    this.#pieces = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    this.#idle = setTimeout(() => this.close(), idleMs).unref();
    return child;
  }

  /** Ends the process; the next request starts another one. */
  close(): void {
    clearTimeout(this.#idle);
    this.#child?.stdin.end();
    this.#child?.stdout.destroy();
    this.#child = undefined;
  }
}
