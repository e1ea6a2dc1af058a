// Settings of the EPUB reader.
import type { Signal } from '@preact/signals'
import { IncognitoSwitch } from '../reading/incognito-switch.tsx'
import { formatNumber, type TextKey, t, textOr } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Choices, Steps } from '../ui/choices.tsx'
import { Dialog } from '../ui/dialog.tsx'
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
  return (
    <Dialog
      title={t('epub.settings')}
      onClose={onClose}
      actions={<Button variant="quiet" text={t('reader.shortcuts')} onClick={onShortcuts} />}
    >
      <div class="epub-settings">
        {!isFixed && <FontSize />}
        {choices('theme', themes, value => `theme-${value}`)}
        {!isFixed && choices('flow', flows)}
        {(isFixed || isPaginated) && choices('columns', columnChoices)}
        {!isFixed && [
          choices('family', families),
          choices('lineHeight', lineHeights),
          choices('alignment', alignments),
          choices('margin', margins),
          choices('styles', styles),
        ]}
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
}

type Name = Exclude<keyof EpubSettings, 'fontSize'>

function choices<N extends Name>(
  name: N,
  values: readonly EpubSettings[N][],
  classOf?: (value: EpubSettings[N]) => string,
) {
  return (
    <Choices<EpubSettings[N]>
      key={name}
      name={`epub-${name}`}
      label={name === 'theme' ? t('reader.colors') : textOr(`epub.${name}`, name)}
      values={values}
      value={settings.value[name]}
      textOf={value => textOr(sharedTexts[value] ?? `epub.${name}.${value}`, String(value))}
      {...(classOf && { classOf })}
      onChange={value => changeSettings({ [name]: value })}
    />
  )
}
