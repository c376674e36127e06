import type { BatchRecord } from '#domain/batches/decide.ts'
import type { BatchEndCause } from '#domain/batches/events.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { runInParallel } from '#relay/run-in-parallel.ts'
import { Permits } from '../tasks/limit-concurrent-work.ts'
import { isChannelDeleted } from '../views/submission-checks-and-key-retries.ts'
import {
  type DescribeDeps,
  describeBatch,
  protocolOf,
  type Refusal,
} from './ask-provider-about-batch.ts'
import type { BatchLedger } from './batch-ledger.ts'
import type { StoredBatch } from './batch-store.ts'
import { type BilledResults, billResults, type Settling } from './bill-batch-results.ts'
import { recordDenied, recordOtherFailure } from './record-denied-batch-access.ts'
import {
  deleteInputFile,
  deleteInputOfFailed,
  registerResultFiles,
} from './register-and-delete-batch-files.ts'
import { ResultsMemory, ResultsMemoryFull, settlementOwnerOf } from './result-memory-and-rate.ts'

export type BatchDeps = DescribeDeps & { readonly ledger: BatchLedger }

type BatchFailureCause = Exclude<BatchEndCause, 'done' | 'refused'>

/** Asks the provider about a batch, and settles it if it has ended. */
export type Settle = (batch: StoredBatch) => Promise<void>

/** The time after which a batch counts as lost if no provider is known to have accepted it. */
const LOST_MS = 600_000
/**
 * The time from the end of a batch until the provider no longer has its results. If the provider
 * can't be asked about the batch, the time is counted from the submission.
 */
const RESULTS_MS = 30 * 86_400_000
/**
 * The pause after the first attempt to settle a batch, in milliseconds. The pause doubles with each
 * attempt, up to `longest`.
 */
const PAUSE_MS = { first: 2_000, longest: 1_800_000 }
/** The message to the caller about a batch that ended without its results, by the cause. */
const FAILURES: Readonly<Record<BatchFailureCause, string>> = {
  lost: 'The provider does not have the batch. Only lines that were read are charged.',
  'channel-deleted':
    'The channel of the batch was deleted, so its results cannot be fetched. Only lines that ' +
    'were read before are charged.',
  'results-denied':
    'The provider refuses access to the batch or its results. Only lines that were read before ' +
    'are charged.',
}
const BATCHES_AT_ONCE = 4
/** The time after which the poller goes on to the next batch while a slow one is being settled. */
const SLOW_MS = 5_000
/**
 * The maximum number of batches that a process asks about or settles at once: in total, of one
 * channel, and of one user at one channel. A slow provider or the batches of one user therefore do
 * not delay other batches. The poller and look-ups by callers are counted separately, because
 * callers may look up batches as often as they like.
 */
const RUNNING_MAX = { total: 32, ofChannel: 8, ofUser: 6 }
const PAGE = 500

/**
 * Settles batches: bills the results of a batch that has ended, and then ends its calls. A process
 * never settles a batch twice at the same time. Two processes that settle the same batch do no
 * harm, because the events of the batch record each line as billed at most once.
 */
export class BatchSettler {
  private readonly deps: BatchDeps
  private readonly slowMs: number
  private readonly running = new Map<string, Promise<void>>()
  private readonly ofPasses = newPermits()
  private readonly ofLookUps = newPermits()

  constructor(deps: BatchDeps, slowMs = SLOW_MS) {
    this.deps = deps
    this.slowMs = slowMs
  }

  /**
   * Asks the providers about the batches that are not settled and whose next attempt is due, and
   * settles those that have ended. A failure with one batch does not affect the others. A batch
   * that takes long continues after the pass has ended.
   */
  async pass(signal: AbortSignal): Promise<void> {
    let after = ''
    for (;;) {
      const page = await this.deps.batchStore.unsettled(after, PAGE)
      const waiting = page.filter(({ batch }) => !this.running.has(batch))
      await runInParallel(waiting, BATCHES_AT_ONCE, signal, (batch) => {
        const advancing = this.advance(batch, signal, this.ofPasses).catch((err: unknown) => {
          if (signal.aborted) return
          this.deps.log.warn({ err, call: batch.batch }, 'a batch could not be settled')
        })
        return atMost(advancing, this.slowMs)
      })
      after = page.at(-1)?.batch ?? ''
      if (page.length < PAGE || signal.aborted) return
    }
  }

  /** Resolves when no batch is being settled, at the latest after some seconds. */
  idle(): Promise<void> {
    return atMost(Promise.allSettled(this.running.values()), SLOW_MS)
  }

  /**
   * Asks the provider about a batch, and settles it if it has ended. Does nothing if the next
   * attempt is not due, or if too many batches are being settled (see `RUNNING_MAX`). If this batch
   * is being settled already, waits until that is done.
   */
  advance(
    stored: StoredBatch,
    signal: AbortSignal,
    permits: Permits = this.ofLookUps,
  ): Promise<void> {
    const before = this.running.get(stored.batch)
    if (before !== undefined) return before
    const going = this.look(stored, signal, permits).finally(() =>
      this.running.delete(stored.batch),
    )
    this.running.set(stored.batch, going)
    return going
  }

  private async look(stored: StoredBatch, signal: AbortSignal, permits: Permits): Promise<void> {
    const { batch, userId, submittedAt, retryAt, holder } = stored
    const { ledger, batchStore, now } = this.deps
    const record = await ledger.peek(batch)
    const age = now() - submittedAt
    if (record === null) {
      // The process died before the quota was reserved, so nothing was sent to a provider. If a
      // slow request reserves the quota at this moment, the row has another holder and is kept.
      if (age > LOST_MS) await batchStore.remove(batch, holder)
      return
    }
    if (record.end !== null) {
      // A refused batch is not shown. Its row exists if it could not be removed at the refusal.
      const isRefused = record.end.cause === 'refused'
      return isRefused ? batchStore.remove(batch, holder) : batchStore.settle(batch)
    }
    if (record.place === null) return age > LOST_MS ? this.fail(stored, record, 'lost') : undefined
    if (await isChannelDeleted(this.deps, record.place.channelId)) {
      return this.fail(stored, record, 'channel-deleted')
    }
    if (retryAt > now()) return
    const channel = `channel ${record.place.channelId}`
    const ofChannel = { name: channel, max: RUNNING_MAX.ofChannel }
    const ofUser = { name: `${channel} user ${userId}`, max: RUNNING_MAX.ofUser }
    const leave = await permits.enter([ofChannel, ofUser], signal)
    if (leave === null) return
    try {
      await this.askAndSettle(stored, record, signal)
    } finally {
      leave()
    }
  }

  private async askAndSettle(
    stored: StoredBatch,
    record: BatchRecord,
    signal: AbortSignal,
  ): Promise<void> {
    const { batch, userId } = stored
    const { batchStore, settlementMemory } = this.deps
    const answer = await describeBatch(this.deps, record)
    if (answer === null || typeof answer === 'string') {
      return this.noteUnknown(stored, record, answer)
    }
    const { description } = answer
    if (description.isEnded) {
      const owner = settlementOwnerOf(userId)
      const memory = ResultsMemory.reserve(settlementMemory, owner, record.submitted.lines)
      // If too little memory is left, in total or of the user, the next pass tries again.
      if (memory === null) return
      return this.settle(stored, record, { ...answer, memory }, signal).finally(() =>
        memory.close(),
      )
    }
    if (stored.attempts > 0 || stored.deniedAt !== 0) await batchStore.resume(batch)
    await this.describe(stored, description.object)
  }

  /** Handles a batch whose description the provider did not give. */
  private async noteUnknown(
    stored: StoredBatch,
    record: BatchRecord,
    answer: Refusal | null,
  ): Promise<void> {
    const { now } = this.deps
    if (now() - stored.submittedAt > RESULTS_MS) return this.fail(stored, record, 'lost')
    if (!(await this.postpone(stored))) return
    if (answer === null) return recordOtherFailure(this.deps, stored)
    if (!(await recordDenied(this.deps, stored))) return
    await this.fail(stored, record, answer === 'missing' ? 'lost' : 'results-denied')
  }

  /**
   * Stores when the end of a batch was first seen. Earlier denials no longer count, because they
   * concerned the description, which the provider now gives.
   */
  private async noteEnd(stored: StoredBatch): Promise<StoredBatch> {
    const { batchStore, now } = this.deps
    if (stored.endSeenAt !== 0) return stored
    await batchStore.noteEnd(stored.batch, now())
    if (stored.deniedAt !== 0) await batchStore.clearDenied(stored.batch)
    return { ...stored, deniedAt: 0, failingSince: 0 }
  }

  /** Bills and ends a batch that has ended at the provider. */
  private async settle(
    found: StoredBatch,
    record: BatchRecord,
    answer: Settling,
    signal: AbortSignal,
  ): Promise<void> {
    const { batch, endSeenAt } = found
    const { ledger, now } = this.deps
    const { description, key } = answer
    // The time of the next attempt is stored before the results are read, so that no other process
    // reads them at the same time.
    if (!(await this.postpone(found))) return
    const stored = await this.noteEnd(found)
    const isTooLate = endSeenAt !== 0 && now() - endSeenAt > RESULTS_MS
    const outcome = await this.billUnlessDenied(stored, record, answer, signal).catch(
      (err: unknown) => {
        if (!isTooLate || signal.aborted || err instanceof StoreUnavailable) throw err
        this.deps.log.warn({ err, call: batch }, 'the results of a batch could not be read in time')
        return 'too-late' as const
      },
    )
    const isDenied = outcome === 'denied' && (await recordDenied(this.deps, stored))
    const isLost = outcome === 'too-late' || (outcome === 'denied' && isTooLate)
    if (isDenied || isLost) {
      const latest = (await ledger.peek(batch)) ?? record
      return this.fail(stored, latest, isDenied ? 'results-denied' : 'lost')
    }
    const billed = typeof outcome === 'string' ? null : outcome
    if (billed !== null) {
      const results = { description, outputBytes: billed.bytes, signal }
      await registerResultFiles(this.deps, key, stored, record, results)
    }
    await this.describe(stored, description.object)
    if (billed === null) return
    await deleteInputFile(this.deps, key, description)
    await this.end(batch, 'done', billed.unreadableLines)
  }

  /**
   * Bills the lines of a batch (see `billResults`). If the provider fails for another reason than
   * denied access, records the failure.
   */
  private async billUnlessDenied(
    stored: StoredBatch,
    record: BatchRecord,
    answer: Settling,
    signal: AbortSignal,
  ): Promise<BilledResults | 'denied'> {
    try {
      return await billResults(this.deps, record, answer, signal)
    } catch (err) {
      // A download that this process has stopped tells nothing about the provider. Neither does a
      // failure of the gateway's own database, nor a lack of memory.
      const isOwn = err instanceof StoreUnavailable || err instanceof ResultsMemoryFull
      if (!signal.aborted && !isOwn) await recordOtherFailure(this.deps, stored)
      throw err
    }
  }

  /**
   * Stores the time of the next attempt to settle the batch. Returns false if another process has
   * begun an attempt.
   */
  private postpone({ batch, attempts }: StoredBatch): Promise<boolean> {
    const pauseMs = Math.min(PAUSE_MS.first * 2 ** attempts, PAUSE_MS.longest)
    return this.deps.batchStore.postpone(batch, attempts, this.deps.now() + pauseMs)
  }

  private async describe({ batch, userId }: StoredBatch, object: object): Promise<void> {
    const { batchStore, vault, log } = this.deps
    try {
      await batchStore.describe(batch, await vault.seal(userId, JSON.stringify(object)))
    } catch (err) {
      // If the user was erased, the key that encrypts the user's data no longer exists. The batch
      // must be billed and ended nevertheless.
      log.warn({ err, call: batch }, 'the description of a batch could not be stored')
    }
  }

  /**
   * Ends a batch whose results can't be fetched. Lines whose bills were recorded earlier are
   * charged, and the rest of the reserved quota is released. The description of the batch tells the
   * caller the cause.
   */
  private async fail(
    stored: StoredBatch,
    record: BatchRecord,
    cause: BatchFailureCause,
  ): Promise<void> {
    const { vault, log, now } = this.deps
    const { batch, userId, object, uploaded } = stored
    const { submitted, billed, place } = record
    const text = object === null ? null : await vault.open(userId, object).catch(() => null)
    const described = text === null ? null : JSON.parse(text)
    const failure = protocolOf(record).describeFailure({
      ...{ code: cause.replaceAll('-', '_'), message: FAILURES[cause], at: now() },
      ...{ lines: submitted.lines, billedLines: billed.size },
    })
    await this.describe(stored, { ...described, ...failure })
    await this.end(batch, cause)
    const { channelId = null, upstreamId = null } = place ?? {}
    log.warn({ call: batch, cause, channelId, upstreamId }, 'a batch ended without its results')
    await deleteInputOfFailed(this.deps, record, uploaded, described)
  }

  private async end(batch: string, cause: BatchEndCause, unreadableLines = 0): Promise<void> {
    await this.deps.ledger.end(batch, cause, { unreadableLines })
    await this.deps.batchStore.settle(batch)
  }
}

const newPermits = (): Permits =>
  new Permits({ total: RUNNING_MAX.total, waiting: 0, waitingPerName: 0, waitMs: 0 })

/** Resolves when the work is done, or after `ms`. The work must not fail. */
function atMost(work: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    timer.unref()
    work.finally(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
