// JSON of an object with a long list, written in pieces so that other requests are served in between.
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'

const itemsAtOnce = 250

/** The list comes last. Values are written as they are, ignoring the response schema. */
export function longListJson(members: object, list: Record<string, readonly object[]>): Readable {
  return Readable.from(piecesOf(members, list), { objectMode: false, highWaterMark: 64 * 1024 })
}

async function* piecesOf(members: object, list: Record<string, readonly object[]>) {
  const [name, items] = Object.entries(list)[0]!
  const others = JSON.stringify(members).slice(0, -1)
  yield `${others}${others === '{' ? '' : ','}${JSON.stringify(name)}:[`
  for (let start = 0; start < items.length; start += itemsAtOnce) {
    await setImmediate()
    const texts = items.slice(start, start + itemsAtOnce).map(item => JSON.stringify(item))
    yield `${start > 0 ? ',' : ''}${texts.join(',')}`
  }
  yield ']}'
}
