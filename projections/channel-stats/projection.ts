import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Attempt, CallReleased, CallSettled } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { projectionOf } from '../projection.ts'
import type { RowChanges } from '../runner/row-changes.ts'
import { secondsOf } from '../unix-seconds.ts'
import { bucketOf } from './histogram-buckets.ts'

/**
 * The values of the column `what`. `LATENCY`: the duration of an attempt. `FIRST_TOKEN`: the time
 * from the start of an attempt to its first token.
 */
const LATENCY = 1
const FIRST_TOKEN = 2

/**
 * The outcomes of attempts by minute, channel and model. For the attempt that answered a settled
 * call, also its duration, time to first token, output speed and anomalies. Of the attempts that
 * submitted a batch, only the outcomes are counted.
 */
export const channelStats = projectionOf<CallSettled | CallReleased>({
  name: 'channel-stats',
  version: 5,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: {
    tries: { key: ['minute', 'channel_id', 'model'], isShared: true },
    spread: { key: ['minute', 'channel_id', 'model', 'what', 'bucket'], isShared: true },
  },
  handlers: {
    CallSettled: (event, rows) => {
      countTries(event, rows)
      measure(event, rows)
    },
    CallReleased: countTries,
  },
})

const NOTHING = { successes: 0n, failures: 0n, output_tokens: 0n, output_ms: 0n, anomalies: 0n }

type Ended = Recorded<CallSettled> | Recorded<CallReleased>

const minuteAt = (milliseconds: number): number => Math.floor(secondsOf(milliseconds) / 60) * 60

/**
 * Counts the outcomes of the attempts in the minute in which the call ended. The attempts of a
 * batch are counted in the minute in which the batch was submitted, because its calls end hours
 * after the attempts.
 */
function countTries(event: Ended, rows: RowChanges): void {
  const { model, batch, timings } = event.data
  const minute = minuteAt(batch === undefined ? event.meta.at : timings.startedAt)
  for (const attempt of countedAttempts(event.data)) {
    const outcome = attemptOutcome(attempt)
    if (outcome === null) continue
    const [successes, failures] = outcome === 'success' ? [1n, 0n] : [0n, 1n]
    const added = { ...NOTHING, successes, failures }
    rows.add('tries', { minute, channel_id: attempt.channelId, model }, added)
  }
}

/**
 * Records the anomaly, duration, time to first token and output speed of the attempt that returned
 * the answer. The time to the first token does not include earlier attempts. Does nothing for a
 * call of a batch, because the attempt that submitted the batch says nothing about the speed of the
 * model.
 */
function measure({ data, meta }: Recorded<CallSettled>, rows: RowChanges): void {
  const { attempts, channelId, model, timings, usage, isStream, anomaly } = data
  const answered = attempts.at(-1)
  if (data.batch !== undefined || answered?.channelId !== channelId) return
  const minute = minuteAt(meta.at)
  const key = { minute, channel_id: channelId, model }
  if (anomaly !== null) rows.add('tries', key, { ...NOTHING, anomalies: 1n })
  const spread = (what: number, milliseconds: number): void =>
    rows.add('spread', { ...key, what, bucket: bucketOf(milliseconds) }, { count: 1n })
  if (answered.error === null) spread(LATENCY, answered.latencyMs)
  const firstMs = isStream ? firstTokenMs(attempts, timings.firstByteMs) : null
  if (firstMs !== null) spread(FIRST_TOKEN, firstMs)
  const writingMs = Math.round(answered.latencyMs - (firstMs ?? 0))
  if (usage.output <= 0 || writingMs <= 0) return
  rows.add('tries', key, {
    ...NOTHING,
    output_tokens: BigInt(usage.output),
    output_ms: BigInt(writingMs),
  })
}

function firstTokenMs(attempts: readonly Attempt[], firstByteMs: number | null): number | null {
  if (firstByteMs === null) return null
  const before = attempts.slice(0, -1).reduce((sum, { latencyMs }) => sum + latencyMs, 0)
  return Math.max(0, firstByteMs - before)
}

/**
 * Returns the attempts of an ended call that count for their channels. The final event of each call
 * of a batch repeats the attempts that submitted the batch. These attempts count only for the first
 * call of the batch, which has the id of the batch.
 */
export const countedAttempts = ({
  call,
  batch,
  attempts,
}: Pick<CallSettled['data'], 'call' | 'batch' | 'attempts'>): readonly Attempt[] =>
  batch === undefined || batch.id === call ? attempts : []

/**
 * The error codes of attempts that the gateway or the caller ended, or in which the provider
 * rejected the caller's prompt (`blocked`). These attempts do not count in a channel's statistics.
 */
const NOT_COUNTED_ERRORS = new Set([
  'blocked',
  'caller-gone',
  'draining',
  'revoked',
  'screened',
  'balance-spent',
  'store-unavailable',
])

/**
 * The HTTP statuses below 500 that count as failures of the channel, because they usually result
 * from the operator's account or the provider's limits, not from the caller's request.
 */
const CHANNEL_FAILURE_STATUSES = new Set([401, 402, 404, 408, 429])

/**
 * Returns whether an attempt counts as a success or as a failure of the channel, or null if it
 * counts as neither. An attempt counts as neither if the gateway or the caller ended it, or if the
 * provider rejected the caller's request. A rejection of the operator's account (`isAccounts`)
 * always counts as a failure.
 */
export function attemptOutcome({
  status,
  error,
  isAccounts,
}: Attempt): 'success' | 'failure' | null {
  if (error === null) return 'success'
  if (isAccounts === true) return 'failure'
  if (NOT_COUNTED_ERRORS.has(error)) return null
  const isCallers =
    error === 'status' &&
    status !== null &&
    status >= 400 &&
    status < 500 &&
    !CHANNEL_FAILURE_STATUSES.has(status)
  return isCallers ? null : 'failure'
}
