// Visibility of tasks: a viewer sees the tasks of his libraries and those of no library.
import type { Viewer } from '../../auth/viewer.ts'
import type { TaskScope } from '../select-jobs.ts'

type Libraries = Pick<Viewer, 'libraries'>

/** The tasks that a viewer may see, of one library if given. */
export function taskScope({ libraries }: Libraries, libraryId?: string): TaskScope {
  if (libraryId === undefined) return { libraries, withoutLibrary: true }
  const isVisible = libraries === null || libraries.includes(libraryId)
  return { libraries: isVisible ? [libraryId] : [], withoutLibrary: false }
}

export function canSeeTask({ libraries }: Libraries, libraryId: string | null): boolean {
  return libraries === null || libraryId === null || libraries.includes(libraryId)
}
