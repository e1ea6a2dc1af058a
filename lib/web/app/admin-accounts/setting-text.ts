// Names and explanations of settings. Those of the server are English; a language has texts of its own where it can.
import type { Schemas } from '../api/client.ts'
import { textOr } from '../text/translate.ts'

export const labelOf = (key: string): string => textOr(`setting.${key}`, key)

export const hintOf = ({ key, description }: Schemas['Setting']): string =>
  textOr(`setting.${key}.hint`, description)
