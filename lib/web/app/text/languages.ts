// Languages of the application.

/** Languages with a complete text catalog, by BCP 47 tag, with their own names. */
export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages
