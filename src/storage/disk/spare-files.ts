import { createIn, type Directory, inDirectory } from "./directory.ts";
import { atOnce, attempted, call, inPool, type Program } from "./system-calls.ts";
import { spareFileName } from "./temporary-names.ts";

/** How long the next change in the same directory is waited for, in milliseconds; then the files go. */
const soonMs = 1000;
/** So many changes make more of them likely: one or two leave nothing to be seen. */
const enough = 16;
/** Each file is open: in a directory as many as a batch takes, in few directories. */
const maxFiles = 8;
const maxPlaces = 8;

/** A temporary file that was made beforehand, open and empty. */
interface SpareFile {
  readonly name: string;
  readonly file: number;
}

/** Where files of one mode were replaced a moment ago. */
interface Place {
  readonly real: string;
  readonly files: SpareFile[];
  readonly timer: NodeJS.Timeout;
  changes: number;
}

const places = new Map<string, Place>();
let isKeeping = false;

/** From now on spare files are made: in the thread of a disk, while nobody waits for it. */
export function keepSpares(): void {
  isKeeping = true;
}

/** `undefined` where there is none. It may have lost its name: whoever removes the directory removes it as well. */
export function takeSpare({ real }: Directory, mode: number): SpareFile | undefined {
  return places.get(`${mode} ${real}`)?.files.pop();
}

/** Makes the file that the next change will need, where changes follow each other. */
export function* leaveSpare(directory: Directory, mode: number): Program<void> {
  if (!isKeeping) return;
  const { real } = directory;
  const key = `${mode} ${real}`;
  const known = places.get(key);
  if (!known) {
    const remove = (): Promise<void> => inPool(removeSpares(real), atOnce);
    if (places.size < maxPlaces) places.set(key, { real, files: [], timer: setTimeout(remove, soonMs), changes: 1 });
    return;
  }
  known.timer.refresh();
  known.changes += 1;
  if (known.changes < enough || known.files.length === maxFiles) return;
  const name = spareFileName();
  known.files.push({ name, file: yield* createIn(directory, name, mode) });
}

/** Removes those of a directory, or all. */
export function* removeSpares(directory?: string): Program<void> {
  for (const [key, { real, files, timer }] of [...places]) {
    if (directory !== undefined && directory !== real) continue;
    clearTimeout(timer);
    places.delete(key);
    for (const { file } of files) yield* attempted(call.close(file)); // first: NFS renames what is open
    const removal = inDirectory(real, function* (open) {
      for (const { name } of files) yield* attempted(call.unlink(open.at(name)));
    });
    if (files.length > 0) yield* attempted(removal);
  }
}
