import { aFunction, fileLocation, pluginOptions } from "../../options/option-types.ts";
import { anyOf, listOf, type OptionsSchema, type Schema, text, valueThat } from "../../options/schema.ts";
import { ruleSchema } from "./rules.ts";

const ruleList = listOf(ruleSchema, "a list of rules");

const pageOrList = anyOf([fileLocation], "a list of rules, or the location of a page");

/** A list is checked rule by rule, so that the problem says which rule it is about. */
const rules: Schema = {
  problemsOf: (value) => (Array.isArray(value) ? ruleList : pageOrList).problemsOf(value),
};

// Both go into a header field.
const headerText = text("printable ASCII characters", (value) => /^[\x20-\x7e]+$/.test(value));
const location = text("a URL or a path", (value) => /^[\x21-\x7e]+$/.test(value), "a URL or a path, percent-encoded");

/** What the options of `permissions` are checked against. */
export const permissionsOptions: OptionsSchema = pluginOptions({
  user: aFunction,
  rules,
  challenge: headerText,
  signInPage: anyOf([location, aFunction], "a URL or a path, percent-encoded, or a function"),
  vary: listOf(
    valueThat((value) => typeof value === "string" && /^[a-z0-9-]+$/.test(value), "a header field in lower case"),
    "a list of header fields",
  ),
});
