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
 * call, also its duration, time to first token, output speed and anomalies. Attempts that submitted
 * a batch are not counted.
 */
export const channelStats = projectionOf<CallSettled | CallReleased>({
  name: 'channel-stats',
  version: 4,
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

const minuteOf = ({ meta }: Ended): number => Math.floor(secondsOf(meta.at) / 60) * 60

/**
 * Reports whether the call's attempts submitted a batch. Such attempts are not counted. They say
 * nothing about the speed of the model. In addition, they would count several times, because each
 * call of the batch repeats the attempts in the call's final event, hours later.
 */
const isOfBatch = ({ data }: Ended): boolean => data.batch !== undefined

function countTries(event: Ended, rows: RowChanges): void {
  const minute = minuteOf(event)
  const { model, attempts } = event.data
  if (isOfBatch(event)) return
  for (const attempt of attempts) {
    const outcome = attemptOutcome(attempt)
    if (outcome === null) continue
    const [successes, failures] = outcome === 'success' ? [1n, 0n] : [0n, 1n]
    const added = { ...NOTHING, successes, failures }
    rows.add('tries', { minute, channel_id: attempt.channelId, model }, added)
  }
}

/**
 * Records the anomaly, duration, time to first token and output speed of the attempt that returned
 * the answer. The time to the first token does not include earlier attempts.
 */
function measure(event: Recorded<CallSettled>, rows: RowChanges): void {
  const { attempts, channelId, model, timings, usage, isStream, anomaly } = event.data
  const answered = attempts.at(-1)
  if (answered === undefined || answered.channelId !== channelId || isOfBatch(event)) return
  const minute = minuteOf(event)
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
 * The error codes of attempts that the gateway or the caller ended. These attempts do not count in
 * a channel's statistics.
 */
const NOT_COUNTED_ERRORS = new Set([
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
