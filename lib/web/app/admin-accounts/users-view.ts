// Administration of accounts: list, creation, sharing tags.
import { useState } from 'preact/hooks'
import { AdminFrame } from '../admin/admin-frame.ts'
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { address, href, setQuery } from '../routing/router.ts'
import { formatRelative, t, textOr } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import { Pagination } from '../ui/pagination.ts'
import { SharingTags } from './sharing-tags.ts'
import { UserDialog } from './user-dialog.ts'

const pageSize = 50

export function View() {
  const [isCreating, setCreating] = useState(false)
  const page = Number(address.value.query.get('page')) || 1
  const users = useResource(`users?page=${page}`, signal =>
    body(api.GET('/api/v1/users', { params: { query: { page, pageSize } }, signal })),
  )
  const { data, error, reload } = users
  const create = h(
    Button,
    { icon: 'add', variant: 'primary', onClick: () => setCreating(true) },
    t('users.create'),
  )
  return h(
    AdminFrame,
    { title: t('admin.users'), actions: can('UsersWrite') && create },
    error && !data && h(ErrorState, { error, onRetry: reload }),
    data &&
      h(
        'ul',
        { class: 'user-list' },
        data.data.map(user => h(UserCard, { user, key: user.id })),
      ),
    data &&
      h(Pagination, {
        page,
        totalPages: data.totalPages,
        onChange: page => setQuery({ page: page === 1 ? null : String(page) }),
      }),
    data && can('UsersWrite') && h(SharingTags, null),
    isCreating && h(UserDialog, { onClose: () => setCreating(false) }),
  )
}

function UserCard({ user }: { user: Schemas['User'] }) {
  const { id, username, email, role, isActive, libraryIds, ageLimit, lastLoginAt } = user
  return h(
    'li',
    null,
    h(
      'a',
      { class: 'card user-card', href: href(`admin/users/${id}`) },
      h(Icon, { name: 'account', size: 28 }),
      h(
        'div',
        { class: 'user-card-name' },
        h('strong', null, username),
        h('span', { class: 'secondary-text' }, email),
      ),
      h(
        'div',
        { class: 'user-card-badges' },
        h(
          'span',
          { class: role === 'reader' ? 'badge' : 'badge accent' },
          textOr(`role.${role}`, role),
        ),
        !isActive && h('span', { class: 'badge danger' }, t('users.inactive')),
        libraryIds !== null &&
          h('span', { class: 'badge' }, t('account.someLibraries', { count: libraryIds.length })),
        ageLimit !== null && h('span', { class: 'badge' }, t('users.upToAge', { age: ageLimit })),
      ),
      h(
        'span',
        { class: 'user-card-time secondary-text' },
        lastLoginAt ? formatRelative(lastLoginAt) : t('users.neverSignedIn'),
      ),
    ),
  )
}
