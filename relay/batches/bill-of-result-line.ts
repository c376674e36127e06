import { hash } from 'node:crypto'
import type { Digest } from '#domain/accounts/events.ts'
import type { BatchRecord, BillLines } from '#domain/batches/decide.ts'
import { callsFor } from '#domain/pricing/charge.ts'
import { inputTokensOf } from '#domain/pricing/usage.ts'
import { type CountableText, textOfAnswer } from '#relay/canonical/answer-text-for-token-count.ts'
import { type JsonObject, jsonOrEmpty, objectOf } from '#relay/canonical/json-values.ts'
import { reportOrUnreadable } from '#relay/canonical/provider-usage-report.ts'
import { hasCounts } from '../dialects/check-successful-answer.ts'
import type { WireFormat } from '../dialects/wire-format.ts'
import { meter } from '../pipeline/billed-usage.ts'
import type { MeteredCall } from '../pipeline/check-plausibility-of-usage.ts'
import { readTextsOf } from '../pipeline/log-unreadable-answer.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import type { UserTokenCounter } from '../token-counts/token-counter.ts'
import type { RelayKey } from '../views/channel-view.ts'
import { protocolOf } from './ask-provider-about-batch.ts'
import type { LineFacts, LinesById } from './batch-store.ts'
import type { LongResult } from './long-results.ts'
import { lineId } from './plan-batch.ts'
import { evidenceOfLine } from './send-batch-and-collect-evidence.ts'

/** The number of bytes of a request that count as one token if they must be estimated. */
const BYTES_PER_TOKEN = 4

type LineContext = {
  /** The position of the result among all results of the batch, from 0. */
  readonly index: number
  readonly record: BatchRecord
  readonly key: RelayKey
  readonly facts: LinesById
  /** Called with the exception if a part of the answer can't be read and is only estimated. */
  readonly onUnreadable: (err: unknown) => void
}

/**
 * Reads the result of one line, and returns what is billed for it. Returns null if nothing is
 * billed, because the line failed, is unknown or was billed before. Returns `unreadable` for a
 * result that can't be read.
 */
export async function billOfResultLine(
  { counter: counters }: Pick<RelayDeps, 'counter'>,
  read: Buffer | LongResult,
  { record, key, facts, index, onUnreadable }: LineContext,
): Promise<BillLines['lines'][number] | 'unreadable' | null> {
  const isLong = !Buffer.isBuffer(read)
  const text = isLong ? read.outline : read.toString('utf8')
  if (text === null) return 'unreadable'
  if (text.trim() === '') return null
  const protocol = protocolOf(record)
  const result = protocol.readResult(text, index)
  if (result === null) return 'unreadable'
  const storedLine = facts.get(lineId(record.submitted.batch, result.customId))
  if (storedLine === undefined || result.answer === null) return null
  const { line, part } = storedLine
  if (record.billed.has(line)) return null
  const { price, model } = record.submitted.parts[part] ?? {}
  if (price === undefined || model === undefined) return null
  const { userId } = record.submitted
  const { answer, isWhole } = serializedAnswer(result.answer)
  const format = protocol.formatOf(storedLine.format)
  const reported = format.usageInAnswer(answer)
  const isCounted = hasCounts(reported)
  const isError = isLong
    ? objectOf(result.answer.error) !== null
    : isWhole && format.errorOfAnswer(answer) !== null
  // Like the answer to a single call, an answer without a result costs nothing if it has no usage.
  if (!isCounted && isError) return null
  const rawUsage = isLong && !isCounted ? undefined : reported
  const metered = { ...meteredLine(storedLine, key, format), onUnreadable }
  const input = reportedInput(rawUsage, metered)
  const counter = counterOfLine(counters.of(userId), storedLine, input)
  const readText = () => {
    if (isLong) return longestAnswer(storedLine)
    return isWhole ? textOfAnswer(answer, readTextsOf(metered)) : { text, tokens: 0 }
  }
  const delivery = { rawUsage, answeredModel: null, readText, isComplete: true, chargesInput: true }
  const { bounds } = storedLine
  const limits = { ...bounds, outputTokens: bounds.outputTokens * bounds.choices }
  const { usage, usageSource, anomaly } = await meter(delivery, metered, counter, limits, price)
  const shown = evidenceOfLine({
    ...{ received: isLong ? read.received : digestOf(read) },
    ...{ answer: result.answer, requestId: result.requestId, usage: rawUsage },
    ...{ target: key.target, model, sentModel: storedLine.sentModel },
  })
  const calls = callsFor(price, usage, storedLine.calls, true)
  // The audit recomputes the charge of a billed line for at least one call.
  if (calls === 0) return null
  const found = { isEstimated: usageSource !== 'upstream', anomaly }
  return { line, part, usage, calls, ...found, ...shown }
}

const digestOf = (bytes: Buffer): Digest => ({
  bytes: bytes.length,
  sha256: hash('sha256', bytes, 'hex'),
})

/**
 * Returns what is counted of an answer that is too long to be read: all tokens, images and uses of
 * tools that were requested. Tokens count only if the answer states no usage or one that can't be
 * trusted, and uses of tools only if the usage does not state them.
 */
function longestAnswer({
  bounds: { outputTokens, choices },
  imageFactor,
  toolLimits,
}: LineFacts): CountableText {
  const tools = toolLimits === undefined ? {} : { tools: toolLimits.uses }
  if (imageFactor !== undefined) return { text: '', tokens: 0, images: choices, ...tools }
  return { text: '', tokens: outputTokens * choices, ...tools }
}

/**
 * Returns an answer as JSON. Members that are nested too deeply to be serialized are left out, and
 * `isWhole` is then false. An exception would keep the batch from being settled, and a caller can
 * ask a model for deeply nested arguments.
 */
function serializedAnswer(answer: JsonObject): {
  readonly answer: Buffer
  readonly isWhole: boolean
} {
  const whole = jsonOrEmpty(answer)
  if (whole !== '') return { answer: Buffer.from(whole), isWhole: true }
  const members = Object.entries(answer).filter(([, value]) => jsonOrEmpty(value) !== '')
  return { answer: Buffer.from(jsonOrEmpty(Object.fromEntries(members))), isWhole: false }
}

/**
 * The fields of a request that `meter` requires, with values that are the same for all lines or do
 * not affect their usage.
 */
const NO_REQUEST = {
  ...{ model: '', members: [], tools: [], isStream: false, wantsUsage: false },
  ...{ choices: 1, outputTokensMax: null, reasoningEffort: null },
} as const
const HOUR_CACHE = Buffer.from('{"cache_control":{"ttl":"1h"}}')
const NO_CACHE = Buffer.from('{}')

/** Without a usage report, each image of the answer counts as the tokens for which it was held. */
const imagesIn = ({ choices, outputTokens }: LineFacts['bounds']) => ({
  choices,
  outputTokensMax: outputTokens,
})

/**
 * Returns a line in the form that `meter` reads. The body of the line is no longer stored. The only
 * value that `meter` reads from a body is the lifetime of cache writes. The line therefore has a
 * substitute body with this lifetime.
 */
const meteredLine = (
  { bounds, inputCeiling, hasHourCache, toolLimits, imageFactor }: LineFacts,
  { target }: RelayKey,
  format: WireFormat,
) => ({
  request: {
    ...NO_REQUEST,
    format,
    body: hasHourCache ? HOUR_CACHE : NO_CACHE,
    inputBound: { tokens: bounds.inputTokens, ceiling: inputCeiling, isText: true },
    ...(toolLimits === undefined ? {} : { toolLimits: { ...toolLimits, edits: [] } }),
    ...(imageFactor === undefined ? {} : { imageFactor, ...imagesIn(bounds) }),
  },
  channel: { target },
})

/** The output counts of all formats, and the totals that include them. */
const NO_OUTPUT = {
  ...{ output_tokens: 0, completion_tokens: 0, candidatesTokenCount: 0 },
  ...{ output_tokens_details: null, completion_tokens_details: null },
  ...{ total_tokens: null, totalTokenCount: null },
}

/**
 * Returns the input tokens that a usage reports, even if its output counts are missing or invalid.
 * Returns null if it reports none or an invalid number.
 */
function reportedInput(usage: unknown, { request, onUnreadable }: MeteredCall): number | null {
  if (objectOf(usage) === null) return null
  const { format, body, inputBound } = request
  const bounds = { inputCeiling: inputBound.ceiling, outputCeiling: 0 }
  const context = { ...bounds, body, isOutputTotalLessPrompt: false }
  const read = () => format.readUsage({ ...objectOf(usage), ...NO_OUTPUT }, context)
  const report = reportOrUnreadable(read, onUnreadable)
  const isUsable = report.isTrusted && report.otherInterpretation === null
  return isUsable ? inputTokensOf(report.usage) || null : null
}

/**
 * Counts the tokens of a line if the provider's report of them is missing or can't be trusted.
 * `reported` is the reported input if only the output is missing or invalid. Otherwise, the input
 * is estimated from the length of the request, whose body is no longer stored. It is then at most
 * the bound that was held, because the bytes of pictures are no tokens.
 */
const counterOfLine = (
  counter: UserTokenCounter,
  { bytes, bounds }: LineFacts,
  reported: number | null,
): UserTokenCounter => ({
  count: async ({ requestBody, text }) => {
    const counted = await counter.count({ requestBody: null, text })
    if (requestBody === null) return counted
    const estimated = Math.min(Math.ceil(bytes / BYTES_PER_TOKEN), bounds.inputTokens)
    return { ...counted, input: reported ?? estimated }
  },
})
