import { getHeapStatistics } from "node:v8";
import { DocumentError } from "../document-error.ts";

export interface ParseLimits {
  /** How many elements may be open at once. @default 512 */
  readonly maxDepth?: number;
  /** Estimated memory of the tree in bytes. @default 256 MiB, and no more than a quarter of the heap */
  readonly maxTreeBytes?: number;
  /** The most work that parsing may be, in steps, see {@link ParseBudget.addTag}. @default 268435456 (256 Mi) */
  readonly maxParseSteps?: number;
  /**
   * Characters between two states that are saved, from which a parse may go on after an edit; this many at least.
   * @default 2048, and 512 in what an edit had parsed anew
   */
  readonly stateDistance?: number;
  /** Steps of several parses that are one piece of work: together they may take `maxParseSteps`. @default none */
  readonly work?: { steps: number };
}

/** Beyond it, a document is an attack on the stack, or a template loop; browsers stop at 512 as well. */
const defaultMaxDepth = 512;
/** Real pages of 16 MiB take 130 MiB; 16 MiB of `<p>` would take 2 GiB. An edit has two trees in the heap. */
const defaultMaxTreeBytes = Math.min(256 * 1024 * 1024, getHeapStatistics().heap_size_limit / 4);
/** Real pages of 16 MiB take up to 35 million; 16 MiB of `</b>` within 500 elements would take 2 billion. */
const defaultMaxParseSteps = 256 * 1024 * 1024;

/** Memory of a tree, measured with Node 20 on 258 real pages. */
const elementBytes = 300;
const attributeBytes = 60;
const nodeBytes = 150;
/** Four times what any page has. The attributes of a tag are read in one turn of the event loop. */
const maxAttributes = 4_000;
/** Names come from the parser letter by letter; each letter takes 32 bytes until the name is complete. */
const maxNameLength = 64 * 1024;

/** A million characters of references take 200 ms. */
const maxValueLength = 1024 * 1024;

/** What one document may cost, counted while it is parsed: a bomb is refused before it has gone off. */
export class ParseBudget {
  /** Estimate of the memory that the tree takes so far. */
  treeBytes = 0;
  nodes = 0;
  steps = 0;
  /** See {@link ParseLimits.stateDistance}. */
  readonly stateDistance: number | undefined;
  readonly #maxDepth: number;
  readonly #maxTreeBytes: number;
  readonly #maxParseSteps: number;
  readonly #work: { steps: number };

  constructor(limits: ParseLimits = {}) {
    const { maxDepth = defaultMaxDepth, maxTreeBytes = defaultMaxTreeBytes } = limits;
    this.#maxDepth = maxDepth;
    this.#maxTreeBytes = maxTreeBytes;
    this.#maxParseSteps = limits.maxParseSteps ?? defaultMaxParseSteps;
    this.#work = limits.work ?? { steps: 0 };
    this.stateDistance = limits.stateDistance;
  }

  /** Checks the number of open elements. Throws `DOCUMENT_TOO_DEEP`. */
  checkDepth(depth: number): void {
    if (depth <= this.#maxDepth) return;
    const details = `The document nests elements more than ${this.#maxDepth} levels deep.`;
    throw new DocumentError("DOCUMENT_TOO_DEEP", details);
  }

  /** What another parse has cost is part of this one. Throws `DOCUMENT_TOO_COSTLY`, as do the others. */
  takeOver(treeBytes: number, steps: number): void {
    this.#add(treeBytes);
    this.#spend(steps);
  }

  addElement(attributes: number): void {
    this.checkTag(attributes, 0);
    this.nodes += 1;
    this.#add(elementBytes + attributes * attributeBytes);
  }

  addAttributes(count: number): void {
    this.#add(count * attributeBytes);
  }

  addNode(): void {
    this.nodes += 1;
    this.#add(nodeBytes);
  }

  /** Checks the tag that is being read: its attributes so far, and the length of the name. */
  checkTag(attributes: number, nameLength: number): void {
    if (attributes > maxAttributes) throw tooCostly(`an element with more than ${maxAttributes} attributes`);
    if (nameLength > maxNameLength) throw tooCostly(`a name that is longer than ${maxNameLength} characters`);
  }

  /** Checks the length of a value whose references are to be resolved at once. */
  checkReferences(length: number): void {
    if (length > maxValueLength)
      throw tooCostly(`an attribute of more than ${maxValueLength} characters with references`);
  }

  /** Each character is a step. */
  addCharacters(count: number): void {
    this.#spend(count);
  }

  /** A tag may have the parser look through all open elements, and compare their attributes with its own. */
  addTag(openElements: number, attributes: number): void {
    this.#spend(openElements * (1 + attributes));
  }

  #spend(steps: number): void {
    this.steps += steps;
    this.#work.steps += steps;
    if (this.steps > this.#maxParseSteps || this.#work.steps > this.#maxParseSteps)
      throw tooCostly(`markup that takes more than ${this.#maxParseSteps} steps to parse`);
  }

  #add(bytes: number): void {
    this.treeBytes += bytes;
    if (this.treeBytes > this.#maxTreeBytes) throw tooCostly(`a tree of more than ${this.#maxTreeBytes} bytes`);
  }
}

function tooCostly(what: string): DocumentError {
  return new DocumentError("DOCUMENT_TOO_COSTLY", `The document has ${what}.`);
}
