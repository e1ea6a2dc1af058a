// Library options in sections: scanning, files, series and titles.
import type { ComponentChildren } from 'preact'
import { fileFormats, readingDirections, scanModes, watchModes } from '../api/enumerations.ts'
import { type TextKey, t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { optionsOf, Select, Switch, TextArea, TextField } from '../ui/field.tsx'
import type {
  ChangeDraft,
  ExistingLibrary,
  LibraryDraft,
  Scanning,
  TitleRule,
} from './library-draft.ts'
import { ScheduleFields } from './schedule-fields.tsx'
import { StrategyFields } from './strategy-fields.tsx'

type OptionsProps = { draft: LibraryDraft; onChange: ChangeDraft }

type LibraryOptionsProps = OptionsProps & {
  /** Null for a new library. */
  existing: ExistingLibrary | null
}

export function LibraryOptions({ draft, onChange, existing }: LibraryOptionsProps) {
  return (
    <>
      <Section title="libraryOptions.scanning">
        <ScanningFields draft={draft} onChange={onChange} />
      </Section>
      <Section title="libraryOptions.files">
        <FileFields draft={draft} onChange={onChange} />
      </Section>
      <Section title="libraryOptions.series">
        <StrategyFields draft={draft} onChange={onChange} existing={existing} />
        <TitleRules rules={draft.titleRules} onChange={titleRules => onChange({ titleRules })} />
      </Section>
    </>
  )
}

export function Section({ title, children }: { title: TextKey; children?: ComponentChildren }) {
  return (
    <fieldset class="card option-section">
      <legend>{t(title)}</legend>
      <div class="form">{children}</div>
    </fieldset>
  )
}

function FileFields({ draft, onChange }: OptionsProps) {
  return (
    <>
      <FormatFields draft={draft} onChange={onChange} />
      <Select<LibraryDraft['defaultReadingDirection']>
        label={t('field.readingDirection')}
        hint={t('libraryOptions.directionHint')}
        value={draft.defaultReadingDirection}
        options={readingDirections.map(value => ({ value, text: t(`direction.${value}`) }))}
        onChange={defaultReadingDirection => onChange({ defaultReadingDirection })}
      />
      <TextArea
        label={t('libraryOptions.excluded')}
        hint={t('libraryOptions.excludedHint')}
        rows={3}
        dir="ltr"
        value={draft.excludedPatterns}
        placeholder="**/drafts/**"
        onInput={excludedPatterns => onChange({ excludedPatterns })}
      />
      <Switch
        label={t('libraryOptions.followLinks')}
        hint={t('libraryOptions.followLinksHint')}
        checked={draft.followLinks}
        onChange={followLinks => onChange({ followLinks })}
      />
    </>
  )
}

function FormatFields({ draft, onChange }: OptionsProps) {
  const { allowedFormats } = draft
  const isAllowed = (format: string) =>
    allowedFormats.length === 0 || allowedFormats.includes(format)
  const toggle = (format: string) => {
    const next = fileFormats.filter(name => isAllowed(name) !== (name === format))
    // An empty list would stand for all formats.
    if (next.length > 0)
      onChange({ allowedFormats: next.length === fileFormats.length ? [] : next })
  }
  return (
    <fieldset class="check-group">
      <legend>{t('libraryOptions.formats')}</legend>
      {fileFormats.map(format => (
        <label key={format} class="check">
          <input
            type="checkbox"
            checked={isAllowed(format)}
            onChange={event => {
              toggle(format)
              // The last format cannot be deselected.
              event.currentTarget.checked = isAllowed(format)
            }}
          />
          {format.toUpperCase()}
        </label>
      ))}
    </fieldset>
  )
}

function ScanningFields({ draft, onChange }: OptionsProps) {
  const { scanning } = draft
  const change = (changes: Partial<Scanning>) => onChange({ scanning: { ...scanning, ...changes } })
  return (
    <>
      <Select<Scanning['watch']>
        label={t('libraryOptions.watch')}
        hint={t(`libraryOptions.watchHint.${scanning.watch}`)}
        value={scanning.watch}
        options={optionsOf(watchModes, value => t(`libraryOptions.watch.${value}`))}
        onChange={watch => change({ watch })}
      />
      <ScheduleFields scanning={scanning} onChange={change} />
      <Select<Scanning['scanMode']>
        label={t('libraryOptions.scanMode')}
        value={scanning.scanMode}
        options={optionsOf(scanModes, value => t(`scan.mode.${value}`))}
        onChange={scanMode => change({ scanMode, defaultMode: scanMode })}
      />
      <Switch
        label={t('libraryOptions.scanOnStart')}
        checked={scanning.scanOnStart}
        onChange={scanOnStart => change({ scanOnStart })}
      />
      <Switch
        label={t('libraryOptions.purge')}
        hint={t('libraryOptions.purgeHint')}
        checked={scanning.purgeDeletedOnScan}
        onChange={purgeDeletedOnScan => change({ purgeDeletedOnScan })}
      />
    </>
  )
}

type TitleRulesProps = {
  rules: readonly TitleRule[]
  onChange: (rules: readonly TitleRule[]) => void
}

/** Rules that clean up series titles. */
function TitleRules({ rules, onChange }: TitleRulesProps) {
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
