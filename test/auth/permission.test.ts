import t from 'tap'
import {
  effective,
  parsePermission,
  parsePermissions,
  permissionNames,
} from '../../lib/auth/permission.ts'
import { Invalid } from '../../lib/errors.ts'

t.test('a permission may be written in any of the spellings in use', async t => {
  const spellings = [
    'ReadListsRead',
    'read-lists-read',
    'readlists:read',
    'READ_LISTS_READ',
    'read lists read',
  ]
  for (const spelling of spellings) t.equal(parsePermission(spelling), 'ReadListsRead', spelling)
  for (const name of permissionNames) {
    const dashed = name.replace(/(?!^)([A-Z])/g, '-$1').toLowerCase()
    t.equal(parsePermission(dashed), name)
    t.equal(parsePermission(dashed.replace(/-(?=[^-]*$)/, ':')), name)
  }
  for (const wrong of ['', 'BooksEat', 'constructor', '*'])
    t.throws(() => parsePermission(wrong), Invalid)
  t.same(parsePermissions(['books:read', 'series-read', 'BooksRead']), ['SeriesRead', 'BooksRead'])
})

t.test('roles grow, extras add, keys take away', async t => {
  t.equal(permissionNames.length, 29)
  t.equal(effective('admin', [], null).size, 29)
  t.notOk(effective('reader', [], null).has('BooksWrite'))
  t.ok(effective('reader', [], null).has('ProgressWrite'))
  t.ok(effective('reader', ['BooksWrite'], null).has('BooksWrite'))
  t.ok(effective('maintainer', [], null).has('TasksWrite'))
  t.notOk(effective('maintainer', [], null).has('LibrariesDelete'))
  t.same([...effective('reader', [], ['BooksRead', 'UsersRead'])], ['BooksRead'])
  t.same([...effective('reader', ['NoLongerKnown'], ['NoLongerKnown'])], [])
})

t.test(
  'SystemAdmin stands for all, and in the key of another for all that the owner may',
  async t => {
    t.equal(effective('reader', ['SystemAdmin'], null).size, 29)
    t.equal(effective('admin', [], ['SystemAdmin']).size, 29)
    t.same(effective('reader', [], ['SystemAdmin']), effective('reader', [], null))
  },
)
