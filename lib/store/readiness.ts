// Readiness of a process, for the health checks of the API and of the metrics server.

import { version } from '../base/version.ts'
import { mountHealth } from './mount/mount-health.ts'
import type { DatabaseMonitor } from './postgres/monitor.ts'
import type { SpaceGuard } from './space-guard.ts'

export type Health = {
  status: 'ok' | 'degraded' | 'unavailable'
  version: string
  message: string | null
}

/** If `isReady` is false, the response is a 503. */
export type Readiness = { isReady: boolean; health: Health }

type Parts = {
  monitor: Pick<DatabaseMonitor, 'isAvailable' | 'ping'>
  space: SpaceGuard
  isShuttingDown: boolean
  /** False if background jobs, which are the purpose of this process, cannot be claimed. */
  isClaiming?: boolean
}

export async function checkReadiness(parts: Parts): Promise<Readiness> {
  const { monitor, space, isShuttingDown, isClaiming = true } = parts
  if (isShuttingDown) return notReady('unavailable', 'The server is shutting down')
  const isResponding = await monitor.ping().then(
    () => monitor.isAvailable(),
    () => false,
  )
  if (!isResponding)
    return notReady(
      'degraded',
      space.shortage(['database'])
        ? 'The database is not available, and there is too little disk space for it'
        : 'The database is not available',
    )
  if (!isClaiming) return notReady('degraded', 'Background jobs cannot be claimed')
  const short = space.states().filter(state => state.isShort)
  const hung = mountHealth.countHung()
  const problems = [
    short.length > 0 &&
      `There is too little disk space (${short.map(s => s.area).join(', ')}); background work is paused`,
    hung > 0 &&
      (hung === 1 ? 'A library folder does not respond' : `${hung} library folders do not respond`),
  ].filter(problem => problem !== false)
  const message = problems.join('. ') || null
  return { isReady: true, health: { status: message ? 'degraded' : 'ok', version, message } }
}

/** The response until startup is complete. */
export const starting = notReady('unavailable', 'The process is starting')

function notReady(status: Health['status'], message: string): Readiness {
  return { isReady: false, health: { status, version, message } }
}
