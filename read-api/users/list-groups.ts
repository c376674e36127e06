import Type from 'typebox'
import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { servedModels } from '#projections/channels/query.ts'
import { unpricedModels } from '#projections/options/query.ts'
import { findUser } from '#projections/users/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { UsableGroups } from '../contract/users.ts'
import { type OptionsInForce, optionsInForce } from '../options/list-options.ts'
import { type App, Query, type ReadDeps, textOf, upToDate } from '../question.ts'

type UsableGroup = {
  readonly desc: string
  readonly ratio: number
  /** Of its badge; empty for the plain one. */
  readonly color: string
}

/**
 * The groups a user may choose for a token: those offered to everybody, and the user's own; with
 * the ratio that this user's group pays in each.
 */
export function usableGroups(options: OptionsInForce, ownGroup: string): Map<string, UsableGroup> {
  const ratios = options.members('GroupRatio')
  const offered = options.members('UserUsableGroups')
  const colors = options.members('GroupColors')
  const specials = membersOf(options.members('GroupGroupRatio').get(ownGroup))
  const names = new Set([...offered.keys(), ownGroup])
  const groups = new Map<string, UsableGroup>()
  for (const name of names) {
    const desc = offered.get(name)
    if (!ratios.has(name) && name !== ownGroup) continue
    const ratio = Number(specials.get(name) ?? ratios.get(name) ?? 1)
    const color = String(colors.get(name) ?? '')
    groups.set(name, { desc: typeof desc === 'string' ? desc : name, ratio, color })
  }
  return groups
}

const membersOf = (value: unknown): Map<string, unknown> =>
  new Map(typeof value === 'object' && value !== null ? Object.entries(value) : [])

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
