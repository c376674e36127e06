import type { Attempt } from '../accounts/events.ts'
import { chargeFor, costFor } from '../pricing/charge.ts'
import { NO_USAGE, TOOL_NAMES, type ToolCounts, type Usage } from '../pricing/usage.ts'
import { assert } from '../shared/assert.ts'
import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import { fromWire, type Quota, toWire } from '../shared/quota.ts'
import type {
  BatchAccepted,
  BatchEndCause,
  BatchEnded,
  BatchEvent,
  BatchLinesBilled,
  BatchRouted,
  BatchSubmitted,
  BilledLine,
  LineEvidence,
} from './events.ts'

export type SubmitBatch = { readonly type: 'SubmitBatch' } & BatchSubmitted['data']

/**
 * Records the next channel to which the batch is sent. The previous channel did not accept the
 * batch.
 */
export type RouteBatch = { readonly type: 'RouteBatch' } & Omit<
  BatchRouted['data'],
  'batch' | 'userId'
>

export type AcceptBatch = { readonly type: 'AcceptBatch' } & Omit<
  BatchAccepted['data'],
  'batch' | 'userId'
>

/** Bills lines that have an answer. Lines that were billed before are skipped. */
export type BillLines = {
  readonly type: 'BillLines'
  readonly lines: readonly {
    readonly line: number
    readonly part: number
    readonly usage: Usage
    /**
     * The number of answers in the line's result. A price per call is multiplied by this number.
     */
    readonly calls: number
    readonly evidence?: LineEvidence
    readonly isOtherModel?: boolean
    readonly isEstimated?: boolean
    readonly anomaly?: string | null
  }[]
}

/**
 * Ends a batch. `billedLines` is the number of billed lines for which the account is charged. The
 * command is refused if the number of billed lines is different.
 */
export type EndBatch = {
  readonly type: 'EndBatch'
  readonly cause: BatchEndCause
  readonly billedLines: number
  /** The number of results that could not be read. */
  readonly unreadableLines?: number
  readonly at: number
}

export type BatchCommand = SubmitBatch | RouteBatch | AcceptBatch | BillLines | EndBatch

export type BatchError = CodedError<
  | 'BatchUnknown'
  | 'BatchEnded'
  | 'BatchElsewhere'
  | 'BatchNotAccepted'
  /** Lines were billed after the sum for the account was computed. */
  | 'BatchMoved'
>

/**
 * The sums over the billed lines of one part. A part is the lines of a batch with the same model
 * and price.
 */
export type PartSums = {
  readonly lines: number
  readonly usage: Usage
  readonly charge: Quota
  readonly cost: Quota
  /** Omitted if no line has evidence. */
  readonly models?: PartModels
  /** The number of lines whose usage the gateway counted. Omitted if it is 0. */
  readonly estimatedLines?: number
  /** The anomaly of the first line that has one. Omitted if none has. */
  readonly anomaly?: string
}

/**
 * The model names of a part, taken from the part's first line with evidence. If a model other than
 * the requested one answered a line, the models are taken from the first such line instead.
 */
export type PartModels = {
  /**
   * The model name that was sent to the provider, or null if it equals the name by which the line
   * is billed.
   */
  readonly sent: string | null
  /** The model name in the results, or null if they name no model. */
  readonly answered: string | null
  readonly isOther: boolean
}

export type BatchRecord = {
  readonly submitted: BatchSubmitted['data']
  /** The attempts at channels that did not accept the batch. Omitted if there are none. */
  readonly failed?: readonly Attempt[]
  /** The channel and the provider's id of the batch, or null before a provider has accepted it. */
  readonly place: Omit<BatchAccepted['data'], 'batch' | 'userId'> | null
  /** The indexes of the billed lines. */
  readonly billed: ReadonlySet<number>
  readonly sums: readonly PartSums[]
  readonly end: BatchEnded['data'] | null
}

type BatchState = { readonly record: BatchRecord | null }
type Outcome = readonly BatchEvent[] | BatchError

const NO_SUMS: PartSums = { lines: 0, usage: NO_USAGE, charge: 0n, cost: 0n }

export const batchDecider: Decider<BatchState, BatchCommand, BatchEvent, BatchError> = {
  initialState: () => ({ record: null }),
  decide,
  evolve,
}

function decide(command: BatchCommand, { record }: BatchState): Outcome {
  if (command.type === 'SubmitBatch') {
    const { type, ...data } = command
    return record === null ? [{ type: 'BatchSubmitted', v: 1, data }] : []
  }
  if (record === null) return codedError('BatchUnknown')
  switch (command.type) {
    case 'RouteBatch':
      return route(command, record)
    case 'AcceptBatch':
      return accept(command, record)
    case 'BillLines':
      return billLines(command, record)
    case 'EndBatch':
      return end(command, record)
  }
}

const factsOf = ({ submitted: { batch, userId } }: BatchRecord) => ({ batch, userId })

function route({ type, ...to }: RouteBatch, record: BatchRecord): Outcome {
  if (record.end !== null) return codedError('BatchEnded')
  if (record.place !== null) return codedError('BatchElsewhere')
  return [{ type: 'BatchRouted', v: 1, data: { ...factsOf(record), ...to } }]
}

function accept({ type, ...place }: AcceptBatch, record: BatchRecord): Outcome {
  if (record.end !== null) return codedError('BatchEnded')
  if (record.place !== null) {
    const { channelId, upstreamId } = record.place
    const isSame = channelId === place.channelId && upstreamId === place.upstreamId
    return isSame ? [] : codedError('BatchElsewhere')
  }
  return [{ type: 'BatchAccepted', v: 1, data: { ...factsOf(record), ...place } }]
}

function billLines({ lines }: BillLines, record: BatchRecord): Outcome {
  if (record.end !== null) return codedError('BatchEnded')
  if (record.place === null) return codedError('BatchNotAccepted')
  const { costRatio } = record.place
  const added: BilledLine[] = []
  const seen = new Set<number>()
  for (const { line, part, usage, calls, evidence, ...found } of lines) {
    assert(line >= 0 && line < record.submitted.lines, () => `line ${line} is not in the batch`)
    if (record.billed.has(line) || seen.has(line)) continue
    seen.add(line)
    const price = record.submitted.parts[part]?.price
    assert(price !== undefined, () => `part ${part} is not in the batch`)
    const charge = toWire(chargeFor(price, usage, calls))
    const cost =
      costRatio === undefined ? {} : { cost: toWire(costFor(price, usage, calls, costRatio)) }
    const several = calls > 1 ? { calls } : {}
    const shown = evidence === undefined ? {} : { evidence }
    const billed = { line, part, usage: countsIn(usage), ...several, charge, ...cost }
    added.push({ ...billed, ...shown, ...findingsIn(found) })
  }
  if (added.length === 0) return []
  return [{ type: 'BatchLinesBilled', v: 1, data: { ...factsOf(record), lines: added } }]
}

/**
 * Returns the members of a billed line that describe its result. Members that would be false or
 * null are omitted.
 */
const findingsIn = ({
  isOtherModel = false,
  isEstimated = false,
  anomaly = null,
}: Pick<BillLines['lines'][number], 'isOtherModel' | 'isEstimated' | 'anomaly'>) => ({
  ...(isOtherModel ? ({ isOtherModel } as const) : {}),
  ...(isEstimated ? ({ isEstimated } as const) : {}),
  ...(anomaly === null ? {} : { anomaly }),
})

function end(
  { cause, billedLines, unreadableLines = 0, at }: EndBatch,
  record: BatchRecord,
): Outcome {
  if (record.end !== null) return codedError('BatchEnded')
  if (record.billed.size !== billedLines) return codedError('BatchMoved')
  const unreadable = unreadableLines > 0 ? { unreadableLines } : {}
  const data = { ...factsOf(record), cause, billedLines, ...unreadable, endedAt: at }
  return [{ type: 'BatchEnded', v: 1, data }]
}

/** Returns the counts of a usage that are not 0. */
function countsIn(usage: Usage): Partial<Usage> {
  return Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== 0))
}

function evolve({ record }: BatchState, event: BatchEvent): BatchState {
  if (event.type === 'BatchSubmitted') {
    const sums = event.data.parts.map(() => NO_SUMS)
    return { record: { submitted: event.data, place: null, billed: new Set(), sums, end: null } }
  }
  assert(record !== null, () => `${event.type} of a batch that was not submitted`)
  switch (event.type) {
    case 'BatchRouted': {
      const { attempt } = event.data
      if (attempt === undefined) return { record }
      return { record: { ...record, failed: [...(record.failed ?? []), attempt] } }
    }
    case 'BatchAccepted': {
      const { batch, userId, ...place } = event.data
      return { record: { ...record, place } }
    }
    case 'BatchLinesBilled':
      return { record: withLines(record, event) }
    case 'BatchEnded':
      return { record: { ...record, end: event.data } }
  }
}

function withLines(record: BatchRecord, { data }: BatchLinesBilled): BatchRecord {
  const billed = new Set(record.billed)
  const sums = [...record.sums]
  for (const billedLine of data.lines) {
    const { line, part, usage, charge, cost = 0 } = billedLine
    billed.add(line)
    const before = sums[part] ?? NO_SUMS
    const models = modelsWith(before.models, billedLine)
    const estimatedLines = (before.estimatedLines ?? 0) + (billedLine.isEstimated ? 1 : 0)
    const anomaly = before.anomaly ?? billedLine.anomaly
    sums[part] = {
      lines: before.lines + 1,
      usage: sumOf(before.usage, usage),
      charge: before.charge + fromWire(charge),
      cost: before.cost + fromWire(cost),
      ...(models === undefined ? {} : { models }),
      ...(estimatedLines === 0 ? {} : { estimatedLines }),
      ...(anomaly === undefined ? {} : { anomaly }),
    }
  }
  return { ...record, billed, sums }
}

function modelsWith(
  before: PartModels | undefined,
  { evidence, isOtherModel }: BilledLine,
): PartModels | undefined {
  if (evidence === undefined) return before
  const isOther = isOtherModel === true
  const { model: answered = null, sentModel: sent = null } = evidence
  if (before === undefined || (isOther && !before.isOther)) return { sent, answered, isOther }
  return before.answered === null ? { ...before, answered } : before
}

/** Adds the counts of two usages, including the counts of tool calls. */
function sumOf(usage: Usage, { tools, conditions: _, ...counts }: Partial<Usage>): Usage {
  const sum: Record<string, unknown> = { ...usage }
  for (const [name, count] of Object.entries(counts)) sum[name] = Number(sum[name] ?? 0) + count
  if (tools !== undefined) sum.tools = sumOfTools(usage.tools ?? {}, tools)
  return sum as Usage
}

const sumOfTools = (one: ToolCounts, other: ToolCounts): ToolCounts =>
  Object.fromEntries(
    TOOL_NAMES.map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)] as const).filter(
      ([, count]) => count > 0,
    ),
  )
