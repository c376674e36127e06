import { priceOf } from '#domain/pricing/price-list.ts'
import { isRelayError, relayError } from './canonical/relay-error.ts'
import { authenticate, type Caller } from './pipeline/authenticate.ts'
import { type Exchange, sendError, sendJson } from './pipeline/http-exchange.ts'
import type { CallRequest } from './pipeline/http-messages.ts'
import type { RelayDeps } from './pipeline/relay-deps.ts'
import { isImageModel } from './providers/openai-compatible/image-endpoints.ts'

const CREATED = 1_700_000_000

/**
 * Serves `GET /v1/models`, `GET /v1beta/models` and, if `id` is given, one model below them: the
 * models that the token of the request can call now, in the format of the request.
 */
export async function listModels(
  deps: RelayDeps,
  exchange: Exchange,
  id: string | null,
): Promise<void> {
  const { request, clientIp, startedAt } = exchange
  const caller = await authenticate(deps, request, clientIp, startedAt)
  if (isRelayError(caller)) return sendError(exchange, caller)
  const { list, model } = MODEL_LISTS[modelListFormatOf(request)]
  const models = callableModels(deps, caller)
  const typesOf = (name: string) => endpointTypesOf(deps, caller, name)
  if (id === null) {
    return sendJson(exchange, 200, list(models.toSorted(), typesOf, parametersOf(request)))
  }
  if (models.includes(id)) return sendJson(exchange, 200, model(id, typesOf))
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

/** The names by which chat clients know the formats. */
const ENDPOINT_TYPES = {
  chat: 'openai',
  responses: 'openai-response',
  messages: 'anthropic',
  gemini: 'gemini',
} as const
/** The name by which clients know OpenAI's images API. */
const IMAGES_TYPE = 'image-generation'
const FORMATS = Object.keys(ENDPOINT_TYPES) as (keyof typeof ENDPOINT_TYPES)[]

/** Lists the formats of calls to a model. The formats that need no conversion are first. */
function endpointTypesOf({ views }: RelayDeps, { group }: Caller, model: string): string[] {
  const isNative = (format: keyof typeof ENDPOINT_TYPES) =>
    views.channels.offering(group, model, format).length > 0
  const isImages = isImageModel(model) && views.channels.offering(group, model, 'images').length > 0
  // Of the models that generate images, only Gemini's chat as well.
  if (isImages && !model.includes('gemini')) return [IMAGES_TYPE]
  const ordered = [...FORMATS.filter(isNative), ...FORMATS.filter((format) => !isNative(format))]
  const types = ordered.map((format) => ENDPOINT_TYPES[format])
  return isImages ? [...types, IMAGES_TYPE] : types
}

/**
 * Returns the format in which a request expects models. Gemini's clients send their key in a header
 * of Google, and Anthropic's clients name a version in the headers of all requests.
 */
export function modelListFormatOf({
  url = '',
  headers,
}: Pick<CallRequest, 'url' | 'headers'>): ModelListFormat {
  if (url.startsWith('/v1beta') || headers['x-goog-api-key'] !== undefined) return 'gemini'
  return headers['anthropic-version'] === undefined ? 'chat' : 'messages'
}

function parametersOf({ url = '' }: CallRequest): URLSearchParams {
  const query = url.indexOf('?')
  return new URLSearchParams(query < 0 ? '' : url.slice(query))
}

/** Returns all models. OpenAI's list has no pages, but some clients set a `limit`. */
const openAiList: ModelList['list'] = (models, typesOf, parameters) => {
  const range = { limit: parameters.get('limit'), after: null }
  const { page } = range.limit === null ? { page: models } : pageOf(models, range, models.length)
  return { object: 'list', data: page.map((id) => modelObject(id, typesOf)) }
}

const LIMIT_MAX = 1_000

/** Returns the models of one page, and whether more follow. The models must be sorted. */
function pageOf(
  models: readonly string[],
  { limit, after }: { readonly limit: string | null; readonly after: string | null },
  limitDefault: number,
): { readonly page: readonly string[]; readonly hasMore: boolean } {
  const requested = Number(limit ?? limitDefault)
  const isLimit = Number.isInteger(requested) && requested >= 1
  const rest = after === null ? models : models.filter((id) => id > after)
  const page = rest.slice(0, isLimit ? Math.min(requested, LIMIT_MAX) : limitDefault)
  return { page, hasMore: rest.length > page.length }
}

/** Returns a page in the format of Anthropic's API: see its parameters `limit` and `after_id`. */
function anthropicList(models: readonly string[], _types: TypesOf, parameters: URLSearchParams) {
  const range = { limit: parameters.get('limit'), after: parameters.get('after_id') }
  const { page, hasMore } = pageOf(models, range, 20)
  return {
    data: page.map(anthropicModel),
    has_more: hasMore,
    first_id: page[0] ?? null,
    last_id: page.at(-1) ?? null,
  }
}

/**
 * Returns a page in the format of Gemini's API: see its parameters `pageSize` and `pageToken`. The
 * token is the name of the last model on the page before.
 */
function geminiList(models: readonly string[], _types: TypesOf, parameters: URLSearchParams) {
  const range = { limit: parameters.get('pageSize'), after: parameters.get('pageToken') || null }
  const { page, hasMore } = pageOf(models, range, 50)
  const list = { models: page.map(geminiModel) }
  return hasMore ? { ...list, nextPageToken: page.at(-1) } : list
}

const geminiModel = (id: string) => ({
  name: id.startsWith('tunedModels/') ? id : `models/${id}`,
  version: '001',
  displayName: id,
  supportedGenerationMethods: id.startsWith('imagen-')
    ? ['predict']
    : ['generateContent', 'streamGenerateContent', 'countTokens'],
})

const anthropicModel = (id: string) => ({
  type: 'model',
  id,
  display_name: id,
  created_at: new Date(CREATED * 1_000).toISOString(),
})

const modelObject: ModelList['model'] = (id, typesOf) => ({
  id,
  object: 'model',
  created: CREATED,
  owned_by: 'tallygate',
  supported_endpoint_types: typesOf(id),
})

type ModelListFormat = 'chat' | 'messages' | 'gemini'
/** Returns the formats of calls to a model. */
type TypesOf = (model: string) => readonly string[]
type ModelList = {
  readonly list: (
    models: readonly string[],
    typesOf: TypesOf,
    parameters: URLSearchParams,
  ) => object
  readonly model: (id: string, typesOf: TypesOf) => object
}

const MODEL_LISTS: Readonly<Record<ModelListFormat, ModelList>> = {
  chat: { list: openAiList, model: modelObject },
  messages: { list: anthropicList, model: anthropicModel },
  gemini: { list: geminiList, model: geminiModel },
}
