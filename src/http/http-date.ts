const month = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
const time = "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d";

const forms = [
  new RegExp(`^\\w{3}, \\d\\d ${month} \\d{4} ${time} GMT$`), // Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(`^\\w{6,9}, \\d\\d-${month}-\\d\\d ${time} GMT$`), // Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(`^\\w{3} ${month} [ \\d]\\d ${time} \\d{4}$`), // Sun Nov  6 08:49:37 1994
];

/** Reads a date in one of the three forms of RFC 9110 §5.6.7; `undefined` for others. `toUTCString` writes one. */
export function parseHttpDate(text: string): Date | undefined {
  if (!forms.some((form) => form.test(text))) return undefined;
  const date = new Date(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
