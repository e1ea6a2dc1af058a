// Search panel of the EPUB reader.
import { useEffect, useState } from 'preact/hooks'
import { t } from '../text/translate.ts'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { showError } from '../ui/toast.tsx'
import type { BookReader } from './book-reader.ts'
import { type Hit, search } from './content/search.ts'

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
