// Process that draws one SVG: node svg-process.ts <density> <ms of CPU time>, with the SVG on stdin and its
// pixels on stdout. It exits when it takes too much time or memory, even if its parent is gone.
import { constants, setPriority } from 'node:os'
import { buffer } from 'node:stream/consumers'
import sharp from 'sharp'
import { resultHeaderBytes, svgLimits } from './svg-renderer.ts'

const checkMs = 50
const startedAt = Date.now()
const [density, cpuTimeMs] = process.argv.slice(2).map(Number) as [number, number]

// Requests for other pages come first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
// The drawing happens in another thread, so this one is free to check.
setInterval(() => {
  const { user, system } = process.cpuUsage()
  const isOver = (user + system) / 1000 > cpuTimeMs || Date.now() - startedAt > svgLimits.wallTimeMs
  // An orderly exit would wait for the drawing.
  if (isOver || process.memoryUsage.rss() > svgLimits.residentBytes)
    process.kill(process.pid, 'SIGKILL')
}, checkMs).unref()

sharp.concurrency(1)
const { data, info } = await sharp(await buffer(process.stdin), {
  density,
  limitInputPixels: svgLimits.pixels,
  failOn: 'none',
})
  .raw()
  .toBuffer({ resolveWithObject: true })
const header = Buffer.alloc(resultHeaderBytes)
header.writeUInt32LE(info.width, 0)
header.writeUInt32LE(info.height, 4)
header.writeUInt32LE(info.channels, 8)
process.stdout.write(Buffer.concat([header, data]))
