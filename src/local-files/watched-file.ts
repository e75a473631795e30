import { stat } from "node:fs/promises";
import { errnoOf } from "../storage/disk/file-record.ts";

/** Options of {@link WatchedFile}. */
export interface WatchedFileOptions<Content> {
  /** Path of the file on the disk. */
  readonly location: string;
  /** Reads the file, and throws where it cannot be used. What changes meanwhile is read again. */
  readonly load: (location: string) => Promise<Content>;
  /** Called once a changed file is read. */
  readonly onChange?: () => void;
  /** Called once for each reason why a changed file cannot be used; the former content stays in force. */
  readonly onFailure?: (error: unknown) => void;
}

/** Between two looks. The system's reports would not do: they miss network file systems and links to links. */
const lookMs = 500;

/** The content of a file that is read again when it changes: all of the new content, or still the former. */
export class WatchedFile<Content> {
  readonly #options: WatchedFileOptions<Content>;
  readonly #looks: NodeJS.Timeout;
  #content: Content;
  /** The state of the file that was dealt with last. */
  #stamp: string;
  /** The state in which the file was found broken at the last look. */
  #brokenStamp: string | undefined;
  #looking: Promise<void> | undefined;
  #reported: string | undefined;
  #isClosed = false;

  /** Reads the file for the first time, and throws what `load` throws. */
  static async open<Content>(options: WatchedFileOptions<Content>): Promise<WatchedFile<Content>> {
    const stamp = await stampOf(options.location); // before it is read: a change in between is then seen as one
    return new WatchedFile(options, stamp, await options.load(options.location));
  }

  private constructor(options: WatchedFileOptions<Content>, stamp: string, content: Content) {
    this.#options = options;
    this.#stamp = stamp;
    this.#content = content;
    this.#looks = setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    }, lookMs).unref();
  }

  /** The content of the file. It waits for a change that is being read. */
  async current(): Promise<Content> {
    await this.#looking;
    return this.#content;
  }

  /** The content as it was last read, for a caller that cannot wait. */
  get latest(): Content {
    return this.#content;
  }

  /** Stops looking, and waits for what is being read. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#looks);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { location, load, onChange } = this.#options;
    const stamp = await stampOf(location);
    if (stamp === this.#stamp) return;
    try {
      const content = await load(location);
      // Half of a file may be one without the rule that denies: the next look will tell.
      if ((await stampOf(location)) !== stamp || this.#isClosed) return;
      this.#stamp = stamp;
      this.#content = content;
      this.#reported = undefined;
      onChange?.();
    } catch (error) {
      this.#fail(stamp, error);
    }
  }

  /** Reports what is still wrong at a second look: `htpasswd` empties the file for a moment. */
  #fail(stamp: string, error: unknown): void {
    const isSecond = stamp === this.#brokenStamp;
    this.#brokenStamp = stamp;
    if (this.#isClosed || !isSecond) return;
    this.#stamp = stamp;
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
