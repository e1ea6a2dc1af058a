// Fonts that the reader adds to documents: OpenDyslexic, and a font file of the user, which stays in the browser.
import { signal } from '@preact/signals'
import { assetUrl } from '../api/assets.ts'
import { readStoredJson, writeStorage } from '../api/storage.ts'

/** `family` is its name in style sheets, which another file does not share; `data` a data URL. */
type OwnFont = { family: string; name: string; data: string }

const storageKey = 'stackroom.epub.font'
/** Browsers store some megabytes for an application. */
export const maxFontBytes = 1_500_000
export const dyslexicFamily = 'Reader OpenDyslexic'

export const ownFont = signal<OwnFont | null>(readStoredJson<OwnFont>(storageKey))

/** Stores the file in the browser in place of the previous one. Throws what the browser throws for a file that is no font. */
export async function storeOwnFont(file: File): Promise<void> {
  await new FontFace('probe', await file.arrayBuffer()).load()
  const data = await dataUrlOf(file)
  const font = { family: `Reader own ${Date.now()}`, name: file.name, data }
  ownFont.value = font
  writeStorage(storageKey, JSON.stringify(font))
}

const dataUrlOf = (file: File) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })

/** Adds the font of a setting to a document, unless it has it; returns whether it did. */
export async function addFont(document: Document, setting: string): Promise<boolean> {
  const own = ownFont.value
  const family = setting === 'dyslexic' ? dyslexicFamily : setting === 'own' && own?.family
  if (!family) return false
  const known = [...document.fonts].map(face => face.family.replace(/^["']|["']$/g, ''))
  if (known.includes(family)) return false
  const { FontFace } = document.defaultView as unknown as typeof globalThis
  const face = new FontFace(family, await (setting === 'own' ? bytesOf(own!) : dyslexic()))
  document.fonts.add(face)
  await face.load()
  return true
}

function bytesOf({ data }: OwnFont): ArrayBuffer {
  const binary = atob(data.slice(data.indexOf(',') + 1))
  return Uint8Array.from(binary, character => character.charCodeAt(0)).buffer
}

async function dyslexic(): Promise<ArrayBuffer> {
  const response = await fetch(assetUrl('epub/fonts/opendyslexic.woff2'))
  if (!response.ok) throw new Error(`The font cannot be loaded: ${response.status}`)
  return await response.arrayBuffer()
}
