import { priceByName, priceOf } from '#domain/pricing/price-list.ts'
import { channelsIn, type Offer } from '#domain/routing/channels-by-group-and-model.ts'
import { isRelayError, relayError } from './canonical/relay-error.ts'
import { DIRECT_FORMATS, type DirectFormatName } from './dialects/wire-format.ts'
import { authenticate, type Caller } from './pipeline/authenticate.ts'
import { groupsOf, isGroupUsable } from './pipeline/groups-that-may-serve-call.ts'
import { type Exchange, sendError, sendJson } from './pipeline/http-exchange.ts'
import type { CallRequest } from './pipeline/http-request-and-response-types.ts'
import type { RelayDeps } from './pipeline/relay-deps.ts'
import {
  directFormatsOf,
  listedDirectFormatsOf,
} from './providers/profiles/formats-by-model-name.ts'
import { isImageModel } from './providers/profiles/image-endpoints.ts'
import { vendorOf } from './tasks/videos/select-channels-and-build-video-request.ts'
import { type OfferKind, type RelayChannel, servesVideos } from './views/channel-view.ts'

const CREATED = 1_700_000_000

/**
 * Serves `GET /v1/models` and `GET /v1beta/models`. The response lists the models that the token of
 * the request can call now, in the format that the client expects. If `id` is given, the response
 * contains only this model.
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
  const { outputCaps } = deps.views.options.options
  const facts: ModelFacts = {
    typesOf: (name) => endpointTypesOf(deps, caller, name),
    predictMethodsOf: (name) => predictMethodsOf(deps, caller, name),
    outputTokensMaxOf: (name) => outputCaps.get(name) ?? null,
  }
  if (id === null) {
    const answer = list(models.toSorted(), facts, parametersOf(request))
    return isRelayError(answer) ? sendError(exchange, answer) : sendJson(exchange, 200, answer)
  }
  if (models.includes(id)) return sendJson(exchange, 200, model(id, facts))
  sendError(exchange, relayError('model_not_found', { param: 'model', subject: id.slice(0, 256) }))
}

function callableModels({ views }: RelayDeps, { token, user, group }: Caller): readonly string[] {
  const { options, prices } = views.options
  if (!isGroupUsable({ group, user }, options)) return []
  const ofGroup = (name: string) =>
    views.channels
      .modelsOf(name)
      .filter((model) => token.models === null || token.models.has(model))
      .filter((model) => {
        if (!isForCalls(views, name, model)) return isPricedAsVideo(views, user, name, model)
        const acceptsUnpriced = user.settings.acceptUnsetModelRatioModel
        const customer = { userGroup: user.group, acceptsUnpriced }
        return !('code' in priceByName(prices, model, name, customer))
      })
  const groups = groupsOf({ group, user }, options)
  return [...new Set(groups.flatMap(ofGroup))]
}

/**
 * Remembers for each offer whether any of its channels serves the model in calls, that is, not as a
 * video. An offer may have thousands of channels, so the search is not repeated. A change of a
 * channel creates new offers.
 */
const OFFERS_FOR_CALLS = new WeakMap<Offer<RelayChannel>, boolean>()

/** Reports whether the group can use the model for anything but videos. */
function isForCalls({ channels }: RelayDeps['views'], group: string, model: string): boolean {
  const offer = channels.offering(group, model, 'any')
  const known = OFFERS_FOR_CALLS.get(offer)
  if (known !== undefined) return known
  const found = channelsIn(offer).some((channel) => !servesVideos(channel, model))
  OFFERS_FOR_CALLS.set(offer, found)
  return found
}

/**
 * Reports whether videos of the model have a price in the group (see `planTask`). Even a user who
 * accepts models without a price gets no video without a price. A price per token, which all models
 * have in self-use mode, applies only to vendors that count tokens.
 */
function isPricedAsVideo(
  { channels, options: { prices } }: RelayDeps['views'],
  { group: userGroup }: Caller['user'],
  group: string,
  model: string,
): boolean {
  const [first] = channelsIn(channels.offering(group, model, 'video'))
  if (first === undefined) return false
  const price = priceOf(prices, model, group, { userGroup, acceptsUnpriced: false })
  return !('code' in price) && (price.mode === 'call' || vendorOf(first)?.countsTokens === true)
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
/** The name by which clients of other gateways know OpenAI's videos API. */
const VIDEOS_TYPE = 'openai-video'
const FORMATS = Object.keys(ENDPOINT_TYPES) as (keyof typeof ENDPOINT_TYPES)[]

/**
 * The names by which chat clients and other gateways know the formats that are never converted. The
 * formats of audio have no such names, so they are named after their paths.
 */
const DIRECT_TYPES: Partial<Record<DirectFormatName, string>> = {
  embeddings: 'embeddings',
  rerank: 'jina-rerank',
  moderations: 'moderations',
  images: IMAGES_TYPE,
  speech: 'speech',
  transcriptions: 'transcriptions',
  translations: 'translations',
  realtime: 'realtime',
  'gemini-embedding': 'gemini',
  'gemini-embedding-batch': 'gemini',
}

/**
 * Lists the formats of calls to a model. The formats that need no conversion are first. A model
 * that generates no answers has only its direct formats. A model that generates videos at all of
 * its channels (see `servesVideos`) has only the format of videos. If its videos have no price, the
 * model does not have this format.
 */
function endpointTypesOf(deps: RelayDeps, caller: Caller, model: string): string[] {
  const { views } = deps
  const groups = groupsOf(caller, views.options.options)
  const isVideo = groups.some((group) => isPricedAsVideo(views, caller.user, group, model))
  const isAlsoCalled = groups.some((group) => isForCalls(views, group, model))
  if (!isVideo) return callTypesOf(deps, groups, model)
  return isAlsoCalled ? [...callTypesOf(deps, groups, model), VIDEOS_TYPE] : [VIDEOS_TYPE]
}

function callTypesOf({ views }: RelayDeps, groups: readonly string[], model: string): string[] {
  const direct = groups.flatMap((group) => offeredDirectly(views, group, model))
  if (direct.length > 0) return [...new Set(direct.flatMap((name) => DIRECT_TYPES[name] ?? []))]
  const isNative = (format: keyof typeof ENDPOINT_TYPES) =>
    groups.some((group) => views.channels.offering(group, model, format).length > 0)
  const isImages =
    isImageModel(model) &&
    groups.some((group) => views.channels.offering(group, model, 'images').length > 0)
  // Among the models that generate images, only Gemini's also answer chats.
  if (isImages && !model.includes('gemini')) return [IMAGES_TYPE]
  const ordered = [...FORMATS.filter(isNative), ...FORMATS.filter((format) => !isNative(format))]
  const types = ordered.map((format) => ENDPOINT_TYPES[format])
  return isImages ? [...types, IMAGES_TYPE] : types
}

/**
 * Returns the direct formats (those that are never converted) in which a channel offers the model
 * to the group. For a model that also answers chats, only formats that its name indicates are
 * returned.
 */
function offeredDirectly(
  { channels }: RelayDeps['views'],
  group: string,
  model: string,
): readonly DirectFormatName[] {
  const isOffered = (format: OfferKind) => channels.offering(group, model, format).length > 0
  const named = listedDirectFormatsOf(model).filter(isOffered)
  return named.length > 0 || isOffered('call') ? named : DIRECT_FORMATS.filter(isOffered)
}

/**
 * Returns the format in which a request expects models. Gemini's clients use paths with `v1beta` or
 * send their key in Google's header. Anthropic's clients name a version in the headers of all
 * requests.
 */
function modelListFormatOf({
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

/**
 * Returns all models, or the first `limit` models if the request has this parameter. OpenAI's list
 * has no pages, but some clients set `limit`.
 */
const openAiList: ModelList['list'] = (models, facts, parameters) => {
  const range = { limit: parameters.get('limit'), after: null }
  const { page } = range.limit === null ? { page: models } : pageOf(models, range, models.length)
  return { object: 'list', data: page.map((id) => modelObject(id, facts)) }
}

const LIMIT_MAX = 1_000

type Range = {
  readonly limit: string | null
  readonly after: string | null
  readonly before?: string | null
}

/**
 * Returns the models of one page, and whether more models are left in the direction of paging. A
 * page with `before` ends directly before this model. The models must be sorted.
 */
function pageOf(
  models: readonly string[],
  { limit, after, before = null }: Range,
  limitDefault: number,
): { readonly page: readonly string[]; readonly hasMore: boolean } {
  const requested = Number(limit ?? limitDefault)
  const isLimit = Number.isInteger(requested) && requested >= 1
  const most = isLimit ? Math.min(requested, LIMIT_MAX) : limitDefault
  const rest = models.filter(
    (id) => (after === null || id > after) && (before === null || id < before),
  )
  const page = before === null ? rest.slice(0, most) : rest.slice(-most)
  return { page, hasMore: rest.length > page.length }
}

/**
 * Returns a page in the format of Anthropic's API: see its parameters `limit`, `after_id`
 * and `before_id`.
 */
function anthropicList(models: readonly string[], facts: ModelFacts, parameters: URLSearchParams) {
  const [after, before] = [parameters.get('after_id'), parameters.get('before_id')]
  const range = { limit: parameters.get('limit'), after, before }
  const { page, hasMore } = pageOf(models, range, 20)
  return {
    data: page.map((id) => anthropicModel(id, facts)),
    has_more: hasMore,
    first_id: page[0] ?? null,
    last_id: page.at(-1) ?? null,
  }
}

/**
 * Returns a page in the format of Gemini's API: see its parameters `pageSize` and `pageToken`. The
 * token is the name of the last model on the previous page.
 */
function geminiList(models: readonly string[], facts: ModelFacts, parameters: URLSearchParams) {
  const limit = parameters.get('pageSize')
  // As at Google, a `pageSize` of 0 means the default size.
  if (!/^\d*$/.test(limit ?? '')) return relayError('invalid_parameter', { param: 'pageSize' })
  const range = { limit, after: parameters.get('pageToken') || null }
  const { page, hasMore } = pageOf(models, range, 50)
  const list = { models: page.map((id) => geminiModel(id, facts)) }
  return hasMore ? { ...list, nextPageToken: page.at(-1) } : list
}

const GENERATION_METHODS = ['generateContent', 'streamGenerateContent', 'countTokens']
const EMBEDDING_METHODS = ['embedContent', 'batchEmbedContents']

/**
 * Returns the methods of Gemini's API that predict with a model: `predict` makes Imagen's images,
 * and `predictLongRunning` makes Veo's videos.
 */
function predictMethodsOf({ views }: RelayDeps, caller: Caller, model: string): readonly string[] {
  const { channels, options } = views
  const groups = groupsOf(caller, options.options)
  const hasImages = (group: string) => channels.offering(group, model, 'gemini-images').length > 0
  const hasVideos = (group: string) =>
    channelsIn(channels.offering(group, model, 'video')).some(
      (channel) => vendorOf(channel)?.platform === 'veo',
    ) && isPricedAsVideo(views, caller.user, group, model)
  return [
    ...(groups.some(hasImages) ? ['predict'] : []),
    ...(groups.some(hasVideos) ? ['predictLongRunning'] : []),
  ]
}

/** Returns the methods of Gemini's API with which a model is called. */
function methodsOf(id: string, facts: ModelFacts): readonly string[] {
  const methods = directFormatsOf(id).length > 0 ? EMBEDDING_METHODS : GENERATION_METHODS
  return [...(facts.typesOf(id).includes('gemini') ? methods : []), ...facts.predictMethodsOf(id)]
}

function geminiModel(id: string, facts: ModelFacts) {
  const outputTokenLimit = facts.outputTokensMaxOf(id)
  return {
    name: id.startsWith('tunedModels/') ? id : `models/${id}`,
    version: '001',
    displayName: id,
    ...(outputTokenLimit === null ? {} : { outputTokenLimit }),
    supportedGenerationMethods: methodsOf(id, facts),
  }
}

/**
 * Describes a model with all members of Anthropic's API. Members whose value the gateway does not
 * know are null.
 */
const anthropicModel = (id: string, { outputTokensMaxOf }: ModelFacts) => ({
  type: 'model',
  id,
  display_name: id,
  created_at: new Date(CREATED * 1_000).toISOString(),
  lifecycle: 'active',
  deprecated_at: null,
  retires_at: null,
  line: null,
  capabilities: null,
  max_input_tokens: null,
  max_tokens: outputTokensMaxOf(id),
})

const modelObject: ModelList['model'] = (id, { typesOf }) => ({
  id,
  object: 'model',
  created: CREATED,
  owned_by: 'tallygate',
  supported_endpoint_types: typesOf(id),
})

type ModelListFormat = 'chat' | 'messages' | 'gemini'
type ModelFacts = {
  /** Returns the formats of calls to a model. */
  readonly typesOf: (model: string) => readonly string[]
  /** Returns the methods of Gemini's API that predict with a model. */
  readonly predictMethodsOf: (model: string) => readonly string[]
  /** Returns the model's maximum output in tokens, or null if it is unknown. */
  readonly outputTokensMaxOf: (model: string) => number | null
}
type ModelList = {
  readonly list: (
    models: readonly string[],
    facts: ModelFacts,
    parameters: URLSearchParams,
  ) => object
  readonly model: (id: string, facts: ModelFacts) => object
}

const MODEL_LISTS: Readonly<Record<ModelListFormat, ModelList>> = {
  chat: { list: openAiList, model: modelObject },
  messages: { list: anthropicList, model: anthropicModel },
  gemini: { list: geminiList, model: geminiModel },
}
