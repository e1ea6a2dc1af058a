// Key of the secrets on the command line: shared by processes, replaced, lost, and not usable.
import { copyFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openLog } from '../../lib/base/log.ts'
import { openSources } from '../../lib/sources/stored/open.ts'
import { createSource, sourceById } from '../../lib/sources/stored/source.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { readKeys } from '../../lib/store/secret/key-file.ts'
import { commandLine } from '../kit/command.ts'
import { temporaryFolder } from '../kit/files/folders.ts'
import { processes } from '../kit/processes.ts'

const log = openLog({ level: 'silent' })

/** The sources of an installation, as one of its processes has them. */
function sourcesOf(sql: Sql, data: string) {
  const config = loadConfig({ env: {}, flags: { data_dir: data } })
  return { sql, sources: openSources({ config, log }) }
}

const feed = (name: string) => ({
  ...{ type: 'feed' as const, name, displayName: `Feed ${name}`, enabled: false },
  ...{ config: { url: 'https://feed.example/' }, credentials: { Cookie: 'marked-9a1c' } },
})

t.test('processes that start at once share a key; another one is reported at once', async t => {
  const data = join(temporaryFolder(t), 'data')
  const file = join(data, 'stackroom.keys')
  const { sql, serve, worker, stackroom } = await processes(t, {}, data)
  const [one, two] = await Promise.all([serve(), serve(), worker()])
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.equal(readKeys(file).length, 1)
  for (const { output } of [one!, two!]) t.notMatch(output.stderr, /encrypted with another key/)
  const id = await createSource(sourcesOf(sql, data), feed('mine'))
  await Promise.all([one!.terminate(), two!.terminate()])

  copyFileSync(file, `${file}.copy`)
  rmSync(file)
  const { stderr } = await stackroom(['doctor'])
  t.match(stderr, /"sources":\["Feed mine"\].*encrypted with another key/)
  t.notMatch(stderr, /marked-9a1c/)
  copyFileSync(`${file}.copy`, file)
  const again = await stackroom(['doctor'])
  t.notMatch(again.stderr, /encrypted with another key/)
  t.match(await sourceById(sourcesOf(sql, data), id), { unreadableCredentials: [] })
})

t.test('a key file that is not usable is one sentence, and the start fails', async t => {
  const data = join(temporaryFolder(t), 'data')
  mkdirSync(join(data, 'stackroom.keys'), { recursive: true })
  const { stackroom } = await commandLine(t, {}, data)
  const refused = (message: RegExp) => ({ code: 2, stdout: '', stderr: message })
  t.match(await stackroom(['serve']), refused(/secrets\.key_file: \S+ is not a file; restore it/))
  rmSync(join(data, 'stackroom.keys'), { recursive: true })
  writeFileSync(join(data, 'stackroom.keys'), '')
  t.match(await stackroom(['doctor']), refused(/secrets\.key_file: \S+ is empty; restore it/))
})

t.test('a rotation that is killed at any moment is repeated', async t => {
  const data = join(temporaryFolder(t), 'data')
  const file = join(data, 'stackroom.keys')
  const { sql, start, stackroom } = await commandLine(t, {}, data)
  t.match(await stackroom(['doctor']), { stdout: /secrets +\S+stackroom\.keys\n/ })
  const context = sourcesOf(sql, data)
  const ids: string[] = []
  for (let i = 0; i < 30; i++) ids.push(await createSource(context, feed(`f${i}`)))
  const [first] = readKeys(file)
  const began = Date.now()
  t.match(await stackroom(['secrets', 'rotate']), { code: 0, stdout: /with a new key/ })
  const wholeMs = Date.now() - began
  for (const share of [0.8, 0.95]) {
    const child = start(['secrets', 'rotate'])
    await sleep(wholeMs * share)
    child.kill('SIGKILL')
    const { sources } = sourcesOf(sql, data)
    for (const id of ids) t.same((await sourceById({ sql, sources }, id)).unreadableCredentials, [])
  }
  t.match(await stackroom(['secrets', 'rotate']), { code: 0 })
  const keys = readKeys(file)
  t.equal(keys.length, 1)
  t.not(keys[0]!.id, first!.id)
  for (const id of ids)
    t.same((await sourceById(sourcesOf(sql, data), id)).credentialNames, ['Cookie'])
})
