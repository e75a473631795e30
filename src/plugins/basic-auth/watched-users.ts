import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { notify } from "../../server/notify.ts";
import { errnoOf } from "../../storage/disk/errors.ts";

/** Options of {@link WatchedUsers}. */
export interface WatchedUsersOptions<Accounts> {
  /** Path of the users file on the disk. */
  readonly location: string;
  /** Reads the file, and throws where it cannot be used. */
  readonly load: (location: string) => Promise<Accounts>;
  /** Told once of each reason why the file, which has changed, cannot be used; the former content stays in force. */
  readonly onFailure: (error: unknown) => void;
  /** Whether the system tells of changes; the file is looked at in any case. @default true */
  readonly isWatched?: boolean;
  /** A clock in milliseconds. @default performance.now */
  readonly now?: () => number;
}

/** Where the system does not tell of a change (a network file system, a link to a link), it takes effect so soon. */
const lookAgainMs = 1000;
/** `htpasswd` writes into the file itself, so that for a moment it is empty: no reason for an alarm. */
const settleMs = 250;

/** The content of a users file, which is read again when the file changes: all of the new one, or still the old. */
export class WatchedUsers<Accounts> {
  readonly #options: WatchedUsersOptions<Accounts>;
  readonly #now: () => number;
  readonly #watcher: FSWatcher | undefined;
  #accounts: Accounts;
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
  static async open<Accounts>(options: WatchedUsersOptions<Accounts>): Promise<WatchedUsers<Accounts>> {
    const stamp = await stampOf(options.location); // before it is read: a change in between is then seen as one
    return new WatchedUsers(options, stamp, await options.load(options.location));
  }

  private constructor(options: WatchedUsersOptions<Accounts>, stamp: string, accounts: Accounts) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#stamp = stamp;
    this.#accounts = accounts;
    this.#lookedAt = this.#now();
    this.#watcher = options.isWatched === false ? undefined : this.#watch();
  }

  /** What is in the file. It waits for a change that is being read, so that whoever was removed from the file is out. */
  async current(): Promise<Accounts> {
    if (this.#hasChanged || this.#now() - this.#lookedAt >= lookAgainMs) this.#look();
    await this.#looking;
    return this.#accounts;
  }

  /** Stops looking, and waits for what is being read. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watcher?.close();
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

  #lookAtOnce(): void {
    this.#hasChanged = true;
    this.#look();
  }

  #look(): void {
    if (this.#isClosed) return;
    this.#looking ??= this.#reload().finally(() => {
      this.#looking = undefined;
    });
  }

  async #reload(): Promise<void> {
    const { location, load } = this.#options;
    // A change within the same tick of the file system's clock shows in nothing but that we were told of it.
    const wasTold = this.#hasChanged;
    this.#hasChanged = false;
    this.#lookedAt = this.#now();
    const stamp = await stampOf(location);
    if (stamp === this.#stamp && !wasTold) return;
    this.#stamp = stamp;
    clearTimeout(this.#settling);
    try {
      const accounts = await load(location);
      if ((await stampOf(location)) !== stamp) {
        this.#hasChanged = true; // half of a file may be one without the rule that denies: the next look will tell
        return;
      }
      this.#accounts = accounts;
      this.#isSettled = false;
      this.#reported = undefined;
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
    notify(
      () => this.#options.onFailure(error),
      () => {}, // a logger that fails has nobody to tell
    );
  }
}

/** Whatever differs when the file was written, replaced or put behind a link again. */
async function stampOf(location: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(location, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch (error) {
    return errnoOf(error); // reading it will say what is the matter
  }
}
