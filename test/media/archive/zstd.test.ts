// Zstandard data in several frames, as parallel encoders write it, is decoded whole by every Node.
import { zstdCompressSync } from 'node:zlib'
import t from 'tap'
import { unpackZstd } from '../../../lib/media/archive/zstd.ts'

const frames = [1, 2, 3].map(byte => Buffer.alloc(300_000, byte))
const packed = frames.map(frame => zstdCompressSync(frame))
const skippable = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])

t.test('all frames are decoded, and skippable ones are skipped', async t => {
  const whole = Buffer.concat(frames)
  t.same(unpackZstd(Buffer.concat(packed), 900_000), whole)
  const mixed = [skippable, packed[0]!, skippable, skippable, packed[1]!, packed[2]!, skippable]
  t.same(unpackZstd(Buffer.concat(mixed), 1e6), whole)
  t.same(unpackZstd(packed[0]!, 300_000), frames[0])
})

t.test('the limit counts for all frames together', async t => {
  const empty = zstdCompressSync(Buffer.alloc(0))
  for (const limit of [899_999, 600_001, 600_000, 100])
    t.throws(() => unpackZstd(Buffer.concat([...packed, empty]), limit), {
      code: 'ERR_BUFFER_TOO_LARGE',
    })
})

t.test('damaged data is refused', async t => {
  t.throws(() => unpackZstd(Buffer.from('nothing that Zstandard writes'), 1e6), Error)
  t.throws(() => unpackZstd(packed[0]!.fill(0, 9, 15), 1e6), Error)
})
