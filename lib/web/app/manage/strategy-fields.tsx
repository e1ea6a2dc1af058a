// Strategy fields: how files become series, and names become titles and numbers.

import { api, body, type Schemas } from '../api/client.ts'
import { bookStrategies, numberStrategies, seriesStrategies } from '../api/enumerations.ts'
import { useResource } from '../api/resource.ts'
import { messageOf } from '../text/error-message.ts'
import { type TextKey, t } from '../text/translate.ts'
import { optionsOf, Select, Switch, TextArea, TextField } from '../ui/field.tsx'
import { useDebounced } from '../ui/timing.ts'
import { typingMs } from './folder-browser.tsx'
import {
  type BookStrategy,
  type ChangeDraft,
  type Config,
  changesSeries,
  type ExistingLibrary,
  type LibraryDraft,
  type SeriesStrategy,
} from './library-draft.ts'

type ConfigField =
  | { key: string; kind: 'text'; label: TextKey; initial: string; isRequired?: boolean }
  | { key: string; kind: 'lines'; label: TextKey }
  | { key: string; kind: 'number'; label: TextKey; initial: number; max: number }
  | { key: string; kind: 'switch'; label: TextKey; initial: boolean }
  /** The first option is the initial one. */
  | { key: string; kind: 'choice'; label: TextKey; options: Record<string, TextKey> }

/** Configuration of strategies; the server validates it. */
const seriesFields: Partial<Record<SeriesStrategy, readonly ConfigField[]>> = {
  flat: [
    { key: 'filenamePatterns', kind: 'lines', label: 'strategy.filenamePatterns' },
    { key: 'requireMetadata', kind: 'switch', label: 'strategy.requireMetadata', initial: false },
  ],
  publisher_hierarchy: [
    { key: 'skipDepth', kind: 'number', label: 'strategy.skipDepth', initial: 1, max: 10 },
    {
      key: 'storeSkippedAs',
      kind: 'choice',
      label: 'strategy.storeSkippedAs',
      options: {
        publisher: 'strategy.publisher',
        imprint: 'strategy.imprint',
        none: 'strategy.notStored',
      },
    },
  ],
  calibre: [
    {
      key: 'seriesMode',
      kind: 'choice',
      label: 'label.series',
      options: {
        from_metadata: 'strategy.fromMetadata',
        by_author: 'strategy.byAuthor',
        standalone: 'strategy.standalone',
      },
    },
    { key: 'stripIdSuffix', kind: 'switch', label: 'strategy.stripIdSuffix', initial: true },
    { key: 'readOpfMetadata', kind: 'switch', label: 'strategy.readOpf', initial: true },
    { key: 'authorFromFolder', kind: 'switch', label: 'strategy.authorFromFolder', initial: true },
  ],
  custom: [
    { key: 'pattern', kind: 'text', label: 'strategy.pathPattern', initial: '', isRequired: true },
    { key: 'seriesNameTemplate', kind: 'text', label: 'strategy.seriesName', initial: '{series}' },
  ],
}
const bookFields: Partial<Record<BookStrategy, readonly ConfigField[]>> = {
  smart: [{ key: 'additionalGenericPatterns', kind: 'lines', label: 'strategy.genericPatterns' }],
  custom: [
    { key: 'pattern', kind: 'text', label: 'strategy.namePattern', initial: '', isRequired: true },
    { key: 'titleTemplate', kind: 'text', label: 'strategy.titleTemplate', initial: '' },
    {
      key: 'fallback',
      kind: 'choice',
      label: 'strategy.fallback',
      options: {
        filename: 'strategy.book.filename',
        metadata_first: 'strategy.book.metadata_first',
        smart: 'strategy.book.smart',
      },
    },
  ],
}

type StrategyFieldsProps = {
  draft: LibraryDraft
  onChange: ChangeDraft
  /** Null for a new library. */
  existing: ExistingLibrary | null
}

export function StrategyFields({ draft, onChange, existing }: StrategyFieldsProps) {
  return (
    <>
      <Select<SeriesStrategy>
        label={t('strategy.series')}
        hint={t(`strategy.series.${draft.seriesStrategy}.hint`)}
        value={draft.seriesStrategy}
        options={optionsOf(seriesStrategies, value =>
          t(value === 'custom' ? 'strategy.custom' : `strategy.series.${value}`),
        )}
        onChange={seriesStrategy => onChange({ seriesStrategy, seriesConfig: {} })}
      />
      <ConfigFields
        key={`series ${draft.seriesStrategy}`}
        fields={seriesFields[draft.seriesStrategy] ?? []}
        config={draft.seriesConfig}
        onChange={seriesConfig => onChange({ seriesConfig })}
      />
      {existing && <StrategyPreview {...existing} draft={draft} />}
      <Select<BookStrategy>
        label={t('strategy.book')}
        value={draft.bookStrategy}
        options={optionsOf(bookStrategies, value =>
          t(value === 'custom' ? 'strategy.custom' : `strategy.book.${value}`),
        )}
        onChange={bookStrategy => onChange({ bookStrategy, bookConfig: {} })}
      />
      <ConfigFields
        key={`book ${draft.bookStrategy}`}
        fields={bookFields[draft.bookStrategy] ?? []}
        config={draft.bookConfig}
        onChange={bookConfig => onChange({ bookConfig })}
      />
      <Select<LibraryDraft['numberStrategy']>
        label={t('strategy.number')}
        value={draft.numberStrategy}
        options={optionsOf(numberStrategies, value =>
          t(value === 'smart' ? 'strategy.book.metadata_first' : `strategy.number.${value}`),
        )}
        onChange={numberStrategy => onChange({ numberStrategy })}
      />
    </>
  )
}

type ConfigFieldsProps = {
  fields: readonly ConfigField[]
  config: Config
  onChange: (config: Config) => void
}

function ConfigFields({ fields, config, onChange }: ConfigFieldsProps) {
  if (fields.length === 0) return null
  return (
    <fieldset class="nested-fields">
      {fields.map(field => (
        <ConfigControl
          key={field.key}
          field={field}
          value={config[field.key]}
          onChange={value => onChange({ ...config, [field.key]: value })}
        />
      ))}
    </fieldset>
  )
}

type ControlProps = { field: ConfigField; value: unknown; onChange: (value: unknown) => void }

function ConfigControl({ field, value, onChange }: ControlProps) {
  const label = t(field.label)
  if (field.kind === 'switch')
    return <Switch label={label} checked={Boolean(value ?? field.initial)} onChange={onChange} />
  if (field.kind === 'choice')
    return (
      <Select<string>
        label={label}
        value={String(value ?? Object.keys(field.options)[0])}
        options={optionsOf(Object.keys(field.options), name => t(field.options[name]!))}
        onChange={onChange}
      />
    )
  if (field.kind === 'lines')
    return (
      <TextArea
        label={label}
        rows={3}
        dir="ltr"
        hint={t('strategy.linesHint')}
        value={Array.isArray(value) ? value.join('\n') : ''}
        onInput={text => onChange(text.split('\n').filter(Boolean))}
      />
    )
  if (field.kind === 'number')
    return (
      <TextField
        label={label}
        type="number"
        min={0}
        max={field.max}
        required
        value={String(value ?? field.initial)}
        onInput={text => onChange(Number(text))}
      />
    )
  return (
    <TextField
      label={label}
      dir="ltr"
      required={field.isRequired}
      value={String(value ?? field.initial)}
      onInput={onChange}
    />
  )
}

const shownSeries = 5

type StrategyPreviewProps = { id: string; saved: LibraryDraft; draft: LibraryDraft }

/** Effect of another series strategy on a library, before it is saved. */
function StrategyPreview({ id, saved, draft }: StrategyPreviewProps) {
  const { seriesStrategy, seriesConfig } = draft
  const request = useDebounced(JSON.stringify({ seriesStrategy, seriesConfig }), typingMs)
  const isChanged = changesSeries(saved, draft)
  const { data, error, isLoading } = useResource(
    isChanged ? `strategy:${id}:${request}` : null,
    signal => {
      const init = { params: { path: { id } }, body: JSON.parse(request), signal }
      return body(api.POST('/api/v1/libraries/{id}/preview-strategy', init))
    },
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
