export const htmlNamespace = "http://www.w3.org/1999/xhtml";
export const svgNamespace = "http://www.w3.org/2000/svg";
export const mathNamespace = "http://www.w3.org/1998/Math/MathML";
