import {
  aFunction,
  fileLocation,
  pathPattern,
  pluginOptions,
  positiveInteger,
  requestPath,
} from "../../options/option-types.ts";
import { listOf, type OptionsSchema, text, yesOrNo } from "../../options/schema.ts";

const branchName = /^(?!.*(?:\.\.|\/\/|@\{|\.lock(?:\/|$)))[A-Za-z0-9][A-Za-z0-9._/-]*(?<![./])$/;

/** What the options are checked against. */
export const historyOptions: OptionsSchema = pluginOptions({
  repository: fileLocation,
  path: requestPath,
  paths: listOf(pathPattern, ""),
  ignore: listOf(pathPattern, ""),
  branch: text("a name of a branch", (name) => branchName.test(name)),
  author: aFunction,
  maxFileBytes: positiveInteger,
  keepDays: positiveInteger,
  keepCommits: positiveInteger,
  maxBacklog: positiveInteger,
  required: yesOrNo,
});
