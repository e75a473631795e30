// Refused on every platform, so that a site moves between platforms and no test on Linux hides a hole on Windows:
const refused = new RegExp(
  [
    ":", // "page.html:stream" and "page.html::$DATA" are the same file, or one hidden in it
    "[. ](?:/|$)", // Windows drops them: "secret.html." is secret.html under a name that no rule knows
    "(?:^|/)(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³]|conin\\$|conout\\$|clock\\$) *(?:[./]|$)", // devices, in every directory
    "(?:^|/)\\.filement-[^/]*\\.tmp(?:/|$)", // what a write in progress leaves beside its target
  ].join("|"),
  "i", // Names differ in case only for some file systems.
);

/**
 * Whether clients must not see a canonical path. A segment that begins with a dot is hidden unless `dotfiles` is
 * `"allow"`; except `/.well-known` at the root (RFC 8615) and everything below it. The server's own temporary files,
 * Windows device names, names ending in a dot or a space, and names with a colon are always hidden.
 */
export function isHiddenPath(path: string, dotfiles: "ignore" | "allow"): boolean {
  if (refused.test(path)) return true;
  if (dotfiles === "allow" || !path.includes("/.")) return false;
  return path !== "/.well-known" && !path.startsWith("/.well-known/");
}

/** {@link isHiddenPath} for one name in any directory except `/.well-known`. */
export function isHiddenName(name: string, dotfiles: "ignore" | "allow"): boolean {
  return refused.test(name) || (dotfiles === "ignore" && name.startsWith("."));
}
