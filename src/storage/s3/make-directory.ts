import { StorageError } from "../storage.ts";
import { type Places, parentOf, unslashed } from "./places.ts";

/** Makes the marker of a directory that is not there, in one that is. */
export async function makeDirectory(places: Places, path: string): Promise<void> {
  if ((await places.look(unslashed(path))).kind !== "nothing") throw new StorageError("exists");
  const parent = parentOf(unslashed(path));
  const above = parent === "/" ? "directory" : (await places.look(unslashed(parent))).kind;
  if (above !== "directory") throw new StorageError(above === "file" ? "not-a-directory" : "no-parent");
  if (!(await places.makeMarker(path))) throw new StorageError("exists");
}
