// Control of a metadata field by kind, with its lock.
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { useGetAll } from '../../api/resource.ts'
import { fieldKey, hintKey, type TextKey, t, textOr, valueKey } from '../../text/translate.ts'
import { IconButton } from '../../ui/button.tsx'
import { Select, Switch, TextArea, TextField } from '../../ui/field.tsx'
import { authorRoles, type Field } from './fields.ts'
import { LabelInput, useLabelNames } from './label-input.tsx'
import { type Column, type Row, RowList } from './row-list.tsx'

export type ControlProps = {
  field: Field
  value: unknown
  onChange: (value: unknown) => void
  error?: string | undefined
  /** Beside the label. */
  extra?: ComponentChildren
}

export const fieldLabel = (name: string): string => textOr(fieldKey(name), name)

type LockProps = { name: string; isLocked: boolean; onToggle: () => void }

export function LockButton({ name, isLocked, onToggle }: LockProps) {
  const label = t(isLocked ? 'metadata.unlock' : 'metadata.lock', { name })
  return (
    <IconButton
      icon={isLocked ? 'lock' : 'unlock'}
      class={isLocked ? 'field-lock locked' : 'field-lock'}
      label={label}
      aria-pressed={isLocked}
      onClick={onToggle}
    />
  )
}

export function FieldControl(props: ControlProps) {
  const { field } = props
  const label = fieldLabel(field.name)
  switch (field.kind) {
    case 'text':
    case 'number':
      return <TextControl {...props} label={label} />
    case 'long':
    case 'json':
      return <LongControl {...props} label={label} />
    case 'choice':
    case 'flag':
      return <ChoiceControl {...props} label={label} />
    default:
      return <ListControl {...props} label={label} />
  }
}

type Labelled = ControlProps & { label: string }

const shared = ({ label, error, extra }: Labelled) => ({
  label,
  extra,
  ...(error && { error }),
})

function TextControl(props: Labelled) {
  const { field, value, onChange } = props
  const hint = textOr(hintKey(field.name), '')
  const common = { ...shared(props), ...(hint && { hint }), value: String(value ?? '') }
  if (field.kind === 'number')
    return (
      <TextField
        {...common}
        inputMode={field.isInteger ? 'numeric' : 'decimal'}
        onInput={text => onChange(parseNumber(text))}
      />
    )
  return (
    <TextField
      {...common}
      maxLength={field.kind === 'text' ? field.maxLength : undefined}
      onInput={text => onChange(text.trim() === '' ? null : text)}
    />
  )
}

/** Returns the text itself if it is not a number, so that validation marks the field. */
function parseNumber(text: string): number | string | null {
  const trimmed = text.trim().replace(',', '.')
  if (trimmed === '') return null
  return /^-?\d+(?:\.\d+)?$/.test(trimmed) ? Number(trimmed) : text
}

function LongControl(props: Labelled) {
  const { field, value, onChange } = props
  if (field.kind === 'json') {
    const text = typeof value === 'string' ? value : value ? JSON.stringify(value, null, 2) : ''
    return (
      <TextArea
        {...shared(props)}
        hint={t('metadata.hint.customMetadata')}
        class="metadata-json"
        value={text}
        spellcheck={false}
        onInput={text => onChange(parseObject(text))}
      />
    )
  }
  return (
    <TextArea
      {...shared(props)}
      rows={7}
      value={String(value ?? '')}
      onInput={text => onChange(text.trim() === '' ? null : text)}
    />
  )
}

/** Returns the text itself while it is not an object. */
function parseObject(text: string): unknown {
  if (text.trim() === '') return null
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && !Array.isArray(value) ? value : text
  } catch {
    return text
  }
}

function ChoiceControl(props: Labelled) {
  const { field, value, onChange } = props
  const isFlag = field.kind === 'flag'
  const values = field.kind === 'choice' ? field.values : ['true', 'false']
  const none =
    field.kind === 'choice' && field.isRequired ? [] : [{ value: '', text: t('metadata.none') }]
  const textOf = (value: string) =>
    isFlag
      ? t(value === 'true' ? 'label.yes' : 'label.no')
      : textOr(valueKey(field.name, value)!, value)
  return (
    <Select<string>
      {...shared(props)}
      value={value === null || value === undefined ? '' : String(value)}
      options={[...none, ...values.map(value => ({ value, text: textOf(value) }))]}
      onChange={text => onChange(text === '' ? null : isFlag ? text === 'true' : text)}
    />
  )
}

/** Lists have several controls below their label. */
function ListControl(props: Labelled) {
  const { label, error, extra } = props
  const id = useId()
  return (
    <div class="field">
      <div class="field-label">
        <span>{label}</span>
        {extra}
      </div>
      <ListContent {...props} describedBy={`${id}-hint`} />
      <p class={error ? 'field-error' : 'field-hint'} id={`${id}-hint`}>
        {error ?? ''}
      </p>
    </div>
  )
}

function ListContent(props: Labelled & { describedBy: string }) {
  const { field, value, onChange, label, describedBy } = props
  const suggestionKind = field.kind === 'texts' ? field.suggestions : undefined
  const suggestions = useLabelNames(suggestionKind ?? null)
  if (field.kind === 'texts')
    return (
      <LabelInput
        label={label}
        describedBy={describedBy}
        names={(value ?? []) as string[]}
        suggestions={suggestions}
        onChange={onChange}
      />
    )
  if (field.kind === 'sharing')
    return <SharingTags selected={(value ?? []) as string[]} onChange={onChange} />
  const { columns, empty, isOrdered } =
    listKinds()[field.kind as keyof ReturnType<typeof listKinds>]
  return (
    <RowList
      label={label}
      rows={(value ?? []) as Row[]}
      columns={columns}
      empty={empty}
      isOrdered={isOrdered}
      addText={t(`metadata.add.${field.kind as 'authors'}`)}
      onChange={onChange}
    />
  )
}

const column = (name: string, options: Omit<Column, 'name' | 'label'> = {}): Column => ({
  name,
  label: fieldLabel(name),
  ...options,
})

function listKinds() {
  const roles = ['', ...authorRoles].map(value => ({
    value,
    text: value === '' ? t('personRole.none') : t(`personRole.${value}` as TextKey),
  }))
  return {
    authors: {
      columns: [
        column('name', { maxLength: 300, isRequired: true }),
        column('role', { options: roles }),
      ],
      empty: { name: '', role: 'writer' },
      isOrdered: true,
    },
    titles: {
      columns: [
        column('label', { maxLength: 200, isRequired: true }),
        column('title', { maxLength: 1000, isRequired: true }),
      ],
      empty: { label: '', title: '' },
      isOrdered: true,
    },
    awards: {
      columns: [
        column('name', { maxLength: 500, isRequired: true }),
        column('category', { maxLength: 500 }),
        column('year', { type: 'number' }),
        column('won', { type: 'flag' }),
      ],
      empty: { name: '', year: null, category: null, won: true },
      isOrdered: false,
    },
    links: {
      columns: [
        column('sourceName', { maxLength: 200, isRequired: true }),
        column('url', { maxLength: 2000, type: 'url', isRequired: true }),
      ],
      empty: { sourceName: '', url: 'https://' },
      isOrdered: false,
    },
  } satisfies Record<string, { columns: Column[]; empty: Row; isOrdered: boolean }>
}

type SharingTagsProps = { selected: readonly string[]; onChange: (ids: string[]) => void }

function SharingTags({ selected, onChange }: SharingTagsProps) {
  const tags = useGetAll('/api/v1/admin/sharing-tags')
  if (!tags.data) return null
  if (tags.data.length === 0) return <p class="secondary-text">{t('metadata.noSharingTags')}</p>
  return (
    <div class="stack">
      {tags.data.map(({ id, name, description }) => (
        <Switch
          key={id}
          label={name}
          {...(description && { hint: description })}
          checked={selected.includes(id)}
          onChange={checked =>
            onChange(checked ? [...selected, id] : selected.filter(other => other !== id))
          }
        />
      ))}
    </div>
  )
}
