import { Buffer } from "node:buffer";
import { LRUCache } from "lru-cache";
import { entityTag } from "../../http/entity-tag.ts";
import type { ChangeOrigin, UnnumberedChange } from "../../server/change-feed.ts";
import { type Content, type OpenFile, type Storage, StorageError, type StoredStat } from "../../storage/storage.ts";
import type { Journal, JournalRecord } from "./journal.ts";

/** Contents that are stored, and whose change was not announced yet, in bytes; beyond it, and for larger ones, the file is read again. */
const maxCaptured = 64 * 1024 * 1024;

export interface RecorderOptions {
  readonly journal: Journal;
  readonly maxFileBytes: number;
  /** Whether a file has a history. */
  covers(path: string): boolean;
  /** Whether changes are to be refused now. */
  isFull(): Promise<boolean>;
  /** Called when there is something in the journal. */
  recorded(bytes: number): void;
  report(error: unknown): void;
}

/** Notes what each change has made of a file: content from the storage, circumstances from the change feed. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #captured = new LRUCache<string, Uint8Array>({
    maxSize: maxCaptured,
    sizeCalculation: ({ byteLength }) => byteLength + 1,
  });
  /** What files were before this process changed them for the first time, by their paths. */
  readonly #former = new LRUCache<string, Former>({ max: 10_000 });
  readonly #notes = new Map<string, string>();
  readonly #storages = new Set<Storage>();

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** The storage, which remembers what is stored until its change is announced. */
  wrap(storage: Storage): Storage {
    this.#storages.add(storage);
    const { maxFileBytes, covers } = this.#options;
    const capture = (path: string, { version, size }: StoredStat, content: Uint8Array | undefined): void => {
      if (content && size <= maxFileBytes && covers(path)) this.#captured.set(keyOf(path, entityTag(version)), content);
    };
    const admit = async (path: string): Promise<void> => {
      if (!covers(path)) return;
      if (await this.#options.isFull()) throw new StorageError("unavailable");
      await this.#keepFormer(storage, path);
    };
    const passing = async <Result extends { readonly stat: StoredStat }>(
      path: string,
      content: Content,
      store: (passed: Content) => Promise<Result>,
    ): Promise<Result> => {
      await admit(path);
      const passed = copied(content, covers(path) ? maxFileBytes : 0);
      const result = await store(passed.content);
      capture(path, result.stat, passed.copy());
      return result;
    };
    const move = storage.move?.bind(storage);
    const delegate = Object.fromEntries(
      delegated.flatMap((name) => (storage[name] ? [[name, storage[name].bind(storage)]] : [])),
    ) as Partial<Storage>;
    return {
      ...delegate,
      stat: (path) => storage.stat(path),
      open: (path, purpose) => storage.open(path, purpose),
      list: (path) => storage.list(path),
      write: (path, content, options) => passing(path, content, (passed) => storage.write(path, passed, options)),
      append: (path, content, options) => passing(path, content, (passed) => storage.append(path, passed, options)),
      async update(path, edit, made) {
        await admit(path);
        let edited: Uint8Array | undefined;
        const keep: typeof edit = async (read, stat) => {
          edited = await edit(read, stat);
          return edited;
        };
        const result = await storage.update(path, keep, made);
        if (result.changed) capture(path, result.stat, edited);
        return result;
      },
      async remove(path, options) {
        await admit(path);
        await storage.remove(path, options);
      },
      ...(move && {
        async move(from, to, options) {
          await admit(from);
          await admit(to);
          return move(from, to, options);
        },
      }),
    };
  }

  /** Existing files are recorded while the server runs already: a change may come first. */
  async #keepFormer(storage: Storage, path: string): Promise<void> {
    const known = this.#former.get(path);
    if (known) return known.isRead;
    const former: Former = { isRead: Promise.resolve() };
    this.#former.set(path, former);
    former.isRead = openedFile(storage, path, this.#options.maxFileBytes, async (file) => {
      former.stat = file.stat;
      this.#captured.set(keyOf(path, entityTag(file.stat.version)), await file.bytes());
    });
    await former.isRead;
  }

  /** Notes what a file was before its first change here, which history may not have yet. */
  #addFormer(path: string, follows: string | undefined): void {
    const former = this.#former.get(path);
    if (!former?.stat) return;
    const { version, modified } = former.stat;
    delete former.stat;
    const etag = entityTag(version);
    const content = this.#captured.get(keyOf(path, etag));
    if (!content || (follows !== undefined && follows !== etag)) return;
    void this.#add({ path, kind: "found", summary: `Found ${path}`, time: modified.getTime(), etag }, content);
  }

  /** Says what a request is about to do, for the commit that it leads to. */
  note(requestId: string, summary: string): void {
    this.#notes.set(requestId, summary);
  }

  /** Notes a change; resolves when that is in the journal. `undefined` where there is nothing to note. */
  record(change: UnnumberedChange, { follows }: ChangeOrigin): Promise<void> | undefined {
    const { kind, path, etag, requestId } = change;
    if (!this.#options.covers(path)) return undefined;
    const { method, user, selector, time } = change;
    const what = selector === undefined ? path : `${selector} in ${path}`;
    const record: JournalRecord = {
      path,
      kind: kind === "deleted" ? "deleted" : kind === "appended" ? "appended" : "written",
      summary: this.#notes.get(requestId) ?? `${method} ${what}`,
      time: Date.parse(time),
      ...{ user, requestId, selector, etag, follows },
    };
    this.#notes.delete(requestId);
    this.#addFormer(path, follows);
    if (record.kind === "deleted") return this.#add(record, Buffer.alloc(0));
    const key = keyOf(path, etag);
    const content = this.#captured.get(key);
    this.#captured.delete(key);
    return content ? this.#add(record, content) : this.#addStored({ ...record, kind: "written" });
  }

  /** Notes a file as it is now. */
  async found(path: string, content: Uint8Array, time: Date): Promise<void> {
    await this.#add({ path, kind: "found", summary: `Found ${path}`, time: time.getTime() }, content);
  }

  /** Notes that a file is not there any more. */
  async gone(path: string): Promise<void> {
    await this.#add({ path, kind: "deleted", summary: `Missed ${path}`, time: Date.now() }, Buffer.alloc(0));
  }

  async #add(record: JournalRecord, content: Uint8Array): Promise<void> {
    try {
      await this.#options.journal.add(record, content);
    } catch (error) {
      this.#options.report(new Error("history: a change could not be noted yet", { cause: error }));
    }
    this.#options.recorded(content.byteLength);
  }

  /** Of a change whose content did not come by here, such as one by another program: the file, if it is still that version. */
  async #addStored(record: JournalRecord): Promise<void> {
    const { maxFileBytes } = this.#options;
    for (const storage of this.#storages) {
      const isAdded = await openedFile(storage, record.path, maxFileBytes, async (file) => {
        if (entityTag(file.stat.version) !== record.etag) return false;
        await this.#add(record, await file.bytes());
        return true;
      });
      if (isAdded) return;
    }
    this.#options.report(new Error(`history: no commit for ${record.summary}: it is too large, or was changed again`));
  }
}

/** A file as it was when this process was about to change it; noted when the change is announced. */
interface Former {
  isRead: Promise<void>;
  stat?: StoredStat;
}

/** Calls a function with a file unless it is missing or too large. */
export async function openedFile<T>(
  storage: Storage,
  path: string,
  maxBytes: number,
  use: (file: OpenFile) => Promise<T>,
): Promise<T | undefined> {
  const file = await storage.open(path).catch(() => undefined);
  if (!file) return undefined;
  try {
    return file.stat.size > maxBytes ? undefined : await use(file);
  } finally {
    await file.close();
  }
}

/** Methods that a storage may have, and that change no content or come by `changed`. */
const delegated = ["listedPath", "makeDirectory", "check", "protect", "refuses", "watch"] as const;

function keyOf(path: string, etag: string | undefined): string {
  return `${etag} ${path}`;
}

/** Content on its way; `copy` has it in the end, unless there were more bytes than `most`. */
function copied(source: Content, most: number): { readonly content: Content; copy(): Buffer | undefined } {
  const pieces: Buffer[] = [];
  let size = 0;
  async function* pass(): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      size += piece.byteLength;
      if (size <= most)
        pieces.push(Buffer.from(piece)); // its memory may be used again
      else pieces.length = 0;
      yield piece;
    }
  }
  return { content: pass(), copy: () => (size <= most ? Buffer.concat(pieces) : undefined) };
}
