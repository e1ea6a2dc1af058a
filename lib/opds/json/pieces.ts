// Long documents, written in pieces: none is held as a whole, and none is made at one go while others wait.
import { withoutEmpty } from './without-empty.ts'

/** `children` are items as well, and written last. */
export type Item = { children?: Iterable<Item>; [name: string]: unknown }

// A millisecond of work.
const pieceLength = 32 * 1024

/**
 * The text of `head` with these lists as further members, each item without what is empty; lists of
 * nothing are left out. Items are asked for as they are written.
 */
export function* inPieces(
  head: object,
  lists: Record<string, Iterable<Item>>,
): Generator<string, void> {
  let text = JSON.stringify(head).slice(0, -1)
  for (const [name, items] of Object.entries(lists))
    for (const part of listed(name, items)) {
      text += part
      if (text.length < pieceLength) continue
      yield text
      text = ''
    }
  yield `${text}}`
}

function* listed(name: string, items: Iterable<Item>): Generator<string> {
  let start = `,"${name}":[`
  for (const { children = [], ...item } of items) {
    yield start + JSON.stringify(withoutEmpty(item)).slice(0, -1)
    yield* listed('children', children)
    yield '}'
    start = ','
  }
  if (start === ',') yield ']'
}
