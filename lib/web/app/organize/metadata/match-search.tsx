// The search for a series or book on a source, and what was found.
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.tsx'
import { BareSelect } from '../../ui/field.tsx'
import type { Hit, MatchOwner, Terms } from './match-requests.ts'

type SearchFormProps = {
  owner: MatchOwner
  sources: readonly { id: string; displayName: string }[]
  source: string
  terms: Terms
  onSource: (id: string) => void
  onTerms: (terms: Terms) => void
  onSearch: () => Promise<void>
}

export function SearchForm(props: SearchFormProps) {
  const { owner, sources, source, terms, onSource, onTerms, onSearch } = props
  const field = (name: keyof Terms, label: string) => (
    <input
      type="search"
      class="control"
      aria-label={label}
      placeholder={label}
      value={terms[name]}
      maxLength={500}
      onInput={event => onTerms({ ...terms, [name]: event.currentTarget.value })}
    />
  )
  return (
    <form class="match-search" onSubmit={event => event.preventDefault()}>
      <BareSelect<string>
        class="control"
        aria-label={t('match.source')}
        value={source}
        options={sources.map(({ id, displayName }) => ({ value: id, text: displayName }))}
        onChange={onSource}
      />
      {field('title', t('field.title'))}
      {owner === 'books' && field('author', t('field.author'))}
      {owner === 'books' && field('isbn', t('field.isbns'))}
      <Button type="submit" icon="search" variant="primary" onClick={onSearch}>
        {t('nav.search')}
      </Button>
    </form>
  )
}

type HitsProps = { hits: readonly Hit[]; onCompare: (hit: Hit) => Promise<void> }

export function Hits({ hits, onCompare }: HitsProps) {
  if (hits.length === 0)
    return (
      <p class="secondary-text" role="status">
        {t('groupings.noneFound')}
      </p>
    )
  return (
    <ul>
      {hits.map(hit => (
        <li key={hit.externalId}>
          <HitRow hit={hit} onCompare={onCompare} />
        </li>
      ))}
    </ul>
  )
}

function HitRow({ hit, onCompare }: { hit: Hit; onCompare: (hit: Hit) => Promise<void> }) {
  const { title, year, alternateTitles, summary } = hit
  const more =
    'authors' in hit
      ? [hit.authors.slice(0, 3).join(', '), hit.publisher, hit.isbns[0]].filter(Boolean)
      : alternateTitles.slice(0, 3)
  return (
    <Button variant="quiet" class="match-hit" onClick={() => onCompare(hit)}>
      <span class="match-hit-text" dir="auto">
        <strong>{year ? `${title} (${year})` : title}</strong>
        {more.length > 0 && <span class="secondary-text">{more.join(' · ')}</span>}
        {summary && <span class="clamp secondary-text">{summary}</span>}
      </span>
    </Button>
  )
}
