/** More values than any edit of a list has. */
export const valuesOfEdit = 16;

/**
 * Whether there are more than so many values in JSON: each follows a comma or begins a list or an object. `JSON.parse`
 * takes up to ten microseconds for each, and does not yield: ten seconds for 10 MB of fields.
 */
export function hasMoreValues(json: string, most: number): boolean {
  let count = 0;
  for (let at = 0; at < json.length; at = endOfString(json, at)) {
    const end = json.indexOf('"', at);
    for (; at < (end === -1 ? json.length : end); at += 1) {
      if (",[{".includes(json.charAt(at)) && ++count > most) return true;
    }
  }
  return false;
}

/** Where a string ends that begins at an offset. */
function endOfString(json: string, start: number): number {
  let end = start;
  for (let escapes = 1; escapes % 2 === 1; ) {
    end = json.indexOf('"', end + 1);
    if (end === -1) return json.length;
    for (escapes = 0; json[end - 1 - escapes] === "\\"; ) escapes += 1;
  }
  return end + 1;
}
