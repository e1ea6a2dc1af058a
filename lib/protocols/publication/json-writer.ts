// JSON writer for OPDS 2.0 and Readium documents: omits empty values, which strict clients reject, and writes long documents in
// chunks.

/** A copy without nulls, blank strings, empty lists and empty objects, at any depth. */
export function withoutEmpty(value: object): object {
  return (prune(value) as object | undefined) ?? {}
}

function prune(value: unknown): unknown {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'string') return value.trim() === '' ? undefined : value
  if (typeof value !== 'object') return value
  if (Array.isArray(value)) {
    const items = value.map(prune).filter(item => item !== undefined)
    return items.length === 0 ? undefined : items
  }
  const members: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    const pruned = prune(member)
    if (pruned !== undefined) members[name] = pruned
  }
  return Object.keys(members).length === 0 ? undefined : members
}

/** `children` are also items, and are written last. */
export type JsonItem = { children?: Iterable<JsonItem>; [name: string]: unknown }

// About a millisecond of work.
const chunkLength = 32 * 1024

/**
 * The text of `head` with these lists as additional members. Empty values of items and empty lists are omitted.
 * The lists are consumed while they are written, so that other requests are served between chunks.
 */
export function* writeInChunks(
  head: object,
  lists: Record<string, Iterable<JsonItem>>,
): Generator<string, void> {
  let text = JSON.stringify(head).slice(0, -1)
  for (const [name, items] of Object.entries(lists))
    for (const part of writeList(name, items)) {
      text += part
      if (text.length < chunkLength) continue
      yield text
      text = ''
    }
  yield `${text}}`
}

function* writeList(name: string, items: Iterable<JsonItem>): Generator<string> {
  let separator = `,"${name}":[`
  for (const { children = [], ...item } of items) {
    yield separator + JSON.stringify(withoutEmpty(item)).slice(0, -1)
    yield* writeList('children', children)
    yield '}'
    separator = ','
  }
  if (separator === ',') yield ']'
}
