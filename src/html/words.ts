/** The words of a text, as a type. */
export type WordOf<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | WordOf<Rest> : Text;

/** A set of names, written with white space between them. */
export function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}
