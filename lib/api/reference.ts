// The interactive reference: swagger-ui from its own package, so that it works without the internet.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { openapiDocument } from './openapi.ts'
import { resources } from './resources.ts'

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
    uiConfig: { deepLinking: true, docExpansion: 'none', validatorUrl: null as never },
  })
}
