// Offsets in the text of a document: they stay the same at every font size and on every screen. An image counts as
// some text.

type Atom = { node: Node; start: number; length: number }

type TextIndex = {
  /** Length of the text with its images; at least 1. */
  length: number
  /** The first offset for whose rectangle `isReached` is true (monotonic along the text); null for none. */
  firstOffset(isReached: (rectangle: DOMRect) => boolean): number | null
  /** The rectangle at an offset, or the next displayed one; null for none. */
  rectangleAt(offset: number): DOMRect | null
  /** Offset of an element. */
  offsetOf(element: Element): number
  /** Text from an offset. */
  textAt(offset: number, length: number): string
  /** The occurrence of a text closest to an offset; null if there is none. */
  find(text: string, near: number): number | null
}

const imageLength = 300

/** Indexes the current content of the document. */
export function indexText(document: Document): TextIndex {
  const atoms: Atom[] = []
  let length = 0
  const walker = document.createTreeWalker(
    document.body,
    NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT,
  )
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const size = sizeOf(node)
    if (size === 0) continue
    atoms.push({ node, start: length, length: size })
    length += size
  }
  const range = document.createRange()

  function rectangle({ node }: Atom, offset: number): DOMRect | null {
    if (node.nodeType !== Node.TEXT_NODE)
      return displayed((node as Element).getBoundingClientRect())
    const text = node as Text
    const start = Math.min(offset, text.length - 1)
    range.setStart(text, start)
    range.setEnd(text, start + 1)
    return displayed(range.getClientRects()[0] ?? null)
  }
  /** The last rectangle of an atom, or of a later one if it is not displayed. */
  function lastRectangle(index: number, end: number): DOMRect | null {
    for (let i = index; i < end; i++) {
      const atom = atoms[i]!
      const found = rectangle(atom, atom.length - 1) ?? rectangle(atom, firstVisible(atom.node))
      if (found) return found
    }
    return null
  }
  const indexAt = (offset: number) =>
    partition(atoms.length, i => atoms[i]!.start + atoms[i]!.length > offset)

  return {
    length: Math.max(1, length),
    firstOffset(isReached) {
      const end = atoms.length
      const index = partition(end, i => {
        const last = lastRectangle(i, end)
        return last === null || isReached(last)
      })
      for (let i = index; i < end; i++) {
        const atom = atoms[i]!
        if (lastRectangle(i, i + 1) === null) continue
        if (atom.node.nodeType !== Node.TEXT_NODE) return atom.start
        const offset = partition(atom.length - 1, position => {
          const found = rectangle(atom, position)
          return found !== null && isReached(found)
        })
        return atom.start + offset
      }
      return null
    },
    rectangleAt(offset) {
      for (let i = indexAt(offset); i < atoms.length; i++) {
        const atom = atoms[i]!
        const within = Math.max(0, offset - atom.start)
        const found = rectangle(atom, within) ?? rectangle(atom, atom.length - 1)
        if (found) return found
      }
      return null
    },
    offsetOf(element) {
      const index = partition(atoms.length, i => {
        const { node } = atoms[i]!
        const order = element.compareDocumentPosition(node)
        return (
          node === element ||
          (order & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINED_BY)) !== 0
        )
      })
      return atoms[index]?.start ?? length
    },
    textAt(offset, size) {
      let text = ''
      for (let i = indexAt(offset); i < atoms.length && text.length < size; i++) {
        const { node, start } = atoms[i]!
        if (node.nodeType === Node.TEXT_NODE)
          text += node.nodeValue!.slice(Math.max(0, offset - start))
      }
      return text.slice(0, size)
    },
    find(text, near) {
      let whole = ''
      for (const { node, length } of atoms)
        whole += node.nodeType === Node.TEXT_NODE ? node.nodeValue : '\0'.repeat(length)
      const after = whole.indexOf(text, Math.max(0, near - text.length))
      const before = whole.lastIndexOf(text, near)
      if (after < 0 || before < 0)
        return Math.max(after, before) < 0 ? null : Math.max(after, before)
      return after - near < near - before ? after : before
    },
  }
}

function sizeOf(node: Node): number {
  if (node.nodeType === Node.TEXT_NODE)
    return /\S/.test(node.nodeValue!) ? (node as Text).length : 0
  return /^(?:img|image|video|math)$/.test((node as Element).localName) ? imageLength : 0
}

const firstVisible = (node: Node) => Math.max(0, node.nodeValue?.search(/\S/) ?? 0)

const displayed = (rectangle: DOMRect | null) =>
  rectangle && (rectangle.width > 0 || rectangle.height > 0) ? rectangle : null

/** The first index from 0 to `count` from which `test` is true. */
function partition(count: number, test: (index: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (test(middle)) high = middle
    else low = middle + 1
  }
  return low
}
