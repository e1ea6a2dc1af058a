// Controls of one filter: values that are included or excluded, a text, a range, or yes and no.
import { useState } from 'preact/hooks'
import { api, body } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { perStar, starsText } from '../../organise/groupings/rule-words.ts'
import { formatNumber, t } from '../../text/translate.ts'
import { Button } from '../../ui/button.ts'
import { Select, TextField } from '../../ui/field.ts'
import { type ComponentChildren, h } from '../../ui/h.ts'
import { Icon } from '../../ui/icon.ts'
import type { FilterChoice, FilterField, FilterName } from './filter-fields.ts'
import { type LibraryNames, useLibraryNames, valueText } from './filter-texts.ts'

type ControlProps = {
  field: FilterField
  choices: readonly FilterChoice[]
  onChange: (choices: readonly FilterChoice[]) => void
}

export function FilterControl(props: ControlProps) {
  switch (props.field.kind) {
    case 'label':
      return props.field.name === 'library' ? h(LibraryControl, props) : h(LabelControl, props)
    case 'choice':
      return h(Values, { ...props, options: props.field.values!.map(value => ({ value })) })
    case 'text':
      return h(TextControl, props)
    case 'range':
      return h(RangeControl, props)
    case 'stars':
      return h(StarsControl, props)
    case 'flag':
      return h(FlagControl, props)
  }
}

type Option = { value: string; count?: number }

function LibraryControl(props: ControlProps) {
  const names = useLibraryNames(true)
  if (names.size < 2) return null
  return h(Values, { ...props, names, options: [...names.keys()].map(value => ({ value })) })
}

/** Genres and tags come in thousands; the most frequent are offered until a text narrows them. */
const maxOptions = 40

function LabelControl(props: ControlProps) {
  const { name } = props.field
  const [text, setText] = useState('')
  const params = { query: { page: 1, pageSize: 500 } }
  const { data } = useResource(`${name}s`, signal =>
    body(
      name === 'genre'
        ? api.GET('/api/v1/genres', { params, signal })
        : api.GET('/api/v1/tags', { params, signal }),
    ),
  )
  if (!data || data.total === 0) return null
  const wanted = text.toLocaleLowerCase()
  const found = data.data
    .map(({ name, seriesCount = 0 }) => ({ name, seriesCount }))
    .filter(label => label.seriesCount > 0 && label.name.toLocaleLowerCase().includes(wanted))
    .toSorted((a, b) => b.seriesCount - a.seriesCount)
    .slice(0, maxOptions)
  const chosen = props.choices
    .filter(({ value }) => !found.some(label => label.name === value))
    .map(({ value }) => ({ value }))
  const options = [
    ...chosen,
    ...found.map(label => ({ value: label.name, count: label.seriesCount })),
  ]
  const search =
    data.total > maxOptions &&
    h('input', {
      type: 'search',
      class: 'control browse-option-search',
      placeholder: t('filter.find'),
      'aria-label': t('filter.find'),
      value: text,
      onInput: event => setText(event.currentTarget.value),
    })
  return h(Values, { ...props, options, search })
}

type ValuesProps = ControlProps & {
  options: readonly Option[]
  names?: LibraryNames
  search?: ComponentChildren
}

/** Each value is off, included or excluded: a press goes on to the next. */
function Values({ field, choices, onChange, options, names = new Map(), search }: ValuesProps) {
  const press = (value: string) => {
    const known = choices.find(choice => choice.value === value)
    const others = choices.filter(choice => choice.value !== value)
    if (!known) onChange([...others, { value, isExcluded: false }])
    else onChange(known.isExcluded ? others : [...others, { value, isExcluded: true }])
  }
  return h(
    'fieldset',
    { class: `browse-options${field.kind === 'label' ? ' wide' : ''}` },
    h('legend', null, t(field.text)),
    search,
    h(
      'div',
      { class: 'browse-option-list' },
      options.map(({ value, count }) => {
        const choice = choices.find(other => other.value === value)
        const state = !choice ? 'off' : choice.isExcluded ? 'excluded' : 'included'
        return h(
          'button',
          {
            type: 'button',
            key: value,
            class: `browse-option ${state}`,
            'aria-pressed': state === 'excluded' ? 'mixed' : state === 'included',
            onClick: () => press(value),
          },
          choice && h(Icon, { name: choice.isExcluded ? 'close' : 'check', size: 14 }),
          h('span', { dir: 'auto' }, valueText(field.name as FilterName, value, names)),
          count !== undefined && h('span', { class: 'browse-option-count' }, formatNumber(count)),
          state === 'excluded' && h('span', { class: 'visually-hidden' }, t('filter.isExcluded')),
        )
      }),
    ),
  )
}

/** Values that the server has no list of are typed, one after another. */
function TextControl(props: ControlProps) {
  const { field, choices, onChange } = props
  const [text, setText] = useState('')
  const value = text.trim()
  const add = (isExcluded: boolean) => {
    const others = choices.filter(choice => choice.value !== value)
    onChange([...others, { value, isExcluded }])
    setText('')
  }
  return h(
    'div',
    { class: 'browse-typed' },
    h(TextField, {
      label: t(field.text),
      value: text,
      maxLength: 200,
      onInput: setText,
      onKeyDown: (event: KeyboardEvent) => {
        if (event.key !== 'Enter' || !value) return
        event.preventDefault()
        add(false)
      },
    }),
    value && h(Button, { onClick: () => add(false) }, t('filter.include')),
    value && h(Button, { onClick: () => add(true) }, t('filter.exclude')),
    choices.length > 0 &&
      h(Values, { ...props, options: choices.map(choice => ({ value: choice.value })) }),
  )
}

type Bound = (value: string, label: string, onChange: (value: string) => void) => ComponentChildren

/** The lower and the upper bound, each of which may be missing. */
function Bounds({ field, choices, onChange, bound }: ControlProps & { bound: Bound }) {
  const [from = '', to = ''] = (choices[0]?.value ?? '').split('-', 2)
  const change = (nextFrom: string, nextTo: string) =>
    onChange(nextFrom || nextTo ? [{ value: `${nextFrom}-${nextTo}`, isExcluded: false }] : [])
  return h(
    'fieldset',
    { class: 'browse-options' },
    h('legend', null, t(field.text)),
    h(
      'div',
      { class: 'browse-range' },
      bound(from, t('filter.from'), value => change(value, to)),
      bound(to, t('filter.to'), value => change(from, value)),
    ),
  )
}

function RangeControl(props: ControlProps) {
  const input: Bound = (value, label, onInput) =>
    h(TextField, {
      label,
      value,
      inputMode: 'numeric',
      maxLength: 7,
      onInput: text => onInput(text.replace(/\D/g, '')),
    })
  return h(Bounds, { ...props, bound: input })
}

const halfStars = Array.from({ length: 10 }, (_, i) => (i + 1) / 2)

function StarsControl(props: ControlProps) {
  const options = [
    { value: '', text: t('filter.any') },
    ...halfStars.map(stars => ({ value: String(stars), text: starsText(stars * perStar) })),
  ]
  const select: Bound = (value, label, onSelect) =>
    h(Select<string>, { label, value, options, onChange: onSelect })
  return h(Bounds, { ...props, bound: select })
}

function FlagControl({ field, choices, onChange }: ControlProps) {
  return h(Select<'' | 'yes' | 'no'>, {
    label: t(field.text),
    value: (choices[0]?.value ?? '') as '' | 'yes' | 'no',
    options: [
      { value: '', text: t('filter.any') },
      { value: 'yes', text: t('filter.yes') },
      { value: 'no', text: t('filter.no') },
    ],
    onChange: value => onChange(value ? [{ value, isExcluded: false }] : []),
  })
}
