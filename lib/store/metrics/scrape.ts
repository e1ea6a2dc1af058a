// Metrics exposition: counters of this process plus database-wide gauges of libraries, queue and disk.
import { backupFamilies } from '../../backup/metrics.ts'
import { deliveryCounters } from '../../download/counters.ts'
import { allTasks } from '../queue/task/scope.ts'
import { openTaskStats, type TypeStats } from '../queue/task/stats.ts'
import type { Services } from '../services.ts'
import type { SpaceGuard } from '../space-guard.ts'
import { cachedQuery } from './cached-query.ts'
import { databaseFamilies } from './database.ts'
import { libraryFamilies } from './libraries.ts'
import { buildFamily, diskFamilies, startProcessMetrics, storageFamilies } from './process.ts'
import { family, type MetricFamily, type MetricsFormat, render } from './registry.ts'
import { releaseFamilies } from './releases.ts'
import '../event/metrics.ts'
import './http.ts'
import './lists.ts'
import './pipeline.ts'
import './sources.ts'

/** Works even without the database, with `stackroom_database_up 0`. */
export async function renderMetrics(
  {
    services,
    dataDir,
    space,
  }: { services: Services; dataDir: string; space?: SpaceGuard | undefined },
  format: MetricsFormat,
) {
  startProcessMetrics()
  const [database, libraries, queue, releases, backups, disk] = await Promise.all([
    databaseFamilies(services),
    libraryFamilies(services),
    queueFamilies(services),
    releaseFamilies(services),
    backupFamilies(services),
    diskFamilies(dataDir),
  ])
  const families = [buildFamily(database.server), ...database.families]
  const storage = [...disk, ...storageFamilies(space?.states() ?? [])]
  const all = [
    ...families,
    ...libraries,
    ...queue,
    ...releases,
    ...backups,
    ...storage,
    ...pageFamilies(),
  ]
  return await render(all, format)
}

// Cached, because counting a million tasks takes a while.
const allTaskStats = cachedQuery(pool => openTaskStats(pool).all(allTasks), { minAgeMs: 5_000 })

async function queueFamilies(services: Services): Promise<MetricFamily[]> {
  const types = await services(allTaskStats)()
  const gauge = (name: string, help: string, value: (stats: TypeStats) => number) =>
    family('gauge', name, [
      help,
      types?.map(stats => ({ labels: { type: stats.type }, value: value(stats) })),
    ])
  return [
    gauge('tasks_queued', 'Queued tasks, by type.', stats => stats.pending),
    gauge('tasks_running', 'Running tasks, by type.', stats => stats.running),
    gauge('tasks_failed', 'Failed tasks that are still listed, by type.', stats => stats.failed),
    gauge(
      'tasks_oldest_age_seconds',
      'Waiting time of the oldest queued task, by type; 0 without queued tasks.',
      stats => stats.oldestPendingAgeSeconds ?? 0,
    ),
  ]
}

function pageFamilies(): MetricFamily[] {
  const { requests, cached, tasks, directories, opens, reads, bytesRead } = deliveryCounters
  const counter = (name: string, help: string, value: number) =>
    family('counter', name, [help, value])
  return [
    counter('page_requests_total', 'Requests for pages and images derived from them.', requests),
    counter('page_cache_hits_total', 'Page requests answered from the page cache.', cached),
    counter('page_thread_tasks_total', 'Tasks sent to page threads.', tasks),
    counter('page_lists_made_total', 'Books whose page list was read.', directories),
    counter('page_file_opens_total', 'Files opened for pages and covers.', opens),
    counter('page_file_reads_total', 'Reads from these files.', reads),
    counter('page_file_read_bytes_total', 'Bytes read from these files.', bytesRead),
  ]
}
