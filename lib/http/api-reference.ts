// The interactive reference: swagger-ui from its own package, so that it works without the internet.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { resources } from '../api/resources.ts'
import { basePathOf } from './address.ts'
import { openapiDocument } from './openapi.ts'

// Nothing from elsewhere; swagger-ui sets styles on its elements.
const policy =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'self'; frame-ancestors 'self'"

export async function mountReference(server: FastifyInstance, path: string, version: string) {
  const document = openapiDocument(resources, version)
  await server.register(swagger, {
    mode: 'static',
    specification: { document: document as never },
  })
  await server.register(swaggerUi, {
    routePrefix: path,
    staticCSP: policy,
    uiHooks: { onRequest: toFolder(path) },
    // Operations are tried out where the page came from.
    transformSpecification: (known, request) => ({
      ...known,
      servers: [{ url: basePathOf(request.base) || '/', description: 'This server' }],
    }),
    transformSpecificationClone: false,
    uiConfig: { deepLinking: true, docExpansion: 'none', validatorUrl: null as never },
  })
}

/** What the page loads is relative to its folder, so that it also works below a base path. */
function toFolder(path: string) {
  const others = new Set([path, `${path}/static/index.html`])
  return async (request: FastifyRequest, reply: FastifyReply) => {
    if (others.has(request.url.split('?', 1)[0]!)) return reply.redirect(`${request.base}${path}/`)
  }
}
