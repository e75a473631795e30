import { isBlank } from "./attributes.ts";

/** No mark that matters is longer. */
const longestMark = "</script".length + 1;

/** Finds where the content of an element ends that holds text only, a stretch of the source after the other. */
export interface RawTextEnd {
  /** The offset of the end tag, where it begins before `to`; each call goes on from the `to` of the last. */
  search(to: number): number | undefined;
}

/** The end of `title`, `style` and the like: the first end tag of that name (HTML Standard, 13.2.5.9 to 13.2.5.14). */
export function endOfRawText(source: string, from: number, name: string): RawTextEnd {
  let position = from;
  return {
    search(to) {
      const stretch = source.slice(position, to + 1);
      for (let found = stretch.indexOf("</"); found >= 0; found = stretch.indexOf("</", found + 2)) {
        if (isTagAt(source, position + found + 2, name)) return position + found;
      }
      position = to;
      return undefined;
    },
  };
}

const marks = /<!--|-->|<\/?script/gi;

/**
 * The end of a `script`. Between `<!--` and `-->` a `<script` begins another one, whose end tag is text (13.2.5.15 to
 * 13.2.5.31).
 */
export function endOfScript(source: string, from: number): RawTextEnd {
  let position = from;
  let isInComment = false;
  let isInScript = false;
  return {
    search(to) {
      const stretch = source.slice(position, to + longestMark);
      marks.lastIndex = 0;
      for (let mark = marks.exec(stretch); mark; mark = marks.exec(stretch)) {
        const index = position + mark.index;
        if (index >= to) break;
        if (mark[0] === "<!--") {
          isInComment = true;
          marks.lastIndex = mark.index + 2; // `<!-->` is both the beginning and the end
        } else if (mark[0] === "-->") {
          isInComment = false;
          isInScript = false;
        } else if (mark[0].startsWith("</")) {
          if (!isTagAt(source, index + 2, "script")) continue;
          if (!isInScript) return index;
          isInScript = false;
        } else if (isInComment && isTagAt(source, index + 1, "script")) isInScript = true;
      }
      position = to;
      return undefined;
    },
  };
}

/** Whether a name stands there that is a whole one, followed by what ends the name of a tag. */
function isTagAt(source: string, start: number, name: string): boolean {
  const end = start + name.length;
  const after = source.charCodeAt(end);
  if (!isBlank(after) && after !== 0x2f && after !== 0x3e) return false;
  return source.slice(start, end).toLowerCase() === name;
}
