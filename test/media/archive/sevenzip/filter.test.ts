import t from 'tap'
import { filters } from '../../../../lib/media/archive/sevenzip/filter.ts'

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

t.test('branch filter of RISC-V', async t => {
  const hex = (text: string) => [...Buffer.from(text.replaceAll(' ', ''), 'hex')]
  const nops = '13000000 13000000'
  const cases: [what: string, filtered: string, instructions: string][] = [
    ['jal ra, 0x1000', 'ef000800 13000000', 'ef100000 13000000'],
    ['jal ra, -8 at 8', `${nops} ef000000 13000000`, `${nops} eff09fff 13000000`],
    ['jal zero is unchanged', '6f100000 13000000', '6f100000 13000000'],
    ['auipc ra, 1; jalr ra, -42(ra)', '17710e08 00000fd6', '97100000 e78060fd'],
    ['the same at 8', `${nops} 17710e08 00000fde`, `${nops} 97100000 e78060fd`],
    ['auipc a0, 0; addi a1, a0, 16', '17315950 00000010', '17050000 93050501'],
    ['auipc without a pair', '17050000 93850501', '17050000 93850501'],
    ['auipc zero is a landing pad', '17100000 93050501', '17100000 93050501'],
  ]
  for (const [what, filtered, instructions] of cases)
    t.same(decode('0b', hex(filtered)), hex(instructions), what)
  // A pair that looks as if it were filtered is stored exchanged.
  t.same(decode('0b', hex('97100000 e78060fd')), hex('17710e08 d61f0000'))
})

t.test('byte swap filters', async t => {
  t.same(decode('020302', [1, 2, 3, 4, 5]), [2, 1, 4, 3, 5])
  t.same(decode('020304', [1, 2, 3, 4, 5]), [4, 3, 2, 1, 5])
})
