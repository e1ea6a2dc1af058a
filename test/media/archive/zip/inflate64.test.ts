import { deflateRawSync } from 'node:zlib'
import t from 'tap'
import { inflate64 } from '../../../../lib/media/archive/zip/inflate64.ts'
import { createRandom } from '../../../kit/random.ts'

// Short matches with small distances are encoded as in deflate.
const { next } = createRandom(1)
const text = Buffer.from(Array.from({ length: 20_000 }, () => 97 + Math.floor(next() ** 3 * 20)))

t.test('all block types are decompressed', async t => {
  for (const options of [{ level: 9 }, { level: 0 }, { strategy: 4 }])
    t.same(Buffer.from(inflate64(deflateRawSync(text, options), text.length)), text)
})

t.test('truncated and invalid streams have different errors', async t => {
  const packed = deflateRawSync(text)
  t.throws(() => inflate64(packed.subarray(0, 5000), text.length), { code: 'truncated' })
  t.throws(() => inflate64(Buffer.alloc(100, 0xff), 1000), { code: 'bad_crc' })
})
