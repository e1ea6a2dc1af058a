// Selected text in the documents that are displayed.

import type { Point } from './following.ts'
import type { BookView } from './view/book-view.ts'

export function createSelection(view: () => BookView) {
  const selections = () =>
    view()
      .documents()
      .map(document => document.getSelection())
  return {
    /** Selects between two points of the window. */
    select(from: Point, to: Point) {
      const start = view().documentAt(from.x, from.y)
      const end = view().documentAt(to.x, to.y)
      if (!start || start.document !== end?.document) return
      const [first, last] = [caretAt(start.document, start), caretAt(start.document, end)]
      if (first && last)
        start.document
          .getSelection()
          ?.setBaseAndExtent(first.node, first.offset, last.node, last.offset)
    },
    /** False if nothing was selected. */
    clear(): boolean {
      const found = selections().filter(selection => selection && !selection.isCollapsed)
      for (const selection of found) selection?.removeAllRanges()
      return found.length > 0
    },
    text: () =>
      selections()
        .map(selection => selection?.toString() ?? '')
        .join(''),
  }
}

function caretAt(document: Document, { x, y }: Point) {
  if (document.caretPositionFromPoint) {
    const position = document.caretPositionFromPoint(x, y)
    return position && { node: position.offsetNode, offset: position.offset }
  }
  const range = document.caretRangeFromPoint(x, y)
  return range && { node: range.startContainer, offset: range.startOffset }
}
