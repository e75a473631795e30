// A double click edits the text of an element of the class `editable`. What others change shows at once.
import { connect } from "/wiki/.well-known/filement/client.js";

const page = connect();
page.mirror();

document.addEventListener("dblclick", async ({ target }) => {
  const element = target.closest(".editable");
  if (!element) return;
  try {
    const selection = page.select(page.selectorOf(element));
    const [copy] = (await selection.get()).elements;
    const text = prompt("Text", copy.textContent);
    if (text === null) return;
    copy.textContent = text;
    await selection.replace(copy);
  } catch (error) {
    alert(error.status === 412 ? "Somebody else has changed this meanwhile: try again." : error.details);
  }
});
