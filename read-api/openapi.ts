import Type from 'typebox'
import type { App } from './question.ts'

/** `GET /api/openapi.json`: every route of the write and read APIs, from the schemas they use. */
export function describeApi(app: App): void {
  app.get(
    '/api/openapi.json',
    { schema: { response: { 200: Type.Unknown() }, hide: true } },
    async () => app.swagger(),
  )
}
