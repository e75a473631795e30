/** The tags of a list, whether each is weak, and the tag with its quotes; there may be commas between them. */
const members = /(?<=^|,)[ \t]*(W\/)?("[^"]*")[ \t]*(?=,|$)/g;

/** The strong entity tag of a version (RFC 9110 §8.8.3): the version in quotes. */
export function entityTag(version: string): string {
  return `"${version}"`;
}

/** Codings in which the content of a file may be sent (RFC 9110 §8.4.1). */
export type ContentCoding = "br" | "zstd" | "gzip";

/** The strong tag of a version's content in a coding; `maker` tells its bytes from others in the same coding. */
export function variantTag(version: string, coding: ContentCoding, maker: string): string {
  return `"${version}.${coding}.${maker}"`;
}

/** A list of tags, with the tags of a version in place of those of its content in codings. */
export function tagsOfVersions(list: string): string {
  return list.replaceAll(/\.(?:br|zstd|gzip)\.[^".]*"/g, '"');
}

/** Whether `If-Match` names `tag`: strong comparison (RFC 9110 §8.8.3.2), a weak tag never matches. */
export function matchesStrongly(list: string, tag: string): boolean {
  return [...list.matchAll(members)].some(([, weak, opaque]) => weak === undefined && opaque === tag);
}

/** Whether `If-None-Match` names `tag`: weak comparison (RFC 9110 §8.8.3.2), `W/` makes no difference. */
export function matchesWeakly(list: string, tag: string): boolean {
  const wanted = tag.startsWith("W/") ? tag.slice(2) : tag;
  return [...list.matchAll(members)].some(([, , opaque]) => opaque === wanted);
}
