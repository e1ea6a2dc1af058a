// Interactive API reference: Swagger UI from its npm package, without requests to other hosts.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { basePathOf } from '../client/address.ts'

// Swagger UI sets inline styles on its elements.
const contentSecurityPolicy =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'self'; frame-ancestors 'self'"

export async function mountApiReference(server: FastifyInstance, path: string, document: object) {
  await server.register(swagger, {
    mode: 'static',
    specification: { document: document as never },
  })
  const withServer = (base: string) => ({
    ...document,
    servers: [{ url: basePathOf(base) || '/', description: 'This server' }],
  })
  // Where clients look for it.
  server.get('/openapi.json', { schema: { hide: true } }, (request, reply) =>
    reply.type('application/json').serializer(JSON.stringify).send(withServer(request.base)),
  )
  await server.register(swaggerUi, {
    routePrefix: path,
    staticCSP: contentSecurityPolicy,
    uiHooks: { onRequest: redirectToFolder(path) },
    // "Try it out" sends requests to the base URL of the page.
    transformSpecification: (_specification, request) => withServer(request.base),
    transformSpecificationClone: false,
    uiConfig: { deepLinking: true, docExpansion: 'none', validatorUrl: null as never },
  })
}

/** Adds the trailing slash: the page loads its assets relative to the folder, also below a base path. */
function redirectToFolder(path: string) {
  const redirected = new Set([path, `${path}/static/index.html`])
  return async (request: FastifyRequest, reply: FastifyReply) => {
    if (redirected.has(request.url.split('?', 1)[0]!))
      return reply.redirect(`${request.base}${path}/`)
  }
}
