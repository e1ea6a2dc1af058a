// Names in documents of EPUBs: a browser finds elements by them among the properties of documents and forms, so that
// `<img name="body">` would replace `document.body`, and `<select name="attributes">` the attributes of its form, which
// would then not be sanitized (DOM clobbering).

// Taken from the prototypes, because properties of the document itself may be replaced.
const { querySelectorAll } = Document.prototype
const { removeAttribute } = Element.prototype

/** Anchors and maps are also found by name, but not as properties. */
const named = '[name]:not(a, map, meta)'
/** Forms expose their controls and images by id, documents their objects. */
const identified =
  ':is(button, embed, fieldset, input, object, output, select, textarea, form img)[id]'

/** Removes names and ids that replace properties from a freshly parsed document. */
export function removeNames(parsed: Document) {
  for (const element of querySelectorAll.call(parsed, named)) removeAttribute.call(element, 'name')
  for (const element of querySelectorAll.call(parsed, identified))
    removeAttribute.call(element, 'id')
}
