// Scans: files and what became of them, what was read for it, how long the stages take.
import { counter, histogram } from './registry.ts'

const files = counter('scan_files_total', 'Files of scans, by library and what became of them.', [
  'library',
  'outcome',
])
const bytes = counter('scan_bytes_read_total', 'Bytes read from books in the background.', [
  'purpose',
])
const opens = counter('scan_file_opens_total', 'Files opened in the background.', ['purpose'])
const phases = histogram('scan_phase_duration_seconds', 'Time that the stages of scans took.', {
  labels: ['phase'],
  buckets: [0.1, 1, 10, 60, 600, 3600],
})

const outcomes = {
  added: 'created',
  changed: 'updated',
  moved: 'moved',
  missing: 'missing',
  restored: 'restored',
  unchanged: 'unchanged',
} as const
type Figures = Partial<Record<keyof typeof outcomes, number>> & { failed?: Record<string, number> }

const libraries = new Set<string>()

/** Counts a batch once it is stored. */
export function countFiles(libraryId: string, { failed = {}, ...figures }: Figures) {
  libraries.add(libraryId)
  const count = (outcome: string, number = 0) => {
    if (number > 0) files.inc({ library: libraryId, outcome }, number)
  }
  for (const [figure, outcome] of Object.entries(outcomes))
    count(outcome, figures[figure as keyof typeof outcomes])
  count(
    'failed',
    Object.values(failed).reduce((sum, number) => sum + number, 0),
  )
}

/** Forgets what was counted for libraries that are not there any more. */
export function forgetLibraries(present: ReadonlySet<string>) {
  for (const library of libraries) {
    if (present.has(library)) continue
    libraries.delete(library)
    for (const outcome of [...Object.values(outcomes), 'failed']) files.remove({ library, outcome })
  }
}

/** Counts what threads have read; of each file that it was opened once, unless it says otherwise. */
export function countReading(
  purpose: 'index' | 'thumbnail' | 'hash',
  read: { bytesRead: number; opens?: number }[],
) {
  const sum = (of: (one: (typeof read)[number]) => number) =>
    read.reduce((total, one) => total + of(one), 0)
  bytes.inc(
    { purpose },
    sum(one => one.bytesRead),
  )
  opens.inc(
    { purpose },
    sum(one => one.opens ?? 1),
  )
}

/** A clock that tells one stage after another; it runs from now. */
export function phaseClock() {
  let began = performance.now()
  return (phase: 'walk' | 'read' | 'settle') => {
    const now = performance.now()
    phases.observe({ phase }, (now - began) / 1000)
    began = now
  }
}
