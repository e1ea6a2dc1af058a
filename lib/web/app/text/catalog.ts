// Text catalogs: texts by key.

/** With its plural forms, if it has several. */
export type Text = string | Partial<Record<Intl.LDMLPluralRule, string>>
export type Catalog = Record<string, Text>
