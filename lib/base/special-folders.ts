// Special file systems: kernel and device folders, which cannot hold books. Reading them may block, never end
// or affect the machine.
import { readFileSync } from 'node:fs'
import { isWithin } from './path.ts'

const fixed = process.platform === 'win32' ? [] : ['/proc', '/sys', '/dev']
// Holds ordinary files in memory.
const sharedMemory = Buffer.from('/dev/shm')

const specialTypes = new Set(
  (
    'proc sysfs devtmpfs devpts cgroup cgroup2 pstore bpf debugfs tracefs securityfs configfs fusectl mqueue ' +
    'hugetlbfs binfmt_misc efivarfs rpc_pipefs selinuxfs nsfs'
  ).split(' '),
)

/** Mount points of special file systems, as real paths. */
export function specialFolders(): Buffer[] {
  return [...new Set([...fixed, ...mountPoints()])].map(path => Buffer.from(path, 'latin1'))
}

/** Whether a real path is on a special file system. */
export const isSpecial = (path: Buffer, folders = specialFolders()): boolean =>
  !isWithin(path, sharedMemory) && folders.some(folder => isWithin(path, folder))

// A line is "36 35 98:0 /in/the/file/system /mount/point rw,noatime master:1 - type source options", with
// white space as octal escapes; see proc(5).
function mountPoints(): string[] {
  let lines: string[]
  try {
    lines = readFileSync('/proc/self/mountinfo', 'latin1').split('\n')
  } catch {
    return []
  }
  return lines.flatMap(line => {
    const [point, type] = [line.split(' ')[4], line.split(' - ')[1]?.split(' ')[0]]
    if (point === undefined || type === undefined || !specialTypes.has(type)) return []
    return point.replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8)))
  })
}
