// Effect of another series strategy on a library, before it is saved.
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { messageOf } from '../text/error-message.ts'
import { t } from '../text/translate.ts'
import { useDebounced } from '../ui/timing.ts'
import { typingMs } from './folder-browser.tsx'
import { changesSeries, type LibraryDraft } from './library-draft.ts'

const shownSeries = 5

type StrategyPreviewProps = { id: string; saved: LibraryDraft; draft: LibraryDraft }

export function StrategyPreview({ id, saved, draft }: StrategyPreviewProps) {
  const { seriesStrategy, seriesConfig } = draft
  const request = useDebounced(JSON.stringify({ seriesStrategy, seriesConfig }), typingMs)
  const isChanged = changesSeries(saved, draft)
  const { data, error, isLoading } = useResource(
    isChanged ? `strategy:${id}:${request}` : null,
    signal =>
      body(
        api.POST('/api/v1/libraries/{id}/preview-strategy', {
          ...{ params: { path: { id } }, body: JSON.parse(request), signal },
        }),
      ),
  )
  if (!isChanged) return null
  return (
    <div class="scan-preview card" aria-live="polite" aria-busy={isLoading}>
      {error ? (
        <p class="secondary-text">{messageOf(error)}</p>
      ) : data ? (
        <Changes preview={data} />
      ) : (
        <p class="secondary-text">{t('strategy.preview.loading')}</p>
      )}
    </div>
  )
}

function Changes({ preview }: { preview: Schemas['StrategyPreview'] }) {
  const { seriesBefore, seriesAfter, unchangedSeries, changedSeries, isComplete } = preview
  const more = seriesAfter - unchangedSeries - Math.min(shownSeries, changedSeries.length)
  const before = t('count.series', { count: seriesBefore })
  const after = t('count.series', { count: seriesAfter })
  return (
    <div>
      <p class="scan-preview-total">
        {changedSeries.length === 0
          ? t('strategy.preview.none')
          : t('strategy.preview.changes', { before, after })}
      </p>
      <ul class="scan-preview-series">
        {changedSeries.slice(0, shownSeries).map(({ name, bookCount, sourceCount, sources }) => (
          <li key={`${name} ${sources[0]?.title}`}>
            <bdi>{name}</bdi>
            <span class="secondary-text">
              {t('strategy.preview.from', {
                books: t('count.books', { count: bookCount }),
                series:
                  sourceCount === 1 ? sources[0]!.title : t('count.series', { count: sourceCount }),
              })}
            </span>
          </li>
        ))}
      </ul>
      {more > 0 && <p class="secondary-text">{t('preview.more', { count: more })}</p>}
      {!isComplete && <p class="secondary-text">{t('strategy.preview.partial')}</p>}
      <p class="secondary-text">{t('strategy.preview.stays')}</p>
    </div>
  )
}
