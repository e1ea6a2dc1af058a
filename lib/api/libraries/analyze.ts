// Analysis on request: files are read again although nothing says that they changed.

import type { Permission } from '../../auth/permission.ts'
import {
  type Analysis,
  analyzeBook,
  analyzeLibrary,
  analyzeSeries,
} from '../../catalog/scan/analyze.ts'
import { route } from '../../http/route.ts'
import { TaskStarted } from '../../queue/task-record.ts'
import { Id } from '../../schema.ts'

type Subject = {
  path: string
  permission: Permission
  summary: string
  analyze: (analysis: Analysis, id: string) => Promise<string>
  nothing: string
}

const subjects: Subject[] = [
  {
    path: '/libraries/{id}',
    permission: 'LibrariesWrite',
    summary: 'Analyze all books of a library',
    analyze: analyzeLibrary,
    nothing: 'A deep scan of the library. 409 while it is scanned; 400 when it has no books.',
  },
  {
    path: '/series/{id}',
    permission: 'SeriesWrite',
    summary: 'Analyze all books of a series',
    analyze: analyzeSeries,
    nothing: '400 when the series has no books.',
  },
  {
    path: '/books/{id}',
    permission: 'BooksWrite',
    summary: 'Analyze a book',
    analyze: analyzeBook,
    nothing: '400 when its file is missing.',
  },
]

export const analyze = subjects.flatMap(subject =>
  [false, true].map(unanalyzedOnly =>
    route({
      method: 'POST',
      path: `${subject.path}/${unanalyzedOnly ? 'analyze-unanalyzed' : 'analyze'}`,
      permission: subject.permission,
      summary: unanalyzedOnly ? `${subject.summary}, if not analyzed yet` : subject.summary,
      description: unanalyzedOnly
        ? 'Only what could not be read, or not yet. 400 when there is none of it.'
        : subject.nothing,
      params: Id,
      responses: { 200: TaskStarted },
      handle: async ({ params, viewer }, { sql, queue }) => {
        const taskId = await subject.analyze({ sql, queue, viewer, unanalyzedOnly }, params.id)
        return { taskId }
      },
    }),
  ),
)
