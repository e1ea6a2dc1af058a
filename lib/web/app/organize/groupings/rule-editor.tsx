// Rule of a collection: in words, and as an editor of grouped tests.
import { useState } from 'preact/hooks'
import { useLibraryNames } from '../../api/resource.ts'
import { fieldKey, t, textOr } from '../../text/translate.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { BareSelect, optionsOf } from '../../ui/field.tsx'
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
        <BareSelect<Group['join']>
          aria-label={t('rule.join')}
          value={join}
          options={optionsOf(['allOf', 'anyOf'] as const, value => t(`rule.${value}`))}
          onChange={join => onChange({ join, parts })}
        />
        {onRemove && <IconButton icon="close" label={t('rule.removeGroup')} onClick={onRemove} />}
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
            text={t('rule.addGroup')}
            onClick={() =>
              add({ join: join === 'allOf' ? 'anyOf' : 'allOf', parts: [newTest('tag')] })
            }
          />
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
  <IconButton icon="close" label={t('organize.remove')} onClick={onRemove} />
)

type TestRowProps = { test: Test; onChange: (test: Test) => void; onRemove: () => void }

function TestRow({ test, onChange, onRemove }: TestRowProps) {
  const { field, operator } = test
  return (
    <div class="rule-row">
      <BareSelect<string>
        aria-label={t('rule.field')}
        value={field}
        options={optionsOf(Object.keys(ruleFields), value => textOr(fieldKey(value), value))}
        onChange={name => onChange(newTest(name as RuleField))}
      />
      <BareSelect<string>
        aria-label={t('rule.operator')}
        value={operator}
        options={optionsOf(operatorsOf(field), value => textOr(`rule.operator.${value}`, value))}
        onChange={operator => onChange({ ...test, operator })}
      />
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
  const all = [{ value: '', text: '–', disabled: true }, ...options]
  return <BareSelect<string> aria-label={label} value={value} options={all} onChange={set} />
}
