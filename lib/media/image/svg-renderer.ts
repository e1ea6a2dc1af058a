// SVG renderer: librsvg in a separate process, which can be killed, unlike a thread: a page of 2 kB occupied
// its thread for half a minute, and no pool could end it.
import { spawnSync } from 'node:child_process'
import { Unreadable } from '../../base/errors.ts'
import { programFile } from '../../base/package.ts'
import { type RawImage, u32le } from './primitives.ts'

/** Numbers before the pixels in the process's output: u32 width, height, channels. */
export const resultHeaderBytes = 12
/** Limits that the process applies to itself. CPU time, so that a busy machine does not cause failures. */
export const svgLimits = {
  cpuTimeMs: 3_000,
  wallTimeMs: 15_000,
  residentBytes: 512 * 1024 * 1024,
  pixels: 16_000_000,
}

const script = programFile('lib/media/image/svg-process')

/** The drawing at `density` dpi (72: its own size). Throws Unreadable: `unsupported_image`, `timeout`. */
export function renderSvg(
  bytes: Uint8Array,
  density: number,
  cpuTimeMs = svgLimits.cpuTimeMs,
): RawImage {
  const args = [script, String(density), String(cpuTimeMs)]
  const { status, signal, stdout, error } = spawnSync(process.execPath, args, {
    input: bytes,
    // In case the process does not get far enough to check its own limits.
    timeout: svgLimits.wallTimeMs * 2,
    killSignal: 'SIGKILL',
    maxBuffer: svgLimits.pixels * 4 + resultHeaderBytes,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: environment(),
  })
  if (signal !== null) throw new Unreadable('The SVG takes too long to draw', 'timeout')
  if (status !== 0 || stdout.length < resultHeaderBytes)
    throw new Unreadable('The SVG cannot be drawn', 'unsupported_image', { cause: error })
  const [width, height, channels] = [u32le(stdout, 0), u32le(stdout, 4), u32le(stdout, 8)]
  const data = stdout.subarray(resultHeaderBytes)
  return { data, width, height, channels: channels === 3 ? 3 : 4 }
}

/** What a program and its fonts need; none of the configuration, which contains secrets. */
function environment(): NodeJS.ProcessEnv {
  const names = 'PATH HOME LANG LD_LIBRARY_PATH FONTCONFIG_FILE FONTCONFIG_PATH NODE_COMPILE_CACHE'
  const inherited = names.split(' ').flatMap(name => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(inherited), UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '2' }
}
