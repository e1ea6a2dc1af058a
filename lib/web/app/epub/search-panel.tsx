// Search panel of the EPUB reader: documents are fetched one after the other and read as text.
import { SearchDialog, type TextHit } from '../reading/search-dialog.tsx'
import type { BookReader } from './book-reader.ts'
import { fetchText, type Publication } from './content/publication.ts'

type SearchPanelProps = { reader: BookReader; onClose: () => void }

export function SearchPanel({ reader, onClose }: SearchPanelProps) {
  return (
    <SearchDialog<Hit>
      search={(query, signal) => search(reader.publication, query, signal)}
      onOpen={({ section, match, progression }) =>
        void reader.jump({ section, at: { progression, text: match } })
      }
      onClose={onClose}
    />
  )
}

type Hit = TextHit & { section: number; progression: number }

const contextLength = 40

/** Hits in book order. Case and accents are ignored. */
async function* search(
  publication: Publication,
  query: string,
  signal: AbortSignal,
): AsyncGenerator<Hit> {
  const wanted = fold(query.trim().replace(/\s+/g, ' '))
  if (wanted === '') return
  for (const [section, { path, isEncrypted, type }] of publication.sections.entries()) {
    if (isEncrypted || !/html|xml/.test(type)) continue
    const text = textOf(await fetchText(publication, path, signal))
    const folded = fold(text)
    for (
      let at = folded.indexOf(wanted);
      at >= 0;
      at = folded.indexOf(wanted, at + wanted.length)
    ) {
      const end = at + wanted.length
      yield {
        section,
        before: text.slice(Math.max(0, at - contextLength), at),
        match: text.slice(at, end),
        after: text.slice(end, end + contextLength),
        progression: at / Math.max(1, text.length),
      }
    }
  }
}

const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
}

/**
 * Text of a document that is not rendered: elements become spaces where they separate words. Unclosed constructs
 * end with the document or at the next element, which keeps the time linear.
 */
function textOf(source: string): string {
  const body = source.replace(/^[\s\S]*?<body\b/i, '<body')
  return body
    .replace(/<(script|style|title)\b[\s\S]*?(?:<\/\1>|$)|<!--[\s\S]*?(?:-->|$)/gi, '')
    .replace(/<\/?(?:em|i|b|strong|span|a|small|sup|sub|u|abbr|q|cite)\b[^<>]*>/gi, '')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
      const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : null
      return code === null
        ? (entities[name] ?? whole)
        : String.fromCodePoint(Math.min(code, 0x10ffff))
    })
    .replace(/\s+/g, ' ')
}

/** Has the same length as the text. */
const fold = (text: string): string =>
  Array.from(text, character => {
    const plain = character.normalize('NFD')[0]!.toLowerCase()
    return plain.length === character.length ? plain : character
  }).join('')
