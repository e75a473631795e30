import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { errnoOf } from "../storage/disk/file-record.ts";

/** Options of {@link WatchedFile}. */
export interface WatchedFileOptions<Content> {
  /** Path of the file on the disk. */
  readonly location: string;
  /** Reads the file, and throws where it cannot be used. What changes meanwhile is read again. */
  readonly load: (location: string) => Promise<Content>;
  /** Called once a changed file is read. The file is then looked at all the time, and not only by `current()`. */
  readonly onChange?: () => void;
  /** Called once for each reason why a changed file cannot be used; the former content stays in force. */
  readonly onFailure?: (error: unknown) => void;
  /** Ask the system to report changes; the file is looked at in any case. @default true */
  readonly isWatched?: boolean;
  /** A clock in milliseconds. @default performance.now */
  readonly now?: () => number;
}

/** How soon a change is seen that the system does not report: on a network file system, behind a link to a link. */
const lookAgainMs = 1000;
/** `htpasswd` writes into the file itself, so that for a moment it is empty: no reason for an alarm. */
const settleMs = 250;

/** The content of a file that is read again when it changes: all of the new content, or still the former. */
export class WatchedFile<Content> {
  readonly #options: WatchedFileOptions<Content>;
  readonly #now: () => number;
  readonly #watcher: FSWatcher | undefined;
  readonly #polling: NodeJS.Timeout | undefined;
  #content: Content;
  /** Tells one state of the file from the next. */
  #stamp: string;
  #lookedAt: number;
  #hasChanged = false;
  #looking: Promise<void> | undefined;
  #settling: NodeJS.Timeout | undefined;
  /** Whether this is the second look at a file that was broken at the first. */
  #isSettled = false;
  #reported: string | undefined;
  #isClosed = false;

  /** Reads the file for the first time, and throws what `load` throws. */
  static async open<Content>(options: WatchedFileOptions<Content>): Promise<WatchedFile<Content>> {
    const stamp = await stampOf(options.location); // before it is read: a change in between is then seen as one
    return new WatchedFile(options, stamp, await options.load(options.location));
  }

  private constructor(options: WatchedFileOptions<Content>, stamp: string, content: Content) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#stamp = stamp;
    this.#content = content;
    this.#lookedAt = this.#now();
    this.#watcher = options.isWatched === false ? undefined : this.#watch();
    if (options.onChange) this.#polling = setInterval(() => this.#look(), lookAgainMs).unref();
  }

  /** The content of the file. It waits for a change that is being read, so that a removed user is refused at once. */
  async current(): Promise<Content> {
    this.#lookIfDue();
    await this.#looking;
    return this.#content;
  }

  /** The content as it was last read, for a caller that cannot wait. A change is read meanwhile. */
  get latest(): Content {
    this.#lookIfDue();
    return this.#content;
  }

  /** Stops looking, and waits for what is being read. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watcher?.close();
    clearInterval(this.#polling);
    clearTimeout(this.#settling);
    await this.#looking;
  }

  /** The directory, because editors put a new file in the old one's place, and a watch would stay with the old one. */
  #watch(): FSWatcher | undefined {
    const { location } = this.#options;
    try {
      const watcher = watch(dirname(location), { persistent: false }, (_event, name) => {
        if (name === null || name === basename(location)) this.#lookAtOnce();
      });
      return watcher.on("error", () => watcher.close());
    } catch {
      return undefined; // there are too many watches, or none at all on this system: looking now and then will do
    }
  }

  #lookIfDue(): void {
    if (this.#hasChanged || this.#now() - this.#lookedAt >= lookAgainMs) this.#look();
  }

  #lookAtOnce(): void {
    this.#hasChanged = true;
    this.#look();
  }

  #look(): void {
    if (this.#isClosed) return;
    this.#looking ??= this.#reload().finally(() => {
      this.#looking = undefined;
      if (this.#hasChanged && this.#options.onChange) this.#look(); // no call of `current()` may come
    });
  }

  async #reload(): Promise<void> {
    const { location, load, onChange } = this.#options;
    // A change within the same tick of the file system's clock shows only in that the system reported it.
    const wasReported = this.#hasChanged;
    this.#hasChanged = false;
    this.#lookedAt = this.#now();
    const stamp = await stampOf(location);
    const isNew = stamp !== this.#stamp;
    if (!isNew && !wasReported) return;
    this.#stamp = stamp;
    clearTimeout(this.#settling);
    try {
      const content = await load(location);
      if ((await stampOf(location)) !== stamp) {
        this.#hasChanged = true; // half of a file may be one without the rule that denies: the next look will tell
        return;
      }
      this.#content = content;
      this.#isSettled = false;
      this.#reported = undefined;
      if (isNew && !this.#isClosed) onChange?.();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Reports what is still wrong at a second look. */
  #fail(error: unknown): void {
    if (this.#isClosed) return;
    if (!this.#isSettled) {
      this.#settling = setTimeout(() => {
        this.#isSettled = true;
        this.#lookAtOnce();
      }, settleMs).unref();
      return;
    }
    this.#isSettled = false;
    const reason = String(error);
    if (reason === this.#reported) return;
    this.#reported = reason;
    try {
      this.#options.onFailure?.(error);
    } catch {
      // The logger itself failed.
    }
  }
}

/** Differs when the file was written, replaced or put behind a link again. */
async function stampOf(location: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(location, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch (error) {
    return errnoOf(error); // reading it will say what is wrong
  }
}
