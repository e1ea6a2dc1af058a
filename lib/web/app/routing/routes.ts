// Views of the application by address. Each view is a module of its own, loaded when it is first opened.
import type { Route } from './route.ts'

export const routes: readonly Route[] = [
  {
    pattern: '',
    load: () => import('../home/home-view.ts'),
    styles: ['lists/lists.css', 'browse/browse.css'],
  },
  {
    pattern: 'libraries',
    load: () => import('../browse/libraries-view.ts'),
    styles: ['browse/browse.css'],
    access: 'LibrariesRead',
  },
  {
    pattern: 'libraries/:id',
    load: () => import('../browse/library-view.ts'),
    styles: ['lists/lists.css', 'browse/browse.css'],
    access: 'SeriesRead',
  },
  {
    pattern: 'series',
    load: () => import('../browse/series-list-view.ts'),
    styles: ['lists/lists.css', 'browse/browse.css'],
    access: 'SeriesRead',
  },
  {
    pattern: 'series/:id',
    load: () => import('../browse/series-view.ts'),
    styles: ['lists/lists.css', 'browse/browse.css', 'organise/rating.css'],
    access: 'SeriesRead',
  },
  {
    pattern: 'books/:id',
    load: () => import('../browse/book-view.ts'),
    styles: ['lists/lists.css', 'browse/browse.css'],
    access: 'BooksRead',
  },
  {
    pattern: 'search',
    load: () => import('../browse/search-view.ts'),
    styles: ['lists/lists.css', 'browse/browse.css'],
  },
  {
    pattern: 'collections',
    load: async () => ({
      View: (await import('../organise/groupings/groupings-view.ts')).CollectionsView,
    }),
    styles: ['lists/lists.css', 'organise/organise.css'],
    access: 'CollectionsRead',
  },
  {
    pattern: 'collections/:id',
    load: async () => ({
      View: (await import('../organise/groupings/grouping-view.ts')).CollectionView,
    }),
    styles: ['lists/lists.css', 'organise/organise.css'],
    access: 'CollectionsRead',
  },
  {
    pattern: 'readlists',
    load: async () => ({
      View: (await import('../organise/groupings/groupings-view.ts')).ReadListsView,
    }),
    styles: ['lists/lists.css', 'organise/organise.css'],
    access: 'ReadListsRead',
  },
  {
    pattern: 'readlists/:id',
    load: async () => ({
      View: (await import('../organise/groupings/grouping-view.ts')).ReadListView,
    }),
    styles: ['lists/lists.css', 'organise/organise.css'],
    access: 'ReadListsRead',
  },
  {
    pattern: 'want-to-read',
    load: () => import('../organise/want-to-read-view.ts'),
    styles: ['lists/lists.css', 'organise/organise.css'],
  },
  {
    pattern: 'statistics',
    load: () => import('../statistics/statistics-view.ts'),
    styles: ['statistics/statistics.css'],
    access: 'ProgressRead',
  },
  {
    pattern: 'account',
    load: () => import('../account/account-view.ts'),
    styles: ['account/account.css'],
  },
  {
    pattern: 'account/keys',
    load: () => import('../account/keys-view.ts'),
    styles: ['account/account.css'],
    access: 'ApiKeysRead',
  },
  {
    pattern: 'books/:id/read',
    load: () => import('../reader/reader-view.ts'),
    styles: ['reader/reader.css'],
    frame: 'plain',
    access: 'PagesRead',
  },
  {
    pattern: 'admin',
    load: () => import('../admin/overview-view.ts'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'LibrariesWrite',
  },
  {
    pattern: 'admin/libraries',
    load: () => import('../admin/libraries-view.ts'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'LibrariesWrite',
  },
  {
    pattern: 'admin/libraries/new',
    load: () => import('../admin/new-library-view.ts'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'LibrariesWrite',
  },
  {
    pattern: 'admin/libraries/:id',
    load: () => import('../admin/library-view.ts'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'LibrariesWrite',
  },
  {
    pattern: 'admin/tasks',
    load: () => import('../admin/tasks-view.ts'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'TasksRead',
  },
  {
    pattern: 'admin/errors',
    load: () => import('../admin/errors-view.ts'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'BooksWrite',
  },
  {
    pattern: 'admin/duplicates',
    load: () => import('../admin/duplicates-view.ts'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'BooksWrite',
  },
  {
    pattern: 'admin/health',
    load: () => import('../admin/health-view.ts'),
    styles: ['manage/manage.css', 'admin/admin.css'],
    access: 'LibrariesWrite',
  },
  {
    pattern: 'admin/users',
    load: () => import('../admin-accounts/users-view.ts'),
    styles: ['admin/admin.css', 'admin-accounts/admin-accounts.css'],
    access: 'UsersRead',
  },
  {
    pattern: 'admin/users/:id',
    load: () => import('../admin-accounts/user-view.ts'),
    styles: ['admin/admin.css', 'admin-accounts/admin-accounts.css'],
    access: 'UsersRead',
  },
  {
    pattern: 'admin/settings',
    load: () => import('../admin-accounts/settings-view.ts'),
    styles: ['admin/admin.css', 'admin-accounts/admin-accounts.css'],
    access: 'SystemAdmin',
  },
  {
    pattern: 'register',
    load: () => import('../account/register-view.ts'),
    frame: 'plain',
    access: 'public',
  },
  {
    pattern: 'setup',
    load: () => import('../setup/setup-view.ts'),
    styles: ['manage/manage.css', 'setup/setup.css'],
    frame: 'plain',
    access: 'public',
  },
  {
    pattern: 'sign-in',
    load: () => import('../account/sign-in-view.ts'),
    frame: 'plain',
    access: 'public',
  },
]

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
