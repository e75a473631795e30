export const htmlNamespace = "http://www.w3.org/1999/xhtml";
export const svgNamespace = "http://www.w3.org/2000/svg";
export const mathNamespace = "http://www.w3.org/1998/Math/MathML";

// HTML Standard, 13.2.6.1 and 13.2.6.5: names of SVG and MathML that the tokenizer has put into lower case.
const svgTags =
  capitalised(`altGlyph altGlyphDef altGlyphItem animateColor animateMotion animateTransform clipPath feBlend
  feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight
  feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset
  fePointLight feSpecularLighting feSpotLight feTile feTurbulence foreignObject glyphRef linearGradient radialGradient
  textPath`);
const svgAttributes = capitalised(`attributeName attributeType baseFrequency baseProfile calcMode clipPathUnits
  diffuseConstant edgeMode filterUnits glyphRef gradientTransform gradientUnits kernelMatrix kernelUnitLength keyPoints
  keySplines keyTimes lengthAdjust limitingConeAngle markerHeight markerUnits markerWidth maskContentUnits maskUnits
  numOctaves pathLength patternContentUnits patternTransform patternUnits pointsAtX pointsAtY pointsAtZ preserveAlpha
  preserveAspectRatio primitiveUnits refX refY repeatCount repeatDur requiredExtensions requiredFeatures specularConstant
  specularExponent spreadMethod startOffset stdDeviation stitchTiles surfaceScale systemLanguage tableValues targetX targetY
  textLength viewBox viewTarget xChannelSelector yChannelSelector zoomAndPan`);

/** The name of an element of SVG, of the lower-case name of its tag. */
export function svgElementName(tagName: string): string {
  return svgTags.get(tagName) ?? tagName;
}

/** What gives the attributes of an element back their capitals. */
export function attributeNamesIn(namespace: string): ((name: string) => string) | undefined {
  if (namespace === svgNamespace) return (name) => svgAttributes.get(name) ?? name;
  if (namespace === mathNamespace) return (name) => (name === "definitionurl" ? "definitionURL" : name);
  return undefined;
}

/** What the parser makes of the name of an attribute in either of them. */
export function foreignAttributeName(lowerName: string): string {
  return lowerName === "definitionurl" ? "definitionURL" : (svgAttributes.get(lowerName) ?? lowerName);
}

function capitalised(names: string): ReadonlyMap<string, string> {
  return new Map(names.split(/\s+/).map((name) => [name.toLowerCase(), name]));
}
