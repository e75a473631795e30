const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const weekday = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const longWeekday = "(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)";
const month = `(?<month>${months.join("|")})`;
const time = "(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)";

const forms = [
  new RegExp(`^${weekday}, (?<day>\\d\\d) ${month} (?<year>\\d{4}) ${time} GMT$`), // Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(`^${longWeekday}, (?<day>\\d\\d)-${month}-(?<year>\\d\\d) ${time} GMT$`), // Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(`^${weekday} ${month} (?<day>\\d\\d| \\d) ${time} (?<year>\\d{4})$`), // Sun Nov  6 08:49:37 1994
];

/** A date as `Last-Modified` and `Date` carry it (RFC 9110 §5.6.7), to the second. */
export function formatHttpDate(date: Date): string {
  return date.toUTCString();
}

/**
 * Reads a date in one of the three forms of RFC 9110 §5.6.7. `undefined` for everything else, even if `Date.parse`
 * accepts it, and for days and times that do not exist. The day of the week is not compared with the date.
 */
export function parseHttpDate(text: string): Date | undefined {
  for (const form of forms) {
    const fields = form.exec(text)?.groups;
    if (fields !== undefined) return toDate(fields);
  }
  return undefined;
}

function toDate(fields: Readonly<Record<string, string>>): Date | undefined {
  const year = fullYear(fields["year"] ?? "");
  const monthIndex = months.indexOf(fields["month"] ?? "");
  const day = Number(fields["day"]);
  const date = new Date(0);
  // Not Date.UTC, which reads the year 50 as 1950.
  date.setUTCFullYear(year, monthIndex, day);
  if (date.getUTCMonth() !== monthIndex || date.getUTCDate() !== day) return undefined;
  date.setUTCHours(Number(fields["hour"]), Number(fields["minute"]), Number(fields["second"]));
  return date;
}

/** Two digits that seem to lie more than 50 years ahead mean the century before (RFC 9110 §5.6.7). */
function fullYear(digits: string): number {
  if (digits.length === 4) return Number(digits);
  const now = new Date().getUTCFullYear();
  const year = now - (now % 100) + Number(digits);
  return year > now + 50 ? year - 100 : year;
}
