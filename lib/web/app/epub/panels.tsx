// Panels of the EPUB reader: places, settings, search, notes, external links.
import { type Signal, useSignalEffect } from '@preact/signals'
import {
  Choices,
  IncognitoSwitch,
  type Shortcut,
  ShortcutsDialog,
  Steps,
} from '../reading/setting-controls.tsx'
import { formatNumber, type TextKey, t, textOr } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import type { BookReader } from './book-reader.ts'
import { FontSetting } from './font-setting.tsx'
import { PlacesPanel } from './places-panel.tsx'
import { SearchPanel } from './search-panel.tsx'
import {
  changeFontSize,
  changeSettings,
  type EpubChoice,
  type EpubSettings,
  epubChoices,
  fontSizes,
  settings,
} from './settings.ts'

export type Panel = 'contents' | 'bookmarks' | 'settings' | 'search' | 'help'

type PanelsProps = {
  reader: BookReader
  panel: Signal<Panel | null>
  isIncognito: Signal<boolean>
}

export function Panels({ reader, panel, isIncognito }: PanelsProps) {
  const onClose = () => {
    panel.value = null
  }
  const { editing } = reader.bookmarks
  useSignalEffect(() => {
    if (editing.value) panel.value = 'bookmarks'
  })
  if (reader.following.note.value) return <NotePanel reader={reader} />
  if (reader.following.externalLink.value) return <ExternalLinkPanel reader={reader} />
  if (panel.value === 'contents' || panel.value === 'bookmarks')
    return (
      <PlacesPanel
        reader={reader}
        tab={panel.value}
        onTab={tab => void (panel.value = tab)}
        onClose={() => {
          editing.value = null
          onClose()
        }}
      />
    )
  if (panel.value === 'settings')
    return (
      <SettingsPanel
        isFixed={reader.publication.isFixed}
        isIncognito={isIncognito}
        onShortcuts={() => void (panel.value = 'help')}
        onClose={onClose}
      />
    )
  if (panel.value === 'help') return <ShortcutsDialog shortcuts={shortcuts} onClose={onClose} />
  if (panel.value === 'search') return <SearchPanel reader={reader} onClose={onClose} />
  return null
}

function NotePanel({ reader }: { reader: BookReader }) {
  const { paragraphs, target } = reader.following.note.value!
  const onClose = () => {
    reader.following.note.value = null
  }
  const go = () => {
    onClose()
    void reader.jump(target)
  }
  return (
    <Dialog
      title={t('epub.note')}
      onClose={onClose}
      actions={<Button text={t('epub.goToNote')} onClick={go} />}
    >
      <div class="stack epub-note" dir="auto">
        {paragraphs.map((text, i) => (
          <p key={i}>{text}</p>
        ))}
      </div>
    </Dialog>
  )
}

function ExternalLinkPanel({ reader }: { reader: BookReader }) {
  const url = reader.following.externalLink.value!
  const onClose = () => {
    reader.following.externalLink.value = null
  }
  return (
    <Dialog
      title={t('epub.externalLink')}
      onClose={onClose}
      actions={
        <>
          <Button variant="quiet" text={t('action.cancel')} onClick={onClose} />
          <a
            class="button primary"
            href={url}
            target="_blank"
            rel="noreferrer noopener"
            onClick={onClose}
          >
            {t('epub.openLink')}
          </a>
        </>
      }
    >
      <p>{t('epub.externalLinkText')}</p>
      <p class="epub-url" dir="ltr">
        {url.slice(0, 500)}
      </p>
    </Dialog>
  )
}

/** Shortcuts as the help shows them. */
const shortcuts: readonly Shortcut[] = [
  { keys: ['←', '→'], text: 'reader.help.turn' },
  { keys: ['Space', 'Shift Space'], text: 'epub.help.pages' },
  { keys: ['Home', 'End'], text: 'epub.help.ends' },
  { keys: ['T'], text: 'epub.contents' },
  { keys: ['B'], text: 'bookmark.help' },
  { keys: ['L'], text: 'bookmark.list' },
  { keys: ['/'], text: 'epub.search' },
  { keys: ['Backspace'], text: 'epub.back' },
  { keys: ['S'], text: 'epub.settings' },
  { keys: ['+', '−'], text: 'epub.fontSize' },
  { keys: ['F'], text: 'reader.help.fullscreen' },
  { keys: ['M'], text: 'reader.help.menu' },
  { keys: ['?'], text: 'reader.help.help' },
  { keys: ['Esc'], text: 'reader.close' },
]

type SettingsPanelProps = {
  isFixed: boolean
  isIncognito: Signal<boolean>
  onShortcuts: () => void
  onClose: () => void
}

function SettingsPanel(props: SettingsPanelProps) {
  const { isFixed, isIncognito, onShortcuts, onClose } = props
  const isPaginated = settings.value.flow === 'paginated'
  return (
    <Dialog
      title={t('epub.settings')}
      onClose={onClose}
      actions={<Button variant="quiet" text={t('reader.shortcuts')} onClick={onShortcuts} />}
    >
      <div class="epub-settings">
        {!isFixed && <FontSize />}
        {choices('theme', value => `theme-${value}`)}
        {!isFixed && choices('flow')}
        {(isFixed || isPaginated) && choices('columns')}
        {!isFixed && <FontSetting />}
        {!isFixed &&
          (['lineHeight', 'lineLength', 'alignment', 'hyphens', 'margin', 'styles'] as const).map(
            name => choices(name),
          )}
        <IncognitoSwitch isIncognito={isIncognito} />
      </div>
    </Dialog>
  )
}

function FontSize() {
  const { fontSize } = settings.value
  return (
    <Steps
      label={t('epub.fontSize')}
      text={formatNumber(fontSize / 100, { style: 'percent' })}
      less={{
        label: t('epub.smaller'),
        disabled: fontSize <= fontSizes.min,
        onClick: () => changeFontSize(-1),
      }}
      more={{
        label: t('epub.larger'),
        disabled: fontSize >= fontSizes.max,
        onClick: () => changeFontSize(1),
      }}
    />
  )
}

/** Values that several settings share. */
const sharedTexts: Record<string, TextKey> = {
  auto: 'choice.auto',
  publisher: 'choice.publisher',
  dark: 'theme.dark',
  light: 'theme.light',
  normal: 'epub.margin.normal',
  off: 'libraryOptions.watch.off',
}

function choices<N extends EpubChoice>(name: N, classOf?: (value: EpubSettings[N]) => string) {
  return (
    <Choices<EpubSettings[N]>
      key={name}
      name={`epub-${name}`}
      label={name === 'theme' ? t('reader.colors') : textOr(`epub.${name}`, name)}
      values={epubChoices[name]}
      value={settings.value[name]}
      textOf={value => textOr(sharedTexts[value] ?? `epub.${name}.${value}`, String(value))}
      {...(classOf && { classOf })}
      onChange={value => changeSettings({ [name]: value })}
    />
  )
}
