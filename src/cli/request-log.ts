import { withoutUserInfo } from "../plugins/access-log/entry.ts";
import type { Plugin } from "../server/plugin.ts";

export function requestLog(): Plugin {
  return {
    name: "request-log",
    observe({ id, address, method, host, url, site }, { status, bytes, durationMs, aborted }) {
      const request = { requestId: id, address, method, host, url: withoutUserInfo(url) };
      const ms = Math.round(durationMs * 10) / 10;
      site.logger.info({ ...request, status, bytes, ms, ...(aborted && { aborted }) }, "request");
    },
  };
}
