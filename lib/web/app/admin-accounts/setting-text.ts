// Names and explanations of settings. Those of the server are English; a language has texts of its own where it can.
import type { Schemas } from '../api/client.ts'
import { type TextKey, textOr } from '../text/translate.ts'

export const labelOf = (key: string): string => textOr(`setting.${key}`, key)

/** Sections with the name of something else. */
const sectionTexts: Record<string, TextKey> = {
  'KOReader sync': 'apps.koreader',
  Maintenance: 'task.maintenance',
  Tasks: 'admin.tasks',
}

export const sectionOf = (category: string): string =>
  textOr(sectionTexts[category] ?? `settings.section.${category}`, category)

export const hintOf = ({ key, description }: Schemas['Setting']): string =>
  textOr(`setting.${key}.hint`, description)
