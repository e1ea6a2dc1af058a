// A bar a stage on stderr when it is a terminal; nothing otherwise.
import type { Figures } from './summary.ts'

const width = 28

export function openProgress(stream: NodeJS.WriteStream = process.stderr) {
  if (!stream.isTTY) return { show() {}, close() {} }
  let drawn = 0
  let last = 0
  const began = new Map<string, { at: number; from: number }>()
  const clear = () => {
    if (drawn > 0) stream.write(`\x1b[${drawn}A\x1b[J`)
    drawn = 0
  }
  return {
    show(figures: Figures) {
      if (performance.now() - last < 100) return
      last = performance.now()
      const lines = [
        line('index', figures.indexed, Math.max(figures.toIndex, figures.indexed)),
        line('covers', figures.covers, figures.toCover),
        line('hashes', figures.hashed, figures.toHash),
      ]
      clear()
      stream.write(`${lines.join('\n')}\n`)
      drawn = lines.length
    },
    close: clear,
  }

  function line(stage: string, done: number, total: number) {
    const now = performance.now() / 1000
    const start = began.get(stage)
    if (!start && done > 0) began.set(stage, { at: now, from: done })
    const rate = start && now > start.at ? (done - start.from) / (now - start.at) : 0
    const filled = total > 0 ? Math.min(width, Math.round((done / total) * width)) : 0
    const left = rate > 0 && done < total ? ` ${timeText((total - done) / rate)} left` : ''
    const bar = '█'.repeat(filled).padEnd(width, '░')
    return `${stage.padEnd(7)} ${bar} ${done}/${total} ${rate.toFixed(0)}/s${left}`
  }
}

function timeText(seconds: number) {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  if (seconds < 5400) return `${Math.ceil(seconds / 60)} min`
  return `${(seconds / 3600).toFixed(1)} h`
}
