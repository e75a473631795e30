import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import type { SourceElement } from "../document/html-nodes.ts";
import { FormOwners, has, isDisabledOption, isInput, isNamed, selectOf } from "./form-controls.ts";
import type { FormState, MatchContext, RadioGroup } from "./match-context.ts";

/** The state of the forms of the document, found in one walk. */
export function* formState(context: MatchContext): SlicedWork<FormState> {
  if (context.forms) return context.forms;
  const { index, steps } = context;
  const forms = (yield* index.with("type", "form")).filter((form) => isNamed(form, "form"));
  const owners = new FormOwners(forms, context);
  const defaultButtons = new Map<SourceElement, SourceElement>();
  const groups = new Map<SourceElement | null, Map<string, RadioGroup>>();
  const radios = new Map<SourceElement, RadioGroup>();
  const optionsOf = new Map<SourceElement, SourceElement[]>();
  for (const control of index.all) {
    steps.spend();
    if (steps.isSliceOver()) yield;
    if (isNamed(control, "option")) {
      const select = selectOf(control);
      const options = select && optionsOf.get(select);
      if (options) options.push(control);
      else if (select && !has(select, "multiple")) optionsOf.set(select, [control]);
    }
    if (!isNamed(control, "input", "button")) continue;
    const form = owners.formOf(control);
    if (form && isSubmitButton(control) && !defaultButtons.has(form)) defaultButtons.set(form, control);
    if (isInput(control, "radio")) radios.set(control, joinGroup(control, form, groups));
  }
  const selectedOptions = new Set<SourceElement | undefined>();
  for (const [select, options] of optionsOf) {
    steps.spend(options.length << 3);
    if (steps.isSliceOver()) yield;
    selectedOptions.add(selectedOption(select, options));
  }
  context.forms = { defaultButtons: new Set(defaultButtons.values()), radios, selectedOptions };
  return context.forms;
}

function joinGroup(
  radio: SourceElement,
  form: SourceElement | null,
  groups: Map<SourceElement | null, Map<string, RadioGroup>>,
): RadioGroup {
  const name = radio.attribs["name"] ?? "";
  const ofForm = groups.get(form) ?? new Map<string, RadioGroup>();
  groups.set(form, ofForm);
  // Without a name each is a group of its own.
  const group: RadioGroup = (name !== "" && ofForm.get(name)) || { checked: undefined };
  if (has(radio, "checked")) group.checked = radio;
  if (name !== "") ofForm.set(name, group);
  return group;
}

function isSubmitButton(control: SourceElement): boolean {
  if (isInput(control, "submit", "image")) return true;
  return isNamed(control, "button") && !/^(?:button|reset)$/i.test(control.attribs["type"] ?? "");
}

/** The selected option (HTML Standard, 4.10.7): without one that says so the first, unless several are shown. */
function selectedOption(select: SourceElement, options: readonly SourceElement[]): SourceElement | undefined {
  const stated = options.findLast((option) => has(option, "selected"));
  const isList = Number.parseInt(select.attribs["size"] ?? "", 10) > 1;
  return stated ?? (isList ? undefined : options.find((option) => !isDisabledOption(option)));
}
