// Rule of a collection: in words, and as an editor of grouped tests.
import { useState } from 'preact/hooks'
import { api, body } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { fieldKey } from '../../text/field-keys.ts'
import { t, textOr } from '../../text/translate.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import type { Rule } from './kind.ts'
import {
  conditionOf,
  type Group,
  groupOf,
  hasValue,
  isComplete,
  newTest,
  operatorsOf,
  type Part,
  type RuleField,
  ruleFields,
  starChoices,
  type Test,
} from './rule.ts'
import { choiceText, type StoredCondition, starsText, words } from './rule-words.ts'

/** A rule in words. */
export function RuleText({ rule }: { rule: StoredCondition }) {
  const names = useLibraryNames(JSON.stringify(rule).includes('ibrary'))
  return (
    <p class="rule-text" dir="auto">
      {words(rule, names)}
    </p>
  )
}

function useLibraryNames(isNeeded: boolean): ReadonlyMap<string, string> {
  const libraries = useResource(isNeeded ? '/libraries?names' : null, signal =>
    body(api.GET('/api/v1/libraries', { params: { query: { pageSize: 500 } }, signal })),
  )
  return new Map(libraries.data?.data.map(({ id, name }) => [id, name]))
}

type RuleEditorProps = { rule: Rule | null; onChange: (rule: Rule | null) => void }

export function RuleEditor({ rule, onChange }: RuleEditorProps) {
  const [group, setGroup] = useState<Group>(() =>
    rule === null ? { join: 'allOf', parts: [newTest('genre')] } : groupOf(rule),
  )
  const change = (next: Group) => {
    setGroup(next)
    onChange(isComplete(next) ? (conditionOf(next) as Rule) : null)
  }
  return (
    <div class="field">
      <div class="field-label">{t('rule.label')}</div>
      <GroupEditor group={group} depth={1} label={t('rule.label')} onChange={change} />
    </div>
  )
}

/** Deeper nesting is hard to understand. The server accepts twenty levels. */
const maxDepth = 6

type GroupEditorProps = {
  group: Group
  /** From 1. */
  depth: number
  label: string
  onChange: (group: Group) => void
  onRemove?: () => void
}

function GroupEditor({ group, depth, label, onChange, onRemove }: GroupEditorProps) {
  const { join, parts } = group
  const change = (next: readonly Part[]) => onChange({ join, parts: next })
  const add = (part: Part) => change([...parts, part])
  return (
    <div class="rule-editor" role="group" aria-label={label}>
      <div class="rule-join">
        <select
          aria-label={t('rule.join')}
          value={join}
          onChange={event => onChange({ join: event.currentTarget.value as Group['join'], parts })}
        >
          {(['allOf', 'anyOf'] as const).map(name => (
            <option key={name} value={name}>
              {t(`rule.${name}`)}
            </option>
          ))}
        </select>
        {onRemove && (
          <IconButton
            icon="close"
            variant="quiet"
            label={t('rule.removeGroup')}
            onClick={onRemove}
          />
        )}
      </div>
      {parts.map((part, i) => (
        <PartEditor
          key={i}
          part={part}
          depth={depth}
          onChange={next => change(parts.map((old, j) => (j === i ? next : old)))}
          onRemove={() => change(parts.filter((_, j) => j !== i))}
        />
      ))}
      <div class="rule-add">
        <Button icon="add" variant="quiet" onClick={() => add(newTest('tag'))}>
          {t('rule.add')}
        </Button>
        {depth < maxDepth && (
          <Button
            icon="add"
            variant="quiet"
            onClick={() =>
              add({ join: join === 'allOf' ? 'anyOf' : 'allOf', parts: [newTest('tag')] })
            }
          >
            {t('rule.addGroup')}
          </Button>
        )}
      </div>
    </div>
  )
}

type PartEditorProps = {
  part: Part
  depth: number
  onChange: (part: Part) => void
  onRemove: () => void
}

function PartEditor({ part, depth, onChange, onRemove }: PartEditorProps) {
  if ('parts' in part)
    return (
      <GroupEditor
        group={part}
        depth={depth + 1}
        label={t('rule.group')}
        onChange={onChange}
        onRemove={onRemove}
      />
    )
  if ('fixed' in part)
    return (
      <div class="rule-fixed">
        <RuleText rule={part.fixed} />
        <RemoveTest onRemove={onRemove} />
      </div>
    )
  return <TestRow test={part} onChange={onChange} onRemove={onRemove} />
}

const RemoveTest = ({ onRemove }: { onRemove: () => void }) => (
  <IconButton icon="close" variant="quiet" label={t('organize.remove')} onClick={onRemove} />
)

type TestRowProps = { test: Test; onChange: (test: Test) => void; onRemove: () => void }

function TestRow({ test, onChange, onRemove }: TestRowProps) {
  const { field, operator } = test
  return (
    <div class="rule-row">
      <select
        aria-label={t('rule.field')}
        value={field}
        onChange={event => onChange(newTest(event.currentTarget.value as RuleField))}
      >
        {Object.keys(ruleFields).map(name => (
          <option key={name} value={name}>
            {textOr(fieldKey(name), name)}
          </option>
        ))}
      </select>
      <select
        aria-label={t('rule.operator')}
        value={operator}
        onChange={event => onChange({ ...test, operator: event.currentTarget.value })}
      >
        {operatorsOf(field).map(name => (
          <option key={name} value={name}>
            {textOr(`rule.operator.${name}`, name)}
          </option>
        ))}
      </select>
      {hasValue(test) ? <TestValue test={test} onChange={onChange} /> : <span />}
      <RemoveTest onRemove={onRemove} />
    </div>
  )
}

function TestValue({ test, onChange }: Pick<TestRowProps, 'test' | 'onChange'>) {
  const { field, value } = test
  const kind = ruleFields[field]
  const names = useLibraryNames(kind === 'library')
  const set = (value: string) => onChange({ ...test, value })
  const label = t('rule.value')
  if (kind === 'text' || kind === 'number' || kind === 'date')
    return (
      <input
        type={kind}
        aria-label={label}
        value={value}
        maxLength={500}
        onInput={event => set(event.currentTarget.value)}
      />
    )
  const options =
    kind === 'library'
      ? [...names].map(([value, text]) => ({ value, text }))
      : kind === 'stars'
        ? starChoices(field, value).map(rating => ({
            value: String(rating),
            text: starsText(rating),
          }))
        : (kind as readonly string[]).map(value => ({
            value,
            text: choiceText(field, value) ?? value,
          }))
  return (
    <select aria-label={label} value={value} onChange={event => set(event.currentTarget.value)}>
      <option value="" disabled>
        –
      </option>
      {options.map(option => (
        <option key={option.value} value={option.value}>
          {option.text}
        </option>
      ))}
    </select>
  )
}
