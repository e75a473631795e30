import { afterAfterBody, afterAfterFrameset, afterBody, afterFrameset, inFrameset } from "./after-body.ts";
import { afterHead, beforeHead, beforeHtml, inHead, initial } from "./before-body.ts";
import { inBody, text } from "./in-body.ts";
import { inCaption, inCell, inColumnGroup, inRow, inTable, inTableBody } from "./in-table.ts";
import { inTemplate } from "./in-template.ts";
import type { InsertionModes } from "./tree-builder.ts";

/** The rules of all insertion modes. */
export const insertionModes: InsertionModes = {
  initial,
  "before html": beforeHtml,
  "before head": beforeHead,
  "in head": inHead,
  "after head": afterHead,
  "in body": inBody,
  text,
  "in table": inTable,
  "in caption": inCaption,
  "in column group": inColumnGroup,
  "in table body": inTableBody,
  "in row": inRow,
  "in cell": inCell,
  "in template": inTemplate,
  "after body": afterBody,
  "in frameset": inFrameset,
  "after frameset": afterFrameset,
  "after after body": afterAfterBody,
  "after after frameset": afterAfterFrameset,
};
