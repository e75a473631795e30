import type { SourceElement } from "../document/html-nodes.ts";
import { isNamed } from "./form-controls.ts";
import type { MatchContext } from "./match-context.ts";
import { parentElement } from "./tree-steps.ts";

const formEndTag = /<\/form(?=[\s/>])/gi;

/** Finds the form that a control belongs to. */
export class FormOwners {
  readonly #context: MatchContext;
  readonly #byId = new Map<string, SourceElement>();
  /** Forms that have a place in the source, in its order, and where their end tags are. */
  readonly #open: { form: SourceElement; start: number; end: number }[] = [];

  /** `forms` are those of the document, in its order. */
  constructor(forms: readonly SourceElement[], context: MatchContext) {
    this.#context = context;
    for (const form of forms) {
      const id = form.attribs["id"];
      if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, form);
      if (form.startIndex === null) continue;
      formEndTag.lastIndex = form.contentStart;
      const end = formEndTag.exec(context.source)?.index ?? context.source.length;
      this.#open.push({ form, start: form.startIndex, end });
    }
    this.#open.sort((a, b) => a.start - b.start);
  }

  /**
   * The form that the `form` attribute names; or the one whose tags are around the control in the source, which in a
   * broken table need not be an ancestor (HTML Standard, 4.10.17.3); or the nearest ancestor.
   */
  formOf(control: SourceElement): SourceElement | null {
    const id = control.attribs["form"];
    if (id !== undefined) return this.#byId.get(id) ?? null;
    return this.#formAround(control) ?? this.#ancestorForm(control);
  }

  #formAround({ startIndex }: SourceElement): SourceElement | undefined {
    if (startIndex === null || this.#context.kind === "xml") return undefined;
    let low = 0;
    let high = this.#open.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#open[middle]?.start ?? 0) < startIndex) low = middle + 1;
      else high = middle;
    }
    const last = this.#open[low - 1];
    return last && startIndex < last.end ? last.form : undefined;
  }

  #ancestorForm(control: SourceElement): SourceElement | null {
    let ancestor = parentElement(control);
    while (ancestor && !isNamed(ancestor, "form")) {
      this.#context.steps.spend();
      ancestor = parentElement(ancestor);
    }
    return ancestor;
  }
}
