// Display settings of EPUBs on this device: flow, type and colors.
import { effect, signal } from '@preact/signals'
import { readStoredJson, writeStorage } from '../api/storage.ts'

export const flows = ['paginated', 'scrolled'] as const
export const columnChoices = ['auto', '1', '2'] as const
export const families = ['publisher', 'serif', 'sans'] as const
export const alignments = ['publisher', 'justify', 'start'] as const
export const margins = ['narrow', 'normal', 'wide'] as const
export const themes = ['app', 'light', 'sepia', 'dark'] as const
/** The book's style sheets, or only the reader's. */
export const styles = ['publisher', 'none'] as const
export const lineHeights = ['publisher', '1.3', '1.5', '1.8', '2.1'] as const

export type EpubSettings = {
  flow: (typeof flows)[number]
  columns: (typeof columnChoices)[number]
  /** In percent. */
  fontSize: number
  family: (typeof families)[number]
  lineHeight: (typeof lineHeights)[number]
  margin: (typeof margins)[number]
  alignment: (typeof alignments)[number]
  theme: (typeof themes)[number]
  styles: (typeof styles)[number]
}

const defaults: EpubSettings = {
  flow: 'paginated',
  columns: 'auto',
  fontSize: 100,
  family: 'publisher',
  lineHeight: 'publisher',
  margin: 'normal',
  alignment: 'publisher',
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
