// Setting of the font: those of the reader, and a file of the user.
import { useRef } from 'preact/hooks'
import { Choices } from '../reading/setting-controls.tsx'
import { formatBytes, type TextKey, t, textOr } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { showNotice } from '../ui/toast.tsx'
import { maxFontBytes, ownFont, storeOwnFont } from './fonts.ts'
import { changeSettings, epubChoices, settings } from './settings.ts'

/** Names of fonts are the same in every language. */
const names: Record<string, string> = { dyslexic: 'OpenDyslexic' }
const shared: Record<string, TextKey> = { publisher: 'choice.publisher' }

export function FontSetting() {
  const input = useRef<HTMLInputElement>(null)
  const own = ownFont.value
  const choose = async (file: File) => {
    if (file.size > maxFontBytes)
      return showNotice(t('epub.fontTooLarge', { size: formatBytes(maxFontBytes) }))
    try {
      await storeOwnFont(file)
      changeSettings({ family: 'own' })
    } catch {
      showNotice(t('epub.fontUnreadable'))
    }
  }
  return (
    <div class="stack">
      <Choices
        name="epub-family"
        label={t('epub.family')}
        values={epubChoices.family.filter(value => value !== 'own' || own)}
        value={settings.value.family}
        textOf={value =>
          value === 'own'
            ? own!.name
            : (names[value] ?? textOr(shared[value] ?? `epub.family.${value}`, value))
        }
        onChange={family => changeSettings({ family })}
      />
      <input
        ref={input}
        type="file"
        class="visually-hidden"
        accept=".woff2,.woff,.ttf,.otf"
        tabIndex={-1}
        aria-label={t('epub.ownFont')}
        onChange={event => {
          const [file] = event.currentTarget.files ?? []
          event.currentTarget.value = ''
          if (file) void choose(file)
        }}
      />
      <Button icon="upload" text={t('epub.ownFont')} onClick={() => input.current?.click()} />
      <p class="field-hint">{t('epub.ownFontHint')}</p>
    </div>
  )
}
