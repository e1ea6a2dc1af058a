// Dialogs of the reader: places, search, settings and keyboard shortcuts.
import { useSignalEffect } from '@preact/signals'
import { Choices, IncognitoSwitch, ShortcutsDialog, Steps } from '../reading/setting-controls.tsx'
import { formatNumber, type TextKey, t, textOr } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Switch } from '../ui/field.tsx'
import { showNotice } from '../ui/toast.tsx'
import { shortcuts, textShortcuts } from './keyboard.ts'
import { PlacesPanel, SearchPanel } from './places-panel.tsx'
import type { Reader } from './reader.ts'
import {
  brightnesses,
  type ReaderChoice,
  type ReaderSettings,
  readerChoices,
  storeAsDefault,
} from './settings.ts'
import { zoomIn, zoomOut } from './turning.ts'

type PanelProps = { reader: Reader }

export function Panels({ reader }: PanelProps) {
  const { panel } = reader
  const onClose = () => {
    panel.value = 'none'
    reader.bookmarks.editing.value = null
  }
  useSignalEffect(() => {
    if (reader.bookmarks.editing.value) panel.value = 'bookmarks'
  })
  if (panel.value === 'bookmarks' || panel.value === 'contents')
    return <PlacesPanel reader={reader} tab={panel.value} onClose={onClose} />
  if (panel.value === 'search') return <SearchPanel reader={reader} onClose={onClose} />
  if (panel.value === 'settings') return <SettingsPanel reader={reader} onClose={onClose} />
  const keys = reader.hasText ? [...shortcuts, ...textShortcuts] : shortcuts
  return panel.value === 'help' ? <ShortcutsDialog shortcuts={keys} onClose={onClose} /> : null
}

function SettingsPanel({ reader, onClose }: PanelProps & { onClose: () => void }) {
  const { settings, panel, layout, book } = reader
  const current = settings.value
  const actions = (
    <>
      <Button variant="quiet" onClick={() => void (panel.value = 'help')}>
        {t('reader.shortcuts')}
      </Button>
      <Button
        text={t('reader.makeDefault')}
        onClick={() => {
          storeAsDefault(book, current)
          showNotice(t(book.fileFormat === 'pdf' ? 'reader.defaultPdf' : 'reader.defaultComics'))
        }}
      />
    </>
  )
  const change = <N extends keyof ReaderSettings>(name: N, value: ReaderSettings[N]) =>
    reader.change({ [name]: value })
  const choices = <N extends ReaderChoice>(name: N) => (
    <Choices<ReaderSettings[N]>
      key={name}
      label={t(labelKeys[name])}
      name={`reader-${name}`}
      values={readerChoices[name]}
      value={current[name]}
      textOf={value => textOr(valueKeyOf(name, value), value)}
      onChange={value => change(name, value)}
    />
  )
  const toggle = (name: SwitchName, isShown: boolean, hint?: string) =>
    isShown && (
      <Switch
        key={name}
        label={t(switchTexts[name])}
        {...(hint && { hint })}
        checked={current[name]}
        onChange={value => change(name, value)}
      />
    )
  const children = (
    <div class="form">
      {(Object.keys(readerChoices) as ReaderChoice[]).map(name => choices(name))}
      <Percentages reader={reader} />
      {toggle('isCoverAlone', layout.value === 'double', t('reader.coverAloneHint'))}
      {toggle('isSplit', layout.value === 'single')}
      {toggle('hasGaps', layout.value === 'strip')}
      <IncognitoSwitch isIncognito={reader.isIncognito} />
    </div>
  )
  return (
    <Dialog title={t('reader.settings')} onClose={onClose} actions={actions}>
      {children}
    </Dialog>
  )
}

const labelKeys = {
  mode: 'reader.mode',
  fit: 'reader.fit',
  direction: 'field.readingDirection',
  background: 'reader.background',
  colors: 'reader.colors',
} as const satisfies Record<ReaderChoice, TextKey>

function valueKeyOf(name: ReaderChoice, value: string): string {
  if (name === 'direction') return `direction.${value}`
  return value === 'auto' ? 'choice.auto' : `reader.${name}.${value}`
}

const switchTexts = {
  isCoverAlone: 'reader.coverAlone',
  isSplit: 'reader.split',
  hasGaps: 'reader.gaps',
} as const satisfies Partial<Record<keyof ReaderSettings, TextKey>>
type SwitchName = keyof typeof switchTexts

/** Brightness, zoom and rotation. */
function Percentages({ reader }: PanelProps) {
  const { brightness } = reader.settings.value
  const { min, max, step } = brightnesses
  const brighten = (by: number) => reader.change({ brightness: brightness + by })
  return (
    <>
      <Steps
        label={t('reader.brightness')}
        text={percent(brightness / 100)}
        less={{
          label: t('reader.darker'),
          disabled: brightness <= min,
          onClick: () => brighten(-step),
        }}
        more={{
          label: t('reader.brighter'),
          disabled: brightness >= max,
          onClick: () => brighten(step),
        }}
      />
      <Steps
        label={t('reader.zoom')}
        text={percent(reader.zoom.value)}
        less={{ label: t('reader.zoomOut'), onClick: () => zoomOut(reader) }}
        more={{ label: t('reader.zoomIn'), onClick: () => zoomIn(reader) }}
      />
      <Steps
        label={t('reader.rotation')}
        text={t('reader.degrees', { value: reader.rotation.value * 90 })}
        less={{ label: t('reader.rotateLeft'), onClick: () => reader.rotate(-1) }}
        more={{ label: t('reader.rotateRight'), onClick: () => reader.rotate(1) }}
      />
    </>
  )
}

const percent = (value: number) => formatNumber(value, { style: 'percent' })
