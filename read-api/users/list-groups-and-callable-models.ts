import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { servedModels } from '#projections/channels/query.ts'
import { unpricedModels } from '#projections/options/query.ts'
import { findUser } from '#projections/users/query.ts'
import { userQueries } from '../contract/users.ts'
import { type CurrentOptions, currentOptions } from '../options/current-options.ts'
import type { PriceUnitIndex, UnitFilter } from '../pricing/price-unit-index.ts'
import {
  type App,
  type ReadDeps,
  textOf,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'

type UsableGroup = {
  readonly desc: string
  readonly ratio: number
  /** The colour of the group's badge. Empty means the default colour. */
  readonly color: string
}

/**
 * Returns the groups in which a user can make calls: the user's own group, and all groups that are
 * open to everybody and have a ratio. `ratio` is the group ratio that applies to this user.
 */
export function usableGroups(options: CurrentOptions, ownGroup: string): Map<string, UsableGroup> {
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

/**
 * `GET /api/group/`, for admins: the names of all groups. `GET /api/user/self/groups`: the groups
 * that the caller can select for a token.
 */
export function listGroups(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(userQueries, 'GET /api/group/'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'options'),
    handler: async () => {
      const options = await currentOptions(deps.core)
      return success([...options.members('GroupRatio').keys()])
    },
  })
  app.route({
    ...endpoint(userQueries, 'GET /api/user/self/groups'),
    onRequest: onlyUser,
    preHandler: upToDate(deps, 'options', 'users'),
    handler: async (request) => {
      const groups = usableGroups(await currentOptions(deps.core), principalOf(request).group)
      return success(Object.fromEntries(groups))
    },
  })
}

/**
 * Moves the models that are not for chats to the end, because clients suggest the first model. The
 * name of a model tells whether the model is for chats. A model with which all channels of the
 * caller's groups make videos is not for chats, whatever its name and the unit of its price are.
 */
function chatModelsFirst(
  models: readonly string[],
  units: PriceUnitIndex,
  filter: UnitFilter,
  { isNamedLikeChatModel = () => true }: Pick<ReadDeps, 'isNamedLikeChatModel'>,
): string[] {
  const isForChats = (model: string): boolean => {
    const uses = [...units.videoUseByGroup(model, filter).values()]
    const isVideo = uses.length > 0 && uses.every(({ hasCalls }) => !hasCalls)
    return !isVideo && isNamedLikeChatModel(model)
  }
  const byUse = Map.groupBy(models, isForChats)
  return [...(byUse.get(true) ?? []), ...(byUse.get(false) ?? [])]
}

/**
 * `GET /api/user/models`: the models that the caller can call. A model is included if an enabled
 * channel serves the model in one of the caller's groups. A model without a price is included only
 * if the caller accepts such models.
 */
export function listUserModels(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(userQueries, 'GET /api/user/models'),
    onRequest: onlyUser,
    preHandler: upToDate(deps, 'channels', 'options', 'users'),
    handler: async (request) => {
      const { core } = deps
      const { userId, group: userGroup } = principalOf(request)
      const usable = usableGroups(await currentOptions(core), userGroup)
      const isUnpriced = await unpricedModels(core.db)
      const user = await findUser(core.db, userId)
      const acceptsUnpriced = user?.settings.acceptUnsetModelRatioModel === true
      const isCallable = (model: string, group: string): boolean =>
        usable.has(group) && (acceptsUnpriced || !isUnpriced(model, group))
      const isForChats = request.query.chat === 'true'
      const types = isForChats ? deps.chatTypes : deps.servedTypes
      const now = Math.floor(core.now() / 1_000)
      const served = await servedModels(core.db, types, now)
      const requested = textOf(request.query.group)
      const models = served.filter(({ model, groups }) =>
        groups.some((group) => (requested ?? group) === group && isCallable(model, group)),
      )
      const names = models.map(({ model }) => model)
      if (!isForChats) return success(names)
      const groups = [...usable.keys()].filter((group) => (requested ?? group) === group)
      const units = await deps.readPriceUnits()
      return success(chatModelsFirst(names, units, { groups, types, now }, deps))
    },
  })
}
