// Settings of the EPUB reader.
import type { Signal } from '@preact/signals'
import { can } from '../api/session.ts'
import { formatNumber, t, textOr } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { Choices, Steps } from '../ui/choices.ts'
import { Dialog } from '../ui/dialog.ts'
import { Switch } from '../ui/field.ts'
import { h } from '../ui/h.ts'
import {
  alignments,
  changeFontSize,
  changeSettings,
  columnChoices,
  type EpubSettings,
  families,
  flows,
  fontSizes,
  lineHeights,
  margins,
  settings,
  styles,
  themes,
} from './settings.ts'

type SettingsPanelProps = {
  isFixed: boolean
  isIncognito: Signal<boolean>
  onShortcuts: () => void
  onClose: () => void
}

export function SettingsPanel(props: SettingsPanelProps) {
  const { isFixed, isIncognito, onShortcuts, onClose } = props
  const isPaginated = settings.value.flow === 'paginated'
  return h(Dialog, {
    title: t('epub.settings'),
    onClose,
    actions: h(Button, { variant: 'quiet', onClick: onShortcuts }, t('reader.shortcuts')),
    children: h(
      'div',
      { class: 'epub-settings' },
      !isFixed && h(FontSize, null),
      choices('theme', themes, value => `theme-${value}`),
      !isFixed && choices('flow', flows),
      (isFixed || isPaginated) && choices('columns', columnChoices),
      !isFixed && [
        choices('family', families),
        choices('lineHeight', lineHeights),
        choices('alignment', alignments),
        choices('margin', margins),
        choices('styles', styles),
      ],
      can('ProgressWrite') &&
        h(Switch, {
          label: t('reader.incognito'),
          hint: t('reader.incognitoHint'),
          checked: isIncognito.value,
          onChange: value => {
            isIncognito.value = value
          },
        }),
    ),
  })
}

function FontSize() {
  const { fontSize } = settings.value
  return h(Steps, {
    label: t('epub.fontSize'),
    text: formatNumber(fontSize / 100, { style: 'percent' }),
    less: {
      label: t('epub.smaller'),
      disabled: fontSize <= fontSizes.min,
      onClick: () => changeFontSize(-1),
    },
    more: {
      label: t('epub.larger'),
      disabled: fontSize >= fontSizes.max,
      onClick: () => changeFontSize(1),
    },
  })
}

type Name = Exclude<keyof EpubSettings, 'fontSize'>

function choices<N extends Name>(
  name: N,
  values: readonly EpubSettings[N][],
  classOf?: (value: EpubSettings[N]) => string,
) {
  return h(Choices<EpubSettings[N]>, {
    key: name,
    name: `epub-${name}`,
    label: textOr(`epub.${name}`, name),
    values,
    value: settings.value[name],
    textOf: value => textOr(`epub.${name}.${value}`, value),
    ...(classOf && { classOf }),
    onChange: value => changeSettings({ [name]: value }),
  })
}
