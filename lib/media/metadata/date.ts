// Partial publication dates: ISO 8601 with or without month and day, `19990731`, or a year within text.

export type PartialDate = { year?: number; month?: number; day?: number }

/** The valid parts; null without a year. The day is taken as written, regardless of time zone. */
export function partialDate(text: string): PartialDate | null {
  const clean = text.normalize('NFKC').slice(0, 100).trim()
  // Calibre writes this for an unknown date.
  if (clean.startsWith('0101-01-01')) return null
  const iso =
    /^(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?!\d)/.exec(clean) ??
    /^(\d{4})(\d{2})(\d{2})(?!\d)/.exec(clean)
  if (iso !== null) return checked(Number(iso[1]), Number(iso[2]), Number(iso[3]))
  const year = /(?<!\d)(\d{4})(?!\d)/.exec(clean)?.[1]
  return year === undefined ? null : checked(Number(year), Number.NaN, Number.NaN)
}

function checked(year: number, month: number, day: number): PartialDate | null {
  if (year < 1) return null
  if (!(month >= 1 && month <= 12)) return { year }
  return day >= 1 && day <= 31 ? { year, month, day } : { year, month }
}
