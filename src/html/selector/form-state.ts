import { demand, type SlicedWork } from "../../event-loop/sliced-work.ts";
import { nextNode, SourceElement, TextNode } from "../document/html-nodes.ts";
import { FormOwners, has, isDisabledOption, isInput, isNamed, selectOf } from "./form-controls.ts";
import type { FormState, MatchContext, RadioGroup } from "./match-context.ts";

/** The state of the forms of the document as the page says, before they are filled in. */
export function formState(context: MatchContext): FormState {
  return context.memory.forms ?? demand(readForms(context));
}

/** Whether a checkbox or a radio button is on. */
export function isOn(input: SourceElement, context: MatchContext): boolean {
  if (isInput(input, "checkbox")) return has(input, "checked");
  return isInput(input, "radio") && formState(context).radios.get(input)?.checked === input;
}

/** Whether an `option` is selected (HTML Standard, 4.10.7). */
export function isSelected(option: SourceElement, context: MatchContext): boolean {
  const select = selectOf(option);
  if (!select || has(select, "multiple")) return has(option, "selected");
  const { selectedOptions } = formState(context);
  let selected = selectedOptions.get(select);
  if (selected === undefined) {
    selected = selectedOption(select, context);
    selectedOptions.set(select, selected);
  }
  return selected === option;
}

/** The options of a `select`, in the order of the document. */
export function optionsOf(select: SourceElement, context: MatchContext): readonly SourceElement[] {
  return context.memory.options.get(select) ?? demand(readOptions(select, context));
}

function* readOptions(select: SourceElement, { memory, steps }: MatchContext): SlicedWork<readonly SourceElement[]> {
  const options: SourceElement[] = [];
  for (let node = nextNode(select, select); node; node = nextNode(node, select)) {
    steps.spend();
    if (steps.isSliceOver()) yield;
    if (node instanceof SourceElement && isNamed(node, "option") && selectOf(node) === select) options.push(node);
  }
  memory.options.set(select, options);
  return options;
}

/** The text of an element and of all in it. */
export function textOf(element: SourceElement, { steps }: MatchContext): string {
  let text = "";
  for (let node = nextNode(element, element); node; node = nextNode(node, element)) {
    steps.spend();
    if (node instanceof TextNode) text += node.data;
  }
  return text;
}

/** How many options a `select` shows at once. */
export function displaySize(select: SourceElement): number {
  const size = Number.parseInt(select.attribs["size"] ?? "", 10);
  return size > 0 ? size : has(select, "multiple") ? 4 : 1;
}

function* readForms(context: MatchContext): SlicedWork<FormState> {
  const { index, memory, steps } = context;
  const forms = (yield* index.with("type", "form")).filter((form) => isNamed(form, "form"));
  const owners = new FormOwners(forms, context);
  const defaultButtons = new Map<SourceElement, SourceElement>();
  const groups = new Map<SourceElement | null, Map<string, RadioGroup>>();
  const radios = new Map<SourceElement, RadioGroup>();
  for (const control of index.all) {
    steps.spend();
    if (steps.isSliceOver()) yield;
    if (!isNamed(control, "input", "button")) continue;
    const form = owners.formOf(control);
    if (form && isSubmitButton(control) && !defaultButtons.has(form)) defaultButtons.set(form, control);
    if (isInput(control, "radio")) radios.set(control, joinGroup(control, form, groups));
  }
  memory.forms = {
    defaultButtons: new Set(defaultButtons.values()),
    radios,
    selectedOptions: new Map(),
  };
  return memory.forms;
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

function selectedOption(select: SourceElement, context: MatchContext): SourceElement | null {
  let first: SourceElement | null = null;
  let selected: SourceElement | null = null;
  const options = optionsOf(select, context);
  context.steps.spend(options.length << 3);
  for (const option of options) {
    if (has(option, "selected")) selected = option;
    if (!isDisabledOption(option)) first ??= option;
  }
  return selected ?? (displaySize(select) > 1 ? null : first);
}
