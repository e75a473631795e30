import { inSlices, type SlicedWork } from "../../src/event-loop/sliced-work.ts";

/** Does work in slices, as the server does; rejects where it fails, in whichever slice. */
export async function done<Value>(work: SlicedWork<Value>): Promise<Value> {
  return inSlices(work);
}
