// Pages of people, genres, tags and publishers: their names with the number of series, each a link to these.
import { api, body } from '../api/client.ts'
import { useGet } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { roleText } from '../browse/metadata.tsx'
import type { GridShape } from '../lists/grid-layout.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { ListSearch } from '../lists/list-search.tsx'
import { usePagedList } from '../lists/paged-list.ts'
import { VirtualGrid } from '../lists/virtual-grid.tsx'
import { address, href, setQuery } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { BareSelect } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { SectionPage } from '../ui/page-header.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { showNotice } from '../ui/toast.tsx'
import { type NameKind, sections } from './sections.ts'

const kindOfPath = (path: string): NameKind =>
  sections.find(section => section.path === path)?.path ?? 'people'

export function View() {
  const kind = kindOfPath(address.value.path)
  // Another kind is another page.
  return <Names key={kind} kind={kind} />
}

const sorts = ['name,asc', 'name,desc', 'series_count,desc'] as const
type Sort = (typeof sorts)[number]

function Names({ kind }: { kind: NameKind }) {
  const { query } = address.value
  const search = query.get('q') ?? ''
  const role = (kind === 'people' && query.get('role')) || null
  const sort = sorts.find(known => known === query.get('sort')) ?? sorts[0]
  const key = `names ${kind} ${sort} ${role ?? ''}?${search}`
  const list = usePagedList<Name>(key, (page, signal) =>
    pageOfNames(kind, { ...page, sort, ...(search && { search }), ...(role && { role }) }, signal),
  )
  useReloadOnEvents(
    ({ type }) => /^(?:series|book)_(?:created|updated|deleted)$/.test(type),
    () => list.reload(),
  )
  const total = list.total.value
  const title = t(sections.find(({ path }) => path === kind)!.text)
  const count = (
    <span role="status">{total === null ? '\u00a0' : t('names.count', { count: total })}</span>
  )
  return (
    <SectionPage label={t('nav.names')} entries={sections} title={title} subtitle={count}>
      <div class="row names-toolbar">
        <ListSearch label={t('names.search')} class="names-search" />
        {(kind === 'genres' || kind === 'tags') && can('SystemAdmin') && (
          <Button
            icon="delete"
            text={t('names.cleanup')}
            onClick={() => cleanUp(kind, list.reload)}
          />
        )}
        {kind === 'people' && <RoleChoice role={role} />}
        <BareSelect<Sort>
          class="control"
          aria-label={t('sort.label')}
          value={sort}
          options={sorts.map(value => ({ value, text: t(`names.sort.${value}`) }))}
          onChange={next => setQuery({ sort: next === sorts[0] ? null : next })}
        />
      </div>
      {list.error.value && total === null ? (
        <ErrorState error={list.error.value} onRetry={() => list.reload()} />
      ) : total === 0 ? (
        <Nothing isSearch={search !== '' || role !== null} />
      ) : (
        <VirtualGrid<Name>
          list={list}
          label={title}
          shape={shape}
          renderItem={(name, tabIndex) => <NameCell kind={kind} {...{ name, tabIndex }} />}
        />
      )}
    </SectionPage>
  )
}

async function cleanUp(kind: 'genres' | 'tags', reload: () => void) {
  const { deletedCount } = await body(
    kind === 'genres' ? api.POST('/api/v1/genres/cleanup') : api.POST('/api/v1/tags/cleanup'),
  )
  showNotice(t('names.cleaned', { count: deletedCount }))
  reload()
}

type Name = { name: string; seriesCount: number }
type NamesQuery = {
  page: number
  pageSize: number
  sort: Sort
  search?: string
  role?: string
}

/** Labels have a count in lists. */
type NamesPage = { data: { name: string; seriesCount?: number }[]; total: number }

async function pageOfNames(kind: NameKind, query: NamesQuery, signal: AbortSignal) {
  const init = { params: { query }, signal }
  const used = { params: { query: { ...query, used: true } }, signal }
  const requests = {
    people: () => api.GET('/api/v1/authors', init),
    genres: () => api.GET('/api/v1/genres', used),
    tags: () => api.GET('/api/v1/tags', used),
    publishers: () => api.GET('/api/v1/publishers', init),
  }
  const { data, total } = await body<NamesPage>(requests[kind]())
  return { data: data.map(({ name, seriesCount = 0 }) => ({ name, seriesCount })), total }
}

/** Keep in sync with names.css. One column on phones. */
const shape: GridShape = {
  minCellWidth: innerWidth < 600 ? 0 : 260,
  gap: 8,
  cellHeight: () => 52,
}

/** Filters of lists by the name. */
const filters = { people: 'author', genres: 'genre', tags: 'tag', publishers: 'publisher' } as const

type NameCellProps = { kind: NameKind; name: Name | undefined; tabIndex: number }

function NameCell({ kind, name: row, tabIndex }: NameCellProps) {
  if (!row) return <div class="names-cell loading" aria-hidden />
  const { name, seriesCount } = row
  const parameters = new URLSearchParams({ [filters[kind]]: name })
  return (
    <div class="names-cell">
      <a class="names-link" href={href(`series?${parameters}`)} tabIndex={tabIndex}>
        <span class="ellipsis" dir="auto" title={name}>
          {name}
        </span>
        <span class="names-series">{t('count.series', { count: seriesCount })}</span>
      </a>
      {kind !== 'publishers' && (
        <a
          class="button quiet icon-button"
          href={href(`books?${parameters}`)}
          tabIndex={tabIndex}
          aria-label={t('names.booksOf', { name })}
          title={t('names.booksOf', { name })}
        >
          <Icon name="book" />
        </a>
      )}
    </div>
  )
}

/** Renders nothing if all people have the same role. */
function RoleChoice({ role }: { role: string | null }) {
  const { data } = useGet('/api/v1/authors/roles')
  const roles = [...new Set([...(data?.roles ?? []), ...(role === null ? [] : [role])])]
  if (roles.length < 2 && role === null) return null
  const options = [
    { value: '', text: t('names.allRoles') },
    ...roles.map(value => ({ value, text: roleText(value) })),
  ]
  return (
    <BareSelect
      class="control"
      aria-label={t('field.role')}
      value={role ?? ''}
      options={options}
      onChange={next => setQuery({ role: next || null })}
    />
  )
}

const Nothing = ({ isSearch }: { isSearch: boolean }) =>
  isSearch ? (
    <EmptyState
      icon="search"
      title={t('groupings.noneFound')}
      text={t('groupings.noneFoundText')}
    />
  ) : (
    <EmptyState icon="users" title={t('names.none')} text={t('names.noneText')} />
  )
