// Options of a library in sections: files, series and titles, scanning.
import type { ComponentChildren } from 'preact'
import { type TextKey, t } from '../text/translate.ts'
import { Select, Switch, TextArea } from '../ui/field.ts'
import { h } from '../ui/h.ts'
import {
  type ChangeDraft,
  type ExistingLibrary,
  formats,
  type LibraryDraft,
  type Scanning,
} from './library-draft.ts'
import { ScheduleFields } from './schedule-fields.ts'
import { StrategyFields } from './strategy-fields.ts'
import { TitleRules } from './title-rules.ts'

type OptionsProps = { draft: LibraryDraft; onChange: ChangeDraft }

type LibraryOptionsProps = OptionsProps & {
  /** Null for a new library. */
  existing: ExistingLibrary | null
}

export function LibraryOptions({ draft, onChange, existing }: LibraryOptionsProps) {
  return [
    h(
      Section,
      { title: 'libraryOptions.scanning', key: 'scanning' },
      h(ScanningFields, { draft, onChange }),
    ),
    h(Section, { title: 'libraryOptions.files', key: 'files' }, h(FileFields, { draft, onChange })),
    h(
      Section,
      { title: 'libraryOptions.series', key: 'series' },
      h(StrategyFields, { draft, onChange, existing }),
      h(TitleRules, { rules: draft.titleRules, onChange: titleRules => onChange({ titleRules }) }),
    ),
  ]
}

export function Section({ title, children }: { title: TextKey; children?: ComponentChildren }) {
  return h(
    'fieldset',
    { class: 'option-section' },
    h('legend', null, t(title)),
    h('div', { class: 'form' }, children),
  )
}

const directions = ['ltr', 'rtl', 'ttb', 'webtoon'] as const

function FileFields({ draft, onChange }: OptionsProps) {
  return [
    h(FormatFields, { draft, onChange, key: 'formats' }),
    h(Select<LibraryDraft['defaultReadingDirection']>, {
      key: 'direction',
      label: t('libraryOptions.direction'),
      hint: t('libraryOptions.directionHint'),
      value: draft.defaultReadingDirection,
      options: directions.map(value => ({ value, text: t(`direction.${value}`) })),
      onChange: defaultReadingDirection => onChange({ defaultReadingDirection }),
    }),
    h(TextArea, {
      key: 'excluded',
      label: t('libraryOptions.excluded'),
      hint: t('libraryOptions.excludedHint'),
      rows: 3,
      dir: 'ltr',
      value: draft.excludedPatterns,
      placeholder: '**/drafts/**',
      onInput: excludedPatterns => onChange({ excludedPatterns }),
    }),
    h(Switch, {
      key: 'links',
      label: t('libraryOptions.followLinks'),
      hint: t('libraryOptions.followLinksHint'),
      checked: draft.followLinks,
      onChange: followLinks => onChange({ followLinks }),
    }),
  ]
}

function FormatFields({ draft, onChange }: OptionsProps) {
  const { allowedFormats } = draft
  const isAllowed = (format: string) =>
    allowedFormats.length === 0 || allowedFormats.includes(format)
  const toggle = (format: string) => {
    const next = formats.filter(name => isAllowed(name) !== (name === format))
    // No format at all would stand for all of them.
    if (next.length > 0) onChange({ allowedFormats: next.length === formats.length ? [] : next })
  }
  return h(
    'fieldset',
    { class: 'check-group' },
    h('legend', null, t('libraryOptions.formats')),
    formats.map(format =>
      h(
        'label',
        { class: 'check', key: format },
        h('input', {
          type: 'checkbox',
          checked: isAllowed(format),
          onChange: event => {
            toggle(format)
            // The last one stays.
            event.currentTarget.checked = isAllowed(format)
          },
        }),
        format.toUpperCase(),
      ),
    ),
  )
}

function ScanningFields({ draft, onChange }: OptionsProps) {
  const { scanning } = draft
  const change = (changes: Partial<Scanning>) => onChange({ scanning: { ...scanning, ...changes } })
  return [
    h(Select<Scanning['watch']>, {
      key: 'watch',
      label: t('libraryOptions.watch'),
      hint: t(`libraryOptions.watchHint.${scanning.watch}`),
      value: scanning.watch,
      options: (['on', 'poll', 'off'] as const).map(value => ({
        value,
        text: t(`libraryOptions.watch.${value}`),
      })),
      onChange: watch => change({ watch }),
    }),
    h(ScheduleFields, { scanning, onChange: change, key: 'schedule' }),
    h(Select<Scanning['scanMode']>, {
      key: 'mode',
      label: t('libraryOptions.scanMode'),
      value: scanning.scanMode,
      options: (['normal', 'deep'] as const).map(value => ({
        value,
        text: t(`scan.mode.${value}`),
      })),
      onChange: scanMode => change({ scanMode, defaultMode: scanMode }),
    }),
    h(Switch, {
      key: 'start',
      label: t('libraryOptions.scanOnStart'),
      checked: scanning.scanOnStart,
      onChange: scanOnStart => change({ scanOnStart }),
    }),
    h(Switch, {
      key: 'purge',
      label: t('libraryOptions.purge'),
      hint: t('libraryOptions.purgeHint'),
      checked: scanning.purgeDeletedOnScan,
      onChange: purgeDeletedOnScan => change({ purgeDeletedOnScan }),
    }),
  ]
}
