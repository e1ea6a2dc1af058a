// Process metrics: memory, CPU, event loop, build information, disk of the data directory.
import { statfs } from 'node:fs/promises'
import { collectDefaultMetrics } from 'prom-client'
import { version } from '../../base/version.ts'
import type { AreaState } from '../space-guard.ts'
import { family, type MetricFamily, registry } from './registry.ts'

let isStarted = false

/** Starts monitoring the event loop and the garbage collector. Idempotent. */
export function startProcessMetrics() {
  if (isStarted) return
  isStarted = true
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: 20,
    gcDurationBuckets: [0.01, 0.1, 1],
  })
  // Only useful for debugging, and some are gauges named like counters.
  for (const { name } of registry.getMetricsAsArray())
    if (/^nodejs_(active_|heap_space_)/.test(name)) registry.removeSingleMetric(name)
}

/** `server` is the version of PostgreSQL; null if the database does not respond. */
export function buildFamily(server: string | null): MetricFamily {
  const labels = { version, node: process.versions.node, database: server ?? '' }
  return family('gauge', 'stackroom_build_info', [
    'Always 1; the labels are the versions.',
    [{ labels, value: 1 }],
  ])
}

/** Size of the file system that contains the data directory. */
export async function diskFamilies(dataDir: string): Promise<MetricFamily[]> {
  const disk = await statfs(dataDir).catch(() => null)
  return [
    family('gauge', 'data_disk_free_bytes', [
      'Free space on the disk of the data directory.',
      disk && disk.bavail * disk.bsize,
    ]),
    family('gauge', 'data_disk_size_bytes', [
      'Size of the disk of the data directory.',
      disk && disk.blocks * disk.bsize,
    ]),
  ]
}

/** Free space of each area that this process writes to, and whether work is paused because space is low. */
export function storageFamilies(states: readonly AreaState[]): MetricFamily[] {
  return [
    family('gauge', 'storage_free_bytes', [
      'Free space in the folder of an area; absent if unknown.',
      states
        .filter(({ freeBytes }) => freeBytes !== null)
        .map(({ area, freeBytes }) => ({ labels: { area }, value: freeBytes! })),
    ]),
    family('gauge', 'storage_short', [
      '1 while work is paused because the folder of an area has too little space.',
      states.map(({ area, isShort }) => ({ labels: { area }, value: isShort ? 1 : 0 })),
    ]),
  ]
}
