// Rule of a collection: shown in words, and edited as a list of conditions where it is one.
import { useState } from 'preact/hooks'
import { api, body } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { t, textOr } from '../../text/translate.ts'
import { Button, IconButton } from '../../ui/button.ts'
import { h } from '../../ui/h.ts'
import type { Rule } from './kind.ts'
import {
  type FlatRule,
  flatten,
  isComplete,
  newTest,
  operatorsOf,
  type RuleField,
  ruleFields,
  ruleOf,
  type Test,
  words,
} from './rule.ts'

/** A rule in words, for everybody who sees it. */
export function RuleText({ rule }: { rule: Rule }) {
  const names = useLibraryNames(JSON.stringify(rule).includes('ibrary'))
  return h('p', { class: 'rule-text' }, words(rule, names))
}

function useLibraryNames(isNeeded: boolean): ReadonlyMap<string, string> {
  const libraries = useResource(isNeeded ? '/libraries?names' : null, signal =>
    body(api.GET('/api/v1/libraries', { params: { query: { pageSize: 500 } }, signal })),
  )
  return new Map(libraries.data?.data.map(({ id, name }) => [id, name]))
}

type RuleEditorProps = { rule: Rule | null; onChange: (rule: Rule | null) => void }

export function RuleEditor({ rule, onChange }: RuleEditorProps) {
  const [flat, setFlat] = useState<FlatRule | null>(() =>
    rule === null ? { join: 'allOf', tests: [newTest('genre')] } : flatten(rule),
  )
  if (flat === null)
    return h(
      'div',
      { class: 'field' },
      h('div', { class: 'field-label' }, t('rule.label')),
      h(RuleText, { rule: rule! }),
      h('p', { class: 'field-hint' }, t('rule.nested')),
    )
  const change = (next: FlatRule) => {
    setFlat(next)
    onChange(next.tests.every(isComplete) && next.tests.length > 0 ? ruleOf(next) : null)
  }
  const setTest = (index: number, test: Test) =>
    change({ ...flat, tests: flat.tests.map((old, i) => (i === index ? test : old)) })
  return h(
    'div',
    { class: 'field rule-editor', role: 'group', 'aria-label': t('rule.label') },
    h(
      'select',
      {
        'aria-label': t('rule.join'),
        value: flat.join,
        onChange: event => change({ ...flat, join: event.currentTarget.value as FlatRule['join'] }),
      },
      (['allOf', 'anyOf'] as const).map(join =>
        h('option', { key: join, value: join }, t(`rule.${join}`)),
      ),
    ),
    flat.tests.map((test, i) =>
      h(TestRow, {
        key: i,
        test,
        onChange: next => setTest(i, next),
        onRemove: () => change({ ...flat, tests: flat.tests.filter((_, j) => j !== i) }),
      }),
    ),
    h(
      Button,
      {
        icon: 'add',
        variant: 'quiet',
        class: 'row-list-add',
        onClick: () => change({ ...flat, tests: [...flat.tests, newTest('tag')] }),
      },
      t('rule.add'),
    ),
  )
}

type TestRowProps = { test: Test; onChange: (test: Test) => void; onRemove: () => void }

function TestRow({ test, onChange, onRemove }: TestRowProps) {
  const { field, operator } = test
  return h(
    'div',
    { class: 'rule-row' },
    h(
      'select',
      {
        'aria-label': t('rule.field'),
        value: field,
        onChange: event => onChange(newTest(event.currentTarget.value as RuleField)),
      },
      Object.keys(ruleFields).map(name =>
        h('option', { key: name, value: name }, t(`rule.field.${name as RuleField}`)),
      ),
    ),
    h(
      'select',
      {
        'aria-label': t('rule.operator'),
        value: operator,
        onChange: event => onChange({ ...test, operator: event.currentTarget.value }),
      },
      operatorsOf(field).map(name =>
        h('option', { key: name, value: name }, textOr(`rule.operator.${name}`, name)),
      ),
    ),
    h(TestValue, { test, onChange }),
    h(IconButton, {
      icon: 'close',
      variant: 'quiet',
      label: t('organise.remove'),
      onClick: onRemove,
    }),
  )
}

function TestValue({ test, onChange }: Pick<TestRowProps, 'test' | 'onChange'>) {
  const { field, value } = test
  const kind = ruleFields[field]
  const libraries = useResource(kind === 'library' ? '/libraries?names' : null, signal =>
    body(api.GET('/api/v1/libraries', { params: { query: { pageSize: 500 } }, signal })),
  )
  const set = (value: string) => onChange({ ...test, value })
  if (kind === 'flag') return h('span', null)
  const label = t('rule.value')
  if (kind === 'text' || kind === 'number')
    return h('input', {
      type: kind,
      'aria-label': label,
      value,
      maxLength: 500,
      onInput: event => set(event.currentTarget.value),
    })
  const options =
    kind === 'library'
      ? (libraries.data?.data ?? []).map(({ id, name }) => ({ value: id, text: name }))
      : kind.map(value => ({ value, text: textOr(`rule.value.${field}.${value}`, value) }))
  return h(
    'select',
    { 'aria-label': label, value, onChange: event => set(event.currentTarget.value) },
    h('option', { value: '', disabled: true }, '–'),
    options.map(option => h('option', { key: option.value, value: option.value }, option.text)),
  )
}
