// Pages on their way to readers: what lib/page/counters.ts counts.
import { pageCounters } from '../page/counters.ts'
import type { Family } from './registry.ts'

const counted = (name: string, help: string, value: number): Family => ({
  name,
  help,
  type: 'counter',
  values: [{ value }],
})

export function pageFamilies(): Family[] {
  const { requests, cached, tasks, directories, opens, reads, bytesRead } = pageCounters
  return [
    counted(
      'page_requests_total',
      'Pages and images derived from them that were asked for.',
      requests,
    ),
    counted('page_cache_hits_total', 'Of these, images that lay in the page cache.', cached),
    counted('page_thread_tasks_total', 'Of these, tasks that the page threads were given.', tasks),
    counted('page_lists_made_total', 'Books whose list of pages had to be looked up.', directories),
    counted('page_file_opens_total', 'Files opened to send pages and covers.', opens),
    counted('page_file_reads_total', 'Reads from these files.', reads),
    counted('page_file_read_bytes_total', 'Bytes of these reads.', bytesRead),
  ]
}
