import { deflateRawSync } from 'node:zlib'
import t from 'tap'
import { inflate64 } from '../../../lib/archive/zip/inflate64.ts'
import { random } from '../archive-files.ts'

// Short matches and near distances are coded as in deflate.
const next = random(1)
const text = Buffer.from(Array.from({ length: 20_000 }, () => 97 + Math.floor(next() ** 3 * 20)))

t.test('blocks of every kind are unpacked', async t => {
  for (const options of [{ level: 9 }, { level: 0 }, { strategy: 4 }])
    t.same(Buffer.from(inflate64(deflateRawSync(text, options), text.length)), text)
})

t.test('a cut stream and nonsense are told apart', async t => {
  const packed = deflateRawSync(text)
  t.throws(() => inflate64(packed.subarray(0, 5000), text.length), { code: 'truncated' })
  t.throws(() => inflate64(Buffer.alloc(100, 0xff), 1000), { code: 'bad_crc' })
})
