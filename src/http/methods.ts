/** A method that files can take. */
export type FileMethod = "GET" | "HEAD" | "PUT" | "POST" | "DELETE" | "PATCH" | "MOVE" | "COPY" | "MKCOL" | "OPTIONS";

/** All methods, in the order in which `Allow` lists them. */
export const fileMethods: readonly FileMethod[] = [
  "GET",
  "HEAD",
  "PUT",
  "POST",
  "DELETE",
  "PATCH",
  "MOVE",
  "COPY",
  "MKCOL",
  "OPTIONS",
];

/** Which methods are wanted: all by default, with `readOnly` only those that change nothing. */
type WantedMethods = Readonly<{ methods?: readonly string[] | undefined; readOnly?: boolean | undefined }>;

/** The methods that all of these want. Where GET can be sent, HEAD can (RFC 9110 §9.1). */
export function takenMethods(...wanted: readonly WantedMethods[]): readonly string[] {
  return fileMethods.filter((method) =>
    wanted.every(({ methods = fileMethods, readOnly = false }) => {
      const isNamed = methods.includes(method) || (method === "HEAD" && methods.includes("GET"));
      return isNamed && !(readOnly && isChange(method));
    }),
  );
}

export function isChange(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
}

export const methodsWithContent: ReadonlySet<string> = new Set(["PUT", "POST", "PATCH"]);

/** Types of the content of PATCH: a list of edits. */
export const patchTypes: readonly string[] = ["application/vnd.filement.edits+json", "application/json"];
