// Size limits for reading a book file and the entries of an archive.

/** Limits for reading one book. Sizes are bytes. Declared sizes are checked before anything is extracted. */
export type Limits = {
  /** Largest single page or resource. */
  entryBytes: number
  /** Largest metadata document (ComicInfo.xml, package.opf). */
  metadataBytes: number
  /** Maximum number of entries in an archive, and of pages in a PDF; 500 bytes of memory each. */
  entries: number
  /** Largest archive that must be held in memory because its format allows no random access. */
  solidBytes: number
}

export const defaultLimits: Limits = {
  entryBytes: 256 * 1024 * 1024,
  metadataBytes: 8 * 1024 * 1024,
  entries: 262_144,
  solidBytes: 1024 * 1024 * 1024,
}

/** Limits from the configured sizes (megabytes). */
export function limitsFromConfig(files: { entry_mb: number; solid_mb: number }): Limits {
  const mb = 1024 * 1024
  return { ...defaultLimits, entryBytes: files.entry_mb * mb, solidBytes: files.solid_mb * mb }
}
