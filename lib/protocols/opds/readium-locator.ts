// Schema of a Readium locator, as apps send it.
import { list, name, optional, record, Type, text } from '../../base/schema.ts'

export const maxLocatorBytes = 8 * 1024
const fraction = () => optional(Type.Number({ minimum: 0, maximum: 1 }))
const optionalText = () => optional(text(maxLocatorBytes))

/** A Readium locator, returned as it was written. Empty values are omitted. */
export const ReadiumLocator = record(
  {
    href: name(maxLocatorBytes),
    type: name(200),
    title: optionalText(),
    locations: optional(
      record({
        fragments: optional(list(text(2000), { maxItems: 100 })),
        position: optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
        progression: fraction(),
        totalProgression: fraction(),
      }),
    ),
    text: optional(
      record({ before: optionalText(), highlight: optionalText(), after: optionalText() }),
    ),
  },
  {
    description:
      'A Readium locator of at most 8 KiB, stored unchanged. URLs of this server are returned with the catalog path of the request.',
  },
)
