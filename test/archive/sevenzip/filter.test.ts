import t from 'tap'
import { filters } from '../../../lib/archive/sevenzip/filter.ts'

const decode = (id: string, bytes: number[], properties: number[] = []) => {
  const copy = Buffer.from(bytes)
  filters[id]!(copy, Buffer.from(properties))
  return [...copy]
}

t.test('delta filter', async t => {
  t.same(decode('03', [1, 10, 1, 10, 1, 10], [1]), [1, 10, 2, 20, 3, 30])
})

t.test('branch filters of x86, ARM, PowerPC and ARM64', async t => {
  const nop = [0x90, 0x90, 0x90, 0x90, 0x90]
  t.same(decode('03030103', [...nop, 0xe8, 0x0a, 0, 0, 0, ...nop]), [
    ...nop,
    0xe8,
    0,
    0,
    0,
    0,
    ...nop,
  ])
  t.same(decode('03030501', [0, 0, 0, 0, 3, 0, 0, 0xeb]), [0, 0, 0, 0, 0, 0, 0, 0xeb])
  t.same(decode('03030205', [0, 0, 0, 0, 0x48, 0, 0, 5]), [0, 0, 0, 0, 0x48, 0, 0, 1])
  t.same(decode('0a', [0, 0, 0, 0, 1, 0, 0, 0x94]), [0, 0, 0, 0, 0, 0, 0, 0x94])
})

t.test('byte swap filters', async t => {
  t.same(decode('020302', [1, 2, 3, 4, 5]), [2, 1, 4, 3, 5])
  t.same(decode('020304', [1, 2, 3, 4, 5]), [4, 3, 2, 1, 5])
})
