// Scopes of resources: order of disposal, errors of the work and of disposals.
import t from 'tap'
import { scoped } from '../../../lib/base/async/dispose.ts'

function createResources() {
  const disposed: string[] = []
  const resource = (name: string, error?: Error): Disposable => ({
    [Symbol.dispose]() {
      disposed.push(name)
      if (error) throw error
    },
  })
  const asyncResource = (name: string, error?: Error): AsyncDisposable => ({
    async [Symbol.asyncDispose]() {
      await null
      disposed.push(name)
      if (error) throw error
    },
  })
  return { disposed, resource, asyncResource }
}

t.test('resources are disposed in reverse order after the work, before its result', async t => {
  const { disposed, resource, asyncResource } = createResources()
  const result = await scoped(async use => {
    use(resource('file'))
    use(null)
    use(asyncResource('archive'))
    use(resource('stream'))
    t.same(disposed, [])
    return 'result'
  })
  t.equal(result, 'result')
  t.same(disposed, ['stream', 'archive', 'file'])
})

t.test('what opened before an error is closed, and the error is that of the work', async t => {
  const { disposed, resource, asyncResource } = createResources()
  const failing = scoped(async use => {
    use(resource('file', new Error('close failed')))
    use(asyncResource('archive', new Error('close failed, too')))
    throw new Error('the archive is damaged')
  })
  await t.rejects(failing, { message: 'the archive is damaged' })
  t.same(disposed, ['archive', 'file'])
})

t.test('an error of a disposal is not lost, and the others are disposed', async t => {
  const { disposed, resource, asyncResource } = createResources()
  const failing = scoped(async use => {
    use(resource('file', new Error('second')))
    use(asyncResource('archive', new Error('first')))
  })
  await t.rejects(failing, { message: 'first' })
  t.same(disposed, ['archive', 'file'])
})
