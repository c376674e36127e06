import { performance } from 'node:perf_hooks'
import type { FastifyRequest } from 'fastify'
import { isSame } from '#domain/shared/deep-equal.ts'
import { principalIfAny } from '#infra/http/access-checks.ts'
import { afterPosition } from '#infra/http/after-position-header.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { servedModels } from '#projections/channels/query.ts'
import { modelPrices } from '#projections/options/query.ts'
import { findUser } from '#projections/users/query.ts'
import { type PricedModel, type Pricing, pricingQueries } from '../contract/pricing.ts'
import { type CurrentOptions, currentOptions } from '../options/current-options.ts'
import { type App, type ReadDeps, upToDate } from '../read-dependencies-and-query-parameters.ts'
import { usableGroups } from '../users/list-groups-and-callable-models.ts'
import type { PriceUnitIndex, VideoUse } from './price-unit-index.ts'
import { createSharedReads } from './shared-reads.ts'

/**
 * The vendors of models. Each vendor has a pattern for the beginning of a model's name in lower
 * case. The first pattern that matches applies.
 */
const OWNERS: readonly (readonly [RegExp, string])[] = [
  [/^(?:qwen|qwq|qvq|wanx?[\d-]|z-image|text-embedding-v\d|gte-|cosyvoice)/, 'Alibaba'],
  [/^(?:gpt|chatgpt|o[1-9](?:-|$)|text-embedding|text-moderation|omni-moderation)/, 'OpenAI'],
  [/^(?:dall-e|whisper|tts-|davinci|babbage|codex|sora)/, 'OpenAI'],
  [/^claude/, 'Anthropic'],
  [/^(?:gemini|gemma|palm|imagen|veo|learnlm|text-bison|chat-bison)/, 'Google'],
  [/^deepseek/, 'DeepSeek'],
  [/^(?:glm|chatglm|cogview|cogvideo|charglm)/, 'Zhipu'],
  [/^(?:moonshot|kimi)/, 'Moonshot'],
  [/^(?:doubao|seed-|seedream|skylark|jimeng)/, 'ByteDance'],
  [/^(?:kling|kolors)/, 'Kuaishou'],
  [/^vidu/, 'Shengshu'],
  [/^(?:ernie|bloomz)/, 'Baidu'],
  [/^hunyuan/, 'Tencent'],
  [/^(?:spark|sparkdesk)/i, 'iFlytek'],
  [/^(?:mistral|mixtral|codestral|ministral|magistral|devstral|pixtral|open-mi)/, 'Mistral'],
  [/^(?:llama|meta-llama|codellama)/, 'Meta'],
  [/^grok/, 'xAI'],
  [/^(?:command|embed-|rerank-(?:english|multilingual|v\d)|aya-|c4ai)/, 'Cohere'],
  [/^(?:abab|minimax|speech-0|image-0|[tis]2v-0)/, 'MiniMax'],
  [/^yi-/, '01.AI'],
  [/^(?:sonar|pplx)/, 'Perplexity'],
  [/^jina/, 'Jina'],
  [/^(?:bge|baai)/, 'BAAI'],
  [/^m3e/, 'Moka'],
  [/^step-/, 'StepFun'],
  [/^(?:mj_|swap_face|midjourney)/, 'Midjourney'],
  [/^(?:suno|chirp)/, 'Suno'],
  [/^(?:stable-diffusion|sd3|sdxl)/, 'Stability AI'],
  [/^(?:flux|black-forest)/, 'Black Forest Labs'],
]

/**
 * Returns the vendor of a model, or an empty text if the vendor is unknown. Only the part after the
 * last slash of the name counts, such as `llama-3` in `meta/llama-3`. NOTE: The vendor must not be
 * derived from the channel, because that would reveal the providers of the site.
 */
export function ownerOf(model: string): string {
  const name = model.toLowerCase()
  const last = name.slice(name.lastIndexOf('/') + 1)
  return OWNERS.find(([prefix]) => prefix.test(last))?.[1] ?? ''
}

type Viewer = {
  readonly group: string
  readonly acceptsUnpriced: boolean
}

type PriceList = Pick<Pricing, 'data' | 'group_ratio' | 'usable_group'>

/**
 * The models, prices and options of the site at one time. The price lists of all viewers are
 * computed from this state.
 */
type Site = {
  readonly options: CurrentOptions
  readonly served: Awaited<ReturnType<typeof servedModels>>
  readonly priceOf: Awaited<ReturnType<typeof modelPrices>>
  readonly units: PriceUnitIndex
  readonly takesBatches: NonNullable<ReadDeps['takesBatches']>
  /** The time of the read in Unix seconds. */
  readonly now: number
  /**
   * The price lists that were already computed. The key consists of the viewer's group and of
   * whether the viewer accepts models without a price.
   */
  readonly lists: Map<string, PriceList>
}

/**
 * The time in milliseconds for which the state of the site is reused. The short time makes price
 * changes visible within a second.
 */
const FRESH_MS = 500

const PRICE_READ_MODELS = ['channels', 'options', 'users'] as const

/**
 * Creates the function that returns the price list for a viewer. The state of the site is read at
 * most about twice a second, for all viewers together. If a request contains the position of a
 * newer write (`after`), the state is read again as soon as no read is running. Reads never
 * overlap, because each complete read keeps Postgres busy, and a client could request many reads by
 * sending the positions of other callers' writes one by one. A position that the read models have
 * not reached is ignored.
 */
function createSitePrices(deps: ReadDeps) {
  const { core, freshness, servedTypes, takesBatches = () => false } = deps
  const reached = (): number =>
    Math.min(...PRICE_READ_MODELS.map((name) => freshness.positionOf(name)))
  /**
   * `upTo` is the position at which the read began, and `at` is the time at which the read ended.
   */
  let cached: { readonly at: number; readonly upTo: number; readonly site: Site } | null = null
  const sharedRead = createSharedReads(async (upTo: number): Promise<Site> => {
    const now = Math.floor(core.now() / 1_000)
    const [options, served, priceOf, units] = await Promise.all([
      currentOptions(core),
      servedModels(core.db, servedTypes, now),
      modelPrices(core.db),
      deps.readPriceUnits(),
    ])
    const site = { options, served, priceOf, units, takesBatches, now, lists: new Map() }
    cached = { at: performance.now(), upTo, site }
    return site
  }, reached)
  const currentSite = async (after: number): Promise<Site> => {
    const isEnough = (upTo: number): boolean => after <= upTo || after > reached()
    const isFresh = cached !== null && performance.now() - cached.at < FRESH_MS
    return cached !== null && isFresh && isEnough(cached.upTo) ? cached.site : sharedRead(isEnough)
  }
  return async (viewer: Viewer, after: number): Promise<PriceList> => {
    const site = await currentSite(after)
    const key = JSON.stringify([viewer.group, viewer.acceptsUnpriced])
    const list = site.lists.get(key) ?? listFor(site, viewer)
    site.lists.set(key, list)
    return list
  }
}

type TokenPrice = Extract<NonNullable<ReturnType<Site['priceOf']>>, { readonly mode: 'tokens' }>

const tiersOf = ({ tiers }: TokenPrice): Pick<PricedModel, 'context_tiers'> => {
  if (tiers === undefined) return {}
  const context_tiers = tiers.map(({ above, input, output }) => ({
    above_input_tokens: above,
    input_ratio: Number(input),
    output_ratio: Number(output),
  }))
  return { context_tiers }
}

/**
 * Returns the fields with the ratios of images and audio. Leaves out ratios of 1, which all models
 * without ratios of their own have.
 */
function mediaRatiosOf({ image, imageCompletion, audio, audioCompletion }: TokenPrice) {
  const [ofAudio, ofAudioOutput] = [Number(audio), Number(audioCompletion)]
  return {
    ...(Number(image) === 1 ? {} : { image_ratio: Number(image) }),
    ...(imageCompletion === undefined ? {} : { image_completion_ratio: Number(imageCompletion) }),
    ...(ofAudio === 1 && ofAudioOutput === 1 ? {} : { audio_ratio: ofAudio }),
    ...(ofAudioOutput === 1 ? {} : { audio_completion_ratio: ofAudioOutput }),
  }
}

/**
 * Returns the fields with the units of a price. Returns no fields if all groups are charged per
 * call.
 */
function unitsIn(
  groups: readonly string[],
  byGroup: ReturnType<PriceUnitIndex['unitsByGroup']>,
): Pick<PricedModel, 'price_per' | 'price_units'> {
  const units = groups.map(
    (group) => [group, [...(byGroup.get(group) ?? PER_CALL)].sort()] as const,
  )
  const all = new Set(units.flatMap(([, ofGroup]) => ofGroup))
  if (all.size > 1) return { price_units: Object.fromEntries(units) }
  return all.has('second') ? { price_per: 'second' } : {}
}

const PER_CALL = ['call'] as const

/**
 * Reports whether the relay serves a model in a group. Returns false only if the group uses the
 * model for nothing but videos, and the relay rejects these videos. The relay rejects a video
 * without a price, even from a user who accepts models without a price. In self-use mode, all
 * models have a price per token. Such a price applies only to videos of vendors that count tokens.
 */
function isServed(use: VideoUse | undefined, price: ReturnType<Site['priceOf']>): boolean {
  if (use === undefined || use.hasCalls || price?.mode === 'call') return true
  return price !== null && [...use.pricings].some(({ countsTokens }) => countsTokens)
}

/**
 * Returns the field with the ratio of prices in batches, if a channel of the groups accepts batches
 * for the model.
 */
function batchRatioIn(
  { options, units, takesBatches, now }: Site,
  model: string,
  groups: readonly string[],
): Pick<PricedModel, 'batch_ratio'> {
  const takes = (type: number) => takesBatches(type, model)
  if (!units.hasChannel(model, { groups, now }, takes)) return {}
  return { batch_ratio: options.number('BatchRatio') }
}

/**
 * Returns the field with the ratios of a model's videos. Returns no field if there are no ratios,
 * or if the channels have different ratios.
 */
function ratiosIn(uses: Iterable<VideoUse>): Pick<PricedModel, 'video_ratios'> {
  const pricings = new Set([...uses].flatMap((use) => [...use.pricings]))
  const [first = null, ...others] = [...pricings].map(({ ratios }) => ratios())
  if (first === null || others.some((other) => !isSame(other, first))) return {}
  const { resolutions, options, default: usual } = first
  const video_ratios = {
    ...{ resolutions, options },
    default: { ...usual, options: [...usual.options] },
  }
  return { video_ratios }
}

/**
 * Returns the price list for a viewer: the models that the viewer can call, each with its groups,
 * and the ratios and descriptions of the groups.
 */
function listFor(site: Site, viewer: Viewer): PriceList {
  const { options, served, priceOf, units, now } = site
  const groups = usableGroups(options, viewer.group)
  const unitsOf = (model: string, of: readonly string[]) =>
    units.unitsByGroup(model, { groups: of, now })
  const data: PricedModel[] = []
  for (const { model, groups: reaching } of served) {
    const reachable = reaching.filter((group) => groups.has(group))
    const uses = units.videoUseByGroup(model, { groups: reachable, now })
    const ownPrice = priceOf(model, false)
    const usable = reachable.filter((group) => isServed(uses.get(group), ownPrice))
    const price = usable.length === 0 ? null : priceOf(model, viewer.acceptsUnpriced)
    if (price === null) continue
    // Batches contain no videos.
    const withCalls = usable.filter((group) => uses.get(group)?.hasCalls !== false)
    const isByCall = price.mode === 'call'
    data.push({
      model_name: model,
      owner_by: ownerOf(model),
      quota_type: isByCall ? 1 : 0,
      model_ratio: isByCall ? 0 : Number(price.model),
      model_price: isByCall ? Number(price.price) : 0,
      ...(isByCall
        ? { ...unitsIn(usable, unitsOf(model, usable)), ...ratiosIn(uses.values()) }
        : {}),
      completion_ratio: isByCall ? 1 : Number(price.completion),
      cache_ratio: isByCall ? 1 : Number(price.cacheRead),
      create_cache_ratio: isByCall ? 1 : Number(price.cacheWrite),
      ...(isByCall ? {} : { ...mediaRatiosOf(price), ...tiersOf(price) }),
      ...batchRatioIn(site, model, withCalls),
      enable_groups: usable,
    })
  }
  const reached = new Set(data.flatMap(({ enable_groups }) => enable_groups))
  const visible = [...groups].filter(([name]) => name === viewer.group || reached.has(name))
  return {
    data,
    group_ratio: Object.fromEntries(visible.map(([name, { ratio }]) => [name, ratio])),
    usable_group: Object.fromEntries(visible),
  }
}

/** The group whose prices visitors without a login see. New users are in this group. */
const VISITORS_GROUP = 'default'

/**
 * `GET /api/pricing`, which needs no login: the models that the caller can use, with their prices
 * in the caller's groups.
 */
export function getPricing(app: App, deps: ReadDeps): void {
  const pricesFor = createSitePrices(deps)
  app.route({
    ...endpoint(pricingQueries, 'GET /api/pricing'),
    preHandler: upToDate(deps, ...PRICE_READ_MODELS),
    handler: async (request) => {
      const viewer = await viewerOf(deps, request)
      const { data, ...groups } = await pricesFor(viewer, afterPosition(request) ?? 0)
      return { ...success(data), ...groups, user_group: viewer.group }
    },
  })
}

async function viewerOf({ core }: ReadDeps, request: FastifyRequest): Promise<Viewer> {
  const principal = await principalIfAny(request)
  if (principal === null) return { group: VISITORS_GROUP, acceptsUnpriced: false }
  const user = await findUser(core.db, principal.userId)
  return {
    group: principal.group,
    acceptsUnpriced: user?.settings.acceptUnsetModelRatioModel === true,
  }
}
