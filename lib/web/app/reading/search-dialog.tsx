// Search in the text of an open book: results appear while it goes on, and it ends with the dialog or another query.
import { useEffect, useState } from 'preact/hooks'
import { t } from '../text/translate.ts'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { showError } from '../ui/toast.tsx'

export type TextHit = { before: string; match: string; after: string }

type SearchDialogProps<Hit extends TextHit> = {
  /** Hits in the order of the book. */
  search: (query: string, signal: AbortSignal) => AsyncGenerator<Hit>
  labelOf?: (hit: Hit) => string
  onOpen: (hit: Hit) => void
  onClose: () => void
}

const delayMs = 300
const shownMs = 200
const minLength = 2
const maxHits = 200

export function SearchDialog<Hit extends TextHit>(props: SearchDialogProps<Hit>) {
  const { search, labelOf, onOpen, onClose } = props
  const [query, setQuery] = useState('')
  const [hits, setHits] = useState<readonly Hit[]>([])
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    setHits([])
    setDone(false)
    if (query.trim().length < minLength) return
    const controller = new AbortController()
    const { signal } = controller
    const timer = setTimeout(() => {
      void collect(search(query, signal), signal, setHits).then(
        () => !signal.aborted && setDone(true),
        error => !signal.aborted && showError(error),
      )
    }, delayMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [query])
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
      <p class="reader-search-state secondary-text" role="status">
        {isSearching
          ? t('duplicates.searching')
          : isDone
            ? t('search.count', { count: hits.length })
            : ''}
      </p>
      <ol class="reader-hits">
        {hits.map((hit, i) => (
          <li key={i}>
            <button
              type="button"
              class="menu-item"
              dir="auto"
              onClick={() => {
                onClose()
                onOpen(hit)
              }}
            >
              <span>
                {labelOf && <strong>{labelOf(hit)} </strong>}…{hit.before}
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

async function collect<Hit>(
  search: AsyncGenerator<Hit>,
  signal: AbortSignal,
  show: (hits: Hit[]) => void,
) {
  const found: Hit[] = []
  let shownAt = 0
  for await (const hit of search) {
    if (signal.aborted) return
    found.push(hit)
    if (found.length >= maxHits) break
    if (performance.now() - shownAt > shownMs) {
      shownAt = performance.now()
      show([...found])
    }
  }
  if (!signal.aborted) show([...found])
}
