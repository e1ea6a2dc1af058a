// Display settings of EPUBs on this device: flow, type and colors.
import { effect, signal } from '@preact/signals'
import { readStoredJson, writeStorage } from '../api/storage.ts'

const choices = {
  flow: ['paginated', 'scrolled'],
  columns: ['auto', '1', '2'],
  family: ['publisher', 'serif', 'sans', 'dyslexic', 'own'],
  lineHeight: ['publisher', '1.3', '1.5', '1.8', '2.1'],
  margin: ['narrow', 'normal', 'wide'],
  lineLength: ['short', 'normal', 'long', 'full'],
  alignment: ['publisher', 'justify', 'start'],
  hyphens: ['publisher', 'auto', 'off'],
  theme: ['app', 'light', 'sepia', 'dark'],
  /** The book's style sheets, or only the reader's. */
  styles: ['publisher', 'none'],
} as const
export type EpubChoice = keyof typeof choices

/** The font size is in percent. */
export type EpubSettings = { [N in EpubChoice]: (typeof choices)[N][number] } & {
  fontSize: number
}

/** Values of the settings with a few values. */
export const epubChoices: { readonly [N in EpubChoice]: readonly EpubSettings[N][] } = choices

const defaults: EpubSettings = {
  flow: 'paginated',
  columns: 'auto',
  fontSize: 100,
  family: 'publisher',
  lineHeight: 'publisher',
  margin: 'normal',
  lineLength: 'normal',
  alignment: 'publisher',
  hyphens: 'publisher',
  theme: 'app',
  styles: 'publisher',
}

export const fontSizes = { min: 60, max: 250, step: 10 }

const storageKey = 'stackroom.epub'

export const settings = signal<EpubSettings>({
  ...defaults,
  ...readStoredJson<EpubSettings>(storageKey),
})

effect(() => writeStorage(storageKey, JSON.stringify(settings.value)))

export function changeSettings(changes: Partial<EpubSettings>) {
  settings.value = { ...settings.value, ...changes }
}

export function changeFontSize(steps: number) {
  const { min, max, step } = fontSizes
  changeSettings({ fontSize: Math.min(max, Math.max(min, settings.value.fontSize + steps * step)) })
}
