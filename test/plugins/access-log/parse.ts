/** A line as a program that knows only Apache's documentation reads it. */
export interface ParsedLine {
  readonly host: string;
  readonly ident: string;
  readonly user: string;
  readonly time: string;
  readonly request: string;
  readonly status: number;
  readonly bytes: string;
  readonly referer?: string;
  readonly userAgent?: string;
}

// "%h %l %u %t \"%r\" %>s %b", anchored, with the quotes read in the simplest way that programs do.
const common =
  /^(\S+) (\S+) (\S+) \[(\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "([^"]*)" (\d{3}) (\d+|-)$/;
// The same and \"%{Referer}i\" \"%{User-agent}i\".
const combined = new RegExp(`${common.source.slice(0, -1)} "([^"]*)" "([^"]*)"$`);

/** Reads a line in the Common Log Format; throws for any other. */
export function parseCommon(line: string): ParsedLine {
  return named(common.exec(line), line);
}

/** The same for the Combined Log Format. */
export function parseCombined(line: string): ParsedLine {
  return named(combined.exec(line), line);
}

function named(match: RegExpExecArray | null, line: string): ParsedLine {
  if (!match) throw new Error(`not a line of the log: ${JSON.stringify(line)}`);
  const [, host = "", ident = "", user = "", time = "", request = "", status, bytes = "", referer, userAgent] = match;
  const fields = { host, ident, user, time, request, status: Number(status), bytes };
  return referer === undefined || userAgent === undefined ? fields : { ...fields, referer, userAgent };
}
