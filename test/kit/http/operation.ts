// Operations of the OpenAPI document. Apart from arbitrary.ts: fast-check takes more than a second to load.
export type Json = Record<string, unknown>
export type Operation = {
  method: string
  path: string
  operationId: string
  parameters: { name: string; in: 'path' | 'query'; required: boolean; schema: Json }[]
  body: Json | null
  responses: Record<string, { content?: Record<string, { schema?: Json }> }>
}

type Document = {
  paths: Record<string, Record<string, Json>>
  components: { schemas: Record<string, Json>; responses: Record<string, Json> }
}

export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const content = (operation.requestBody as { content?: Record<string, { schema: Json }> })
        ?.content
      return {
        method: method.toUpperCase(),
        path,
        operationId: operation.operationId as string,
        parameters: (operation.parameters ?? []) as Operation['parameters'],
        body: content?.['application/json']?.schema ?? null,
        responses: resolved(operation.responses as Record<string, Json>, document),
      }
    }),
  )
}

function resolved(
  responses: Record<string, Json>,
  { components }: Document,
): Operation['responses'] {
  const entries = Object.entries(responses).map(([status, response]) => {
    const ref = response.$ref as string | undefined
    return [status, ref ? components.responses[ref.split('/').at(-1)!] : response]
  })
  return Object.fromEntries(entries)
}
