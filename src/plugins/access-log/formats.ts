import type { Exchange } from "../../server/exchange.ts";
import type { Outcome } from "../../server/plugin.ts";
import { accessLogEntry, withoutUserInfo } from "./entry.ts";
import { bytesOfText, escapedBytes, escapedText, escapedWord } from "./escape.ts";

/** Makes the line for a finished exchange, without a line end. */
export type LineFormat = (exchange: Exchange, outcome: Outcome, time: Date) => string;

export const formats: Readonly<Record<"common" | "combined" | "json", LineFormat>> = { common, combined, json };

/**
 * Apache's `%h %l %u %t "%r" %>s %b`. The second field is for RFC 1413, which is out of use.
 * Every program skips it, so it can hold `aborted`; an additional field would break log readers.
 */
function common(exchange: Exchange, { status, bytes, aborted }: Outcome, time: Date): string {
  const { address, user, method, url, httpVersion } = exchange;
  const request = `${escapedWord(method)} ${escapedWord(withoutUserInfo(url))} HTTP/${escapedWord(httpVersion)}`;
  const client = `${wordOrDash(address)} ${aborted ? "aborted" : "-"} ${wordOrDash(user && bytesOfText(user.name))}`;
  return `${client} [${commonTime(time)}] "${request}" ${status} ${bytes || "-"}`;
}

/** Apache's `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i"`. */
function combined(exchange: Exchange, outcome: Outcome, time: Date): string {
  const referer = exchange.header("referer");
  const from = referer === undefined ? "-" : escapedBytes(withoutUserInfo(referer));
  const userAgent = escapedBytes(exchange.header("user-agent") ?? "-");
  return `${common(exchange, outcome, time)} "${from}" "${userAgent}"`;
}

function json(exchange: Exchange, outcome: Outcome, time: Date): string {
  return escapedText(JSON.stringify(accessLogEntry(exchange, outcome, time)));
}

/** A dash stands for a missing value, so a user named "-" is escaped. */
function wordOrDash(value: string | undefined): string {
  if (value === undefined || value === "") return "-";
  return value === "-" ? "\\x2d" : escapedWord(value);
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
let lastSecond = Number.NaN;
let lastText = "";

/** `10/Oct/2000:13:55:36 +0000`: UTC, since no hour occurs twice in it. Made once a second. */
function commonTime(time: Date): string {
  const second = Math.floor(time.getTime() / 1000);
  if (second !== lastSecond) {
    const [, year, month, day, clock] = /^\+?(\d+)-(\d\d)-(\d\d)T([\d:]+)/.exec(time.toISOString()) ?? [];
    lastText = `${day}/${months[Number(month) - 1]}/${year}:${clock} +0000`;
    lastSecond = second;
  }
  return lastText;
}
