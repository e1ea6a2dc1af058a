// `stackroom user list` and `user show`.
import { findIdentityByName } from '../../lib/accounts/identity.ts'
import {
  countCredentials,
  findUser,
  listUsers,
  type User,
  type UserDetail,
} from '../../lib/accounts/user-record.ts'
import type { Viewer } from '../../lib/accounts/viewer.ts'
import { NotFound } from '../../lib/base/errors.ts'
import { listLibraries } from '../../lib/catalog/library/library-record.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { textRecord, textTable, timeText } from '../terminal/table.ts'

const everything = { offset: 0, pageSize: 1_000_000 }

export async function usersText(sql: Sql, json: boolean): Promise<string> {
  const { data } = await listUsers(sql, {}, everything)
  if (json) return `${JSON.stringify(data)}\n`
  if (data.length === 0) return 'There are no accounts; `stackroom user add` creates one.\n'
  return textTable(
    ['name', 'role', 'state', 'e-mail', 'created', 'last sign-in'],
    data.map(user => [
      user.username,
      user.role,
      stateOf(user),
      user.email,
      timeText(user.createdAt),
      timeText(user.lastLoginAt),
    ]),
  )
}

/** Throws NotFound. */
export async function userText(sql: Sql, name: string, json: boolean): Promise<string> {
  const { account, viewer } = await findAccount(sql, name)
  const [user, credentials, { data: libraries }] = await Promise.all([
    findUser(sql, account.id),
    countCredentials(sql, account.id),
    listLibraries(sql, viewer, everything),
  ])
  const names = libraries.map(({ id, name }) => ({ id, name }))
  if (json) return `${JSON.stringify({ ...user, ...credentials, libraries: names })}\n`
  return textRecord([
    ['name', user.username],
    ['e-mail', user.email || 'none'],
    ['role', user.role],
    ['state', stateOf(user)],
    ['created', timeText(user.createdAt)],
    ['last sign-in', timeText(user.lastLoginAt)],
    ['sessions', credentials.sessions],
    ['API keys', credentials.apiKeys],
    ['libraries', librariesText(viewer, names)],
    ...restrictions(user),
  ])
}

/** The account with this user name or e-mail address. Throws NotFound. */
export async function findAccount(sql: Sql, name: string) {
  const found = await findIdentityByName(sql, name)
  if (!found) throw new NotFound(`No account named ${name}`)
  return found.identity
}

const stateOf = ({ isActive }: User) => (isActive ? 'active' : 'deactivated')

function librariesText({ hasAllLibraries }: Viewer, libraries: { name: string }[]): string {
  const names = libraries.map(({ name }) => name).join(', ')
  if (!hasAllLibraries) return names || 'none'
  return names ? `all (${names})` : 'all'
}

/** What differs from most accounts. */
function restrictions(user: UserDetail): [string, string][] {
  const { ageLimit, showsUnrated, permissions, sharingTags } = user
  const lines: [string, string][] = []
  if (ageLimit !== null)
    lines.push(['age limit', `${ageLimit}, unrated series ${showsUnrated ? 'shown' : 'hidden'}`])
  if (permissions.length > 0) lines.push(['permissions', permissions.join(', ')])
  if (sharingTags.length > 0)
    lines.push([
      'sharing tags',
      sharingTags.map(rule => `${rule.accessMode} ${rule.sharingTagName}`).join(', '),
    ])
  return lines
}
