// Child process that writes one scheduled backup; it ends with its parent.
import { rm, stat } from 'node:fs/promises'
import { restrictNewFiles } from '../base/data-folder.ts'
import { Failure, Unavailable } from '../base/errors.ts'
import { openDatabase } from '../store/postgres/db.ts'
import { openSecrets } from '../store/secret/secrets.ts'
import { partialOf } from './archive.ts'
import { assertOutside } from './folder.ts'
import type { BackupReply, BackupRequest } from './job.ts'
import { readPassphrase } from './passphrase.ts'
import { writeBackup } from './write.ts'

const abort = new AbortController()
const stop = () => abort.abort(new Unavailable('It was interrupted'))
process.once('SIGTERM', stop)
process.once('disconnect', stop)
process.once('message', request => {
  run(request as BackupRequest).then(reply, error => reply({ error: reasonOf(error) }))
})

function reply(message: BackupReply) {
  if (process.connected) process.send!(message, undefined, undefined, () => process.disconnect())
}

// Without paths, because it is shown in the browser.
function reasonOf(error: NodeJS.ErrnoException): string {
  if (error instanceof Failure) return error.message
  process.stderr.write(`${error.stack}\n`)
  return `The backup could not be written (${error.code ?? error.name})`
}

async function run({ config, file, interrupted, old }: BackupRequest): Promise<BackupReply> {
  restrictNewFiles()
  assertOutside(file, config.data_dir)
  for (const path of interrupted) await rm(partialOf(path), { force: true })
  const { signal } = abort
  const passphrase = readPassphrase(config.backup.passphrase_file)
  const { sql, close } = await openDatabase(config, { signal })
  try {
    const secrets = openSecrets(config)
    await writeBackup({
      ...{ sql, file, secrets, passphrase, signal },
      dataDir: config.data_dir,
      isGentle: true,
    })
  } finally {
    await close()
  }
  const deleted: string[] = []
  for (const path of old)
    await rm(path, { force: true }).then(
      () => deleted.push(path),
      error => process.stderr.write(`${error.message}\n`),
    )
  return { bytes: (await stat(file)).size, deleted }
}
