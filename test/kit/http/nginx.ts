// nginx as a reverse proxy in front of the API.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { temporaryFolder } from '../files/folders.ts'

/** Path of nginx; undefined if it is not installed. */
export const nginxPath = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'].find(
  existsSync,
)

/** Starts nginx with these `location` blocks until the end of `t`. */
export async function startNginx(
  t: Test,
  { port, locations }: { port: number; locations: string },
) {
  const folder = temporaryFolder(t)
  const configFile = join(folder, 'nginx.conf')
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const temporaryPaths = kinds.map(kind => `${kind}_temp_path ${folder}/${kind};`).join('\n')
  writeFileSync(
    configFile,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/errors;
     events { worker_connections 64; }
     http {
       access_log off;
       ${temporaryPaths}
       server { listen 127.0.0.1:${port}; ${locations} }
     }`,
  )
  const options = ['-e', `${folder}/errors`, '-p', folder, '-c', configFile]
  const child = spawn(nginxPath!, options, { stdio: 'ignore' })
  const ended = new Promise(resolve => child.once('exit', resolve))
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  for (let left = 5000; left > 0; left--) {
    const isReady = await fetch(`http://127.0.0.1:${port}/`).then(
      response => response.arrayBuffer().then(() => true),
      () => false,
    )
    if (isReady) return
    await sleep(20)
  }
  throw new Error(`nginx did not start: ${readFileSync(`${folder}/errors`, 'utf8')}`)
}
