// A server on a data directory of its own, and a Prometheus that scrapes it every second.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/kit/ports.ts'

const launcher = join(import.meta.dirname, '..', '..', 'cmd', 'stackroom.mjs')

export type Server = { base: string; metrics: string; token: string }

export function openProcesses(folder: string) {
  const children: ChildProcess[] = []
  return {
    /** Serves and works; limits are low, so that some requests are refused. */
    async stackroom(): Promise<Server> {
      const metrics = `127.0.0.1:${await freePort()}`
      const args = ['serve', '--port', '0', '--data', join(folder, 'data'), '--log-level', 'warn']
      const child = spawn(process.execPath, [launcher, ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: {
          PATH: process.env.PATH,
          HOME: process.env.HOME,
          STACKROOM_METRICS__BIND: metrics,
          STACKROOM_RATE_LIMIT__ANONYMOUS_BURST: '5',
          STACKROOM_RATE_LIMIT__ANONYMOUS_RPS: '2',
        },
      })
      children.push(child)
      let output = ''
      for await (const chunk of child.stdout!) {
        output += chunk
        const base = /listening on (\S+)/.exec(output)?.[1]
        const token = /Setup token[^:]*: (\S+)\n/.exec(output)?.[1]
        if (base && token) return { base, metrics, token }
      }
      throw new Error('the server did not start')
    },
    /** Its address, once it is ready. */
    async prometheus({ target, rules }: { target: string; rules: string }): Promise<string> {
      const address = `127.0.0.1:${await freePort()}`
      const config = join(folder, 'prometheus.yml')
      writeFileSync(
        config,
        `global: { scrape_interval: 1s, evaluation_interval: 2s }
rule_files: ['${rules}']
scrape_configs:
  - { job_name: stackroom, static_configs: [{ targets: ['${target}'] }] }
`,
      )
      const child = spawn(
        'prometheus',
        [
          `--config.file=${config}`,
          `--storage.tsdb.path=${join(folder, 'series')}`,
          `--web.listen-address=${address}`,
          '--log.level=warn',
        ],
        { stdio: ['ignore', 'ignore', 'inherit'] },
      )
      children.push(child)
      const url = `http://${address}`
      for (let left = 100; left > 0; left--) {
        const ready = await fetch(`${url}/-/ready`).then(
          response => response.ok,
          () => false,
        )
        if (ready) return url
        await sleep(200)
      }
      throw new Error('Prometheus did not start')
    },
    async end() {
      for (const child of children.reverse()) {
        if (child.exitCode !== null) continue
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
    },
  }
}
