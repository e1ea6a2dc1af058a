// PPMd variant H against data of another implementation, in models whose memory is full again and again.
import { crc32 } from 'node:zlib'
import t from 'tap'
import { createRangeDecoder, decodeSymbol } from '../../../../lib/media/archive/rar/ppmd/decoder.ts'
import { createModel } from '../../../../lib/media/archive/rar/ppmd/model.ts'
import { goldenFile } from '../../../kit/files/corpus.ts'

t.test('models restart when their memory is full, and forget rare symbols', t => {
  for (const [order, memoryBytes] of [
    [16, 8192],
    [3, 20_000],
  ] as const) {
    const model = createModel(order, memoryBytes)
    const coder = createRangeDecoder(goldenFile(`ppmd/order-${order}.bin`), 0)
    const bytes = Uint8Array.from({ length: 30_000 }, () => decodeSymbol(model, coder))
    t.equal(crc32(bytes), 0x628a5248, `order ${order}`)
  }
  t.end()
})
