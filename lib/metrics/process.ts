// The process: memory, processor, event loop, and the disk under its own files.
import { statfs } from 'node:fs/promises'
import { collectDefaultMetrics } from 'prom-client'
import { version } from '../version.ts'
import { type Family, registry } from './registry.ts'

let isMeasured = false

/** Begins to watch the event loop and the garbage collector; once, however often it is called. */
export function measureProcess() {
  if (isMeasured) return
  isMeasured = true
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: 20,
    gcDurationBuckets: [0.01, 0.1, 1],
  })
  // Of use to nobody but a debugger, and some are gauges that are named like counters.
  for (const { name } of registry.getMetricsAsArray())
    if (/^nodejs_(active_|heap_space_)/.test(name)) registry.removeSingleMetric(name)
}

/** `server` is the version number of PostgreSQL; null while it is away. */
export function buildFamily(server: string | null): Family {
  const labels = { version, node: process.versions.node, database: server ?? '' }
  return {
    name: 'stackroom_build_info',
    help: 'Always 1; the labels say what runs.',
    type: 'gauge',
    values: [{ labels, value: 1 }],
  }
}

/** Bytes of the file system that holds the data directory. */
export async function diskFamilies(dataDir: string): Promise<Family[]> {
  const disk = await statfs(dataDir).catch(() => null)
  const of = (blocks: number | undefined) =>
    disk && blocks !== undefined ? [{ value: blocks * disk.bsize }] : []
  return [
    {
      name: 'data_disk_free_bytes',
      help: 'What is left for Stackroom on the disk of the data directory.',
      type: 'gauge',
      values: of(disk?.bavail),
    },
    {
      name: 'data_disk_size_bytes',
      help: 'Size of the disk of the data directory.',
      type: 'gauge',
      values: of(disk?.blocks),
    },
  ]
}
