// Field names in handlers' messages, spelled as in the request: `scanning_config` for `scanningConfig`.
import type { TSchema } from '../base/schema.ts'
import { sentNames } from './normalize.ts'

type Sent = { schema: TSchema; input: unknown }

// Keyed by what handlers receive of a request.
const sentForms = new WeakMap<object, Sent>()

/** Remembers the input that a validated part of a request was made from. */
export function rememberSent(value: unknown, sent: Sent) {
  if (typeof value === 'object' && value !== null) sentForms.set(value, sent)
}

/** A message with names spelled as in these parts of the request. */
export function withSentNames(message: string, parts: readonly unknown[]): string {
  const names = new Map(
    parts.flatMap(part => {
      const sent = sentForms.get(part as object)
      return sent ? [...sentNames(sent.schema, sent.input)] : []
    }),
  )
  if (names.size === 0) return message
  return message.replace(/(?<!\w)[a-z]\w*/g, (name, offset: number) => {
    // Without a capital it may be an ordinary word, unless it is part of a path or begins the message.
    const isName = /[A-Z]/.test(name) || offset === 0 || /[/.]/.test(message[offset - 1]!)
    return (isName && names.get(name)) || name
  })
}
