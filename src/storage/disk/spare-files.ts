import { createIn, type Directory, inDirectory } from "./directory.ts";
import { atOnce, attempted, call, inPool, type Program } from "./system-calls.ts";
import { spareFileName } from "./temporary-names.ts";

/** Spare files are removed when their directory has had no change for this long, in milliseconds. */
const soonMs = 1000;
/** Changes in a directory before it gets spare files, so that a few changes leave nothing to be seen. */
const enough = 16;
/** Each spare file is open: as many in a directory as a batch takes, and in few directories. */
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

/** Switches spare files on. Only the thread of a disk makes them, after it has answered. */
export function keepSpares(): void {
  isKeeping = true;
}

/** Takes a spare file, if there is one. Its name may be gone: removing the directory removes it, too. */
export function takeSpare({ real }: Directory, mode: number): SpareFile | undefined {
  return places.get(`${mode} ${real}`)?.files.pop();
}

/** Makes the file that the next change will need, if changes follow each other. */
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
