import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Editors write a file in several steps; one that has been the same for so long is whole, in milliseconds. */
const settleMs = 100;
/** How often to look without being told: at a link's target, at network file systems, at a directory put in the place. */
const lookAgainMs = 2_000;

/** Calls `changed` when a file was changed, replaced or removed, once for a burst. Resolves with how to stop. */
export async function watchFile(file: string, changed: () => void): Promise<() => void> {
  let known = await stampOf(file);
  let seen = known;
  let settling: NodeJS.Timeout | undefined;
  let isStopped = false;

  const look = async (): Promise<void> => {
    settling = undefined;
    const stamp = await stampOf(file);
    if (isStopped || stamp === known) return;
    if (stamp === seen) {
      known = stamp;
      changed();
    } else {
      seen = stamp;
      lookSoon();
    }
  };
  const lookSoon = (): void => {
    settling ??= setTimeout(look, settleMs).unref();
  };

  const watcher = watchDirectory(dirname(file), lookSoon);
  const looking = setInterval(lookSoon, lookAgainMs).unref();
  return () => {
    isStopped = true;
    watcher?.close();
    clearInterval(looking);
    clearTimeout(settling);
  };
}

/** The directory, because a file that is replaced takes its watch with it; `undefined` where there are none to be had. */
function watchDirectory(directory: string, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, changed);
    return watcher.on("error", () => watcher.close());
  } catch {
    return undefined; // too many watches, or none on this system: looking now and then will do
  }
}

/** Differs between any two versions of a file, wherever a link leads. */
async function stampOf(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch {
    return "missing"; // or not to be looked at, which whoever reads it will say
  }
}
