// Bare Fastify routes that send plain files in three ways, the baseline of bench/pages.ts.
// node bench/pages/plain.ts <folder>
import { createReadStream, readFile, statSync } from 'node:fs'
import { join } from 'node:path'
import plainFiles from '@fastify/static'
import fastify from 'fastify'

type Named = { Params: { name: string } }

const folder = process.argv[2]!
const server = fastify()
server.register(plainFiles, { root: folder, prefix: '/static/' })
server.get<Named>('/read/:name', (request, reply) => {
  readFile(join(folder, request.params.name), (error, bytes) => {
    reply.type('image/jpeg').send(error ?? bytes)
  })
})
server.get<Named>('/stream/:name', (request, reply) => {
  const path = join(folder, request.params.name)
  reply
    .header('content-length', statSync(path).size)
    .type('image/jpeg')
    .send(createReadStream(path))
})
const plain = await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${JSON.stringify({ plain })}\n`)
