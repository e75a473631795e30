import { DocumentError } from "../document-error.ts";
import type { Edit } from "./edits.ts";
import { removeAttribute, setAttribute } from "./operations/attributes.ts";
import { addClass, removeClass } from "./operations/classes.ts";
import { insert } from "./operations/insert.ts";
import { move } from "./operations/move.ts";
import { type Field, type Operation, selector, text } from "./operations/operation.ts";
import { remove } from "./operations/remove.ts";
import { replace } from "./operations/replace.ts";
import { setContent } from "./operations/set-content.ts";
import { setText } from "./operations/set-text.ts";
import { test } from "./operations/test.ts";

/** All that an edit can be. */
const operations: { readonly [Op in Edit["op"]]: Operation<Op> } = {
  replace,
  insert,
  remove,
  move,
  setContent,
  setText,
  setAttribute,
  removeAttribute,
  addClass,
  removeClass,
  test,
};

export function operationOf({ op }: Edit): Operation<Edit["op"]> {
  return operations[op] as unknown as Operation<Edit["op"]>; // it gets edits of its own `op` only
}

const fieldsOfAll: Readonly<Record<string, Field>> = {
  selector,
  matches: {
    expected: "a number of elements",
    accepts: (value) => value === undefined || (Number.isSafeInteger(value) && Number(value) >= 0),
  },
  etag: { expected: "an entity tag", accepts: (value) => value === undefined || text.accepts(value) },
};

/** The edits that a value is. Throws `INVALID_EDIT` and `TOO_MANY_EDITS`. */
export function checkEdits(value: unknown, maxEdits: number = defaultMaxEdits): readonly Edit[] {
  if (!Array.isArray(value)) throw new DocumentError("INVALID_EDIT", "Expected a list of edits.");
  if (value.length > maxEdits) {
    throw new DocumentError("TOO_MANY_EDITS", `The list has ${value.length} edits; ${maxEdits} are allowed.`);
  }
  for (const [index, edit] of value.entries()) checkEdit(edit, index);
  return value;
}

export const defaultMaxEdits = 1000;

function checkEdit(edit: unknown, index: number): asserts edit is Edit {
  const given: Readonly<Record<string, unknown>> = typeof edit === "object" && edit !== null ? { ...edit } : {};
  const { op, ...others } = given;
  const invalid = (problem: string): DocumentError =>
    new DocumentError("INVALID_EDIT", `Edit ${index}: ${problem}.`, { index });
  if (typeof op !== "string" || !Object.hasOwn(operations, op)) {
    throw invalid(`expected op to be one of ${Object.keys(operations).join(", ")}`);
  }
  const fields: Readonly<Record<string, Field>> = { ...fieldsOfAll, ...operations[op as Edit["op"]].fields };
  for (const [name, { expected, accepts }] of Object.entries(fields)) {
    if (!accepts(others[name])) throw invalid(`${op} expected ${name} to be ${expected}`);
  }
  const unknown = Object.keys(others).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) throw invalid(`${op} has no ${JSON.stringify(unknown.slice(0, 40))}`);
}
