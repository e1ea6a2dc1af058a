// Strategy fields: how files become series, and names become titles and numbers.
import { bookStrategies, numberStrategies, seriesStrategies } from '../api/enumerations.ts'
import { type TextKey, t } from '../text/translate.ts'
import { Select, Switch, TextArea, TextField } from '../ui/field.tsx'
import type {
  BookStrategy,
  ChangeDraft,
  Config,
  ExistingLibrary,
  LibraryDraft,
  SeriesStrategy,
} from './library-draft.ts'
import { StrategyPreview } from './strategy-preview.tsx'

type ConfigField =
  | { key: string; kind: 'text'; label: TextKey; initial: string; isRequired?: boolean }
  | { key: string; kind: 'lines'; label: TextKey }
  | { key: string; kind: 'number'; label: TextKey; initial: number; max: number }
  | { key: string; kind: 'switch'; label: TextKey; initial: boolean }
  | {
      key: string
      kind: 'choice'
      label: TextKey
      initial: string
      options: Record<string, TextKey>
    }

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
      initial: 'publisher',
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
      initial: 'from_metadata',
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
    {
      key: 'pattern',
      kind: 'text',
      label: 'strategy.pathPattern',
      initial: '',
      isRequired: true,
    },
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
      initial: 'filename',
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
        options={seriesStrategies.map(value => ({
          value,
          text: t(value === 'custom' ? 'strategy.custom' : `strategy.series.${value}`),
        }))}
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
        options={bookStrategies.map(value => ({
          value,
          text: t(value === 'custom' ? 'strategy.custom' : `strategy.book.${value}`),
        }))}
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
        options={numberStrategies.map(value => ({
          value,
          text: t(value === 'smart' ? 'strategy.book.metadata_first' : `strategy.number.${value}`),
        }))}
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
        value={String(value ?? field.initial)}
        options={Object.entries(field.options).map(([value, text]) => ({ value, text: t(text) }))}
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
