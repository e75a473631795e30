/** The value of a `class` attribute with classes added that it lacks. All else in it stays. */
export function withClasses(value: string, classes: string): string {
  const present = new Set(tokensOf(value));
  const missing = [...new Set(tokensOf(classes))].filter((token) => !present.has(token));
  if (missing.length === 0) return value;
  return value + (value === "" || /[\t\n\f\r ]$/.test(value) ? "" : " ") + missing.join(" ");
}

/** The value of a `class` attribute without some classes. All else in it stays. */
export function withoutClasses(value: string, classes: string): string {
  const gone = new Set(tokensOf(classes));
  const left = value.replace(/([^\t\n\f\r ]+)[\t\n\f\r ]*/g, (part, token) => (gone.has(token) ? "" : part));
  return /[\t\n\f\r ]$/.test(value) ? left : left.replace(/(?<![\t\n\f\r ])[\t\n\f\r ]+$/, "");
}

function tokensOf(value: string): readonly string[] {
  return value.split(/[\t\n\f\r ]+/).filter((token) => token !== "");
}
