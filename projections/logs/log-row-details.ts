import type {
  Attempt,
  CallFacts,
  CallInterrupted,
  CallReleased,
  CallSettled,
  RequestChanges,
} from '#domain/accounts/events.ts'
import { isCountable, savedByCache, tierOf, unitPrice } from '#domain/pricing/charge.ts'
import { decimalOf, decimalText, times } from '#domain/pricing/decimal.ts'
import { ratioOfConditions } from '#domain/pricing/price-conditions.ts'
import type { PriceSnapshot, ProviderCost } from '#domain/pricing/price-snapshot.ts'
import { inputTokensOf, TOOL_NAMES, type Usage } from '#domain/pricing/usage.ts'
import { endOf, requestIfServedByOther } from '#domain/shared/end-of-call.ts'
import { toWire } from '#domain/shared/quota.ts'

/** The JSON details of a log row, with the field names of the API. Only admins see `adminOther`. */
export type RowDetails = { readonly other: object; readonly adminOther: object }

export const otherOfSettled = (data: CallSettled['data']): RowDetails => ({
  other: {
    ...ofRequest(data),
    ...ofChargedUsage(data),
    ...(data.timings.firstByteMs === null ? {} : { frt: Math.round(data.timings.firstByteMs) }),
    duration_ms: Math.round(data.timings.durationMs),
    usage_source: data.usageSource,
    end: endOf(data.attempts, data.end),
    ...(data.endReason === undefined ? {} : { end_reason: data.endReason }),
    ...ofChanges(data),
    hold: data.hold,
    ...(isForAdmins(data.anomaly) ? {} : ofAnomaly(data)),
    ...ofBatch(data),
    ...(data.unpaidUsage === undefined ? {} : { unpaid_usage: countsOf(data.unpaidUsage) }),
  },
  adminOther: {
    // Only admins see the name of the provider's model.
    ...(data.upstreamModel === null
      ? {}
      : { is_model_mapped: true, upstream_model_name: data.upstreamModel }),
    channel_id: data.channelId,
    ...(isForAdmins(data.anomaly) ? ofAnomaly(data) : {}),
    ...ofCost(data),
    admin_info: adminInfo(data.attempts),
  },
})

export const otherOfReleased = (data: CallReleased['data']): RowDetails => ({
  other: {
    ...ofRequest(data),
    ...(data.timings.firstByteMs === null ? {} : { frt: Math.round(data.timings.firstByteMs) }),
    duration_ms: Math.round(data.timings.durationMs),
    end: endOf(data.attempts, data.reason),
    error_type: endOf(data.attempts, data.reason),
    error_code: data.errorCode,
    status_code: data.statusCode,
    ...ofChanges(data),
    hold: data.hold,
    ...ofBatch(data),
  },
  adminOther: {
    ...(data.channelId === null ? {} : { channel_id: data.channelId }),
    admin_info: adminInfo(data.attempts),
  },
})

export const otherOfInterrupted = (data: CallInterrupted['data']): RowDetails => ({
  other: {
    ...ofRequest(data),
    ...ofChargedUsage(data),
    usage_source: 'partial',
    end: 'interrupted',
    ...ofChanges(data),
    hold: data.hold,
  },
  adminOther: data.channelId === null ? {} : { channel_id: data.channelId, ...ofCost(data) },
})

type BatchFacts = Pick<CallFacts, 'batch'> &
  Partial<Pick<CallSettled['data'], 'billedLines' | 'estimatedLines' | 'unpaid'>>

/**
 * Returns the details of a batch, or an empty object if the call does not belong to a batch. One
 * row is the sum of all lines of the batch with the same model and price.
 */
const ofBatch = ({ batch, billedLines, estimatedLines, unpaid }: BatchFacts): object =>
  batch === undefined
    ? {}
    : {
        ...{ batch_id: batch.id, batch_lines: batch.lines, batch_lines_billed: billedLines ?? 0 },
        ...(estimatedLines === undefined ? {} : { batch_lines_estimated: estimatedLines }),
        ...(unpaid === undefined ? {} : { unpaid_quota: unpaid }),
      }

/** Anomalies that reveal the provider's model or cost. Only admins see these anomalies. */
const ADMIN_ANOMALIES = new Set(['other-model', 'higher-cost'])

const isForAdmins = (anomaly: string | null): boolean =>
  anomaly !== null && ADMIN_ANOMALIES.has(anomaly)

const ofAnomaly = ({ anomaly }: CallSettled['data']): object =>
  anomaly === null ? {} : { anomaly }

function ofRequest(call: CallFacts): object {
  const requested = requestIfServedByOther(call)
  return { ...(requested === undefined ? {} : { requested }), ...ofLimits(call) }
}

const ofLimits = ({ reasoningEffort, outputLimit }: CallFacts): object => ({
  ...(reasoningEffort === undefined ? {} : { reasoning_effort: reasoningEffort }),
  ...(outputLimit === undefined ? {} : { output_limit: outputLimit }),
})

type Charged = Pick<CallSettled['data'] | CallInterrupted['data'], 'price' | 'usage' | 'calls'>

/** Returns the price and the usage from which a charge was calculated. */
const ofChargedUsage = ({ price, usage, calls }: Charged): object => ({
  ...ofPrice(price, usage),
  ...ofUsage(usage, calls),
  ...ofCache(price, usage),
  ...ofAudio(price, usage),
})

/** Returns how the request was changed. The owner of the call may see these details. */
const ofChanges = ({ formats, dropped, losses }: RequestChanges): object => ({
  ...(formats === undefined ? {} : { request_conversion: formats }),
  ...(dropped === undefined ? {} : { dropped_members: dropped }),
  ...(losses === undefined ? {} : { conversion_loss: losses }),
})

/**
 * Returns prices as exact decimal text, and as numbers for clients that only display them. Of the
 * context tiers, only the tier that was applied is returned. The price of images is only returned
 * for an answer with images. The exact prices of a batch are not returned. The charge of a batch is
 * the sum of the rounded charges of its lines, so it can't be computed from the usage of the batch.
 * The ratios of a batch's images are returned, as its other ratios are.
 */
function ofPrice({ batch, ...price }: PriceSnapshot, usage: Usage): object {
  const { price: exact, ...ratios } = ofCallPrice(price, usage)
  if (batch === undefined) return { ...ratios, price: exact }
  return { ...ratios, ...ofImages(price, exact, usage), batch_ratio: batch }
}

/** Returns the ratios of the images of a batch. Returns an empty object if it has no images. */
function ofImages(
  price: PriceSnapshot,
  { image, imageCompletion }: Readonly<Record<string, string>>,
  { inputImage }: Usage,
): object {
  if (price.mode === 'call') {
    const { imageFactor, factors = [] } = price
    // The factor is already part of `model_price` if the price has other factors.
    return imageFactor === undefined || factors.length > 0 ? {} : { image_factor: imageFactor }
  }
  return {
    ...(inputImage === 0 ? {} : { image_ratio: Number(image) }),
    ...(imageCompletion === undefined ? {} : { image_completion_ratio: Number(imageCompletion) }),
  }
}

function ofCallPrice(
  snapshot: PriceSnapshot,
  usage: Usage,
): object & { readonly price: Record<string, string> } {
  const { tools = {}, conditions: _, ...price } = snapshot
  const exact: Record<string, string> = {}
  for (const key in price) {
    if (key !== 'tiers' && key !== 'imageCompletion' && key !== 'factors')
      exact[key] = String(price[key as keyof typeof price])
  }
  if (price.mode === 'tokens' && (usage.outputImage ?? 0) > 0) {
    exact.imageCompletion = price.imageCompletion ?? price.completion
  }
  addConditions(exact, snapshot, usage)
  const tier = price.mode === 'call' ? null : tierOf(price, inputTokensOf(usage))
  if (tier !== null) {
    exact.tierAbove = String(tier.above)
    exact.tierInput = tier.input
    exact.tierOutput = tier.output
  }
  for (const name of TOOL_NAMES) {
    const dollars = tools[name]
    if (dollars !== undefined) exact[`tool_${name}`] = dollars
  }
  // The price of one image or second is shown like any other price per call.
  let modelPrice = price.mode === 'call' ? price.price : ''
  if (price.mode === 'call') {
    const { factors = [], imageFactor } = price
    for (const { name, ratio } of factors) exact[`factor_${name}`] = ratio
    if (factors.length > 0 || imageFactor !== undefined) exact.price = decimalText(unitPrice(price))
    if (factors.length > 0) modelPrice = exact.price ?? modelPrice
  }
  const ratios =
    price.mode === 'call'
      ? { model_price: Number(modelPrice), ...ofGroup(price) }
      : {
          model_ratio: Number(price.model),
          completion_ratio: Number(price.completion),
          ...ofGroup(price),
          cache_ratio: Number(price.cacheRead),
          cache_creation_ratio: Number(price.cacheWrite),
        }
  return { ...ratios, price: exact }
}

/**
 * Adds the ratios of a call's conditions to `exact`, and multiplies the model's price in `exact` by
 * these ratios.
 */
function addConditions(
  exact: Record<string, string>,
  price: PriceSnapshot,
  { conditions = [] }: Usage,
): void {
  if (conditions.length === 0) return
  const factor = ratioOfConditions(price, conditions)
  for (const name of conditions) {
    // A condition without a ratio, such as sound at a price per second, is part of another factor.
    const ratio = price.conditions?.[name]
    if (ratio !== undefined) exact[`condition_${name}`] = ratio
  }
  const product = (text: string) => withoutZeros(decimalText(times(decimalOf(text), factor)))
  if (price.mode === 'tokens') exact.model = product(price.model)
  else exact.price = product(price.price)
}

/** Removes zeros at the end of a decimal fraction. */
const withoutZeros = (text: string): string => text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')

/** Returns the provider's charge, which only admins see. */
const ofCost = ({ cost, costRatio }: ProviderCost): object =>
  cost === undefined ? {} : { cost, cost_ratio: costRatio }

/**
 * Returns the group ratio. If the user's group differs from the called group, `user_group_ratio`
 * repeats the ratio.
 */
const ofGroup = (price: PriceSnapshot): object => ({
  group_ratio: Number(price.group),
  ...(price.userGroup === undefined ? {} : { user_group_ratio: Number(price.group) }),
})

/**
 * Returns the counts of audio and text tokens, and for a price per token the ratios of audio input
 * and output. Returns an empty object if the call used no audio.
 */
function ofAudio(price: PriceSnapshot, usage: Usage): object {
  if (usage.inputAudio + usage.outputAudio === 0) return {}
  return {
    audio: true,
    audio_input: usage.inputAudio,
    audio_output: usage.outputAudio,
    text_input: inputTokensOf(usage) - usage.inputAudio,
    text_output: usage.output - usage.outputAudio - (usage.outputImage ?? 0),
    ...(price.mode === 'call'
      ? {}
      : {
          audio_ratio: Number(price.audio),
          audio_completion_ratio: Number(price.audioCompletion),
        }),
  }
}

function ofUsage(usage: Usage, calls: number | undefined): object {
  const created = usage.cacheWrite5m + usage.cacheWrite1h
  return {
    ...(usage.cacheRead > 0 ? { cache_tokens: usage.cacheRead } : {}),
    ...(created > 0 ? { cache_creation_tokens: created } : {}),
    ...(usage.reasoning > 0 ? { reasoning_tokens: usage.reasoning } : {}),
    usage: {
      ...countsOf(usage),
      ...(calls === undefined ? {} : { calls }),
    },
  }
}

/**
 * Returns the quota that the provider's cache saved. Negative if cache writes cost more than cache
 * reads saved. Null if the call did not use a cache, or if its usage can't be counted (see
 * `isCountable`).
 */
export function cacheSavingOf(price: PriceSnapshot, usage: Usage): bigint | null {
  const { cacheRead, cacheWrite5m, cacheWrite1h } = usage
  const isUsed = isCountable(usage) && cacheRead + cacheWrite5m + cacheWrite1h > 0
  return isUsed ? savedByCache(price, usage) : null
}

function ofCache(price: PriceSnapshot, usage: Usage): object {
  const saved = cacheSavingOf(price, usage)
  if (saved === null) return {}
  const hitRate = usage.cacheRead / inputTokensOf(usage)
  return { cache_hit_rate: Math.round(hitRate * 10_000) / 10_000, cache_saved: toWire(saved) }
}

function countsOf(usage: Usage): object {
  const counts: Partial<Record<keyof Usage, unknown>> = {}
  for (const name in usage) {
    const count = usage[name as keyof Usage]
    if (count !== 0) counts[name as keyof Usage] = count
  }
  return counts
}

const adminInfo = (attempts: readonly Attempt[]): object => ({
  use_channel: attempts.map(({ channelId }) => channelId),
  attempts: attempts.map(({ channelId, status, error, latencyMs }) => ({
    channel: channelId,
    status,
    error,
    ms: Math.round(latencyMs),
  })),
})
