import { TimeSlice } from "../../event-loop/sliced-work.ts";
import { DoctypeNode, SourceElement, type TreeNode, type TreeParent } from "../document/html-nodes.ts";
import type { SourceDocument } from "../document/source-document.ts";
import { type PageStep, pageSteps, type SuppliedStep } from "./page-steps.ts";
import { type PlacedFragment, type Placement, treeEdit } from "./placement.ts";
import type { FragmentStep } from "./well-formed.ts";

/** What comparing two trees came to. */
export type Proof =
  | {
      readonly holds: true;
      /** Where the elements asked about are in the new tree; those that went are missing. */
      readonly counterparts: ReadonlyMap<SourceElement, SourceElement>;
    }
  | FailedProof;

export interface FailedProof {
  readonly holds: false;
  /** The last that was supplied before the trees differ, and what it was put into. */
  readonly supplied?: { readonly step: FragmentStep; readonly parent: TreeParent | null } | undefined;
  /** Whether that is in the new tree; what follows it differs then. */
  readonly wasFound?: boolean;
}

/** What a parser makes around a `tr`, a `td`, a `col`, and in an `html`, where their tags are left out. */
const impliedInTable = new Set(["tbody", "tr", "colgroup"]);
const impliedInPage = new Set(["head", "body"]);

const stepsAtOnce = 256;

/**
 * Proves that an edit did what it was to do and nothing else: the new tree is the old one with just the placements made,
 * and everything that was supplied is there, in its place, with the elements that its tags say.
 */
export async function prove(
  before: SourceDocument,
  after: SourceDocument,
  placements: readonly Placement[],
  elements: readonly SourceElement[],
): Promise<Proof> {
  if (before.root["x-mode"] !== after.root["x-mode"]) return { holds: false };
  const asked = new Set<unknown>(elements);
  const counterparts = new Map<SourceElement, SourceElement>();
  const impliedAround = new Map<TreeNode, PlacedFragment>();
  const actual = pageSteps(after);
  const slice = new TimeSlice();
  let latest: SuppliedStep | undefined;
  let count = 0;

  const nextActual = (wanted: PageStep | undefined): PageStep | undefined => {
    for (let { value } = actual.next(); value; { value } = actual.next()) {
      if (!value.node) return value;
      if (impliedAround.has(value.node)) impliedAround.delete(value.node);
      else if (wanted?.supplied && isImplied(value, wanted.supplied.at))
        impliedAround.set(value.node, wanted.supplied.at);
      else return value;
    }
    return undefined;
  };

  for (const wanted of pageSteps(before, treeEdit(placements))) {
    if (wanted.supplied) latest = wanted.supplied;
    const found = nextActual(wanted);
    const isSame = found && isSameStep(wanted, found);
    // What a parser implied around supplied elements must not take in what follows them, white space excepted.
    const isCaptured =
      impliedAround.size > 0 &&
      wanted.kind !== "text" &&
      [...impliedAround.values()].some((at) => at !== wanted.supplied?.at);
    if (!isSame || isCaptured) return failure(latest, wanted.supplied === undefined);
    const { node } = wanted;
    if (asked.has(node) && node instanceof SourceElement && found.node instanceof SourceElement) {
      counterparts.set(node, found.node);
    }
    count += 1;
    if (count % stepsAtOnce === 0 && slice.isOver) await slice.renew();
  }
  if (nextActual(undefined)) return failure(latest, true);
  return { holds: true, counterparts };
}

function failure(latest: SuppliedStep | undefined, wasFound: boolean): FailedProof {
  return { holds: false, supplied: latest && { step: latest.step, parent: latest.at.parent }, wasFound };
}

function isImplied({ kind, node }: PageStep, { parent }: PlacedFragment): boolean {
  if (kind !== "start" || !(node instanceof SourceElement) || node.contentStart !== -1) return false;
  return impliedInTable.has(node.name) || (!(parent instanceof SourceElement) && impliedInPage.has(node.name));
}

function isSameStep(wanted: PageStep, found: PageStep): boolean {
  if (wanted.kind !== found.kind || wanted.data !== found.data) return false;
  const { node, supplied } = wanted;
  if (supplied) return isPlaced(found, supplied);
  if (node instanceof SourceElement) return found.node instanceof SourceElement && isSameElement(node, found.node);
  if (node instanceof DoctypeNode) return found.node instanceof DoctypeNode && isSameDoctype(node, found.node);
  return true;
}

/** The element of a supplied start tag is the one whose tag begins and ends where that tag was put. */
function isPlaced({ node }: PageStep, { step: { tag }, at: { offset } }: SuppliedStep): boolean {
  if (!tag) return true;
  if (!(node instanceof SourceElement)) return false;
  // `<image>` becomes an `img`; in SVG, names get back their capitals.
  if (node.name.toLowerCase() !== tag.name.toLowerCase()) return false;
  return node.startIndex === offset + tag.start && node.contentStart === offset + tag.contentStart;
}

function isSameElement(a: SourceElement, b: SourceElement): boolean {
  if (a.name !== b.name || a.namespace !== b.namespace) return false;
  if (a.attribs === b.attribs) return true;
  const names = Object.keys(a.attribs);
  return names.length === Object.keys(b.attribs).length && names.every((name) => a.attribs[name] === b.attribs[name]);
}

function isSameDoctype(a: DoctypeNode, b: DoctypeNode): boolean {
  return (["x-name", "x-publicId", "x-systemId"] as const).every((part) => a[part] === b[part]);
}
