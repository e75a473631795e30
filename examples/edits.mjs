// A card goes from one list to another in one step, while clients may only read: the program edits the page itself.
// Run: npm run build && node examples/edits.mjs
import { createServer } from "node:http";
import { createFileServer, HttpError, memoryStorage } from "filement";

const board = "<ul id=todo><li id=paint>Paint the door</li>\n</ul><ul id=done></ul>";
const files = createFileServer({ storage: memoryStorage({ "/board.html": board }), readOnly: true });

/** Moves a card, unless it is there already. @param {string} card @returns {Promise<boolean>} */
async function finish(card) {
  /** @type {import("filement").Edit[]} */
  const edits = [
    { op: "test", selector: `#todo > #${card}`, matches: 1 },
    { op: "move", selector: `#${card}`, to: "#done", position: "afterbegin" },
    { op: "setAttribute", selector: `#${card}`, name: "data-by", value: "the clock" },
  ];
  try {
    await files.edit("/board.html", edits, { user: "clock" });
    return true;
  } catch (error) {
    if (error instanceof HttpError && error.code === "EDIT_PRECONDITION_FAILED") return false;
    throw error;
  }
}

files.changes.subscribe(({ user, edits = [] }) => console.log(user, edits.map(({ op }) => op).join(", ")));
console.log(await finish("paint"), await finish("paint"));
const server = createServer(files).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object") console.log(`listening on http://127.0.0.1:${address?.port}/board.html`);
});
