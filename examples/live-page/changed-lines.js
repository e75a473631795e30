// The lines in which two versions of a small file differ.

/**
 * What was removed and what was added, in order, by a longest common subsequence.
 * @param {string} before
 * @param {string} after
 * @returns {Array<{ sign: "+" | "-", text: string }>}
 */
export function changedLines(before, after) {
  const [old, now] = [before.split("\n"), after.split("\n")];
  // common[i][j]: how many lines old from i on and now from j on have in common
  const common = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  const at = (/** @type {number} */ i, /** @type {number} */ j) => common[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    const row = /** @type {Uint32Array} */ (common[i]);
    for (let j = now.length - 1; j >= 0; j -= 1) {
      row[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  /** @type {Array<{ sign: "+" | "-", text: string }>} */
  const lines = [];
  for (let i = 0, j = 0; i < old.length || j < now.length; ) {
    const [removed, added] = [old[i], now[j]];
    if (removed === added) [i, j] = [i + 1, j + 1];
    else if (removed !== undefined && (added === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: "-", text: removed });
      i += 1;
    } else {
      lines.push({ sign: "+", text: added ?? "" });
      j += 1;
    }
  }
  return lines;
}
