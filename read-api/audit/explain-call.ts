import type { Attempt, CallSettled } from '#domain/accounts/events.ts'
import { OPTIONS_STREAM } from '#domain/options/events.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { endOf, requestIfServedByOther } from '#domain/shared/end-of-call.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { type TaskEvent, taskStream } from '#domain/tasks/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { findChannel } from '#projections/channels/query.ts'
import type { LogRow } from '#projections/logs/query.ts'
import type { CallExplanation, ExplainedAttempt } from '../contract/calls.ts'
import type { ChannelHosts } from './channel-hosts-over-time.ts'
import { correctionsOf } from './corrections.ts'
import type { CallEnding, CallEvents } from './find-call-events.ts'
import { listPricesInForce } from './prices-in-force.ts'
import { recomputeCharge } from './recompute-charge.ts'
import { evidenceOf, resultsOfBatch, usageReportOf } from './visible-provider-evidence.ts'

export type ExplainDeps = {
  readonly core: Pick<Core, 'store' | 'db' | 'actors' | 'vault'>
  readonly hosts: ChannelHosts
}

/**
 * The names of a call's user and token, and the IP address of the request in the form that the
 * viewer may see.
 */
export type CallNames = Pick<LogRow, 'username' | 'tokenName'> & { readonly address: string }

type Viewer = {
  readonly seesAll: boolean
  /**
   * The path of a log route in which the viewer can find the call, or null if the viewer may read
   * no such route.
   */
  readonly logPath: string | null
}

const STATUS = {
  CallSettled: 'settled',
  CallReleased: 'released',
  CallInterrupted: 'interrupted',
} as const

/**
 * Explains a call from its events. Only viewers who may see all calls get the channels, the hosts,
 * the provider's names of mapped models, the costs and the names of admins. Returns null if
 * `events` contains neither an admission nor an end.
 */
export async function explainCall(
  deps: ExplainDeps,
  events: CallEvents,
  names: CallNames,
  { seesAll, logPath }: Viewer,
): Promise<CallExplanation | null> {
  const { admission, raises, end } = events
  const facts = (end ?? admission)?.data
  if (facts === undefined) return null
  const { call, userId, tokenId, model, group, isStream, batch } = facts
  const settled = end?.type === 'CallSettled' ? end.data : null
  const charged = end === null || end.type === 'CallReleased' ? null : end
  const corrections = charged === null ? [] : await correctionsOf(deps.core, call, seesAll)
  const price = charged?.data.price ?? admission?.data.price ?? null
  return {
    ...{ request_id: call, user_id: userId, username: names.username },
    ...{ token_id: tokenId, token_name: names.tokenName },
    status: end === null ? 'open' : STATUS[end.type],
    ...{ model, group, is_stream: isStream },
    requested: requestIfServedByOther(facts) ?? null,
    upstream_model: seesAll ? (settled?.upstreamModel ?? null) : null,
    formats: [...((end?.data.formats ?? []) as readonly string[])],
    admission: admission === null ? null : admissionOf(admission, names.address),
    raised_holds: raises.map((event) => ({
      ...momentOf(event),
      added: event.data.added,
      hold: event.data.hold,
    })),
    attempts: end === null ? [] : await attemptsOf(deps, end, admission, seesAll),
    end: end === null ? null : endingOf(end),
    usage: charged === null ? null : usageOf(charged, seesAll),
    price: price === null ? null : await priceOf(deps, price, { model, group, seesAll }),
    arithmetic: charged === null ? null : await recomputeCharge(deps.core.store, charged),
    corrections,
    charge_in_force:
      end === null ? null : (corrections.at(-1)?.corrected ?? charged?.data.charge ?? 0),
    cost: seesAll ? (charged?.data.cost ?? null) : null,
    cost_ratio: seesAll ? (charged?.data.costRatio ?? null) : null,
    batch: batch === undefined ? null : await batchOf(deps, batch, facts, settled, seesAll),
    task: admission?.data.isTask === true ? await taskOf(deps, call) : null,
    links: {
      receipts: `/api/audit/receipts/${call}`,
      log: logPath === null ? null : `${logPath}?request_id=${call}`,
    },
  }
}

type Moment = Pick<
  NonNullable<CallExplanation['admission']>,
  'position' | 'revision' | 'created_at' | 'balance_after' | 'held_after'
>

function momentOf({ position, revision, meta, data }: Recorded): Moment {
  const { balanceAfter = null, heldAfter = null } = data as {
    readonly balanceAfter?: number
    readonly heldAfter?: number
  }
  const created_at = Math.floor(meta.at / 1_000)
  return { position, revision, created_at, balance_after: balanceAfter, held_after: heldAfter }
}

const admissionOf = (
  event: NonNullable<CallEvents['admission']>,
  address: string,
): CallExplanation['admission'] => ({
  ...momentOf(event),
  hold: event.data.hold,
  lease_until: Math.floor(event.data.leaseUntil / 1_000),
  client_ip: address,
})

function endingOf(event: CallEnding): NonNullable<CallExplanation['end']> {
  const { type, data } = event
  const isReleased = type === 'CallReleased'
  const charge = isReleased ? 0 : data.charge
  const timings = type === 'CallInterrupted' ? null : data.timings
  return {
    ...momentOf(event),
    type,
    reason: reasonOf(event),
    error_code: errorCodeOf(event),
    status_code: isReleased ? data.statusCode : null,
    ...{ hold: data.hold, charge, released: data.hold - charge },
    duration_ms: timings === null ? null : Math.round(timings.durationMs),
    first_byte_ms: timings?.firstByteMs == null ? null : Math.round(timings.firstByteMs),
  }
}

function errorCodeOf({ type, data }: CallEnding): string | null {
  if (type === 'CallReleased') return data.errorCode
  return type === 'CallSettled' ? (data.endReason ?? null) : null
}

/** Returns how the call ended, as the usage log shows it. */
function reasonOf({ type, data }: CallEnding): string {
  if (type === 'CallInterrupted') return 'interrupted'
  return endOf(data.attempts, type === 'CallReleased' ? data.reason : data.end)
}

/**
 * Explains the attempts of a call that has ended: the channel, the host and the result of each
 * attempt. An interrupted call has no recorded attempts.
 */
async function attemptsOf(
  { core, hosts }: ExplainDeps,
  end: CallEnding,
  admission: Recorded | null,
  seesAll: boolean,
): Promise<ExplainedAttempt[]> {
  const attempts: readonly Attempt[] = end.type === 'CallInterrupted' ? [] : end.data.attempts
  const upstreamModel = end.type === 'CallSettled' ? end.data.upstreamModel : null
  const explained: ExplainedAttempt[] = []
  const range = { from: (admission ?? end).position, to: end.position }
  for (const [index, attempt] of attempts.entries()) {
    const { channelId, status, error, latencyMs, isAccounts = false } = attempt
    const before = attempts[index - 1]
    const isSame = before?.channelId === channelId
    const channel = seesAll ? await findChannel(core.db, channelId) : null
    const isMapped = upstreamModel !== null || attempt.evidence?.sentModel !== undefined
    const { hostHash, sentAt } = attempt.evidence ?? {}
    const attempted = { hostHash, sentAt, ...range }
    const host = seesAll ? await hosts.hostOf(channelId, attempted) : null
    explained.push({
      channel_id: seesAll ? channelId : null,
      channel_name: channel?.terms.name ?? null,
      ...{ status, error, latency_ms: latencyMs },
      reason: before === undefined ? 'first' : isSame ? 'another-key' : 'another-channel',
      after_error: before?.error ?? null,
      is_account_rejected: seesAll && isAccounts,
      evidence: evidenceOf(attempt.evidence, { host, seesAll, isMapped }),
    })
  }
  return explained
}

/**
 * Anomalies that reveal something about the provider. Only admins and auditors see these anomalies.
 */
const PROVIDER_ANOMALIES = new Set(['other-model', 'higher-cost'])

function usageOf(
  { type, data }: Extract<CallEnding, { type: 'CallSettled' | 'CallInterrupted' }>,
  seesAll: boolean,
): CallExplanation['usage'] {
  const settled = type === 'CallSettled' ? data : null
  const raw = usageReportOf(settled?.attempts.at(-1)?.evidence, seesAll)
  const anomaly = settled?.anomaly ?? null
  return {
    source: settled?.usageSource ?? null,
    normalised: { ...data.usage },
    raw,
    unpaid: settled?.unpaidUsage === undefined ? null : { ...settled.unpaidUsage },
    anomaly: seesAll || !PROVIDER_ANOMALIES.has(anomaly ?? '') ? anomaly : null,
  }
}

async function batchOf(
  { core }: ExplainDeps,
  batch: { readonly id: string; readonly lines: number },
  { call }: { readonly call: string },
  settled: CallSettled['data'] | null,
  seesAll: boolean,
): Promise<CallExplanation['batch']> {
  const shown = { ...batch, billed_lines: settled?.billedLines ?? 0 }
  if (settled === null) return shown
  const query = { batch: batch.id, call, seesAll }
  return { ...shown, results: await resultsOfBatch(core.store, query) }
}

/**
 * Returns the price of a call, and the entries of the price options from which the price was
 * computed. `price.list` is the revision of the last option event that the price list includes, so
 * the entries are read as of this event. The owner of the call does not see the login names of the
 * admins who set the entries.
 */
async function priceOf(
  { core }: ExplainDeps,
  price: PriceSnapshot,
  scope: { readonly model: string; readonly group: string; readonly seesAll: boolean },
): Promise<CallExplanation['price']> {
  const [event] = price.list < 0 ? [] : await core.store.readStream(OPTIONS_STREAM, price.list, 1)
  const in_force = await listPricesInForce(core, {
    ...{ model: scope.model, group: scope.group, userGroup: price.userGroup ?? scope.group },
    tools: Object.keys(price.tools ?? {}),
    position: event?.position ?? 0,
  })
  const withoutNames = in_force.map(({ set_by: by, ...entry }) => ({
    ...entry,
    set_by: by === null ? null : { ...by, name: '' },
  }))
  return {
    list: price.list,
    snapshot: { ...price },
    in_force: scope.seesAll ? in_force : withoutNames,
  }
}

async function taskOf({ core }: ExplainDeps, task: string): Promise<CallExplanation['task']> {
  const events = (await core.store.readStream(taskStream(task))) as TaskEvent[]
  let status = 'NOT_START'
  let finishedAt: number | null = null
  for (const { type, data } of events) {
    if (type === 'TaskAccepted' || type === 'TaskStatusChanged') status = data.status
    if (type === 'TaskSucceeded') status = 'SUCCESS'
    if (type === 'TaskFailed') status = 'FAILURE'
    if (type === 'TaskSucceeded' || type === 'TaskFailed') {
      finishedAt = Math.floor(data.finishedAt / 1_000)
    }
  }
  return { id: task, status, finished_at: finishedAt }
}
