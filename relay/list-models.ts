import { priceOf } from '#domain/pricing/price-list.ts'
import { isRelayError, relayError } from './canonical/relay-error.ts'
import { authenticate, type Caller } from './pipeline/authenticate.ts'
import { type Exchange, sendError, sendJson } from './pipeline/http-exchange.ts'
import type { RelayDeps } from './pipeline/relay-deps.ts'

const CREATED = 1_700_000_000

/**
 * Serves `GET /v1/models` and, if `id` is given, `GET /v1/models/{id}`: the models that the token
 * of the request can call now, in the format of the request.
 */
export async function listModels(
  deps: RelayDeps,
  exchange: Exchange,
  id: string | null,
): Promise<void> {
  const { request, clientIp, startedAt } = exchange
  const caller = await authenticate(deps, request, clientIp, startedAt)
  if (isRelayError(caller)) return sendError(exchange, caller)
  const isAnthropics = request.headers['anthropic-version'] !== undefined
  const models = callableModels(deps, caller)
  if (id === null) {
    const sorted = models.toSorted()
    const list = isAnthropics ? anthropicList(sorted, request.url ?? '') : openAiList(sorted)
    return sendJson(exchange, 200, list)
  }
  const model = isAnthropics ? anthropicModel : modelObject
  if (models.includes(id)) return sendJson(exchange, 200, model(id))
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

const openAiList = (models: readonly string[]) => ({
  object: 'list',
  data: models.map(modelObject),
})

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 1_000

/** Returns a page in the format of Anthropic's API: see its parameters `limit` and `after_id`. */
function anthropicList(models: readonly string[], url: string) {
  const query = url.indexOf('?')
  const parameters = new URLSearchParams(query < 0 ? '' : url.slice(query))
  const requested = Number(parameters.get('limit') ?? LIMIT_DEFAULT)
  const isLimit = Number.isInteger(requested) && requested >= 1
  const limit = isLimit ? Math.min(requested, LIMIT_MAX) : LIMIT_DEFAULT
  const after = parameters.get('after_id')
  const rest = after === null ? models : models.filter((id) => id > after)
  const page = rest.slice(0, limit)
  return {
    data: page.map(anthropicModel),
    has_more: rest.length > page.length,
    first_id: page[0] ?? null,
    last_id: page.at(-1) ?? null,
  }
}

const anthropicModel = (id: string) => ({
  type: 'model',
  id,
  display_name: id,
  created_at: new Date(CREATED * 1_000).toISOString(),
})

const modelObject = (id: string) => ({
  id,
  object: 'model',
  created: CREATED,
  owned_by: 'tallygate',
})
