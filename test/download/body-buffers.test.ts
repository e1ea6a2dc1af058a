import t from 'tap'
import { giveBack, takeBuffer } from '../../lib/download/file-body.ts'

const pageBytes = 700_000

t.test('memory that was given back is used again', async t => {
  const first = takeBuffer(pageBytes)
  t.equal(first.length, pageBytes)
  giveBack(first.subarray(100, 200))
  const second = takeBuffer(pageBytes + 1)
  t.equal(second.length, pageBytes + 1)
  t.equal(second.buffer, first.buffer)
  t.not(takeBuffer(pageBytes).buffer, first.buffer)
})

t.test('memory is lent to one at a time', async t => {
  const buffer = takeBuffer(pageBytes)
  giveBack(buffer)
  giveBack(buffer)
  t.not(takeBuffer(pageBytes).buffer, takeBuffer(pageBytes).buffer)
})

t.test('memory of others and small buffers are left alone', async t => {
  const shared = Buffer.alloc(1024 * 1024)
  giveBack(shared)
  t.not(takeBuffer(1024 * 1024).buffer, shared.buffer)
  const small = takeBuffer(1000)
  giveBack(small)
  t.not(takeBuffer(1000).buffer, small.buffer)
})

t.test('unused memory is bounded', async t => {
  const buffers = Array.from({ length: 40 }, () => takeBuffer(1024 * 1024))
  for (const buffer of buffers) giveBack(buffer)
  const known = new Set(buffers.map(({ buffer }) => buffer))
  const again = Array.from({ length: 40 }, () => takeBuffer(1024 * 1024))
  t.equal(again.filter(({ buffer }) => known.has(buffer)).length, 16)
})
