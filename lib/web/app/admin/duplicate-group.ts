// A group of duplicates: its members side by side.
import { useState } from 'preact/hooks'
import { can } from '../api/session.ts'
import { href } from '../routing/router.ts'
import { formatBytes, t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { Cover } from '../ui/cover.ts'
import { h } from '../ui/h.ts'

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
  /** Bytes of all members but one. */
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
  return h(
    'section',
    { class: 'duplicate-group card' },
    h(
      'header',
      { class: 'duplicate-header' },
      h(
        'div',
        null,
        h('h2', null, h('bdi', null, title), ' ', h('span', { class: 'badge' }, `× ${count}`)),
        h(
          'p',
          { class: 'secondary-text' },
          reason,
          saved > 0 && ` · ${t('duplicates.saved', { size: formatBytes(saved) })}`,
        ),
      ),
      can('BooksWrite') &&
        h(
          Button,
          { class: 'small', onClick: onDismiss, title: t('duplicates.dismissHint') },
          t('duplicates.dismiss'),
        ),
    ),
    h(
      'ul',
      { class: 'duplicate-members' },
      shown.map(member => h(MemberCard, { member, key: member.id })),
    ),
    members.length > shown.length &&
      h(
        Button,
        { class: 'small', onClick: () => setOpen(true) },
        t('duplicates.showAll', { count: members.length }),
      ),
  )
}

function MemberCard({ member: { owner, id, title, facts, path } }: { member: Member }) {
  return h(
    'li',
    { class: 'duplicate-member' },
    h('div', { class: 'duplicate-cover' }, h(Cover, { owner, id })),
    h(
      'div',
      { class: 'duplicate-text' },
      h('a', { href: href(`${owner}/${id}`) }, h('bdi', null, title)),
      facts.map(fact => h('bdi', { class: 'secondary-text', key: fact }, fact)),
      path !== null && h('code', { class: 'file-path', dir: 'ltr' }, path),
    ),
  )
}
