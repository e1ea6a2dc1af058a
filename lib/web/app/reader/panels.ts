// Dialogs of the reader: settings, and the help of keys.
import { can } from '../api/session.ts'
import { type TextKey, t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { Dialog } from '../ui/dialog.ts'
import { Switch } from '../ui/field.ts'
import { h } from '../ui/h.ts'
import { showNotice } from '../ui/toast.ts'
import { shortcuts } from './keyboard.ts'
import type { Reader } from './reader.ts'
import { backgrounds, fits, modes, storeAsDefault } from './settings.ts'
import { zoomIn, zoomOut, zoomTo } from './zoom.ts'

type PanelProps = { reader: Reader }

export function Panels({ reader }: PanelProps) {
  const { panel } = reader
  if (panel.value === 'settings') return h(SettingsPanel, { reader })
  return panel.value === 'help' ? h(HelpPanel, { reader }) : null
}

function SettingsPanel({ reader }: PanelProps) {
  const { settings, panel, layout, book } = reader
  const current = settings.value
  const close = () => {
    panel.value = 'none'
  }
  const actions = [
    h(
      Button,
      { variant: 'quiet', key: 'help', onClick: () => void (panel.value = 'help') },
      t('reader.shortcuts'),
    ),
    h(
      Button,
      {
        key: 'default',
        onClick: () => {
          storeAsDefault(book, current)
          showNotice(t(book.fileFormat === 'pdf' ? 'reader.defaultPdf' : 'reader.defaultComics'))
        },
      },
      t('reader.makeDefault'),
    ),
  ]
  const children = h(
    'div',
    { class: 'form' },
    h(Choices<(typeof modes)[number]>, {
      label: t('reader.mode'),
      name: 'mode',
      values: modes,
      value: current.mode,
      onChange: mode => reader.change({ mode }),
    }),
    h(Choices<(typeof fits)[number]>, {
      label: t('reader.fit'),
      name: 'fit',
      values: fits,
      value: current.fit,
      onChange: fit => reader.change({ fit }),
    }),
    h(Choices<'ltr' | 'rtl'>, {
      label: t('reader.direction'),
      name: 'direction',
      values: ['ltr', 'rtl'],
      value: current.direction,
      onChange: direction => reader.change({ direction }),
    }),
    h(Choices<(typeof backgrounds)[number]>, {
      label: t('reader.background'),
      name: 'background',
      values: backgrounds,
      value: current.background,
      onChange: background => reader.change({ background }),
    }),
    h(ZoomField, { reader }),
    layout.value === 'double' &&
      h(Switch, {
        label: t('reader.coverAlone'),
        hint: t('reader.coverAloneHint'),
        checked: current.isCoverAlone,
        onChange: isCoverAlone => reader.change({ isCoverAlone }),
      }),
    layout.value === 'strip' &&
      h(Switch, {
        label: t('reader.gaps'),
        checked: current.hasGaps,
        onChange: hasGaps => reader.change({ hasGaps }),
      }),
    can('ProgressWrite') &&
      h(Switch, {
        label: t('reader.incognito'),
        hint: t('reader.incognitoHint'),
        checked: reader.isIncognito.value,
        onChange: isIncognito => {
          reader.isIncognito.value = isIncognito
        },
      }),
  )
  return h(Dialog, { title: t('reader.settings'), onClose: close, actions, children })
}

function ZoomField({ reader }: PanelProps) {
  return h(
    'div',
    { class: 'reader-zoom-field' },
    h('span', null, t('reader.zoom')),
    h(Button, { 'aria-label': t('reader.zoomOut'), onClick: () => zoomOut(reader) }, '−'),
    h(
      Button,
      { title: t('reader.zoomReset'), onClick: () => zoomTo(reader, 1) },
      t('reader.percent', { value: Math.round(reader.zoom.value * 100) }),
    ),
    h(Button, { 'aria-label': t('reader.zoomIn'), onClick: () => zoomIn(reader) }, '+'),
  )
}

type ChoicesProps<V extends string> = {
  label: string
  name: string
  values: readonly V[]
  value: V
  onChange: (value: V) => void
}

/** Radio buttons in a row; their texts are those of `reader.NAME.VALUE`. */
function Choices<V extends string>({ label, name, values, value, onChange }: ChoicesProps<V>) {
  return h(
    'fieldset',
    { class: 'reader-choices' },
    h('legend', null, label),
    values.map(choice =>
      h(
        'label',
        { key: choice },
        h('input', {
          type: 'radio',
          name: `reader-${name}`,
          checked: choice === value,
          onChange: () => onChange(choice),
        }),
        h('span', null, t(`reader.${name}.${choice}` as TextKey)),
      ),
    ),
  )
}

function HelpPanel({ reader }: PanelProps) {
  const rows = shortcuts.map(({ keys, text }) =>
    h(
      'div',
      { class: 'reader-shortcut', key: text },
      h(
        'dt',
        null,
        keys.map(key => h('kbd', { key }, key)),
      ),
      h('dd', null, t(text)),
    ),
  )
  return h(Dialog, {
    title: t('reader.shortcuts'),
    onClose: () => {
      reader.panel.value = 'none'
    },
    children: h('dl', { class: 'reader-shortcuts' }, rows),
  })
}
