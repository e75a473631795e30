/**
 * A clock that begins at 0 and never goes back, out of any that reads milliseconds. Where that one jumps back, this one
 * stands still for a moment and goes on from there: a step back in time would take tokens away from everybody.
 */
export function steadyClock(read: () => number): () => number {
  let offset = -read();
  let latest = 0;
  return () => {
    const reading = read();
    if (reading + offset < latest) offset = latest - reading;
    latest = Math.max(latest, reading + offset);
    return latest;
  };
}
