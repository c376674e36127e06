import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '../contract/envelope.ts'
import { Option } from '../contract/option.ts'
import { type App, type ReadDeps, upToDate } from '../question.ts'
import { optionsInForce } from './options-in-force.ts'

/** `GET /api/option/`: every option with its value in force; secrets are never told. */
export function listOptions(app: App, deps: ReadDeps): void {
  app.get(
    '/api/option/',
    {
      schema: { response: { 200: Envelope(Type.Array(Option)) } },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'options'),
    },
    async () => success((await optionsInForce(deps.core)).shown()),
  )
}
