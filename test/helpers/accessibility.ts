import type { Page } from "playwright-core";

/** What a screen reader lists, or stops at. Texts, groups and cells are left out. */
const listed = new Set([
  ...["banner", "complementary", "contentinfo", "form", "main", "navigation", "region", "search"],
  ...["alert", "dialog", "status"],
  ...["button", "checkbox", "combobox", "link", "progressbar", "searchbox", "textbox"],
  ...["columnheader", "heading", "Iframe", "image", "list", "rowheader", "table"],
]);

/** States that are said with the role. Of the others, every element has some value. */
const saidStates: Readonly<Record<string, (value: unknown) => string>> = {
  level: (value) => `${value}`,
  checked: (value) => (value === "true" ? "checked" : "not checked"),
  expanded: (value) => (value ? "expanded" : "collapsed"),
  required: (value) => (value ? "required" : ""),
  readonly: (value) => (value ? "read-only" : ""),
  disabled: (value) => (value ? "disabled" : ""),
  modal: (value) => (value ? "modal" : ""),
  focused: (value) => (value ? "focused" : ""),
};

/** A node of the accessibility tree, as the DevTools protocol has it. */
interface AccessibilityNode {
  readonly nodeId: string;
  readonly childIds?: readonly string[];
  readonly ignored: boolean;
  readonly role?: { readonly value?: unknown };
  readonly name?: { readonly value?: unknown };
  readonly properties?: ReadonlyArray<{ readonly name: string; readonly value: { readonly value?: unknown } }>;
}

/** What a screen reader learns of a page: a line for each landmark, heading, control and table header, indented. */
export async function outlineOf(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send("Accessibility.getFullAXTree")) as { nodes: AccessibilityNode[] };
  await session.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const lines: string[] = [];
  const visit = (id: string, depth: number): void => {
    const node = byId.get(id);
    if (!node) return;
    const isListed = !node.ignored && listed.has(String(node.role?.value));
    if (isListed) lines.push("  ".repeat(depth) + lineOf(node));
    for (const child of node.childIds ?? []) visit(child, isListed ? depth + 1 : depth);
  };
  if (nodes[0]) visit(nodes[0].nodeId, 0);
  return lines;
}

function lineOf({ role, name, properties = [] }: AccessibilityNode): string {
  const values = new Map(properties.map(({ name: state, value }) => [state, value.value]));
  const states = Object.entries(saidStates)
    .filter(([state]) => values.has(state))
    .map(([state, say]) => say(values.get(state)))
    .filter((state) => state !== "");
  const named = name?.value === "" || name === undefined ? "" : ` "${name.value}"`;
  return [`${role?.value}${named}`, ...states].join(", ");
}

/** Has a page note from now on what a screen reader would read aloud by itself; gives that when it is called. */
export async function listenTo(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const live = "[role=status], [role=alert], [aria-live=polite], [aria-live=assertive]";
    const said: string[] = [];
    Object.assign(globalThis, { said });
    // A region has to be there before its text: screen readers say nothing otherwise, except for alerts.
    const present = new Set<Element>();
    const notePresent = (): void => {
      const dialog = document.querySelector("dialog:modal");
      present.clear();
      for (const region of document.querySelectorAll(live)) {
        if (region.checkVisibility({ visibilityProperty: true }) && (!dialog || dialog.contains(region))) {
          present.add(region);
        }
      }
    };
    notePresent();
    new MutationObserver((mutations) => {
      const changed = new Set<Element>();
      for (const { target } of mutations) {
        const element = target instanceof Element ? target : target.parentElement;
        const region = element?.closest(live);
        if (region) changed.add(region);
      }
      for (const region of changed) {
        const text = region.textContent.replace(/\s+/g, " ").trim();
        if (text !== "" && (present.has(region) || region.role === "alert")) said.push(text);
      }
      notePresent();
    }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  });
  return () => page.evaluate(() => (globalThis as unknown as { said: string[] }).said);
}
