// Controls of one filter: values that are included or excluded, a text, a range, or yes and no.
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { type LibraryNames, useGet, useLibraryNames } from '../../api/resource.ts'
import { perStar, starsText } from '../../organize/groupings/rule-words.ts'
import { formatNumber, t } from '../../text/translate.ts'
import { Button } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useDebounced } from '../../ui/timing.ts'
import type { FilterChoice, FilterField, FilterName } from './filter-fields.ts'
import { valueText } from './filter-texts.ts'

type ControlProps = {
  field: FilterField
  choices: readonly FilterChoice[]
  /** Names are counted by series. */
  isOfSeries: boolean
  onChange: (choices: readonly FilterChoice[]) => void
}

export function FilterControl(props: ControlProps) {
  switch (props.field.kind) {
    case 'label':
      return props.field.name === 'library' ? (
        <LibraryControl {...props} />
      ) : (
        <LabelControl {...props} />
      )
    case 'choice':
      return <Values {...props} options={props.field.values!.map(value => ({ value }))} />
    case 'text':
      return <TextControl {...props} />
    case 'range':
      return <RangeControl {...props} />
    case 'stars':
      return <StarsControl {...props} />
    case 'flag':
      return <FlagControl {...props} />
  }
}

type Option = { value: string; count?: number | undefined }

function LibraryControl(props: ControlProps) {
  const names = useLibraryNames(true)
  if (names.size < 2) return null
  return <Values {...props} names={names} options={[...names.keys()].map(value => ({ value }))} />
}

/** Names come in thousands; the most frequent are offered until a text narrows them. */
const maxOptions = 40
const waitMs = 200

const namePaths = {
  genre: '/api/v1/genres',
  tag: '/api/v1/tags',
  author: '/api/v1/authors',
  publisher: '/api/v1/publishers',
} as const

function LabelControl(props: ControlProps) {
  const name = props.field.name as keyof typeof namePaths
  const [text, setText] = useState('')
  const wanted = useDebounced(text.trim(), waitMs)
  const { data } = useGet(namePaths[name], {
    query: {
      ...{ page: 1, pageSize: maxOptions, sort: 'series_count,desc' },
      ...(wanted && { search: wanted }),
      ...((name === 'genre' || name === 'tag') && { used: true }),
    },
  })
  // The previous names stay until the next ones arrive.
  const latest = useRef(data)
  const isLong = useRef(false)
  if (data) latest.current = data
  const names = latest.current
  if (wanted === '' && (data?.total ?? 0) > maxOptions) isLong.current = true
  if (!names || (names.total === 0 && !isLong.current && props.choices.length === 0)) return null
  const found: Option[] = names.data.map(label => ({
    value: label.name,
    count: props.isOfSeries ? label.seriesCount : undefined,
  }))
  const chosen = props.choices
    .filter(({ value }) => !found.some(option => option.value === value))
    .map(({ value }) => ({ value }))
  const search = isLong.current && (
    <input
      type="search"
      class="control browse-option-search"
      placeholder={t('filter.find')}
      aria-label={`${t('filter.find')} ${t(`field.${name}`)}`}
      value={text}
      onInput={event => setText(event.currentTarget.value)}
    />
  )
  return <Values {...props} options={[...chosen, ...found]} search={search} />
}

type ValuesProps = ControlProps & {
  options: readonly Option[]
  names?: LibraryNames
  search?: ComponentChildren
}

/** Each value is off, included or excluded; pressing it cycles through them. */
function Values({ field, choices, onChange, options, names = new Map(), search }: ValuesProps) {
  const press = (value: string) => {
    const known = choices.find(choice => choice.value === value)
    const others = choices.filter(choice => choice.value !== value)
    if (!known) onChange([...others, { value, isExcluded: false }])
    else onChange(known.isExcluded ? others : [...others, { value, isExcluded: true }])
  }
  return (
    <fieldset class={`browse-options${field.kind === 'label' ? ' wide' : ''}`}>
      <legend>{t(`field.${field.field}`)}</legend>
      {search}
      <div class="browse-option-list">
        {options.map(({ value, count }) => {
          const choice = choices.find(other => other.value === value)
          const state = !choice ? 'off' : choice.isExcluded ? 'excluded' : 'included'
          return (
            <button
              key={value}
              type="button"
              class={`browse-option ${state}`}
              aria-pressed={state === 'excluded' ? 'mixed' : state === 'included'}
              onClick={() => press(value)}
            >
              {choice && <Icon name={choice.isExcluded ? 'close' : 'check'} size={14} />}
              <span dir="auto">{valueText(field.name as FilterName, value, names)}</span>
              {count !== undefined && (
                <span class="browse-option-count">{formatNumber(count)}</span>
              )}
              {state === 'excluded' && (
                <span class="visually-hidden">{t('filter.isExcluded')}</span>
              )}
            </button>
          )
        })}
      </div>
    </fieldset>
  )
}

/** Values without a list on the server are typed one by one. */
function TextControl(props: ControlProps) {
  const { field, choices, onChange } = props
  const [text, setText] = useState('')
  const value = text.trim()
  const add = (isExcluded: boolean) => {
    const others = choices.filter(choice => choice.value !== value)
    onChange([...others, { value, isExcluded }])
    setText('')
  }
  return (
    <div class="browse-typed">
      <TextField
        label={t(`field.${field.field}`)}
        value={text}
        maxLength={200}
        onInput={setText}
        onKeyDown={(event: KeyboardEvent) => {
          if (event.key !== 'Enter' || !value) return
          event.preventDefault()
          add(false)
        }}
      />
      {value && <Button text={t('filter.include')} onClick={() => add(false)} />}
      {value && <Button text={t('filter.exclude')} onClick={() => add(true)} />}
      {choices.length > 0 && (
        <Values {...props} options={choices.map(choice => ({ value: choice.value }))} />
      )}
    </div>
  )
}

type Bound = (value: string, label: string, onChange: (value: string) => void) => ComponentChildren

/** Lower and upper bound, both optional. */
function Bounds({ field, choices, onChange, bound }: ControlProps & { bound: Bound }) {
  const [from = '', to = ''] = (choices[0]?.value ?? '').split('-', 2)
  const change = (nextFrom: string, nextTo: string) =>
    onChange(nextFrom || nextTo ? [{ value: `${nextFrom}-${nextTo}`, isExcluded: false }] : [])
  return (
    <fieldset class="browse-options">
      <legend>{t(`field.${field.field}`)}</legend>
      <div class="browse-range">
        {bound(from, t('label.from'), value => change(value, to))}
        {bound(to, t('label.to'), value => change(from, value))}
      </div>
    </fieldset>
  )
}

function RangeControl(props: ControlProps) {
  const input: Bound = (value, label, onInput) => (
    <TextField
      label={label}
      value={value}
      inputMode="numeric"
      maxLength={7}
      onInput={text => onInput(text.replace(/\D/g, ''))}
    />
  )
  return <Bounds {...props} bound={input} />
}

const halfStars = Array.from({ length: 10 }, (_, i) => (i + 1) / 2)

function StarsControl(props: ControlProps) {
  const options = [
    { value: '', text: t('filter.any') },
    ...halfStars.map(stars => ({ value: String(stars), text: starsText(stars * perStar) })),
  ]
  const select: Bound = (value, label, onSelect) => (
    <Select<string> label={label} value={value} options={options} onChange={onSelect} />
  )
  return <Bounds {...props} bound={select} />
}

function FlagControl({ field, choices, onChange }: ControlProps) {
  return (
    <Select<'' | 'yes' | 'no'>
      label={t(`field.${field.field}`)}
      value={(choices[0]?.value ?? '') as '' | 'yes' | 'no'}
      options={[
        { value: '', text: t('filter.any') },
        { value: 'yes', text: t('label.yes') },
        { value: 'no', text: t('label.no') },
      ]}
      onChange={value => onChange(value ? [{ value, isExcluded: false }] : [])}
    />
  )
}
