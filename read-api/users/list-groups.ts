import Type from 'typebox'
import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '../contract/envelope.ts'
import { UsableGroups } from '../contract/user.ts'
import { optionsInForce } from '../options/options-in-force.ts'
import { type App, type ReadDeps, upToDate } from '../question.ts'
import { usableGroups } from './usable-groups.ts'

/** `GET /api/group/` (every group's name, for admins) and `GET /api/user/self/groups`. */
export function listGroups(app: App, deps: ReadDeps): void {
  app.get(
    '/api/group/',
    {
      schema: { response: { 200: Envelope(Type.Array(Type.String())) } },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'options'),
    },
    async () => {
      const options = await optionsInForce(deps.core)
      return success([...options.members('GroupRatio').keys()])
    },
  )
  app.get(
    '/api/user/self/groups',
    {
      schema: { response: { 200: Envelope(UsableGroups) } },
      onRequest: onlyUser,
      preHandler: upToDate(deps, 'options', 'users'),
    },
    async (request) => {
      const groups = usableGroups(await optionsInForce(deps.core), principalOf(request).group)
      return success(Object.fromEntries(groups))
    },
  )
}
