import { type MicrodataItem, readMicrodataPage } from "../../src/html/microdata.ts";

/** The only item of a page. */
export async function itemOf(html: string): Promise<MicrodataItem> {
  const { items } = await readMicrodataPage(html);
  const [item] = items;
  if (!item || items.length > 1) throw new Error(`the page has ${items.length} items`);
  return item;
}
