// What automatic matching would choose for the first series or books of a library, one after the other.
import { useEffect, useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { messageOf } from '../text/error-message.ts'
import { formatNumber, t, textOr } from '../text/translate.ts'
import { NameLink } from '../ui/name.tsx'
import { Table } from '../ui/table.tsx'
import { FoundLink } from './found-link.tsx'
import type { Matching } from './matching.ts'

type Item = { id: string; title: string }
type Result = Schemas['AutoMatchResult'] | Error
type Row = Item & { result?: Result }

const tried = 10

export function MatchPreview({ libraryId, sourceId, kind }: Matching) {
  const [rows, setRows] = useState<Row[]>([])
  useEffect(() => {
    const { signal, abort } = withAbort()
    const tryAll = async () => {
      const items = await firstItems(libraryId, kind, signal)
      setRows(items)
      for (const item of items) {
        const result = await tryOne(item, { sourceId, kind, signal })
        if (signal.aborted) return
        setRows(rows => rows.map(row => (row.id === item.id ? { ...row, result } : row)))
      }
    }
    tryAll().catch(error => {
      if (!signal.aborted) throw error
    })
    return abort
  }, [])
  const path = kind === 'series' ? 'series' : 'books'
  return (
    <section class="matching-preview" aria-live="polite">
      <h2>{t('matching.preview')}</h2>
      <div class="table-scroll">
        <Table
          columns={[
            t('field.title'),
            t('match.proposed'),
            t('matching.certainty'),
            t('backups.result'),
          ]}
        >
          {rows.map(({ id, title, result }) => (
            <tr key={id}>
              <td>
                <NameLink path={`${path}/${id}`} name={title} />
              </td>
              <ResultCells result={result} />
            </tr>
          ))}
        </Table>
      </div>
      {rows.length > 0 && <p class="secondary-text">{t('matching.previewText')}</p>}
    </section>
  )
}

function ResultCells({ result }: { result: Result | undefined }) {
  if (result === undefined) return <td colSpan={3}>…</td>
  if (result instanceof Error) return <td colSpan={3}>{messageOf(result)}</td>
  const { found, relevance, outcome } = result
  return (
    <>
      <td dir="auto">{found ? <FoundLink found={found} /> : '–'}</td>
      <td>{relevance === null ? '–' : formatNumber(relevance, { style: 'percent' })}</td>
      <td>{textOr(`match.outcome.${outcome}`, outcome)}</td>
    </>
  )
}

function withAbort() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

async function firstItems(
  libraryId: string,
  kind: Matching['kind'],
  signal: AbortSignal,
): Promise<Item[]> {
  const query = { pageSize: tried }
  const { data } =
    kind === 'series'
      ? await body(
          api.GET('/api/v1/series', { params: { query: { ...query, libraryId } }, signal }),
        )
      : await body(
          api.POST('/api/v1/books/list', {
            ...{ params: { query }, body: { condition: ebooksOf(libraryId) }, signal },
          }),
        )
  return data.map(({ id, title }) => ({ id, title }))
}

/** Comics are matched as series. */
const ebooksOf = (libraryId: string): Schemas['BookCondition'] => ({
  allOf: [
    { libraryId: { operator: 'is', value: libraryId } },
    { anyOf: (['epub', 'pdf'] as const).map(value => ({ format: { operator: 'is', value } })) },
  ],
})

type Try = { sourceId: string; kind: Matching['kind']; signal: AbortSignal }

/** An error is a result: the next ones may succeed. */
async function tryOne({ id }: Item, { sourceId, kind, signal }: Try): Promise<Result> {
  const owner = kind === 'series' ? 'series' : 'books'
  const request = { params: { path: { id } }, body: { sourceId, dryRun: true }, signal }
  try {
    return await body(api.POST(`/api/v1/${owner}/{id}/metadata/auto-match`, request))
  } catch (error) {
    return error as Error
  }
}
