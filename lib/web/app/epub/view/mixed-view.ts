// Display of any EPUB by its layout, and by document where a book mixes layouts.
import type { BookView, Position, ViewOptions } from './book-view.ts'
import { createFixedView } from './fixed-view.ts'
import { createReflowableView } from './reflowable-view.ts'

const createView = (isFixed: boolean, options: ViewOptions): BookView =>
  (isFixed ? createFixedView : createReflowableView)(options)

export function createBookView(options: ViewOptions): BookView {
  const { sections } = options.publication
  const [first] = sections
  const isMixed = sections.some(({ isFixed }) => isFixed !== first!.isFixed)
  return isMixed ? createMixedView(options) : createView(first!.isFixed, options)
}

/** One view at a time, up to where the other layout begins. */
function createMixedView(options: ViewOptions): BookView {
  const { sections } = options.publication
  let position: Position | null = null
  let isFixed = sections[0]!.isFixed
  const create = () =>
    createView(isFixed, {
      ...options,
      onMoved(next, movement) {
        position = next
        options.onMoved(next, movement)
      },
    })
  let view = create()
  const open: BookView['open'] = async (target, movement) => {
    const section = sections[target.section]!
    if (section.isFixed !== isFixed) {
      view.dispose()
      isFixed = section.isFixed
      view = create()
    }
    await view.open(target, movement)
  }
  return {
    open,
    async turn(step) {
      if (await view.turn(step)) return true
      if (!position) return false
      let next = position.section + step
      while (sections[next]?.isFixed === isFixed) next += step
      if (!sections[next]) return false
      await open({ section: next, ...(step < 0 && { at: 'end' }) }, 'turned')
      return true
    },
    layOut: () => view.layOut(),
    documentAt: (x, y) => view.documentAt(x, y),
    documents: () => view.documents(),
    isRightToLeft: () => view.isRightToLeft(),
    dispose: () => view.dispose(),
  }
}
