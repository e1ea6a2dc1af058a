// Search panel of the EPUB reader: documents are fetched one after the other and read as text.
import { useEffect, useState } from 'preact/hooks'
import { t } from '../text/translate.ts'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { showError } from '../ui/toast.tsx'
import type { BookReader } from './book-reader.ts'
import { fetchText, type Publication } from './content/publication.ts'

const delayMs = 300
const minLength = 2

type SearchPanelProps = { reader: BookReader; onClose: () => void }

export function SearchPanel({ reader, onClose }: SearchPanelProps) {
  const [query, setQuery] = useState('')
  const [hits, setHits] = useState<readonly Hit[]>([])
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    setHits([])
    setDone(false)
    if (query.trim().length < minLength) return
    const controller = new AbortController()
    const timer = setTimeout(() => {
      void collect(reader, query, controller.signal, setHits).then(
        () => !controller.signal.aborted && setDone(true),
        error => !controller.signal.aborted && showError(error),
      )
    }, delayMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [query])
  const open = ({ section, match, progression }: Hit) => {
    onClose()
    void reader.jump({ section, at: { progression, text: match } })
  }
  const isSearching = query.trim().length >= minLength && !isDone
  return (
    <Dialog title={t('epub.search')} onClose={onClose}>
      <TextField
        label={t('epub.searchText')}
        type="search"
        value={query}
        autofocus
        onInput={setQuery}
      />
      <p class="epub-search-state secondary-text" role="status">
        {isSearching
          ? t('duplicates.searching')
          : isDone
            ? t('search.count', { count: hits.length })
            : ''}
      </p>
      <ol class="epub-hits">
        {hits.map((hit, i) => (
          <li key={i}>
            <button type="button" class="menu-item" dir="auto" onClick={() => open(hit)}>
              <span>
                …{hit.before}
                <mark>{hit.match}</mark>
                {hit.after}…
              </span>
            </button>
          </li>
        ))}
      </ol>
    </Dialog>
  )
}

async function collect(
  reader: BookReader,
  query: string,
  signal: AbortSignal,
  show: (hits: Hit[]) => void,
) {
  const found: Hit[] = []
  let shownAt = 0
  for await (const hit of search(reader.publication, query, signal)) {
    if (signal.aborted) return
    found.push(hit)
    if (performance.now() - shownAt > 200) {
      shownAt = performance.now()
      show([...found])
    }
  }
  if (!signal.aborted) show([...found])
}

type Hit = {
  section: number
  before: string
  match: string
  after: string
  progression: number
}

const contextLength = 40
const maxHits = 200

/** Hits in book order, at most 200. Case and accents are ignored. */
async function* search(
  publication: Publication,
  query: string,
  signal: AbortSignal,
): AsyncGenerator<Hit> {
  const wanted = fold(query.trim().replace(/\s+/g, ' '))
  if (wanted === '') return
  let count = 0
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
      count += 1
      if (count >= maxHits) return
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
