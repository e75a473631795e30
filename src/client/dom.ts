/**
 * A node with the properties and methods that the DOM standard gives it, whatever the names in the page. A form has its
 * fields as properties of its own, a document its forms and images: `<input name=matches>` stands for `form.matches`,
 * `<img name=body>` for `document.body`. The prototypes know nothing of them. To be used at once, in place of the node.
 */
export function dom<Any extends Node>(node: Any): Any {
  return new Proxy(node, {
    get(target, name) {
      const value: unknown = Reflect.get(Object.getPrototypeOf(target), name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
