// A group of duplicates: its members side by side.
import { useState } from 'preact/hooks'
import { can } from '../api/session.ts'
import { href } from '../routing/router.ts'
import { formatBytes, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Cover } from '../ui/cover.tsx'

export type Member = {
  owner: 'books' | 'series'
  id: string
  title: string
  /** Series, library, number of pages or books. */
  facts: readonly string[]
  /** Relative to the library; null for series. */
  path: string | null
}

type DuplicateGroupProps = {
  title: string
  /** Why they are in one group. */
  reason: string
  count: number
  /** Size of all members except one, in bytes. */
  saved: number
  members: readonly Member[]
  onDismiss: () => Promise<void>
}

// Groups have up to a thousand members.
const shownAtFirst = 6

export function DuplicateGroup(props: DuplicateGroupProps) {
  const { title, reason, count, saved, members, onDismiss } = props
  const [isOpen, setOpen] = useState(false)
  const shown = isOpen ? members : members.slice(0, shownAtFirst)
  return (
    <section class="duplicate-group card">
      <header class="duplicate-header">
        <div>
          <h2>
            <bdi>{title}</bdi> <span class="badge">× {count}</span>
          </h2>
          <p class="secondary-text">
            {reason}
            {saved > 0 && ` · ${t('duplicates.saved', { size: formatBytes(saved) })}`}
          </p>
        </div>
        {can('BooksWrite') && (
          <Button class="small" onClick={onDismiss} title={t('duplicates.dismissHint')}>
            {t('duplicates.dismiss')}
          </Button>
        )}
      </header>
      <ul class="duplicate-members">
        {shown.map(member => (
          <MemberCard key={member.id} member={member} />
        ))}
      </ul>
      {members.length > shown.length && (
        <Button class="small" onClick={() => setOpen(true)}>
          {t('duplicates.showAll', { count: members.length })}
        </Button>
      )}
    </section>
  )
}

function MemberCard({ member: { owner, id, title, facts, path } }: { member: Member }) {
  return (
    <li class="duplicate-member">
      <div class="duplicate-cover">
        <Cover owner={owner} id={id} />
      </div>
      <div class="duplicate-text">
        <a href={href(`${owner}/${id}`)}>
          <bdi>{title}</bdi>
        </a>
        {facts.map(fact => (
          <bdi key={fact} class="secondary-text">
            {fact}
          </bdi>
        ))}
        {path !== null && (
          <code class="file-path" dir="ltr">
            {path}
          </code>
        )}
      </div>
    </li>
  )
}
