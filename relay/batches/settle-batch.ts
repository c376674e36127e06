import type { BatchRecord, BillLines } from '#domain/batches/decide.ts'
import type { BatchApi, BatchEndCause } from '#domain/batches/events.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { textOfAnswer } from '#relay/canonical/answer-text-for-token-count.ts'
import { inParallel } from '#relay/channel-actions/run-in-parallel.ts'
import type { WireFormat } from '../dialects/wire-format.ts'
import { meter } from '../pipeline/billed-usage.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { sendTaskRequest } from '../tasks/send-request-to-task-provider.ts'
import { confidentialTo, type RelayKey } from '../views/channel-view.ts'
import { isChannelDeleted, keysOfSubmitted } from '../views/keys-that-may-own-submitted-work.ts'
import { ANTHROPIC_BATCHES } from './anthropic-batches.ts'
import type { BatchLedger } from './batch-ledger.ts'
import type { LineFacts, LinesById, StoredBatch } from './batch-store.ts'
import { openDownload, ResultsUnavailable, resultLines } from './download-batch-results.ts'
import { GEMINI_BATCHES } from './gemini-batches.ts'
import { OPENAI_BATCHES } from './openai-batches.ts'
import { lineId } from './plan-batch.ts'
import type { BatchDescription, BatchProtocol } from './provider-batch-api.ts'
import { evidenceOfLine } from './provider-evidence-of-batch.ts'
import { deleteInputFile, registerResultFiles } from './register-and-delete-batch-files.ts'
import { JsonArraySplitter } from './split-json-array.ts'

export type BatchDeps = RelayDeps & {
  readonly ledger: BatchLedger
  readonly batchOutbound: RelayDeps['outbound']
}

export const protocolOf = (record: BatchRecord): BatchProtocol => PROTOCOLS[record.submitted.api]

const PROTOCOLS: Readonly<Record<BatchApi, BatchProtocol>> = {
  anthropic: ANTHROPIC_BATCHES,
  openai: OPENAI_BATCHES,
  gemini: GEMINI_BATCHES,
}

type BatchFailureCause = Exclude<BatchEndCause, 'done' | 'refused'>

/** Asks the provider about a batch, and settles it if it has ended. */
export type Settle = (batch: StoredBatch) => Promise<void>

/** The number of lines that one event bills. */
const LINES_AT_ONCE = 200
/** The time after which a batch that no provider is known to have accepted counts as lost. */
const LOST_MS = 600_000
/** The time after which the results of a batch no longer exist. */
const RESULTS_MS = 30 * 86_400_000
/**
 * The time for which a provider may deny the results of a batch that has ended. It gives an
 * operator the time to pay the provider or to renew a key.
 */
const DENIED_MS = 3 * 86_400_000
/** The statuses of a refusal that may pass by itself within a short time. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429])
/** The pause after the first attempt to settle a batch. It doubles with each further one. */
const PAUSE_MS = { first: 2_000, longest: 1_800_000 }
/** What the description of a batch says if it ended without the results of its provider. */
const FAILURES: Readonly<Record<BatchFailureCause, string>> = {
  lost: 'The provider does not have the batch. Only lines that were read are charged.',
  'channel-deleted':
    'The channel of the batch was deleted, so its results cannot be fetched. Only lines that ' +
    'were read before are charged.',
  'results-denied':
    'The provider refuses the results of the batch. Only lines that were read before are charged.',
}
const BATCHES_AT_ONCE = 4
const DESCRIBE_MS = 300_000
const PAGE = 500
const BYTES_PER_TOKEN = 4

/**
 * Settles batches. In each process, a batch is settled once at a time. Processes that settle the
 * same batch do no harm, because the batch's stream bills each line once.
 */
export class BatchSettler {
  private readonly deps: BatchDeps
  private readonly running = new Map<string, Promise<void>>()

  constructor(deps: BatchDeps) {
    this.deps = deps
  }

  /**
   * Asks about all batches that are not settled. A failure with one batch does not affect the
   * others.
   */
  async pass(signal: AbortSignal): Promise<void> {
    let after = ''
    for (;;) {
      const page = await this.deps.batchStore.unsettled(after, PAGE)
      await inParallel(page, BATCHES_AT_ONCE, signal, (batch) =>
        this.advance(batch, signal).catch((err: unknown) => {
          if (signal.aborted) return
          this.deps.log.warn({ err, call: batch.batch }, 'a batch could not be settled')
        }),
      )
      after = page.at(-1)?.batch ?? ''
      if (page.length < PAGE || signal.aborted) return
    }
  }

  /** Asks the provider about a batch, and settles it if it has ended. */
  advance(stored: StoredBatch, signal: AbortSignal): Promise<void> {
    const before = this.running.get(stored.batch)
    if (before !== undefined) return before
    const going = this.look(stored, signal).finally(() => this.running.delete(stored.batch))
    this.running.set(stored.batch, going)
    return going
  }

  private async look(stored: StoredBatch, signal: AbortSignal): Promise<void> {
    const { batch, submittedAt, retryAt } = stored
    const { ledger, batchStore, now } = this.deps
    const record = await ledger.peek(batch)
    const age = now() - submittedAt
    if (record === null) {
      // The process died before the hold was written, so nothing was sent.
      if (age > LOST_MS) await batchStore.remove(batch)
      return
    }
    if (record.end !== null) return batchStore.settle(batch)
    if (record.place === null) return age > LOST_MS ? this.fail(stored, record, 'lost') : undefined
    if (await isChannelDeleted(this.deps, record.place.channelId)) {
      return this.fail(stored, record, 'channel-deleted')
    }
    if (retryAt > now()) return
    const answer = await describe(this.deps, record)
    if (answer === 'missing' || (answer === null && age > RESULTS_MS)) {
      return age > LOST_MS ? this.fail(stored, record, 'lost') : undefined
    }
    if (answer === null) return void (await this.postpone(stored))
    const { found, key } = answer
    if (!found.isEnded && stored.attempts > 0) await batchStore.resume(batch)
    // The pause is stored before the results are read, so that no other process reads them now.
    if (found.isEnded && !(await this.postpone(stored))) return
    const outcome = found.isEnded ? await this.bill(record, found, key, signal) : null
    if (outcome === 'denied' && (await this.isDeniedForLong(stored))) {
      return this.fail(stored, (await ledger.peek(batch)) ?? record, 'results-denied')
    }
    const unreadableLines = outcome === 'denied' ? null : outcome
    const isBilled = unreadableLines !== null
    if (isBilled) await registerResultFiles(this.deps, key, record, found)
    await this.describe(stored, found.object)
    if (!isBilled) return
    await deleteInputFile(this.deps, key, found)
    await this.end(batch, 'done', unreadableLines)
  }

  /** Reports whether the provider has denied the results for so long that it will not give them. */
  private async isDeniedForLong({ batch, deniedAt }: StoredBatch): Promise<boolean> {
    const at = this.deps.now()
    if (deniedAt === 0) await this.deps.batchStore.deny(batch, at)
    return deniedAt !== 0 && at - deniedAt > DENIED_MS
  }

  /**
   * Stores the pause before the next attempt. Returns false if another process has begun an
   * attempt.
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
      // The data key of an erased user is gone. The batch must be billed and ended nevertheless.
      log.warn({ err, call: batch }, 'the description of a batch could not be stored')
    }
  }

  /**
   * Ends a batch whose results can't be had. What was billed is charged, the rest of the hold is
   * released, and the description tells the caller why.
   */
  private async fail(
    stored: StoredBatch,
    record: BatchRecord,
    cause: BatchFailureCause,
  ): Promise<void> {
    const { vault, log, now } = this.deps
    const { batch, userId, object } = stored
    const { submitted, billed, place } = record
    const text = object === null ? null : await vault.open(userId, object).catch(() => null)
    const failure = protocolOf(record).describeFailure({
      ...{ code: cause.replaceAll('-', '_'), message: FAILURES[cause], at: now() },
      ...{ lines: submitted.lines, billedLines: billed.size },
    })
    await this.describe(stored, { ...(text === null ? {} : JSON.parse(text)), ...failure })
    await this.end(batch, cause)
    const { channelId = null, upstreamId = null } = place ?? {}
    log.warn({ call: batch, cause, channelId, upstreamId }, 'a batch ended without its results')
  }

  private async end(batch: string, cause: BatchEndCause, unreadableLines = 0): Promise<void> {
    await this.deps.ledger.end(batch, cause, { unreadableLines })
    await this.deps.batchStore.settle(batch)
  }

  /**
   * Bills all lines with an answer. Returns the number of results that could not be read, which
   * cost nothing, or `denied` if the provider refuses the results.
   */
  private async bill(
    record: BatchRecord,
    { results }: BatchDescription,
    key: RelayKey,
    signal: AbortSignal,
  ): Promise<number | 'denied'> {
    if (results === null) return 0
    const { ledger, batchStore } = this.deps
    const { batch } = record.submitted
    const facts = await batchStore.linesOf(batch)
    const { headers, splits } = protocolOf(record)
    const ofParts = splits === undefined ? {} : { splits }
    const download = { keys: [key], path: results, headers, ...ofParts }
    let index = -1
    let unreadable = 0
    let lines: BillLines['lines'][number][] = []
    const billRead = async (): Promise<void> => {
      const read = lines
      lines = []
      if (read.length > 0) await ledger.bill(batch, read)
    }
    try {
      for await (const bytes of resultLines(this.deps, download, signal)) {
        index += 1
        const line = await this.readLine(bytes, { record, key, facts, index })
        if (line === 'unreadable') unreadable += 1
        else if (line !== null) lines.push(line)
        if (lines.length >= LINES_AT_ONCE) await billRead()
      }
    } catch (err) {
      // The answers before the failure were delivered to the site, whether it passes or not.
      await billRead()
      if (err instanceof ResultsUnavailable && isDenied(err.status)) return 'denied'
      throw err
    }
    await billRead()
    if (unreadable > 0) {
      this.deps.log.warn({ call: batch, unreadable }, 'results of a batch could not be read')
    }
    return unreadable
  }

  private async readLine(
    bytes: Buffer | null,
    { record, key, facts, index }: LineContext,
  ): Promise<BillLines['lines'][number] | 'unreadable' | null> {
    if (bytes === null) return 'unreadable'
    const text = bytes.toString('utf8')
    if (text.trim() === '') return null
    const protocol = protocolOf(record)
    const result = protocol.readResult(text, index)
    if (result === null) return 'unreadable'
    const found = facts.get(lineId(record.submitted.batch, result.customId))
    if (found === undefined || result.answer === null) return null
    const { line, part, calls } = found
    if (record.billed.has(line)) return null
    const { price, model } = record.submitted.parts[part] ?? {}
    if (price === undefined || model === undefined) return null
    const { userId } = record.submitted
    const answer = Buffer.from(JSON.stringify(result.answer))
    const counter = this.deps.counter.of(userId)
    const format = protocol.formatOf(found.format)
    const rawUsage = format.usageInAnswer(answer)
    const readText = () => textOfAnswer(answer, format.readTexts)
    const delivery = { rawUsage, answeredModel: null, readText, isWhole: true, chargesInput: true }
    const { bounds } = found
    const limits = { ...bounds, outputTokens: bounds.outputTokens * bounds.choices }
    const { usage } = await meter(delivery, meteredLine(found, key, format), counter, limits, price)
    const shown = evidenceOfLine({
      ...{ bytes, answer: result.answer, requestId: result.requestId, usage: rawUsage },
      ...{ target: key.target, model, sentModel: found.sentModel },
    })
    return { line, part, usage: withInput(usage, rawUsage, found), calls, ...shown }
  }
}

const isDenied = (status: number): boolean => status >= 400 && status <= 499 && !PASSING.has(status)

type LineContext = {
  /** The index of the result among all results. */
  readonly index: number
  readonly record: BatchRecord
  readonly key: RelayKey
  readonly facts: LinesById
}

/**
 * The fields that `meter` requires, but that are the same for all lines or have no effect on them.
 */
const NO_REQUEST = {
  ...{ model: '', members: [], tools: [], isStream: false, wantsUsage: false },
  ...{ choices: 1, outputTokensMax: null, reasoningEffort: null },
} as const
const HOUR_CACHE = Buffer.from('{"ttl":"1h"}')
const NO_CACHE = Buffer.from('{}')

/**
 * Returns a line in the form that `meter` reads. The body of the line is no longer known. A
 * substitute states the lifetime of cache writes, which is all that `meter` reads from a body.
 */
const meteredLine = (
  { bounds, inputCeiling, hasHourCache, toolLimits }: LineFacts,
  { target }: RelayKey,
  format: WireFormat,
) => ({
  request: {
    ...NO_REQUEST,
    format,
    body: hasHourCache ? HOUR_CACHE : NO_CACHE,
    inputBound: { tokens: bounds.inputTokens, ceiling: inputCeiling, isText: true },
    ...(toolLimits === undefined ? {} : { toolLimits: { ...toolLimits, edits: [] } }),
  },
  channel: { target },
})

/** Estimates the input from the length of the request if the provider reported no usage. */
function withInput(usage: Usage, rawUsage: unknown, { bytes }: LineFacts): Usage {
  if (rawUsage !== undefined && rawUsage !== null) return usage
  return { ...NO_USAGE, ...usage, inputUncached: Math.ceil(bytes / BYTES_PER_TOKEN) }
}

/**
 * Returns the keys to try for requests about the batch. The list is empty if the channel is unknown
 * or was deleted.
 */
export const keysOf = ({ views }: RelayDeps, { place }: BatchRecord): readonly RelayKey[] =>
  place === null ? [] : keysOfSubmitted(views.channels, place)

type Described = { readonly found: BatchDescription; readonly key: RelayKey }

/**
 * Asks the provider about a batch. Returns null if the provider can't be asked now. A batch counts
 * as missing only if the provider denies it for the key that submitted it, because a later key may
 * belong to another account.
 */
async function describe(
  deps: BatchDeps,
  record: BatchRecord,
): Promise<Described | 'missing' | null> {
  for (const key of keysOf(deps, record)) {
    const found = await describeWith(deps, key, record)
    if (found === 'missing' && key.keyRef === record.place?.keyRef) return 'missing'
    if (found !== null && found !== 'missing') return { found, key }
  }
  return null
}

async function describeWith(
  deps: BatchDeps,
  key: RelayKey,
  record: BatchRecord,
): Promise<BatchDescription | 'missing' | null> {
  const { batchOutbound, views } = deps
  const { headers, path: root, readDescription, splits } = protocolOf(record)
  const path = `${root}/${encodeURIComponent(record.place?.upstreamId ?? '')}`
  if (splits !== undefined) {
    const download = { keys: [key], path, headers }
    return describeWithResults(deps, download, splits, confidentialAt(views, record))
  }
  const request = { method: 'GET', path, headers } as const
  const answer = await sendTaskRequest(batchOutbound, key.target, request)
  if (answer.kind === 'plain') return readDescription(answer.body, confidentialAt(views, record))
  return answer.kind === 'failed' && answer.status === 404 ? 'missing' : null
}

/** Reads a description that contains the results. The results are not kept in memory. */
async function describeWithResults(
  deps: BatchDeps,
  download: Parameters<typeof openDownload>[1],
  { rules, readDescription }: NonNullable<BatchProtocol['splits']>,
  confidential: readonly string[],
): Promise<BatchDescription | 'missing' | null> {
  const splitter = new JsonArraySplitter(rules)
  try {
    const body = await openDownload(deps, download, AbortSignal.timeout(DESCRIBE_MS))
    for await (const chunk of body) splitter.push(chunk)
  } catch (error) {
    return error instanceof ResultsUnavailable && error.status === 404 ? 'missing' : null
  }
  return readDescription(splitter.rest, splitter.hasArray, confidential)
}

/** Returns the texts that must not be sent to callers, such as the keys of the batch's channel. */
export function confidentialAt(
  { channels }: RelayDeps['views'],
  { place }: BatchRecord,
): readonly string[] {
  const channel = channels.find(place?.channelId ?? -1)
  return channel === undefined ? [] : confidentialTo(channel)
}
