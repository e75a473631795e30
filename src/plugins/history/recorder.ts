import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { filesBelow } from "../../files/visible-entries.ts";
import { entityTag } from "../../http/entity-tag.ts";
import type { ChangeOrigin, UnnumberedChange } from "../../server/change-feed.ts";
import { type Content, type OpenFile, type Storage, StorageError, type StoredStat } from "../../storage/storage.ts";
import type { Journal, JournalRecord } from "./journal.ts";

/** Bytes of contents that are being stored, or not announced yet. Beyond it, files are read again. */
const maxCaptured = 64 * 1024 * 1024;
/** Bytes of a content that is copied however many others there are. */
const alwaysCopied = 64 * 1024;

export interface RecorderOptions {
  readonly journal: Journal;
  readonly maxFileBytes: number;
  covers(path: string): boolean;
  /** Whether changes are to be refused now, where they ever are. */
  readonly isFull?: (() => Promise<boolean>) | undefined;
  report(error: unknown): void;
}

/** Notes what each change has made of a file: content from the storage, circumstances from the change feed. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #captured = new LRUCache<string, Uint8Array>({
    maxSize: maxCaptured,
    sizeCalculation: ({ byteLength }) => byteLength + 1,
  });
  /** Bytes that may yet be copied of contents that are being stored. */
  readonly #room = { bytes: maxCaptured };
  /** Changes whose files are being read again, by their paths: what comes after is noted after. */
  readonly #late = new Map<string, Promise<void>>();
  /** Of large files, one is read at a time. */
  #reading: Promise<unknown> = Promise.resolve();
  /** What files were before this process changed them for the first time, by their paths. */
  readonly #former = new LRUCache<string, Former>({ maxSize: 10_000, sizeCalculation: () => 1 });
  /** What requests are about to do, for the commits that they lead to, by their ids. */
  readonly notes: Map<string, string> = new Map();
  /** Those of all file handlers. */
  readonly storages: { readonly storage: Storage; readonly root: string }[] = [];

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** The storage, which remembers what is stored until its change is announced. */
  wrap(storage: Storage, root = "/"): Storage {
    this.storages.push({ storage, root });
    const { maxFileBytes, covers, isFull } = this.#options;
    const capture = (path: string, { version, size }: StoredStat, content: Uint8Array | undefined): void => {
      if (content && size <= maxFileBytes) this.#captured.set(keyOf(path, entityTag(version)), content);
    };
    const admit = async (path: string): Promise<void> => {
      if (await isFull?.()) throw new StorageError("unavailable");
      await this.#keepFormer(storage, path);
    };
    const storing = (method: "write" | "append"): Storage["write"] => {
      return async (path, content, options) => {
        if (!covers(path)) return storage[method](path, content, options);
        await admit(path);
        const copy = new Copy(maxFileBytes, this.#room);
        try {
          const result = await storage[method](path, copy.whilePassing(content), options);
          capture(path, result.stat, copy.bytes);
          return result;
        } finally {
          copy.forget();
        }
      };
    };
    const changing: Partial<Storage> = {
      write: storing("write"),
      append: storing("append"),
      async update(path, edit, made) {
        if (!covers(path)) return storage.update(path, edit, made);
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
        if (covers(path)) await admit(path);
        await storage.remove(path, options);
      },
      ...(storage.move && {
        async move(from, to, options) {
          for (const path of [from, to]) if (covers(path)) await admit(path);
          return storage.move?.(from, to, options);
        },
      }),
    };
    const bound = new WeakMap<object, unknown>();
    return new Proxy(storage, {
      get(target, name) {
        const value: unknown = Reflect.get(changing, name) ?? Reflect.get(target, name);
        if (typeof value !== "function") return value;
        if (!bound.has(value)) bound.set(value, value.bind(target));
        return bound.get(value);
      },
    });
  }

  /** Existing files are recorded while the server runs already: a change may come first. */
  #keepFormer(storage: Storage, path: string): Promise<void> {
    const known = this.#former.get(path);
    if (known) return known.isRead;
    const former: Former = { isRead: Promise.resolve() };
    this.#former.set(path, former);
    former.isRead = this.#opened(storage, path, async (file) => {
      former.stat = file.stat;
      this.#captured.set(keyOf(path, entityTag(file.stat.version)), await file.bytes());
    });
    return former.isRead;
  }

  /** Notes, and gives, what a file was before its first change here, which history may not have yet. */
  #addFormer({ path, time }: UnnumberedChange, follows: string | undefined): Uint8Array | undefined {
    const former = this.#former.get(path);
    if (!former?.stat) return undefined;
    const etag = entityTag(former.stat.version);
    const record = { ...foundRecord(path, former.stat), etag, orderTime: Date.parse(time) };
    delete former.stat;
    const content = this.#captured.get(keyOf(path, etag));
    if (!content || (follows !== undefined && follows !== etag)) return undefined;
    void this.#options.journal.add(record, content);
    return content;
  }

  /** Notes a change; resolves when that is in the journal. `undefined` where there is nothing to note. */
  record(change: UnnumberedChange, { follows }: ChangeOrigin): Promise<void> | undefined {
    const { kind, path, user, etag, size, requestId, selector } = change;
    if (!this.#options.covers(path)) return undefined;
    const before = this.#addFormer(change, follows);
    const key = keyOf(path, etag);
    const content = kind === "deleted" ? Buffer.alloc(0) : this.#captured.get(key);
    this.#captured.delete(key);
    const isPart = kind === "appended" && content && !before;
    const whole = kind === "appended" && content && before ? Buffer.concat([before, content]) : content;
    const what = selector === undefined ? path : `${selector} in ${path}`;
    const record: JournalRecord = {
      path,
      kind: isPart ? "appended" : kind === "deleted" ? "deleted" : "written",
      summary: this.notes.get(requestId) ?? `${change.method} ${what}`,
      time: Date.parse(change.time),
      user,
      requestId,
      selector,
      size,
      etag,
      follows,
    };
    const add = (): Promise<void> => (whole ? this.#options.journal.add(record, whole) : this.#addStored(record));
    const late = this.#late.get(path);
    if (whole && !late) return add();
    const added = (late ? late.then(add) : add()).finally(() => {
      if (this.#late.get(path) === added) this.#late.delete(path);
    });
    this.#late.set(path, added);
    return added;
  }

  /** Notes files that are not as history has them, by names of contents: all, or those changed without a server. */
  async recordFiles(known: Map<string, string>, goesOn: () => Promise<boolean>): Promise<void> {
    const { covers } = this.#options;
    for (const { storage, root } of this.storages) {
      for await (const path of filesBelow(storage, root)) {
        if (!covers(path)) continue;
        if (!(await goesOn())) return;
        const before = known.get(path);
        known.delete(path);
        await this.#opened(storage, path, async (file) => {
          const content = await file.bytes();
          const algorithm = before?.length === 64 ? "sha256" : "sha1"; // as the repository has it
          const blob = createHash(algorithm).update(`blob ${content.byteLength}\0`).update(content).digest("hex");
          if (blob !== before) await this.#options.journal.add(foundRecord(path, file.stat), content);
        });
      }
    }
    for (const path of known.keys()) {
      const record = { path, kind: "missed", summary: `Missed ${path}`, time: Date.now() } as const;
      if (covers(path)) await this.#options.journal.add(record, Buffer.alloc(0));
    }
  }

  /** Of a change whose content did not come by here, as of another program: the file, if it is still that version. */
  async #addStored(record: JournalRecord): Promise<void> {
    const isAdded = await this.stored(record.path, async (file) => {
      if (entityTag(file.stat.version) !== record.etag) return undefined;
      await this.#options.journal.add(record, await file.bytes());
      return true;
    }).catch((error: unknown) => this.#options.report(error)); // what comes after it is noted all the same
    if (isAdded) return;
    this.#options.report(new Error(`history: no commit for ${record.summary}: it is too large, or was changed again`));
  }

  /** What a function gives for a file as it is now; `undefined` if that is missing or too large. */
  async stored<T>(path: string, use: (file: OpenFile) => Promise<T | undefined>): Promise<T | undefined> {
    for (const { storage } of this.storages) {
      const given = await this.#opened(storage, path, use);
      if (given !== undefined) return given;
    }
    return undefined;
  }

  /** Calls a function with a file unless it is missing or too large. */
  async #opened<T>(storage: Storage, path: string, use: (file: OpenFile) => Promise<T>): Promise<T | undefined> {
    const file = await storage.open(path).catch(() => undefined);
    if (!file) return undefined;
    try {
      const { size } = file.stat;
      if (size > this.#options.maxFileBytes) return undefined;
      if (size <= alwaysCopied) return await use(file);
      const used = this.#reading.then(() => use(file));
      this.#reading = used.catch(() => {});
      return await used;
    } finally {
      await file.close();
    }
  }
}

/** A copy of content on its way to a storage: of more bytes than `most`, or without room for it, none. */
class Copy {
  readonly #most: number;
  readonly #room: { bytes: number };
  #pieces: Buffer[] | undefined = [];
  #size = 0;

  constructor(most: number, room: { bytes: number }) {
    this.#most = most;
    this.#room = room;
  }

  async *whilePassing(content: Content): AsyncGenerator<Uint8Array> {
    for await (const piece of content) {
      const size = this.#size + piece.byteLength;
      if (size > this.#most || (size > alwaysCopied && piece.byteLength > this.#room.bytes)) this.forget();
      if (this.#pieces) {
        this.#pieces.push(Buffer.from(piece)); // its memory may be used again
        this.#size = size;
        this.#room.bytes -= piece.byteLength;
      }
      yield piece;
    }
  }

  get bytes(): Buffer | undefined {
    return this.#pieces?.length === 1 ? this.#pieces[0] : this.#pieces && Buffer.concat(this.#pieces);
  }

  forget(): void {
    this.#room.bytes += this.#size;
    this.#size = 0;
    this.#pieces = undefined;
  }
}

/** A file as it was when this process was about to change it; noted when the change is announced. */
interface Former {
  isRead: Promise<void>;
  stat?: StoredStat;
}

function foundRecord(path: string, { modified }: StoredStat): JournalRecord {
  // git has no date before 1970.
  return { path, kind: "found", summary: `Found ${path}`, time: Math.max(0, modified.getTime()) };
}

function keyOf(path: string, etag: string | undefined): string {
  return `${etag} ${path}`;
}
