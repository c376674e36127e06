import { priceOf } from '#domain/pricing/price-list.ts'
import { isRelayError, relayError } from './canonical/relay-error.ts'
import { authenticate, type Caller } from './pipeline/authenticate.ts'
import { type Exchange, sendError, sendJson } from './pipeline/http-exchange.ts'
import type { RelayDeps } from './pipeline/relay-deps.ts'

const CREATED = 1_700_000_000

/**
 * Serves `GET /v1/models` and, if `id` is given, `GET /v1/models/{id}`: the models that the token
 * of the request can call now.
 */
export async function listModels(
  deps: RelayDeps,
  exchange: Exchange,
  id: string | null,
): Promise<void> {
  const { request, clientIp, startedAt } = exchange
  const caller = await authenticate(deps, request, clientIp, startedAt)
  if (isRelayError(caller)) return sendError(exchange, caller)
  const models = callableModels(deps, caller)
  if (id === null) {
    return sendJson(exchange, 200, { object: 'list', data: models.toSorted().map(modelObject) })
  }
  if (models.includes(id)) return sendJson(exchange, 200, modelObject(id))
  sendError(exchange, relayError('model_not_found', { param: 'model', subject: id.slice(0, 256) }))
}

function callableModels({ views }: RelayDeps, { token, user, group }: Caller): readonly string[] {
  const { options, prices } = views.options
  if (group !== user.group && !options.usableGroups.has(group)) return []
  const acceptsUnpriced = user.settings.acceptUnsetModelRatioModel
  const customer = { userGroup: user.group, acceptsUnpriced }
  return views.channels
    .modelsOf(group)
    .filter((model) => token.models === null || token.models.has(model))
    .filter((model) => !('code' in priceOf(prices, model, group, customer)))
}

const modelObject = (id: string) => ({
  id,
  object: 'model',
  created: CREATED,
  owned_by: 'tallygate',
})
