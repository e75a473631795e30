// RFC 3986 §3.2: the authority ends at the first "/", "?" or "#"; of several "@" in it the last one counts.
const userInfo = /^([a-z][a-z\d+.-]*:\/\/)?[^/?#]*@/i;

/** A URL or a request target without the user and password that may stand before its host. */
export function withoutUserInfo(url: string): string {
  return url.startsWith("/") ? url : url.replace(userInfo, "$1");
}
