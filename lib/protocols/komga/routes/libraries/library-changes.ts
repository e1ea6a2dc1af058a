// Library settings in requests of the Komga-compatible API, converted to settings of the catalog. Settings without a
// counterpart (such as conversion to CBZ) are accepted without effect.

import {
  list,
  oneOf,
  optional,
  record,
  type Static,
  type TSchema,
  Type,
  text,
} from '../../../../base/schema.ts'
import type { LibrarySettings } from '../../../../catalog/library/library-settings.ts'
import { type FormatName, formatNames } from '../../../../media/format/formats.ts'
import { cronOfInterval, LibraryDto, scanIntervals } from '../../library-dto.ts'

const flags = Object.entries(LibraryDto.properties as Record<string, TSchema & { type?: string }>)
  .filter(([name, { type }]) => type === 'boolean' && name !== 'unavailable')
  .map(([name]) => [name, optional(Type.Boolean())])

export const LibraryChanges = record({
  ...(Object.fromEntries(flags) as object),
  name: optional(text(255, { minLength: 1 })),
  root: optional(text(4096, { minLength: 1 })),
  scanInterval: optional(oneOf(scanIntervals)),
  scanDirectoryExclusions: optional(list(text(1000), { maxItems: 500 })),
  ...{ scanCbx: optional(Type.Boolean()), scanPdf: optional(Type.Boolean()) },
  ...{ scanEpub: optional(Type.Boolean()), scanOnStartup: optional(Type.Boolean()) },
  emptyTrashAfterScan: optional(Type.Boolean()),
})
type LibraryChanges = Static<typeof LibraryChanges>

const isComic = (name: FormatName) => name !== 'pdf' && name !== 'epub'

export function libraryChanges(changes: LibraryChanges): LibrarySettings {
  const { scanDirectoryExclusions: exclusions } = changes
  const scanning = scanningChanges(changes)
  return {
    ...(exclusions ? { excludedPatterns: exclusions.join('\n') } : {}),
    ...(scanning ? { scanningConfig: scanning } : {}),
    ...formatChanges(changes),
  }
}

function scanningChanges({ scanInterval, scanOnStartup, emptyTrashAfterScan }: LibraryChanges) {
  const schedule =
    scanInterval == null
      ? {}
      : scanInterval === 'DISABLED'
        ? { enabled: false, cronSchedule: null }
        : { enabled: true, cronSchedule: cronOfInterval[scanInterval] }
  const all = {
    ...schedule,
    ...(scanOnStartup == null ? {} : { scanOnStart: scanOnStartup }),
    ...(emptyTrashAfterScan == null ? {} : { purgeDeletedOnScan: emptyTrashAfterScan }),
  }
  return Object.keys(all).length === 0 ? null : all
}

/** Only if all three are set: a single one does not say whether the others are read. */
function formatChanges({ scanCbx, scanPdf, scanEpub }: LibraryChanges) {
  if (scanCbx == null || scanPdf == null || scanEpub == null) return {}
  const allowed = formatNames.filter(name =>
    name === 'pdf' ? scanPdf : name === 'epub' ? scanEpub : isComic(name) && scanCbx,
  )
  // No formats at all would be stored as all formats.
  return allowed.length === formatNames.length || allowed.length === 0
    ? { allowedFormats: null }
    : { allowedFormats: [...allowed] }
}
