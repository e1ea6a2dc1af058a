// Views of the application by address. Each view is a module of its own, loaded when it is first opened.
import type { Route } from './load-view.ts'

type Row = [pattern: string, access: Route['access'] | null, load: Route['load']]

/** Views with the same style sheets. */
const styled = (styles: readonly string[], rows: readonly Row[]): Route[] =>
  rows.map(([pattern, access, load]) => ({ pattern, load, styles, ...(access && { access }) }))

const withoutFrame = (routes: readonly Route[]): Route[] =>
  routes.map(route => ({ ...route, frame: 'plain' }))

export const routes: readonly Route[] = [
  ...styled(
    ['lists/lists.css', 'browse/browse.css', 'home/home.css'],
    [['', null, () => import('../home/home-view.tsx')]],
  ),
  ...styled(
    ['lists/lists.css', 'browse/browse.css'],
    [
      ['libraries/:id', 'SeriesRead', () => import('../browse/library-view.tsx')],
      ['series', 'SeriesRead', () => import('../browse/series-list-view.tsx')],
      ['books', 'BooksRead', () => import('../browse/book-list-view.tsx')],
      ['books/:id', 'BooksRead', () => import('../browse/book-view.tsx')],
      ['recently-read', 'BooksRead', () => import('../browse/recently-read-view.tsx')],
      ['search', null, () => import('../browse/search-view.tsx')],
    ],
  ),
  ...styled(
    ['lists/lists.css', 'names/names.css'],
    ['people', 'genres', 'tags', 'publishers'].map(
      (pattern): Row => [pattern, 'SeriesRead', () => import('../names/names-view.tsx')],
    ),
  ),
  ...styled(
    ['browse/browse.css'],
    [['libraries', 'LibrariesRead', () => import('../browse/libraries-view.tsx')]],
  ),
  ...styled(
    ['lists/lists.css', 'browse/browse.css', 'organize/rating.css', 'releases/releases.css'],
    [['series/:id', 'SeriesRead', () => import('../browse/series-view.tsx')]],
  ),
  ...styled(
    ['lists/lists.css', 'organize/organize.css'],
    [
      [
        'collections',
        'CollectionsRead',
        async () => ({ View: (await groupings()).CollectionsView }),
      ],
      [
        'collections/:id',
        'CollectionsRead',
        async () => ({ View: (await grouping()).CollectionView }),
      ],
      ['readlists', 'ReadListsRead', async () => ({ View: (await groupings()).ReadListsView })],
      ['readlists/:id', 'ReadListsRead', async () => ({ View: (await grouping()).ReadListView })],
      ['want-to-read', null, () => import('../organize/want-to-read-view.tsx')],
    ],
  ),
  ...styled(
    ['releases/releases.css'],
    [['releases', 'SeriesRead', () => import('../releases/inbox-view.tsx')]],
  ),
  ...styled(
    ['statistics/statistics.css'],
    [['statistics', 'ProgressRead', () => import('../statistics/statistics-view.tsx')]],
  ),
  ...styled(
    ['account/account.css'],
    [
      ['account', null, () => import('../account/account-view.tsx')],
      ['account/keys', 'ApiKeysRead', () => import('../account/keys-view.tsx')],
    ],
  ),
  ...styled(
    ['manage/manage.css', 'admin/admin.css'],
    [
      ['admin', 'LibrariesWrite', () => import('../admin/overview-view.tsx')],
      ['admin/libraries', 'LibrariesWrite', () => import('../admin/libraries-view.tsx')],
      ['admin/libraries/new', 'LibrariesWrite', () => import('../admin/new-library-view.tsx')],
      ['admin/libraries/:id', 'LibrariesWrite', () => import('../admin/library-view.tsx')],
      ['admin/tasks', 'TasksRead', () => import('../admin/tasks-view.tsx')],
      ['admin/errors', 'BooksWrite', () => import('../admin/errors-view.tsx')],
      ['admin/duplicates', 'BooksWrite', () => import('../admin/duplicates-view.tsx')],
      ['admin/sources', 'PluginsManage', () => import('../sources/sources-view.tsx')],
      ['admin/matching', 'SeriesWrite', () => import('../sources/matching-view.tsx')],
      ['admin/backups', 'SystemAdmin', () => import('../admin/backups-view.tsx')],
      ['admin/health', 'LibrariesWrite', () => import('../admin/health-view.tsx')],
    ],
  ),
  ...styled(
    ['admin/admin.css', 'admin-accounts/admin-accounts.css'],
    [
      ['admin/users', 'UsersRead', () => import('../admin-accounts/users-view.tsx')],
      ['admin/users/:id', 'UsersRead', () => import('../admin-accounts/user-view.tsx')],
      ['admin/settings', 'SystemAdmin', () => import('../admin-accounts/settings-view.tsx')],
    ],
  ),
  ...withoutFrame([
    ...styled(
      ['reader/reader.css'],
      [['books/:id/read', 'PagesRead', () => import('../reader/reader-view.tsx')]],
    ),
    ...styled(
      ['manage/manage.css', 'setup/setup.css'],
      [['setup', 'public', () => import('../setup/setup-view.tsx')]],
    ),
    ...styled(
      [],
      [
        ['register', 'public', () => import('../account/register-view.tsx')],
        ['sign-in', 'public', () => import('../account/sign-in-view.tsx')],
      ],
    ),
  ]),
]

const groupings = () => import('../organize/groupings/groupings-view.tsx')
const grouping = () => import('../organize/groupings/grouping-view.tsx')

export type Match = { route: Route; params: Record<string, string> }

/** The route of a path; null for an unknown one. */
export function matchRoute(path: string): Match | null {
  const segments = path.split('/')
  for (const route of routes) {
    const parts = route.pattern.split('/')
    if (parts.length !== segments.length) continue
    const params: Record<string, string> = {}
    const matches = parts.every((part, i) => {
      if (!part.startsWith(':')) return part === segments[i]
      params[part.slice(1)] = segments[i]!
      return segments[i] !== ''
    })
    if (matches) return { route, params }
  }
  return null
}
