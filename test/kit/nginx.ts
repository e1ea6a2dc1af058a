// A real nginx before the API, below a path of its own.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { temporary } from './library.ts'

/** Where nginx is on this machine; undefined where there is none. */
export const nginx = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'].find(existsSync)

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Serves the locations on a port until the end of `t`. */
export async function startNginx(
  t: Test,
  { port, locations }: { port: number; locations: string },
) {
  const folder = temporary(t)
  const file = join(folder, 'nginx.conf')
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const temporaries = kinds.map(kind => `${kind}_temp_path ${folder}/${kind};`).join('\n')
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/errors;
     events { worker_connections 64; }
     http {
       access_log off;
       ${temporaries}
       server { listen 127.0.0.1:${port}; ${locations} }
     }`,
  )
  const options = ['-e', `${folder}/errors`, '-p', folder, '-c', file]
  const child = spawn(nginx!, options, { stdio: 'ignore' })
  const ended = new Promise(resolve => child.once('exit', resolve))
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  for (let left = 2000; left > 0; left--) {
    const isThere = await fetch(`http://127.0.0.1:${port}/`).then(
      answer => answer.arrayBuffer().then(() => true),
      () => false,
    )
    if (isThere) return
    await sleep(50)
  }
  throw new Error(`nginx does not start: ${readFileSync(`${folder}/errors`, 'utf8')}`)
}
