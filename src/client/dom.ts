/** The node with the members of the standard, which fields and images may hide: `<input name=matches>` in a form. */
export function dom<Any extends Node>(node: Any): Any {
  return new Proxy(node, {
    get(target, name) {
      const value: unknown = Reflect.get(Object.getPrototypeOf(target), name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
