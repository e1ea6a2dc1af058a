// Permissions: accepted notations, roles, API keys.
import t from 'tap'
import {
  effectivePermissions,
  parsePermission,
  parsePermissions,
  permissionNames,
} from '../../lib/accounts/permission.ts'
import { Invalid } from '../../lib/base/errors.ts'

t.test('permissions are parsed in all notations in use', async t => {
  const notations = [
    'ReadListsRead',
    'read-lists-read',
    'readlists:read',
    'READ_LISTS_READ',
    'read lists read',
  ]
  for (const text of notations) t.equal(parsePermission(text), 'ReadListsRead', text)
  for (const name of permissionNames) {
    const dashed = name.replace(/(?!^)([A-Z])/g, '-$1').toLowerCase()
    t.equal(parsePermission(dashed), name)
    t.equal(parsePermission(dashed.replace(/-(?=[^-]*$)/, ':')), name)
  }
  for (const wrong of ['', 'BooksEat', 'constructor', '*'])
    t.throws(() => parsePermission(wrong), Invalid)
  t.same(parsePermissions(['books:read', 'series-read', 'BooksRead']), ['SeriesRead', 'BooksRead'])
})

t.test('roles are cumulative, extras add permissions, keys restrict them', async t => {
  t.equal(permissionNames.length, 29)
  t.equal(effectivePermissions('admin', [], null).size, 29)
  t.notOk(effectivePermissions('reader', [], null).has('BooksWrite'))
  t.ok(effectivePermissions('reader', [], null).has('ProgressWrite'))
  t.ok(effectivePermissions('reader', ['BooksWrite'], null).has('BooksWrite'))
  t.ok(effectivePermissions('maintainer', [], null).has('TasksWrite'))
  t.notOk(effectivePermissions('maintainer', [], null).has('LibrariesDelete'))
  t.same([...effectivePermissions('reader', [], ['BooksRead', 'UsersRead'])], ['BooksRead'])
  t.same([...effectivePermissions('reader', ['NoLongerKnown'], ['NoLongerKnown'])], [])
})

t.test(
  'SystemAdmin includes all permissions; in the key of another account, all of its owner',
  async t => {
    t.equal(effectivePermissions('reader', ['SystemAdmin'], null).size, 29)
    t.equal(effectivePermissions('admin', [], ['SystemAdmin']).size, 29)
    t.same(
      effectivePermissions('reader', [], ['SystemAdmin']),
      effectivePermissions('reader', [], null),
    )
  },
)
