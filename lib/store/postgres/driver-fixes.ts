// Fixes for lost connections in postgres.js 3.4.9, applied to its source when it is loaded. Each names the
// open issue at github.com/porsager/postgres that describes the bug, and can be removed once a release fixes
// it; all have a test in test/store/postgres/driver-fixes.test.ts.

type Fix = { issue: string; fault: string; edits: { file: string; from: string; to: string }[] }

export const fixes: readonly Fix[] = [
  {
    issue: '#1133, #1155, #1186, #1208, #1216',
    fault:
      'after a lost connection, statements of a transaction crash the process, hang, or run in the transaction of another caller',
    edits: [
      {
        file: 'index.js',
        from: `    let savepoints = 0
      , connection`,
        to: `    let savepoints = 0
      , lost = null
      , connection`,
      },
      {
        file: 'index.js',
        from: '        new Promise((_, reject) => connection.onclose = reject)',
        to: `        new Promise((_, reject) => connection.onclose = e => {
          lost = e
          while (queries.length)
            queries.shift().reject(e)
          reject(e)
        })`,
      },
      {
        file: 'index.js',
        from: `        c.queue === full
          ? queries.push(q)
          : c.execute(q) || move(c, full)`,
        to: `        lost
          ? q.reject(lost)
          : c.queue === full
            ? queries.push(q)
            : c.execute(q) || move(c, full)`,
      },
    ],
  },
  {
    issue: '#1097, #1130, #1193, #1223',
    fault:
      'a connection carries unsent data, a running statement and the error of the lost session over into the next one, which hangs or fails',
    edits: [
      {
        file: 'connection.js',
        from: `    clearImmediate(nextWriteTimer)
    socket.removeListener('data', data)`,
        to: `    clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
    socket.removeListener('data', data)`,
      },
      {
        file: 'connection.js',
        from: `    if (initial)
      return reconnect()

    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))`,
        to: `    if (initial || query || sent.length)
      error(errorResponse || Errors.connection('CONNECTION_CLOSED', options, socket))
    query = results = errorResponse = null
    result = new Result()`,
      },
    ],
  },
  {
    issue: '#1181',
    fault: 'after a statement that fails while returning rows, the next result begins with holes',
    edits: [
      {
        file: 'connection.js',
        from: `    result = new Result()
    connectTimer.cancel()`,
        to: `    result = new Result()
    rows = 0
    connectTimer.cancel()`,
      },
    ],
  },
  {
    issue: '#1192, #1205',
    fault:
      'a connection lost while array types are read causes an unhandled rejection that ends the process',
    edits: [
      {
        file: 'connection.js',
        from: '        return fetchArrayTypes()',
        to: '        return fetchArrayTypes().catch(noop)',
      },
    ],
  },
  {
    issue: 'none yet',
    fault:
      'a statement retains the variables of the functions that first ran it: V8 holds the frames of an error until its stack is read',
    edits: [
      {
        file: 'query.js',
        from: '  originCache.set(xs, new Error())',
        to: `  originCache.set(xs, new Error())
  originCache.get(xs).stack`,
      },
    ],
  },
  {
    issue: 'none yet',
    fault:
      'a COPY TO STDOUT whose reader is slow hangs at its end: nothing reads from the connection again',
    edits: [
      {
        file: 'connection.js',
        from: `    stream && stream.push(null)
    stream = null`,
        to: `    stream && stream.push(null)
    stream && socket.resume()
    stream = null`,
      },
    ],
  },
]

/**
 * The source of a driver file with its fixes. Fixes whose original text is not found are passed to
 * `onMissing`.
 */
export function fixed(file: string, source: string, onMissing: (fix: Fix) => void): string {
  let text = source
  for (const fix of fixes)
    for (const { from, to } of fix.edits.filter(edit => edit.file === file)) {
      if (!text.includes(from)) onMissing(fix)
      text = text.replace(from, () => to)
    }
  return text
}
