import { Buffer } from "node:buffer";
import type { Exchange } from "../../server/exchange.ts";
import type { Outcome } from "../../server/plugin.ts";
import { accessLogEntry, withoutUserInfo } from "./entry.ts";

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
  const from = referer === undefined ? "-" : escaped(withoutUserInfo(referer));
  const userAgent = escaped(exchange.header("user-agent") ?? "-");
  return `${common(exchange, outcome, time)} "${from}" "${userAgent}"`;
}

/** With everything treacherous as `\uHHHH`, which means the same. */
function json(exchange: Exchange, outcome: Outcome, time: Date): string {
  const escapedUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const text = JSON.stringify(accessLogEntry(exchange, outcome, time));
  return text.replace(treacherous, (character) => character.split("").map(escapedUnit).join(""));
}

/** A dash stands for a missing value, so a user named "-" is escaped. */
function wordOrDash(value: string | undefined): string {
  if (value === undefined || value === "") return "-";
  return value === "-" ? "\\x2d" : escapedWord(value);
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `10/Oct/2000:13:55:36 +0000`: UTC, since no hour occurs twice in it. */
function commonTime(time: Date): string {
  const [, year, month, day, clock] = /^\+?(\d+)-(\d\d)-(\d\d)T([\d:]+)/.exec(time.toISOString()) ?? [];
  return `${day}/${months[Number(month) - 1]}/${year}:${clock} +0000`;
}

/** Bytes (latin1) that stand for themselves in a place in quotes; in one that ends with a space, a space does not. */
const notPlain = /[^ !#-[\]-~]/g;
const notPlainWord = /[^!#-[\]-~]/g;

/**
 * What would end a line, steer a terminal, or show text other than it is written: control characters, line separators,
 * and the invisible format characters, among them those that turn the direction of writing.
 */
const treacherous = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** All but printable ASCII as `\xHH`, also quote and backslash: for some readers the quote of `\"` ends the field. */
function escaped(bytes: string, unsafe = notPlain): string {
  return asBytes(bytes).replace(unsafe, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function escapedWord(bytes: string): string {
  return escaped(bytes, notPlainWord);
}

/** Not every host program hands over bytes. Cut to its low half, U+012F would turn into "/". */
function asBytes(value: string): string {
  return /[^\x00-\xff]/.test(value) ? bytesOfText(value) : value;
}

/** The UTF-8 bytes of a text, as latin1. */
function bytesOfText(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}
