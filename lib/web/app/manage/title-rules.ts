// Fields for the rules that clean up the titles of series.
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.ts'
import { TextField } from '../ui/field.ts'
import { h } from '../ui/h.ts'
import type { TitleRule } from './library-draft.ts'

type TitleRulesProps = {
  rules: readonly TitleRule[]
  onChange: (rules: readonly TitleRule[]) => void
}

export function TitleRules({ rules, onChange }: TitleRulesProps) {
  const change = (index: number, changes: Partial<TitleRule>) =>
    onChange(rules.map((rule, i) => (i === index ? { ...rule, ...changes } : rule)))
  const add = () =>
    onChange([...rules, { pattern: '', replacement: '', description: null, enabled: true }])
  return h(
    'fieldset',
    { class: 'title-rules' },
    h('legend', null, t('titleRules.title')),
    h('p', { class: 'field-hint' }, t('titleRules.hint')),
    rules.map((rule, i) =>
      h(
        'div',
        { class: 'title-rule', key: i },
        h(TextField, {
          label: t('titleRules.pattern'),
          value: rule.pattern,
          dir: 'ltr',
          onInput: pattern => change(i, { pattern }),
        }),
        h(TextField, {
          label: t('titleRules.replacement'),
          value: rule.replacement,
          dir: 'ltr',
          onInput: replacement => change(i, { replacement }),
        }),
        h(
          'label',
          { class: 'check' },
          h('input', {
            type: 'checkbox',
            checked: rule.enabled,
            onChange: event => change(i, { enabled: event.currentTarget.checked }),
          }),
          t('titleRules.enabled'),
        ),
        h(IconButton, {
          icon: 'delete',
          variant: 'quiet',
          label: t('titleRules.remove'),
          onClick: () => onChange(rules.filter((_, other) => other !== i)),
        }),
      ),
    ),
    h(Button, { icon: 'add', onClick: add }, t('titleRules.add')),
  )
}
