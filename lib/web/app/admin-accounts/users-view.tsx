// Administration of accounts: list, creation, sharing tags.
import { useState } from 'preact/hooks'
import { AdminFrame } from '../admin/admin-frame.tsx'
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { address, href, setQuery } from '../routing/router.ts'
import { formatRelative, t, textOr } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Icon } from '../ui/icon.tsx'
import { Pagination } from '../ui/pagination.tsx'
import { SharingTags } from './sharing-tags.tsx'
import { UserDialog } from './user-dialog.tsx'

const pageSize = 50

export function View() {
  const [isCreating, setCreating] = useState(false)
  const page = Number(address.value.query.get('page')) || 1
  const users = useResource(`users?page=${page}`, signal =>
    body(api.GET('/api/v1/users', { params: { query: { page, pageSize } }, signal })),
  )
  const { data, error, reload } = users
  const create = (
    <Button icon="add" variant="primary" onClick={() => setCreating(true)}>
      {t('account.create')}
    </Button>
  )
  return (
    <AdminFrame title={t('admin.users')} actions={can('UsersWrite') && create}>
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      {data && (
        <ul class="user-list">
          {data.data.map(user => (
            <UserCard key={user.id} user={user} />
          ))}
        </ul>
      )}
      {data && (
        <Pagination
          page={page}
          totalPages={data.totalPages}
          onChange={page => setQuery({ page: page === 1 ? null : String(page) })}
        />
      )}
      {data && can('UsersWrite') && <SharingTags />}
      {isCreating && <UserDialog onClose={() => setCreating(false)} />}
    </AdminFrame>
  )
}

function UserCard({ user }: { user: Schemas['User'] }) {
  const { id, username, email, role, isActive, libraryIds, ageLimit, lastLoginAt } = user
  return (
    <li>
      <a class="card user-card" href={href(`admin/users/${id}`)}>
        <Icon name="account" size={28} />
        <div class="user-card-name">
          <strong>{username}</strong>
          <span class="secondary-text">{email}</span>
        </div>
        <div class="user-card-badges">
          <span class={role === 'reader' ? 'badge' : 'badge accent'}>
            {textOr(`role.${role}`, role)}
          </span>
          {!isActive && <span class="badge danger">{t('users.inactive')}</span>}
          {libraryIds !== null && (
            <span class="badge">{t('account.someLibraries', { count: libraryIds.length })}</span>
          )}
          {ageLimit !== null && <span class="badge">{t('users.upToAge', { age: ageLimit })}</span>}
        </div>
        <span class="user-card-time secondary-text">
          {lastLoginAt ? formatRelative(lastLoginAt) : t('users.neverSignedIn')}
        </span>
      </a>
    </li>
  )
}
