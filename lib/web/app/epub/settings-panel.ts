// Settings of the EPUB reader.
import { t, textOr } from '../text/translate.ts'
import { IconButton } from '../ui/button.ts'
import { Dialog } from '../ui/dialog.ts'
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
  themes,
} from './settings.ts'

const formatPercent = (value: number) => `${value} %`

type SettingsPanelProps = { isFixed: boolean; onClose: () => void }

export function SettingsPanel({ isFixed, onClose }: SettingsPanelProps) {
  const isPaginated = settings.value.flow === 'paginated'
  return h(Dialog, {
    title: t('epub.settings'),
    onClose,
    children: h(
      'div',
      { class: 'epub-settings' },
      !isFixed && h(FontSize, null),
      h(Choice<'theme'>, { name: 'theme', values: themes }),
      !isFixed && h(Choice<'flow'>, { name: 'flow', values: flows }),
      (isFixed || isPaginated) && h(Choice<'columns'>, { name: 'columns', values: columnChoices }),
      !isFixed && [
        h(Choice<'family'>, { name: 'family', values: families, key: 'family' }),
        h(Choice<'lineHeight'>, { name: 'lineHeight', values: lineHeights, key: 'lineHeight' }),
        h(Choice<'alignment'>, { name: 'alignment', values: alignments, key: 'alignment' }),
        h(Choice<'margin'>, { name: 'margin', values: margins, key: 'margin' }),
      ],
    ),
  })
}

function FontSize() {
  const { fontSize } = settings.value
  return h(
    'div',
    { class: 'epub-setting', role: 'group', 'aria-labelledby': 'epub-font-size' },
    h('span', { class: 'epub-setting-name', id: 'epub-font-size' }, t('epub.fontSize')),
    h(
      'div',
      { class: 'epub-font-size' },
      h(IconButton, {
        icon: 'remove',
        label: t('epub.smaller'),
        disabled: fontSize <= fontSizes.min,
        onClick: () => changeFontSize(-1),
      }),
      h('output', { 'aria-live': 'polite' }, formatPercent(fontSize)),
      h(IconButton, {
        icon: 'add',
        label: t('epub.larger'),
        disabled: fontSize >= fontSizes.max,
        onClick: () => changeFontSize(1),
      }),
    ),
  )
}

type Name = Exclude<keyof EpubSettings, 'fontSize'>
type ChoiceProps<N extends Name> = { name: N; values: readonly EpubSettings[N][] }

function Choice<N extends Name>({ name, values }: ChoiceProps<N>) {
  const current = settings.value[name]
  return h(
    'fieldset',
    { class: 'epub-setting' },
    h('legend', { class: 'epub-setting-name' }, textOr(`epub.${name}`, name)),
    h(
      'div',
      { class: 'epub-choices' },
      values.map(value =>
        h(
          'label',
          {
            class: `epub-choice${value === current ? ' chosen' : ''}${name === 'theme' ? ` theme-${value}` : ''}`,
            key: value,
          },
          h('input', {
            type: 'radio',
            class: 'visually-hidden',
            name: `epub-${name}`,
            checked: value === current,
            onChange: () => changeSettings({ [name]: value }),
          }),
          textOr(`epub.${name}.${value}`, value),
        ),
      ),
    ),
  )
}
