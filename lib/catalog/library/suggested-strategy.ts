// Series strategy suggested by the files of a folder: a Calibre library, or folders of volumes.

import { extensionOf } from '../../base/path.ts'
import { stemOf } from '../../media/format/formats.ts'
import { volumeOfFolder } from '../../media/strategy/placement.ts'

export const suggestibleStrategies = ['calibre', 'series_volume_chapter'] as const
export type SuggestedStrategy = (typeof suggestibleStrategies)[number]

type Folder = { stems: Set<string>; hasEpub: boolean }

/** Fewer folders with a single EPUB are not a pattern. */
const minSingle = 3
const minVolumes = 2

export function createLayout() {
  const folders = new Map<string, Folder>()
  let hasDatabase = false
  const share = (isOf: (folder: Folder, path: string) => boolean, least: number) => {
    const count = [...folders].filter(([path, folder]) => isOf(folder, path)).length
    return count >= least && count * 2 > folders.size
  }
  return {
    /** Must be called for every file, with its path below the folder. */
    addFile(path: string) {
      // Calibre puts it in the root folder of its library.
      if (path === 'metadata.db') hasDatabase = true
    },
    addBook(path: string) {
      const end = path.lastIndexOf('/')
      if (end < 0) return
      const folder = folders.get(path.slice(0, end)) ?? { stems: new Set(), hasEpub: false }
      const name = path.slice(end + 1)
      folders.set(path.slice(0, end), folder)
      // The same book may exist in several formats.
      if (folder.stems.size < 2) folder.stems.add(stemOf(name))
      folder.hasEpub ||= extensionOf(name) === 'epub'
    },
    /** Null if no strategy fits better than the chosen one. */
    suggestion(chosen: string): SuggestedStrategy | null {
      if (chosen === 'custom' || chosen === 'calibre') return null
      if (hasDatabase || share(f => f.hasEpub && f.stems.size === 1, minSingle)) return 'calibre'
      if (chosen === 'series_volume_chapter') return null
      return share((_, path) => isVolume(path), minVolumes) ? 'series_volume_chapter' : null
    },
  }
}

/** `Hero/Season 1` */
function isVolume(path: string): boolean {
  const [, name, deeper] = path.split('/')
  return name !== undefined && deeper === undefined && volumeOfFolder(name) !== null
}
