// Names of fields in the messages of handlers, as the request has them: `scanning_config` for `scanningConfig`.
import type { TSchema } from '../base/schema.ts'
import { sentNames } from './normalize.ts'

type Sent = { schema: TSchema; input: unknown }

// By what handlers get of a request.
const sentForms = new WeakMap<object, Sent>()

/** Remembers from which input a validated part of a request was made. */
export function rememberSent(value: unknown, sent: Sent) {
  if (typeof value === 'object' && value !== null) sentForms.set(value, sent)
}

/** A message with the names that these parts of the request have. */
export function withSentNames(message: string, parts: readonly unknown[]): string {
  const names = new Map(
    parts.flatMap(part => {
      const sent = sentForms.get(part as object)
      return sent ? [...sentNames(sent.schema, sent.input)] : []
    }),
  )
  if (names.size === 0) return message
  return message.replace(/(?<!\w)[a-z]\w*/g, (name, offset: number) => {
    // Without a capital it may be a word of the sentence, unless it stands in a path or begins the message.
    const isName = /[A-Z]/.test(name) || offset === 0 || /[/.]/.test(message[offset - 1]!)
    return (isName && names.get(name)) || name
  })
}
