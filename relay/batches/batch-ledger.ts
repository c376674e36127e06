import { isDeepStrictEqual } from 'node:util'
import { accountDecider } from '#domain/accounts/decide.ts'
import { type Attempt, accountStream } from '#domain/accounts/events.ts'
import { findEndedCall } from '#domain/accounts/state.ts'
import {
  type BatchRecord,
  type BillLines,
  batchDecider,
  type PartModels,
} from '#domain/batches/decide.ts'
import {
  type BatchAccepted,
  type BatchApi,
  type BatchEndCause,
  type BatchRouted,
  batchStream,
} from '#domain/batches/events.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { fromWire } from '#domain/shared/quota.ts'
import type { AnyStep, StreamActors } from '#infra/event-store/stream-actors-port.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { admissionError } from '../pipeline/call-ledger.ts'
import type { BatchPlan } from './plan-batch.ts'

/**
 * The lease of a batch's calls: the time after which other processes may end them. The lease
 * exceeds the time for which a provider keeps results, so that no call ends while its batch could
 * still be billed.
 */
const LEASE_MS = 45 * 86_400_000
/** The maximum number of open calls for batches that one user may have. */
const OPEN_MAX = 100

type Deps = { readonly actors: StreamActors; readonly now: () => number }
type Submission = {
  readonly batch: string
  readonly api: BatchApi
  /** The channel to which the batch will be sent. */
  readonly channelId: number
  readonly startedAt: number
  readonly clientIp: Sealed | null
}

type EndFacts = {
  /**
   * The failed attempt to submit the batch; null if nothing was sent. Omitted if the batch ended
   * for another reason than a refused submission.
   */
  readonly refused?: Attempt | null
  /** The number of results that could not be read. */
  readonly unreadableLines?: number
}

/**
 * Writes all events of batches. When a batch is submitted or ends, one joint append writes the
 * event of the batch and the events of its calls in the user's account. Either all of these events
 * are written or none.
 */
export class BatchLedger {
  private readonly deps: Deps

  constructor(deps: Deps) {
    this.deps = deps
  }

  /** Reads the state of a batch without caching the event stream of the batch in memory. */
  async peek(batch: string): Promise<BatchRecord | null> {
    return (await this.deps.actors.peek(batchDecider, batchStream(batch))).record
  }

  /**
   * Returns the state of the batch whose id an `Idempotency-Key` has claimed. `new`: the batch can
   * be submitted. `submitted`: the batch was submitted. `over`: the batch cost nothing and can't be
   * submitted any more, because its submission was refused or its id is older than the ended calls
   * that the account still remembers.
   */
  async stateOfClaimed(batch: string, userId: number): Promise<'new' | 'submitted' | 'over'> {
    // The account is read first. A batch that another request submits between both reads is then
    // found.
    const isEnded = await this.deps.actors.ask(
      accountDecider,
      accountStream(userId),
      ({ ended }) => findEndedCall(ended, batch) !== 'unknown',
    )
    const record = await this.peek(batch)
    if (record === null) return isEnded ? 'over' : 'new'
    return record.end?.cause === 'refused' ? 'over' : 'submitted'
  }

  /**
   * Records a batch and sets aside quota for each of its parts. A part consists of the lines with
   * the same model and price. Returns null once this is durable, or the error for the caller.
   */
  async submit(
    { batch, api, channelId, startedAt, clientIp }: Submission,
    { user: { userId }, token: { tokenId }, group }: Caller,
    { parts, lines }: Pick<BatchPlan, 'parts' | 'lines'>,
  ): Promise<RelayError | null> {
    const admissions = parts.map(({ call, model, price, hold, lines }) => ({
      decider: accountDecider,
      stream: accountStream(userId),
      command: {
        type: 'AdmitCall',
        ...{ userId, tokenId, call, model, group, price, startedAt, clientIp },
        isStream: false,
        hold: fromWire(hold),
        leaseUntil: startedAt + LEASE_MS,
        batch: { id: batch, lines, openMax: OPEN_MAX },
      } as const,
    }))
    const facts = { batch, userId, tokenId, group, api, channelId } as const
    const submitted = { ...facts, lines: lines.size, parts, submittedAt: startedAt }
    const command = { type: 'SubmitBatch', ...submitted } as const
    const steps: AnyStep[] = [
      ...admissions,
      { decider: batchDecider, stream: batchStream(batch), command },
    ]
    const outcome = await this.together(steps, `token:${tokenId}`, batch)
    if (!outcome.isDone) return admissionError(outcome.error, batch, false)
    const isWritten = outcome.events.length === steps.length
    return isWritten ? null : relayError('overloaded', { retryAfter: 1 })
  }

  /**
   * Records that the batch is sent to another channel, because the previous channel did not accept
   * it. The batch must not be sent to the other channel before the promise has resolved.
   */
  async route(batch: string, to: Omit<BatchRouted['data'], 'batch' | 'userId'>): Promise<void> {
    const context = { actor: 'system:batches', cause: batch, at: this.deps.now() }
    const command = { type: 'RouteBatch', ...to } as const
    const { actors } = this.deps
    const outcome = await actors.handle(batchDecider, batchStream(batch), command, context)
    if (!outcome.isDone) throw new Error(`a batch was not routed: ${outcome.error.code}`)
  }

  async accept(
    batch: string,
    place: Omit<BatchAccepted['data'], 'batch' | 'userId'>,
  ): Promise<void> {
    const command = { type: 'AcceptBatch', ...place } as const
    const context = { actor: 'system:batches', cause: batch, at: this.deps.now() }
    const { actors } = this.deps
    const outcome = await actors.handle(batchDecider, batchStream(batch), command, context)
    if (!outcome.isDone) throw new Error(`a batch was not accepted: ${outcome.error.code}`)
  }

  /**
   * Records the usage that is charged for lines. A line that was billed before is not billed again.
   */
  async bill(batch: string, lines: BillLines['lines']): Promise<void> {
    const context = { actor: 'system:batches', cause: batch, at: this.deps.now() }
    const command = { type: 'BillLines', lines } as const
    const { actors } = this.deps
    const outcome = await actors.handle(batchDecider, batchStream(batch), command, context)
    if (!outcome.isDone) throw new Error(`lines of a batch were not billed: ${outcome.error.code}`)
  }

  /**
   * Ends the batch and its calls. A part without a billed line costs nothing. Does nothing if the
   * batch is unknown or has ended.
   */
  async end(
    batch: string,
    cause: BatchEndCause,
    { refused = null, unreadableLines = 0 }: EndFacts = {},
  ): Promise<void> {
    const record = await this.peek(batch)
    if (record === null || record.end !== null) return
    const { submitted, billed, sums } = record
    const at = this.deps.now()
    const { submittedAt: startedAt, userId } = submitted
    const timings = { startedAt, firstByteMs: null, durationMs: Math.max(0, at - startedAt) }
    const channelId = record.place?.channelId ?? null
    const { failed = [] } = record
    // `BatchRouted` may be durable although its writer got an error. If so, it contains the
    // attempt.
    const isRecorded = isDeepStrictEqual(failed.at(-1), refused)
    const attempt = record.place?.attempt ?? (isRecorded ? null : refused)
    const { dropped, losses } = record.place ?? {}
    const ofDropped = dropped === undefined ? {} : { dropped }
    const changes = losses === undefined ? ofDropped : { ...ofDropped, losses }
    const money = submitted.parts.map(({ call }, index) => {
      const sum = sums[index]
      if (sum === undefined || sum.lines === 0 || channelId === null) {
        const reason = reasonWithoutUsage(cause, unreadableLines)
        const attempts = attempt === null ? failed : [...failed, attempt]
        const release = {
          errorCode: `batch_${cause.replaceAll('-', '_')}`,
          statusCode: 200,
          attempts,
          timings,
          ...changes,
        }
        return { type: 'ReleaseCall', call, channelId, reason, ...release } as const
      }
      const { usage, lines, charge, cost, models = null, estimatedLines } = sum
      const { costRatio } = record.place ?? {}
      const upstreamModel = models?.sent ?? null
      // An answer of another model takes precedence over an anomaly, which may concern one line
      // only.
      const anomaly = models?.isOther === true ? 'other-model' : (sum.anomaly ?? null)
      const usageSource = estimatedLines === undefined ? 'upstream' : 'estimated'
      const estimated = estimatedLines === undefined ? {} : { estimatedLines }
      const billed = { lines, charge, ...estimated }
      const attempts = attempt === null ? failed : [...failed, withModel(attempt, models)]
      return {
        ...({ type: 'SettleCall', call, channelId, upstreamModel, usage, timings } as const),
        ...(costRatio === undefined ? {} : { costRatio }),
        ...changes,
        ...({ usageSource, anomaly, end: 'done', attempts } as const),
        billed: costRatio === undefined ? billed : { ...billed, cost },
      }
    })
    const lines = { billedLines: billed.size, unreadableLines }
    const command = { type: 'EndBatch', cause, ...lines, at } as const
    const steps: AnyStep[] = [
      { decider: batchDecider, stream: batchStream(batch), command },
      ...money.map((command) => ({
        decider: accountDecider,
        stream: accountStream(userId),
        command,
      })),
    ]
    const outcome = await this.together(steps, 'system:batches', batch)
    if (!outcome.isDone && outcome.error.code !== 'BatchEnded') {
      throw new Error(`a batch was not ended: ${outcome.error.code}`)
    }
  }

  private together(steps: readonly AnyStep[], actor: string, cause: string) {
    return this.deps.actors.handleTogether(steps, { actor, cause, at: this.deps.now() })
  }
}

/**
 * Returns how the calls without a billed line end. If the provider processed the batch and all
 * results could be read, no line has usage: the caller canceled the batch, or the lines failed.
 */
function reasonWithoutUsage(
  cause: BatchEndCause,
  unreadableLines: number,
): 'refused' | 'done' | 'upstream-error' {
  if (cause === 'refused') return 'refused'
  return cause === 'done' && unreadableLines === 0 ? 'done' : 'upstream-error'
}

/**
 * Returns a copy of the attempt whose evidence names the model from the results of the part. If the
 * attempt has no evidence or the results name no model, returns the attempt unchanged.
 */
function withModel(attempt: Attempt, models: PartModels | null): Attempt {
  const { evidence } = attempt
  if (evidence === undefined || models === null || models.answered === null) return attempt
  return { ...attempt, evidence: { ...evidence, model: models.answered } }
}
