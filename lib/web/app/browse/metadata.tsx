// Metadata of series and books: labels as links to filtered lists, authors by role, web links, summaries.
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Schemas } from '../api/client.ts'
import { can } from '../api/session.ts'
import { findMetadata } from '../organize/actions.ts'
import { href } from '../routing/router.ts'
import { t, textOr } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { observeSize } from '../ui/layout.ts'

/** One line of a description list; renders nothing without content. */
export function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  const isEmpty =
    children === null ||
    children === undefined ||
    children === false ||
    children === '' ||
    (Array.isArray(children) && children.length === 0)
  if (isEmpty) return null
  return (
    <div class="browse-fact">
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A lowest age, 0 for all ages. */
export const ageText = (age: number | null) =>
  age === null ? null : age === 0 ? t('details.allAges') : t('details.age', { age })

/** Link to the series with a value, such as a genre. */
export function filterLink(name: string, value: string, text = value) {
  return (
    <a key={value} dir="auto" href={href(`series?${new URLSearchParams({ [name]: value })}`)}>
      {text}
    </a>
  )
}

type Grouping = { id: string; name: string }

/** Links to collections or read lists. */
export const groupingLinks = (
  folder: 'collections' | 'readlists',
  groupings: readonly Grouping[],
) =>
  joined(
    groupings.map(({ id, name }) => (
      <a key={id} href={href(`${folder}/${id}`)} dir="auto">
        {name}
      </a>
    )),
  )

/** Comma-separated elements; long lists are cut until a button shows all. */
export const joined = (parts: readonly ComponentChildren[]): ComponentChildren =>
  parts.length === 0 ? [] : [<Joined key="parts" parts={parts} />]

function Joined({ parts }: { parts: readonly ComponentChildren[] }) {
  const { shown, more } = useFirst(parts)
  return [shown.flatMap((part, i) => (i === 0 ? [part] : [', ', part])), more && [' ', more]]
}

// A book may have a thousand tags, and a series the authors of all its books.
const maxShown = 40

/** The first items of a long list, with a button for all of them. */
function useFirst<T>(items: readonly T[]) {
  const [isOpen, setOpen] = useState(false)
  const count = items.length - maxShown
  if (isOpen || count <= 0) return { shown: items, more: null }
  const more = (
    <button key="more" type="button" class="browse-more" onClick={() => setOpen(true)}>
      {t('details.moreItems', { count })}
    </button>
  )
  return { shown: items.slice(0, maxShown), more }
}

type LabelsProps = { name: 'genre' | 'tag'; labels: readonly { name: string }[] }

/** Genres or tags as chips. */
export function Labels({ name, labels }: LabelsProps) {
  const { shown, more } = useFirst(labels)
  if (labels.length === 0) return null
  return (
    <ul class="browse-labels" aria-label={t(name === 'genre' ? 'field.genre' : 'field.tag')}>
      {shown.map(label => (
        <li key={label.name}>
          <a
            class={`badge ${name === 'genre' ? 'accent' : ''}`}
            dir="auto"
            href={href(`series?${new URLSearchParams({ [name]: label.name })}`)}
          >
            {label.name}
          </a>
        </li>
      ))}
      {more && <li key="more of all">{more}</li>}
    </ul>
  )
}

/** ComicInfo.xml writes `CoverArtist`. */
const plainRole = (role: string) => role.toLowerCase().replace('coverartist', 'cover_artist')
const roleOf = ({ role }: Schemas['Author']) => (role ? plainRole(role) : 'author')

/** The role of a person in words. */
export const roleText = (role: string) => textOr(`personRole.${plainRole(role)}`, role)

/** Authors grouped by role, as facts. */
export function AuthorFacts({ authors }: { authors: readonly Schemas['Author'][] }) {
  const byRole = Map.groupBy(authors, roleOf)
  return [...byRole].map(([role, people]) => (
    <Fact key={role} label={roleText(role)}>
      {joined([...new Set(people.map(({ name }) => name))].map(name => filterLink('author', name)))}
    </Fact>
  ))
}

/** Links come from files: only web links are shown. */
export function WebLinks({ links }: { links: readonly { name: string; url: string }[] }) {
  const safe = links.filter(({ url }) => /^https?:\/\//i.test(url) && URL.canParse(url))
  if (safe.length === 0) return null
  return (
    <Fact label={t('field.links')}>
      {joined(
        safe.map(({ name, url }) => (
          <a key={url} href={url} target="_blank" rel="noreferrer noopener" dir="auto">
            {name || new URL(url).hostname}
          </a>
        )),
      )}
    </Fact>
  )
}

// More than four lines of the widest window; laying out a text of megabytes takes seconds.
const maxClosedLength = 2_000

/** Text cut to four lines until a button shows all. */
type NoSummaryProps = {
  owner: 'series' | 'books'
  id: string
  title: string
  onSaved: () => void
}

/** In the place of a missing summary, for those who can look it up. */
export function NoSummary({ owner, ...item }: NoSummaryProps) {
  if (!can(owner === 'series' ? 'SeriesWrite' : 'BooksWrite')) return null
  return (
    <p>
      <Button
        class="small"
        icon="search"
        text={t('action.findMetadata')}
        onClick={() => findMetadata({ owner, ...item })}
      />
    </p>
  )
}

export function Summary({ text }: { text: string | null }) {
  const [isOpen, setOpen] = useState(false)
  const [isLong, setLong] = useState(false)
  const paragraph = useRef<HTMLParagraphElement>(null)
  useLayoutEffect(() => {
    const element = paragraph.current
    if (!element) return
    const measure = () => setLong(isOpen || element.scrollHeight > element.clientHeight + 2)
    measure()
    return observeSize(element, measure)
  }, [text, isOpen])
  if (!text) return null
  return (
    <div class="browse-summary">
      <p ref={paragraph} class={isOpen ? '' : 'clamp'} dir="auto">
        {isOpen ? text : text.slice(0, maxClosedLength)}
      </p>
      {isLong && (
        <button
          type="button"
          class="browse-more"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {t(isOpen ? 'details.less' : 'details.more')}
        </button>
      )}
    </div>
  )
}
