// Fields for rules that clean up series titles.
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
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
  return (
    <fieldset class="title-rules">
      <legend>{t('titleRules.title')}</legend>
      <p class="field-hint">{t('titleRules.hint')}</p>
      {rules.map((rule, i) => (
        <div key={i} class="title-rule">
          <TextField
            label={t('titleRules.pattern')}
            value={rule.pattern}
            dir="ltr"
            onInput={pattern => change(i, { pattern })}
          />
          <TextField
            label={t('titleRules.replacement')}
            value={rule.replacement}
            dir="ltr"
            onInput={replacement => change(i, { replacement })}
          />
          <label class="check">
            <input
              type="checkbox"
              checked={rule.enabled}
              onChange={event => change(i, { enabled: event.currentTarget.checked })}
            />
            {t('titleRules.enabled')}
          </label>
          <IconButton
            icon="delete"
            label={t('titleRules.remove')}
            onClick={() => onChange(rules.filter((_, other) => other !== i))}
          />
        </div>
      ))}
      <Button icon="add" text={t('titleRules.add')} onClick={add} />
    </fieldset>
  )
}
