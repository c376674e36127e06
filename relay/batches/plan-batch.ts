import { createHash } from 'node:crypto'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { BatchApi, BatchPart } from '#domain/batches/events.ts'
import { holdFor } from '#domain/pricing/hold-amount.ts'
import { inBatchPrice } from '#domain/pricing/price-list.ts'
import { channelsIn } from '#domain/routing/channels-by-group-and-model.ts'
import { fromWire, isInRange, toWire } from '#domain/shared/quota.ts'
import { resolveModelSuffix } from '../adapters/resolve-model-suffix.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { requestsHourCache } from '../dialects/detect-and-shorten-one-hour-caching.ts'
import { reserializeJson } from '../dialects/reserialize-json.ts'
import type { ChatRequest, PathParameters, WireFormat } from '../dialects/wire-format.ts'
import type { ModelCalls } from '../limits/call-limit-rules.ts'
import { estimateTokensOf } from '../pipeline/acquire-call-permit.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { billedCalls } from '../pipeline/compute-hold-and-output-limit.ts'
import { newCallId } from '../pipeline/http-exchange.ts'
import { accessError } from '../pipeline/model-access-errors.ts'
import { outputLimitsOf } from '../pipeline/output-limits-of-call.ts'
import { type CallPlan, planAlternative } from '../pipeline/plan-call-for-one-model-and-group.ts'
import { candidateOf } from '../pipeline/prepare-request-for-channel.ts'
import { providerFileError } from '../pipeline/refuse-files-stored-at-provider.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { screenPrompt } from '../screening/word-screening.ts'
import { Permits } from '../tasks/limit-concurrent-work.ts'
import { isUnexpired } from '../views/channel-expiry.ts'
import { type RelayChannel, serves } from '../views/channel-view.ts'
import type { InlineBatches, InlineSubmission } from './batch-apis-with-inline-requests.ts'
import { BatchChannels, type BatchPlace } from './batch-channels.ts'
import type { LineFacts, LinesById } from './batch-store.ts'
import { OmissionsOfLines } from './omissions-of-lines.ts'

/**
 * A batch that was checked and can be submitted: its parts with the quota to reserve for each, its
 * channels, and the body to send. A part consists of the lines with the same model and price.
 */
export type BatchPlan = Omit<PlannedBody, 'body'> & {
  /** The body for the first channel. Null once it was sent, so that its memory is free. */
  body: Buffer | null
  /** The group whose prices are charged. */
  readonly group: string
  /**
   * The channels to try, of which `place` is the first one. A channel that was not tried must be
   * given back by `skip`.
   */
  readonly channels: BatchChannels
  readonly place: BatchPlace
  /**
   * The members of the submission that later descriptions of the batch repeat; null if there are
   * none.
   */
  readonly shown: object | null
}

/** The body that is sent to one channel, with the parts and the data of the lines. */
export type PlannedBody = {
  readonly parts: readonly BatchPart[]
  readonly lines: LinesById
  /** The provider's name for the model of the first line. */
  readonly sentModel: string
  readonly body: Buffer
  readonly omissions: OmissionsOfLines
}

/** The maximum number of parts in a batch. Each combination of a model and a price is one part. */
const PARTS_MAX = 16
const LINES_AT_ONCE = 16

/**
 * Returns the hash of a line's `custom_id`, by which the line of a result is found. The `custom_id`
 * itself is not stored.
 */
export const lineId = (batch: string, customId: string): string =>
  createHash('sha256').update(`${batch}\n${customId}`).digest('base64url').slice(0, 22)

export type PlannedLine = { readonly request: ChatRequest; readonly plan: CallPlan }
/**
 * The parts of a batch. A part consists of the lines with the same model and price. The key of each
 * part is made from its model and price.
 */
export type Parts = Map<string, BatchPart & { readonly index: number }>

/**
 * The maximum number of batches that a process plans at once, because the lines need much memory.
 * Uploads are not counted, so that slow uploads do not keep other callers waiting.
 */
const PLANS_MAX = 2
/**
 * The maximum number of batches of one user that a process plans at once. It keeps the batches of
 * one user from delaying those of other users.
 */
const PLANS_OF_USER_MAX = 1
const plans = new Permits({
  ...{ total: PLANS_MAX, waiting: 256, waitingPerName: 64, waitMs: 30_000 },
  // Without this, two users who submit many batches at once would delay the batches of all others.
  isRoundRobin: true,
})
/** The error for a batch that would have to wait too long until it can be planned. */
const PLANS_BUSY = relayError('overloaded', { retryAfter: 2 })

/**
 * Runs `work`, which plans a batch of this user, as soon as the limits on planning allow it.
 * Returns `PLANS_BUSY` if too many batches wait, if the wait is too long, or if `signal` is aborted
 * during the wait, for example because the caller has left. A batch of such a caller must not be
 * sent, because the caller does not learn the batch's id and probably submits the batch again.
 */
export async function whilePlanning<T>(
  { user: { userId } }: Pick<Caller, 'user'>,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | RelayError> {
  const release = await plans.enter([{ name: `user ${userId}`, max: PLANS_OF_USER_MAX }], signal)
  if (release === null) return PLANS_BUSY
  try {
    return await work()
  } finally {
    release()
  }
}

type PlannedLines = {
  readonly planned: readonly PlannedLine[]
  /** The channels that offer the models of all lines, and to which all lines can be sent. */
  readonly channels: readonly RelayChannel[]
}

/**
 * Plans all lines with the functions that also plan single calls. Returns the first error, which
 * names the faulty line.
 */
async function planLines(
  deps: RelayDeps,
  caller: Caller,
  api: InlineBatches,
  { lines }: InlineSubmission,
): Promise<PlannedLines | RelayError> {
  const planned: PlannedLine[] = []
  let channels: readonly RelayChannel[] | null = null
  for (const [index, { params }] of lines.entries()) {
    if (index % LINES_AT_ONCE === 0) await yieldToEventLoop()
    const line = await planLine(deps, caller, api.format, params, api.path)
    if (isRelayError(line)) return api.inLine(line, index)
    planned.push(line)
    const offered = new Set(channelsIn(line.plan.offer))
    channels = (channels ?? [...offered]).filter(
      (channel) => offered.has(channel) && acceptsBatches(deps, channel, line.request, api.api),
    )
    if (channels.length === 0) {
      const { model: subject } = line.request
      return api.inLine(relayError('no_batch_channel', { param: 'model', subject }), index)
    }
  }
  return { planned, channels: channels ?? [] }
}

/**
 * Plans a batch. All lines are sent to one channel, which must offer all their models. Returns an
 * error if a line is faulty or no channel can be tried.
 */
export async function planBatch(
  deps: RelayDeps,
  caller: Caller,
  batch: string,
  api: InlineBatches,
  submission: InlineSubmission,
): Promise<BatchPlan | RelayError> {
  const read = await planLines(deps, caller, api, submission)
  if (isRelayError(read)) return read
  const model = read.planned[0]?.request.model ?? ''
  const channels = new BatchChannels(deps, read.channels, model, caller)
  let plan: PlannedBody | RelayError | null = null
  try {
    const place = await channels.next()
    if (place === null) return channels.noneUsableError()
    plan = await buildPlan(deps, { batch, channel: place.channel, api }, submission, read.planned)
    if (isRelayError(plan)) return plan
    return { group: caller.group, shown: submission.shown, channels, place, ...plan }
  } finally {
    if (plan === null || isRelayError(plan)) channels.skip()
  }
}

/**
 * Plans a batch again for another channel, because the first one did not accept it. Returns an
 * error if the lines can't be sent to this channel, or if they would not cost what is reserved in
 * `parts`, because prices or channels have changed.
 */
export async function planForOtherChannel(
  deps: RelayDeps,
  caller: Caller,
  building: Building,
  parts: readonly BatchPart[],
  submission: InlineSubmission,
): Promise<PlannedBody | RelayError> {
  const read = await planLines(deps, caller, building.api, submission)
  if (isRelayError(read)) return read
  const plan = await buildPlan(deps, building, submission, read.planned)
  if (isRelayError(plan)) return plan
  const isCovered = areCovered(plan.parts, parts)
  return isCovered ? { ...plan, parts } : relayError('no_channel', { subject: '', retryAfter: 10 })
}

/**
 * Reports whether the lines cost what is reserved for them. The lines may need less quota than
 * reserved, because a channel that demanded more may have been disabled. The revision of the price
 * list is not compared, because each change of an option increases it.
 */
function areCovered(parts: readonly BatchPart[], reserved: readonly BatchPart[]): boolean {
  const costOf = ({ model, lines, price: { list: _, ...price } }: BatchPart) => ({
    ...{ model, lines, price },
  })
  if (!isDeepStrictEqual(parts.map(costOf), reserved.map(costOf))) return false
  return parts.every(({ hold }, index) => fromWire(hold) <= fromWire(reserved[index]?.hold ?? 0))
}

/**
 * Reports whether the channel's provider accepts the request in a batch of this API. The provider
 * must offer batches and the model, and the request must need no conversion.
 */
export function acceptsBatches(
  { now }: Pick<RelayDeps, 'now'>,
  channel: RelayChannel,
  request: ChatRequest,
  api: BatchApi,
): boolean {
  const { profile } = channel.target ?? {}
  const isOffered = profile?.batches === api && isUnexpired(channel.terms, now())
  return isOffered && serves(channel, request.format.name, request.model)
}

export async function planLine(
  { views, now }: RelayDeps,
  caller: Caller,
  format: WireFormat,
  params: Buffer,
  path: PathParameters | null = null,
): Promise<PlannedLine | RelayError> {
  const { isPassThrough, adapters, screening } = views.options.options
  const read = format.readRequest(isPassThrough ? reserializeJson(params) : params, path)
  if (isRelayError(read)) return read
  // A line whose body names another model than the path is refused, because lines for different
  // models may have been put together by mistake. A single call is not refused, because its answer
  // names the model in the path.
  if (read.namesOtherModel) return relayError('invalid_parameter', { param: 'model' })
  if (read.isStream) return relayError('parameter_not_supported', { param: 'stream' })
  if (read.stored !== undefined) {
    return relayError('stored_input', { param: read.stored.references[0]?.param ?? 'input' })
  }
  const fileError = providerFileError(caller, read)
  if (fileError !== null) return fileError
  const request = resolveModelSuffix(read, views.channels, adapters)
  if (isRelayError(request)) return request
  const error = accessError(caller, views.options.options, request)
  const plan = error ?? planAlternative(views, caller, request, now())
  if (isRelayError(plan)) return plan
  const [condition] = Object.keys(plan.price.conditions ?? {})
  if (condition !== undefined) {
    const isOfSpeed = request.members.some(({ key }) => key === 'speed')
    const ofSpeed = isOfSpeed ? 'speed' : 'service_tier'
    const param = condition === 'us_inference' ? 'inference_geo' : ofSpeed
    return relayError('parameter_not_supported', { param })
  }
  const screened = await screenPrompt(screening, caller.group, params)
  return screened ?? { request, plan }
}

type Building = {
  readonly batch: string
  readonly channel: RelayChannel
  readonly api: InlineBatches
}

async function buildPlan(
  deps: RelayDeps,
  { batch, channel, api }: Building,
  { lines, shown, dropped }: InlineSubmission,
  planned: readonly PlannedLine[],
): Promise<PlannedBody | RelayError> {
  const parts: Parts = new Map()
  const facts = new Map<string, LineFacts>()
  const omissions = new OmissionsOfLines()
  omissions.add({ dropped, losses: [] })
  const { write } = api
  const pieces: Buffer[] = [Buffer.from(write.begin(shown))]
  let sentModel = ''
  for (const [line, { request, plan }] of planned.entries()) {
    if (line % LINES_AT_ONCE === 0) await yieldToEventLoop()
    const sent = candidateFor(deps, channel, { request, plan })
    if (isRelayError(sent)) return api.inLine(sent, line)
    omissions.add(sent)
    const sentAs = sent.upstreamModel ?? request.model
    if (line === 0) sentModel = sentAs
    const given = lines[line]
    if (given === undefined) throw new Error('a planned line is not in the batch')
    const part = addToPart(deps, parts, batch, { request, plan })
    if (part === null) return relayError('invalid_parameter', { param: 'requests' })
    const known = { line, part, sentModel: sentAs, ...factsOf(sent.request, plan) }
    facts.set(lineId(batch, given.customId), known)
    pieces.push(...(line === 0 ? [] : [COMMA]), ...write.line(given, sent.body))
  }
  pieces.push(Buffer.from(write.end))
  const body = Buffer.concat(pieces)
  return { parts: partsIn(parts), lines: facts, sentModel, body, omissions }
}

/**
 * Returns for each model the number of lines and the number of tokens that these lines may use.
 * Each line counts as one call towards the caller's limits.
 */
export function callsOf({
  parts,
  lines,
}: Pick<BatchPlan, 'parts' | 'lines'>): readonly ModelCalls[] {
  const byModel = new Map<string, ModelCalls>()
  for (const { part, bytes, bounds, imageFactor } of lines.values()) {
    const { model = '', price } = parts[part] ?? {}
    const { calls, tokens } = byModel.get(model) ?? { calls: 0, tokens: 0 }
    const { outputTokens, choices } = bounds
    // For images with a price per image, no output is estimated, because providers usually report
    // no tokens for such images.
    const outputTokensMax = imageFactor !== undefined && price?.mode === 'call' ? 0 : outputTokens
    const estimate = estimateTokensOf({ body: { length: bytes }, outputTokensMax, choices })
    byModel.set(model, { model, calls: calls + 1, tokens: tokens + estimate })
  }
  return [...byModel.values()]
}

export const partsIn = (parts: Parts): readonly BatchPart[] =>
  [...parts.values()].map(({ index, ...part }) => part)

const COMMA = Buffer.from(',')

/**
 * Returns the request that is sent for a line, or an error if the channel can't send it. A line
 * without an output limit gets the limit for which quota is reserved, because its answer can't be
 * stopped when the quota is used up.
 */
export function candidateFor(
  { views }: RelayDeps,
  channel: RelayChannel,
  { request, plan: { terms, isOverridden } }: PlannedLine,
) {
  const { options } = views.options
  const covered = terms.isOpenEnded ? terms.bounds.outputTokens : null
  const limits = outputLimitsOf(options, request, terms, covered)
  return candidateOf(channel, request, isOverridden, limits, options.adapters)
}

/**
 * Adds a line to the part with the same model and price, or to a new part. Returns the index of the
 * part, or null if the batch would have too many parts or the part would cost too much.
 */
export function addToPart(
  { views, now }: RelayDeps,
  parts: Parts,
  batch: string,
  { request: { model }, plan }: PlannedLine,
): number | null {
  const price = inBatchPrice(views.options.prices, plan.price)
  const name = `${model}\n${JSON.stringify(price)}`
  const hold = holdFor(price, plan.terms.bounds)
  const before = parts.get(name)
  if (before === undefined && parts.size === PARTS_MAX) return null
  const call = parts.size === 0 ? batch : newCallId(now())
  const part = before ?? { call, model, price, lines: 0, hold: 0, index: parts.size }
  const sum = fromWire(part.hold) + hold
  if (!isInRange(sum)) return null
  parts.set(name, { ...part, lines: part.lines + 1, hold: toWire(sum) })
  return part.index
}

export function factsOf(
  sent: ChatRequest,
  { terms: { bounds } }: CallPlan,
): Omit<LineFacts, 'line' | 'part'> {
  const { inputTokens, outputTokens, tools } = bounds
  const limits = { inputTokens, outputTokens, choices: bounds.choices }
  const { edits: _, ...toolLimits } = sent.toolLimits ?? { uses: {}, edits: [] }
  return {
    bounds: tools === undefined ? limits : { ...limits, tools },
    inputCeiling: sent.inputBound.ceiling,
    calls: billedCalls(sent, bounds),
    bytes: sent.body.length,
    hasHourCache: requestsHourCache(sent.body),
    ...(sent.toolLimits === undefined ? {} : { toolLimits }),
    ...(sent.imageFactor === undefined ? {} : { imageFactor: sent.imageFactor }),
  }
}
