// Names and explanations of settings: translated where there is a text, otherwise the server's English.
import type { Schemas } from '../api/client.ts'
import { type TextKey, textOr } from '../text/translate.ts'

export const labelOf = (key: string): string => textOr(`setting.${key}`, key)

/** Sections that share the text of another key. */
const sectionTexts: Record<string, TextKey> = {
  'KOReader sync': 'apps.koreader',
  Maintenance: 'task.maintenance',
  Tasks: 'admin.tasks',
}

export const sectionOf = (category: string): string =>
  textOr(sectionTexts[category] ?? `settings.section.${category}`, category)

export const hintOf = ({ key, description }: Schemas['Setting']): string =>
  textOr(`setting.${key}.hint`, description)
