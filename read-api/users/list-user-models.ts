import Type from 'typebox'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { servedModels } from '#projections/channels/query.ts'
import { unpricedModels } from '#projections/options/query.ts'
import { findUser } from '#projections/users/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { optionsInForce } from '../options/options-in-force.ts'
import { type App, Query, type ReadDeps, textOf, upToDate } from '../question.ts'
import { usableGroups } from './usable-groups.ts'

/** `chat`: those alone that some channel takes chats with; `group`: as called with that one. */
const Question = Type.Object({ chat: Query.flag, group: Query.text })

/**
 * `GET /api/user/models`: what the user can call: offered by enabled channels to the groups that
 * are the user's to use, and priced there, unless the user accepts models without a price.
 */
export function listUserModels(app: App, deps: ReadDeps): void {
  app.get(
    '/api/user/models',
    {
      schema: { querystring: Question, response: { 200: Envelope(Type.Array(Type.String())) } },
      onRequest: onlyUser,
      preHandler: upToDate(deps, 'channels', 'options', 'users'),
    },
    async (request) => {
      const { core } = deps
      const { userId, group: userGroup } = principalOf(request)
      const own = usableGroups(await optionsInForce(core), userGroup)
      const isUnpriced = await unpricedModels(core.db)
      const user = await findUser(core.db, userId)
      const acceptsUnpriced = user?.settings.acceptUnsetModelRatioModel === true
      const isCallable = (model: string, group: string): boolean =>
        own.has(group) && (acceptsUnpriced || !isUnpriced(model, group))
      const types = request.query.chat === 'true' ? deps.chatTypes : deps.servedTypes
      const served = await servedModels(core.db, types, Math.floor(core.now() / 1_000))
      const named = textOf(request.query.group)
      const models = served.filter(({ model, groups }) =>
        groups.some((group) => (named ?? group) === group && isCallable(model, group)),
      )
      return success(models.map(({ model }) => model))
    },
  )
}
