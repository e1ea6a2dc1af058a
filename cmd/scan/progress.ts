// Progress bars on a terminal (stderr), one per stage of a scan.
import type { ScanStats } from './summary.ts'

const barWidth = 28
const minIntervalMs = 100

/** Does nothing if the stream is not a terminal. */
export function createProgressBars(stream: NodeJS.WriteStream = process.stderr) {
  if (!stream.isTTY) return { update() {}, close() {} }
  let drawnLines = 0
  let lastDrawn = 0
  const stageStarts = new Map<string, { seconds: number; done: number }>()
  const clear = () => {
    if (drawnLines > 0) stream.write(`\x1b[${drawnLines}A\x1b[J`)
    drawnLines = 0
  }
  return {
    update(stats: ScanStats) {
      if (performance.now() - lastDrawn < minIntervalMs) return
      lastDrawn = performance.now()
      const bars = [
        bar('index', stats.indexed, Math.max(stats.toIndex, stats.indexed)),
        bar('covers', stats.covers, stats.toCover),
        bar('hashes', stats.hashed, stats.toHash),
      ]
      clear()
      stream.write(`${bars.join('\n')}\n`)
      drawnLines = bars.length
    },
    close: clear,
  }

  function bar(stage: string, done: number, total: number) {
    const now = performance.now() / 1000
    const start = stageStarts.get(stage)
    if (!start && done > 0) stageStarts.set(stage, { seconds: now, done })
    const rate = start && now > start.seconds ? (done - start.done) / (now - start.seconds) : 0
    const filled = total > 0 ? Math.min(barWidth, Math.round((done / total) * barWidth)) : 0
    const left = rate > 0 && done < total ? ` ${durationText((total - done) / rate)} left` : ''
    const blocks = '█'.repeat(filled).padEnd(barWidth, '░')
    return `${stage.padEnd(7)} ${blocks} ${done}/${total} ${rate.toFixed(0)}/s${left}`
  }
}

function durationText(seconds: number) {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  if (seconds < 5400) return `${Math.ceil(seconds / 60)} min`
  return `${(seconds / 3600).toFixed(1)} h`
}
