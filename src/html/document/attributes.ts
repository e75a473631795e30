/** Attribute names are the client's: no `constructor` or `toString` to inherit, but still a fast object for V8. */
export const Attributes = function Attributes() {} as unknown as new () => Record<string, string>;
Attributes.prototype = Object.create(null);

/** What an element without attributes has. */
export const noAttributes: Record<string, string> = Object.freeze(new Attributes());
