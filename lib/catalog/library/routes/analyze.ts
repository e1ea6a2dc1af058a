// Analysis on request: files are read again although they have not changed.

import { LibraryId, ofBook, ofSeries } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { TaskStarted } from '../../../store/queue/task/record.ts'
import { analyzeBook, analyzeLibrary, analyzeSeries } from '../../scan/analyze.ts'

const subjects = [
  {
    operationId: 'analyzeLibrary',
    path: '/libraries/{id}',
    params: LibraryId,
    write: 'LibrariesWrite',
    summary: 'Analyze all books of a library',
    analyze: analyzeLibrary,
    description: 'A deep scan of the library. 409 during another scan; 400 if it has no books.',
  },
  {
    ...ofSeries,
    operationId: 'analyzeSeries',
    summary: 'Analyze all books of a series',
    analyze: analyzeSeries,
    description: '400 if the series has no books.',
  },
  {
    ...ofBook,
    operationId: 'analyzeBook',
    summary: 'Analyze a book',
    analyze: analyzeBook,
    description: '400 if its file is missing.',
  },
] as const

export const analyze = subjects.flatMap(subject =>
  [false, true].map(unanalyzedOnly =>
    route(`POST ${subject.path}/${unanalyzedOnly ? 'analyze-unanalyzed' : 'analyze'}`, {
      operationId: unanalyzedOnly
        ? subject.operationId.replace('analyze', 'analyzeUnanalyzed')
        : subject.operationId,
      permission: subject.write,
      summary: unanalyzedOnly ? `${subject.summary}, if not yet analyzed` : subject.summary,
      description: unanalyzedOnly
        ? 'Only books that have not been analyzed yet or could not be read. 400 if there are none.'
        : subject.description,
      params: subject.params,
      responses: { 200: TaskStarted },
      handle: async ({ params, viewer }, { sql, queue }) => {
        const taskId = await subject.analyze({ sql, queue, viewer, unanalyzedOnly }, params.id)
        return { taskId }
      },
    }),
  ),
)
