// A root directory with namespaces of its own for mounts and processes, as a container has; the network is shared.
// All ends with this process, mounts included.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { childrenOf } from '../kill/postgres.ts'
import { run } from './host.ts'
import { poll } from './probe/client.ts'
import { launchProcess } from './processes.ts'

export type Sandbox = Awaited<ReturnType<typeof openSandbox>>
type User = { uid: number; home: string }
export type Launch = { user?: User; variables?: Record<string, string>; folder?: string }

// pivot_root rather than chroot: in a chroot the kernel creates no user namespaces. The first process of the
// namespace waits for all that lose their parent.
const setUp = `set -e
mount --bind "$0" "$0"
cd "$0"
mount -t proc proc proc
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mkdir -p .host
pivot_root . .host
cd /
umount -l /.host
rmdir /.host
echo ready
while :; do sleep 1000 & wait; done`

const superuser: User = { uid: 0, home: '/root' }
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** `procs` is the file of a cgroup that limits all processes. */
export async function openSandbox(root: string, procs: string | null = null) {
  mkdirSync(join(root, 'dev', 'shm'), { recursive: true })
  const options = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private']
  const holder = launchProcess('setpriv', [
    ...['--pdeathsig', 'KILL', 'unshare', ...options],
    ...['/bin/sh', '-c', setUp, root],
  ])
  const first = await poll(10, async () => {
    if (holder.hasExited()) throw new Error(holder.output())
    const pid = childrenOf(holder.pid())[0]
    return holder.stdout() === 'ready\n' ? pid! : null
  })

  function launch(
    command: string[],
    { user = superuser, variables = {}, folder = '/' }: Launch = {},
  ) {
    const { uid, home } = user
    const environment = Object.entries({ PATH: path, HOME: home, LANG: 'C.UTF-8', ...variables })
    const entered = [
      ...['nsenter', '--target', String(first), '--mount', '--pid', '--', 'env', '-i'],
      ...environment.map(([name, value]) => `${name}=${value}`),
      ...['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'],
      ...['sh', '-c', 'cd "$0" && exec "$@"', folder, ...command],
    ]
    const limited = ['sh', '-c', 'echo $$ >"$0" && exec "$@"', procs ?? '', ...entered]
    const [file, ...args] = procs === null ? entered : limited
    return launchProcess(file!, args)
  }
  return {
    root,
    launch,
    /** Runs a command to its end; an error quotes what it printed. */
    async run(command: string[], options?: Launch): Promise<string> {
      const launched = launch(command, options)
      const code = await launched.exit
      if (code === 0) return launched.stdout()
      throw new Error(`${command.join(' ').slice(0, 200)}: ${launched.output().slice(-1_000)}`)
    },
    /** Makes the file system of the root read-only, apart from these folders. */
    async protect(writable: string[]) {
      const binds = writable.map(folder => `mount --bind ${folder} ${folder}`)
      const script = [...binds, 'mount -o remount,bind,ro /'].join(' && ')
      run('nsenter', ['--target', String(first), '--mount', '--', 'sh', '-c', script])
    },
    async close() {
      process.kill(first, 'SIGKILL')
      await holder.exit
    },
  }
}
