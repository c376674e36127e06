import { chargeFor } from '#domain/pricing/charge.ts'
import { mostExpensiveConditions } from '#domain/pricing/price-conditions.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import {
  conditionsOfUsage,
  imageUsage,
  inputTokensOf,
  NO_USAGE,
  type PriceCondition,
  type ToolCounts,
  toolUsage,
  type Usage,
  type UsageLimits,
  type UsageSource,
  usageWithin,
} from '#domain/pricing/usage.ts'
import type { CountableText } from '#relay/canonical/answer-text-for-token-count.ts'
import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import {
  outputCeiling,
  type ReportedToolUses,
  readToolUses,
  reportOrUnreadable,
  TOKENS_MAX,
  type UsageAnomaly,
  type UsageBounds,
  type UsageReport,
} from '#relay/canonical/provider-usage-report.ts'
import { tokensOfImages } from '#relay/dialects/openai-images/image-price-factor-and-tokens.ts'
import { billedConditions, requestedConditions } from '#relay/dialects/price-conditions-of-call.ts'
import {
  INPUT_TOKENS_PER_USE,
  largestUses,
  type ToolLimits,
  totalUses,
} from '#relay/dialects/provider-tool-limits.ts'
import type { UserTokenCounter } from '#relay/token-counts/token-counter.ts'
import {
  isDoubtful,
  isInputImplausible,
  type MeteredCall,
  resolveCache,
  resolveDoubts,
} from './check-plausibility-of-usage.ts'

/** The part of an answer that was delivered, with everything that decides its bill. */
export type Delivery = {
  /** The usage that the provider reported, unparsed; undefined if the provider reported none. */
  readonly rawUsage: unknown
  /** The `model` in the answer, unparsed. Undefined or null if the answer names no model. */
  readonly answeredModel: unknown
  /**
   * Returns the service tier that the answer names, unparsed. It is called only if the request asks
   * for a condition that the price contains. Omitted if there is no answer.
   */
  readonly readServiceTier?: () => unknown
  /** Returns the delivered text. It is called only if the tokens must be counted. */
  readonly readText: () => CountableText
  readonly isComplete: boolean
  /**
   * True if text was delivered after the provider's last usage report. The report may then be too
   * low.
   */
  readonly hasTextAfterUsage?: boolean
  /** An anomaly in a stream's usage reports that can't be seen in their combination, `rawUsage`. */
  readonly usageAnomaly?: UsageAnomaly | null
  /**
   * True if the input is charged even if the provider did not report it. False if the provider
   * ended the stream with an error.
   */
  readonly chargesInput: boolean
}

/**
 * The billed usage of a call and the source of this usage. `anomaly` is the anomaly of the
 * provider's report, or null if the report has none.
 */
export type Metered = {
  readonly usage: Usage
  readonly usageSource: UsageSource
  readonly anomaly: string | null
}

/**
 * Determines the billed usage. The provider's report is billed if it is trusted and plausible and
 * covers the whole answer. A report of a whole answer that is trusted but doubtful is corrected
 * with the gateway's own count. The larger of the report and the own count is billed in each of
 * these cases: the report is not trusted, the reports of the stream have an anomaly, the answer is
 * incomplete, or the answer continued after the report. Without a report, the own count is billed.
 * A faulty or early report (often zero) can therefore not make a call cheaper. The output limit in
 * `limits` decides how much reported output is plausible.
 */
export function meter(
  delivery: Delivery,
  candidate: MeteredCall,
  counter: UserTokenCounter,
  limits: UsageLimits,
  price: PriceSnapshot,
): Metered | Promise<Metered> {
  const metered = meterWithTools(delivery, candidate, counter, limits, price)
  if (price.conditions === undefined) return metered
  const conditions = conditionsOfCall(delivery, candidate, price)
  if (conditions.length === 0) return metered
  const withConditions = (one: Metered): Metered => ({
    ...one,
    usage: { ...one.usage, conditions },
  })
  return metered instanceof Promise ? metered.then(withConditions) : withConditions(metered)
}

/**
 * Returns the price conditions that are billed, such as a service tier. A condition can be billed
 * only if the request asks for it and the price of the call contains it. The answer decides which
 * of the requested conditions are billed: see `billedConditions`. Without an answer, the most
 * expensive of them are billed.
 */
function conditionsOfCall(
  { rawUsage, readServiceTier }: Pick<Delivery, 'rawUsage' | 'readServiceTier'>,
  { request }: MeteredCall,
  price: PriceSnapshot,
): readonly PriceCondition[] {
  const sent = requestedConditions(request, () => true)
  const requested = sent.filter((name) => price.conditions?.[name] !== undefined)
  if (requested.length === 0) return requested
  const { inference_geo: inferenceGeo, speed } = objectOrEmpty(rawUsage)
  const answered = { serviceTier: readServiceTier?.(), speed, inferenceGeo }
  return billedConditions(requested, mostExpensiveConditions(price), answered)
}

function meterWithTools(
  delivery: Delivery,
  candidate: MeteredCall,
  counter: UserTokenCounter,
  limits: UsageLimits,
  price: PriceSnapshot,
): Metered | Promise<Metered> {
  const metered = meterTokens(delivery, candidate, counter, limits, price)
  const { toolLimits, imageFactor } = candidate.request
  if (imageFactor !== undefined) {
    const { images = 0 } = delivery.readText()
    const withImages = (tokens: Metered) => ({ ...tokens, usage: { ...tokens.usage, images } })
    return metered instanceof Promise ? metered.then(withImages) : withImages(metered)
  }
  if (toolLimits === undefined) return metered
  const { rawUsage, readText, isComplete, hasTextAfterUsage = false, chargesInput } = delivery
  const bounds = boundsOf(candidate, limits)
  const reported = readReport(rawUsage, candidate, bounds, price).toolUses
  const isFinal = isComplete && !hasTextAfterUsage
  const assumed = chargesInput ? assumedUses(toolLimits, isComplete) : undefined
  const countUses = () => largestUses([assumed, readText().tools])
  const { uses, anomaly } = toolUsesOf(reported, countUses, toolLimits, isFinal)
  const withTools = (tokens: Metered): Metered => ({
    ...tokens,
    usage: { ...tokens.usage, ...uses },
    anomaly: tokens.anomaly ?? anomaly,
  })
  return metered instanceof Promise ? metered.then(withTools) : withTools(metered)
}

/**
 * Determines the billed uses of the provider's tools. A valid report of a whole answer is billed.
 * In all other cases, the larger of the report and of the uses in `countUses` (those that the
 * answer shows or that are assumed) is billed. At most the accepted number of uses of each tool is
 * billed.
 */
function toolUsesOf(
  reported: ReportedToolUses | undefined,
  countUses: () => ToolCounts | undefined,
  { uses: held, usesAcceptedMax: most = held }: ToolLimits,
  isFinal: boolean,
): { readonly uses: Pick<Usage, 'toolCalls' | 'tools'>; readonly anomaly: UsageAnomaly | null } {
  const { uses, anomaly } = readToolUses(reported ?? {}, most)
  const isEnough = isFinal && reported !== undefined && anomaly === null
  const larger = isEnough ? uses : largestUses([uses, countUses()])
  return { uses: toolUsage(larger, most), anomaly }
}

/** Returns the tool uses, if any, that are billed even if the answer does not show them. */
const assumedUses = (
  { assumedUses: assumed }: ToolLimits,
  isComplete: boolean,
): ToolCounts | undefined =>
  assumed?.of === 'every-answer' || !isComplete ? assumed?.uses : undefined

function meterTokens(
  delivery: Delivery,
  candidate: MeteredCall,
  counter: UserTokenCounter,
  limits: UsageLimits,
  price: PriceSnapshot,
): Metered | Promise<Metered> {
  const { rawUsage, isComplete, hasTextAfterUsage = false, usageAnomaly = null } = delivery
  if (rawUsage === undefined || rawUsage === null) {
    return ownCount(delivery, candidate, counter, price).then((metered) => ({
      ...metered,
      usage: mostExpensive(interpretationsOf(metered.usage), price),
    }))
  }
  const bounds = boundsOf(candidate, limits)
  const report = readReport(rawUsage, candidate, bounds, price)
  const isFinal = isComplete && !hasTextAfterUsage && usageAnomaly === null
  const isHigh = isInputImplausible(report, candidate, bounds) ? 'implausible' : null
  if (isFinal && report.isTrusted && !isDoubtful(report, candidate, limits)) {
    const { usage, anomaly } = report
    const zero = isZeroForText(usage, delivery) ? 'zero' : null
    return { usage, usageSource: 'upstream', anomaly: anomaly ?? zero ?? isHigh }
  }
  return ownCount(delivery, candidate, counter, price).then((counted) => {
    const evidence = { delivery, call: candidate, limits, counted: counted.usage }
    const resolved = resolveDoubts(report, evidence, (outputCeiling) =>
      readReport(rawUsage, candidate, { ...bounds, outputCeiling }, price),
    )
    const isTrusted = resolved.isTrusted && !INVALID.has(usageAnomaly)
    const usage =
      isFinal && isTrusted
        ? resolved.usage
        : moreExpensiveInterpretation({ ...resolved, isTrusted }, counted.usage, price)
    // The tokens of a call that is priced by reported search units don't decide its bill.
    const isByUnits = isFinal && price.mode === 'call' && report.usage.searchUnits > 0
    const isReported =
      tokensOf(usage) === tokensOf(resolved.usage) || (isByUnits && report.anomaly === null)
    const usageSource = isReported ? 'upstream' : counted.usageSource
    return { usage, usageSource, anomaly: usageAnomaly ?? resolved.anomaly ?? isHigh }
  })
}

/**
 * The anomalies of reports with invalid counts. The cached tokens in such a report are not trusted
 * either.
 */
const INVALID: ReadonlySet<UsageAnomaly | null> = new Set<UsageAnomaly>([
  ...(['negative', 'fraction', 'not-a-number'] as const),
])

/**
 * Returns the usage to charge for a running stream if this process dies. It is the larger of the
 * provider's report and the gateway's own count, but at most the usage in `limits`. The call's hold
 * (reserved quota) covers this maximum, except for a small excess of open-ended streams.
 */
export function usageSoFar(
  rawUsage: unknown,
  counted: Usage,
  candidate: MeteredCall,
  limits: UsageLimits,
  price: PriceSnapshot,
): Usage {
  const read = readReport(rawUsage, candidate, boundsOf(candidate, limits), price)
  const report = resolveCache(read, candidate, counted)
  const ofConditions = conditionsOfUsage(
    price.conditions === undefined ? [] : conditionsOfCall({ rawUsage }, candidate, price),
  )
  const { images } = counted
  const tokens = { ...moreExpensiveInterpretation(report, counted, price), ...ofConditions, images }
  const { toolLimits } = candidate.request
  if (toolLimits === undefined) return usageWithin(tokens, limits)
  const countUses = () => largestUses([assumedUses(toolLimits, false), counted.tools])
  const { uses } = toolUsesOf(report.toolUses, countUses, toolLimits, false)
  return usageWithin({ ...tokens, ...uses }, limits)
}

/**
 * Reports whether the usage is implausibly zero: it has no input, or it has neither output nor
 * seconds of audio although the answer has text, images or other data. Such usage is charged as
 * reported, and the bill is marked with the anomaly `zero`.
 */
function isZeroForText(usage: Usage, { readText }: Delivery): boolean {
  if (inputTokensOf(usage) === 0) return true
  if (usage.output > 0 || usage.seconds > 0) return false
  const { text, tokens, images = 0 } = readText()
  return text !== '' || tokens > 0 || images > 0
}

const NO_TOOLS: Pick<ToolLimits, 'uses' | 'inputTokens'> = { uses: {} }

function boundsOf({ request }: MeteredCall, { outputTokens }: UsageLimits): UsageBounds {
  const { uses, inputTokens = 0 } = request.toolLimits ?? NO_TOOLS
  // A tool without a price per use, such as one that reads web pages, may add any number of tokens.
  const ofTools = inputTokens > 0 ? TOKENS_MAX : totalUses(uses) * INPUT_TOKENS_PER_USE.most
  return {
    inputCeiling: Math.min(TOKENS_MAX, request.inputBound.ceiling + ofTools),
    outputCeiling: outputCeiling(outputTokens),
  }
}

function readReport(
  rawUsage: unknown,
  { request, channel, onUnreadable }: MeteredCall,
  bounds: UsageBounds,
  price: PriceSnapshot,
): UsageReport {
  const isOutputTotalLessPrompt = channel.target?.isOutputTotalLessPrompt ?? false
  const { format, body } = request
  const { choices } = request
  const context = { ...bounds, body, isOutputTotalLessPrompt, price, choices }
  return reportOrUnreadable(() => format.readUsage(rawUsage, context), onUnreadable)
}

/**
 * Returns the larger of the report and the gateway's own count. If the report or the count can be
 * interpreted in several ways, the most expensive interpretation is used. If the report is not
 * trusted, another interpretation is that all its tokens are text tokens. If the count has image
 * tokens, another interpretation is that these are text tokens.
 */
function moreExpensiveInterpretation(
  { usage: reported, otherInterpretation, isTrusted }: UsageReport,
  counted: Usage,
  price: PriceSnapshot,
): Usage {
  const interpretations =
    otherInterpretation === null ? [reported] : [reported, otherInterpretation]
  if (!isTrusted) interpretations.push(...interpretations.map(unclassified))
  const counts = interpretationsOf(counted)
  return mostExpensive(
    interpretations.flatMap((reading) => counts.map((count) => raisedToCount(reading, count))),
    price,
  )
}

/** Returns the most expensive usage. If several cost the same, the first of them is returned. */
function mostExpensive(usages: readonly Usage[], price: PriceSnapshot): Usage {
  const [first = NO_USAGE, ...others] = usages
  return others.reduce(
    (most, one) => (chargeFor(price, one) > chargeFor(price, most) ? one : most),
    first,
  )
}

/** Returns a count and, if it has image tokens, a copy that counts them as text tokens. */
function interpretationsOf({ outputImage = 0, ...asText }: Usage): readonly Usage[] {
  return outputImage === 0 ? [asText] : [{ ...asText, outputImage }, asText]
}

/** Returns the usage with all tokens counted as text, and none as cached, image or audio tokens. */
const unclassified = (usage: Usage): Usage => ({
  ...NO_USAGE,
  inputUncached: inputTokensOf(usage),
  output: usage.output,
})

/** Returns the number of all input and output tokens. */
export const tokensOf = (usage: Usage): number => inputTokensOf(usage) + usage.output

/**
 * Returns the reported usage, raised to the gateway's own count where that is larger. Input, audio
 * in the input, output and the images in the output are compared separately.
 */
function raisedToCount(reported: Usage, counted: Usage): Usage {
  const moreInput = inputTokensOf(counted) - inputTokensOf(reported)
  const moreAudio = Math.max(0, Math.min(moreInput, counted.inputAudio - reported.inputAudio))
  const moreOutput = counted.output - reported.output
  const output = reported.output + Math.max(0, moreOutput)
  const { outputImage = 0 } = reported
  const images = Math.min(counted.outputImage ?? 0, output - reported.outputAudio)
  if (moreInput <= 0 && moreOutput <= 0 && images <= outputImage) return reported
  return {
    ...reported,
    inputUncached: reported.inputUncached + Math.max(0, moreInput - moreAudio),
    inputAudio: reported.inputAudio + moreAudio,
    output,
    seconds: Math.max(reported.seconds, counted.seconds),
    characters: Math.max(reported.characters, counted.characters),
    ...imageUsage(Math.max(outputImage, images)),
  }
}

const NO_MEASURES = { characters: 0, seconds: 0 }

async function ownCount(
  { readText, isComplete, chargesInput }: Delivery,
  { request }: MeteredCall,
  counter: UserTokenCounter,
  price: PriceSnapshot,
): Promise<Metered> {
  const { text, tokens, imageTokens: ofData = 0, images = 0 } = readText()
  const ofImages = tokensOfImages(request, images, price)
  const requestBody = chargesInput ? request.body : null
  const { countUsage, hasTextlessAnswers: isInputOnly = false } = request.format
  const { input, output } = await counter.count({ requestBody, text, isInputOnly })
  if (countUsage !== undefined) {
    const charged = chargesInput ? request : { ...request, measures: NO_MEASURES }
    const usage = countUsage(charged, { input, output: output + tokens }, price)
    return { usage, usageSource: isComplete ? 'estimated' : 'partial', anomaly: null }
  }
  const storedInput = chargesInput ? (request.stored?.tokens ?? 0) : 0
  return {
    usage: {
      ...NO_USAGE,
      ...{ inputUncached: input + storedInput, output: output + tokens + ofImages },
      ...imageUsage(ofData + ofImages),
    },
    usageSource: isComplete ? 'estimated' : 'partial',
    anomaly: null,
  }
}
