// Who goes first where few can.
import t from 'tap'
import { openTurns } from '../../lib/async/semaphore.ts'

t.test('who is in a hurry goes before all that wait, and those in the order they came', async t => {
  let crowds = 0
  const turns = openTurns(1, () => {
    crowds += 1
  })
  const order: string[] = []
  const go = async (name: string, urgent = false) => {
    await turns.begin(urgent)
    order.push(name)
    turns.end()
  }
  await turns.begin(false)
  const waiting = [go('a'), go('b'), go('c', true), go('d'), go('e', true)]
  t.equal(crowds, 2)
  turns.end()
  await Promise.all(waiting)
  t.same(order, ['c', 'e', 'a', 'b', 'd'])
  await go('f', true)
  t.equal(crowds, 2, 'a free place is taken without a word')
})
