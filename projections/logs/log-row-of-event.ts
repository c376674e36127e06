import type {
  AffiliateTransferred,
  Attempt,
  CallInterrupted,
  CallReleased,
  CallSettled,
  ChargeCorrected,
  CheckedIn,
  QuotaDeducted,
  QuotaGranted,
  TopUpCredited,
  TopUpReversed,
} from '#domain/accounts/events.ts'
import { inputTokensOf, type Usage } from '#domain/pricing/usage.ts'
import type { SiteInitialized } from '#domain/setup/events.ts'
import { endOf } from '#domain/shared/end-of-call.ts'
import type { Recorded, Sealed } from '#domain/shared/event.ts'
import type { UserGroupChanged } from '#domain/users/events.ts'
import { attemptOutcome, countedAttempts } from '../channel-stats/projection.ts'
import { secondsOf } from '../unix-seconds.ts'
import {
  otherOfInterrupted,
  otherOfReleased,
  otherOfSettled,
  type RowDetails,
} from './log-row-details.ts'

export type LoggedEvent =
  | CallSettled
  | CallReleased
  | CallInterrupted
  | ChargeCorrected
  | QuotaGranted
  | QuotaDeducted
  | AffiliateTransferred
  | CheckedIn
  | TopUpCredited
  | TopUpReversed
  | SiteInitialized
  | UserGroupChanged

/**
 * 1 is a top-up or a redeemed code. 2 is a charged call. 3 is a change by an admin, a refund, a
 * restoration or a correction. 4 is a grant by the site, a transfer of rewards or the setup of the
 * site. 5 is a check-in. 6 is a failed call.
 */
export type LogType = 1 | 2 | 3 | 4 | 5 | 6

/**
 * A row of the usage log. For a charged call, `quota` is the charge. For all other types, `quota`
 * is the amount added to the balance, negative for a deduction. The sum of the added amounts minus
 * the sum of the charges is therefore the balance plus the held quota, unless a reversed rebate was
 * deducted from the balance. Reversed rebates have no rows.
 */
export type LogCells = {
  readonly created_at: number
  readonly type: LogType
  readonly user_id: number
  readonly quota: number
  /** A code such as `grant:admin`, `settled` or `released:no-channel`, which readers translate. */
  readonly reason: string
  readonly model: string
  readonly prompt_tokens: number
  readonly completion_tokens: number
  /**
   * The admin who made the change, or 0 if the site made it. `note` is the reason, encrypted with
   * the data key of the user whose account changed.
   */
  readonly actor_id?: number
  readonly note?: Sealed | null
  readonly call_group?: string
  readonly call?: CallCells
}

export type CallCells = {
  readonly token_id: number
  readonly channel_id: number
  readonly call_group: string
  readonly request_id: string
  readonly is_stream: boolean
  readonly duration_ms: number
  readonly client_ip: Sealed | null
  /**
   * The ids of the channels whose attempts failed, if any. Of the calls of a batch, only the first
   * has these ids (see `countedAttempts`).
   */
  readonly failed_channels?: readonly number[]
}

/** The JSON texts of a call's log row. Only admins see `admin_other`. */
export type CallDetails = { readonly other: string; readonly admin_other: string }

/**
 * Returns the JSON texts of a call's log row, or null for events that are not the end of a call.
 * `rowOf` does not return these texts, because sums of the log don't need them.
 */
export function detailsOf(event: Recorded<LoggedEvent>): CallDetails | null {
  const details = otherOf(event)
  if (details === null) return null
  const { other, adminOther } = details
  return { other: JSON.stringify(other), admin_other: JSON.stringify(adminOther) }
}

function otherOf({ type, data }: Recorded<LoggedEvent>): RowDetails | null {
  if (type === 'CallSettled') return otherOfSettled(data)
  if (type === 'CallReleased') return otherOfReleased(data)
  return type === 'CallInterrupted' ? otherOfInterrupted(data) : null
}

/**
 * Converts an event to a log row without the texts of `detailsOf`. The row's id is the event's
 * position.
 */
export function rowOf(event: Recorded<LoggedEvent>): LogCells {
  const base = { created_at: secondsOf(event.meta.at), ...NO_CALL }
  switch (event.type) {
    case 'QuotaGranted': {
      const { userId, amount, reason } = event.data
      const row = { ...base, user_id: userId, quota: amount, reason: `grant:${reason}` }
      if (reason === 'admin') return { ...row, type: 3, ...byHand(event) }
      return { ...row, type: reason === 'redemption' ? 1 : 4 }
    }
    case 'QuotaDeducted': {
      const { userId, amount, reason } = event.data
      const row = { ...base, user_id: userId, quota: -amount, reason: `deduct:${reason}` }
      return { ...row, type: 3, ...byHand(event) }
    }
    case 'AffiliateTransferred': {
      const { userId, amount } = event.data
      return { ...base, type: 4, user_id: userId, quota: amount, reason: 'affiliate' }
    }
    case 'CheckedIn': {
      const { userId, amount } = event.data
      return { ...base, type: 5, user_id: userId, quota: amount, reason: 'check-in' }
    }
    case 'TopUpCredited': {
      const { userId, amount, restoreNo } = event.data
      const row = { ...base, user_id: userId, quota: amount }
      if (restoreNo !== undefined) return { ...row, type: 3, reason: 'top-up-restored' }
      return { ...row, type: 1, reason: 'top-up' }
    }
    case 'TopUpReversed': {
      const { userId, amount } = event.data
      const row = { ...base, user_id: userId, quota: -amount, reason: 'top-up-refund' }
      return { ...row, type: 3, ...byHand(event) }
    }
    case 'ChargeCorrected': {
      const { userId, amount, model } = event.data
      const row = { ...base, user_id: userId, quota: 0 - amount, reason: 'correction', model }
      return { ...row, type: 3, actor_id: actorIdOf(event) }
    }
    case 'UserGroupChanged': {
      const { userId, group: call_group } = event.data
      const row = { ...base, user_id: userId, quota: 0, reason: 'group', call_group }
      return { ...row, type: 3, ...byHand(event) }
    }
    case 'SiteInitialized':
      return { ...base, type: 4, user_id: event.data.rootUserId, quota: 0, reason: 'site' }
    case 'CallSettled':
      return { ...base, ...settled(event) }
    case 'CallReleased':
      return { ...base, ...released(event) }
    case 'CallInterrupted':
      return { ...base, ...interrupted(event) }
  }
}

type ByHand = QuotaGranted | QuotaDeducted | TopUpReversed | UserGroupChanged

const byHand = (event: Recorded<ByHand>) => ({
  actor_id: actorIdOf(event),
  note: event.data.note ?? null,
})

const actorIdOf = ({ meta }: Recorded): number => Number(/^user:(\d+)$/.exec(meta.actor)?.[1] ?? 0)

/** The type of the rows of calls that were charged. */
export const CONSUMPTION = 2 as const

const NO_CALL = { model: '', prompt_tokens: 0, completion_tokens: 0 }

const settled = ({ data }: Recorded<CallSettled>) => ({
  type: CONSUMPTION,
  user_id: data.userId,
  quota: data.charge,
  reason: 'settled',
  model: data.model,
  ...tokensOf(data.usage),
  call: callOf(data, data.timings.durationMs),
})

const released = ({ data }: Recorded<CallReleased>) => ({
  type: 6 as const,
  user_id: data.userId,
  quota: 0,
  reason: `released:${endOf(data.attempts, data.reason)}`,
  model: data.model,
  call: callOf(data, data.timings.durationMs),
})

const interrupted = ({ data, meta }: Recorded<CallInterrupted>) => ({
  type: CONSUMPTION,
  user_id: data.userId,
  quota: data.charge,
  reason: 'interrupted',
  model: data.model,
  ...tokensOf(data.usage),
  call: callOf(data, Math.max(0, meta.at - data.startedAt)),
})

const tokensOf = (usage: Usage) => ({
  prompt_tokens: inputTokensOf(usage),
  completion_tokens: usage.output,
})

const callOf = (
  data: (CallSettled | CallReleased | CallInterrupted)['data'],
  durationMs: number,
): CallCells => ({
  token_id: data.tokenId,
  channel_id: data.channelId ?? 0,
  call_group: data.group,
  request_id: data.call,
  is_stream: data.isStream,
  duration_ms: Math.round(durationMs),
  client_ip: data.clientIp,
  ...('attempts' in data ? failedChannels(countedAttempts(data)) : {}),
})

/**
 * Returns the channels whose attempts failed. The channel statistics count the same attempts as
 * failures.
 */
function failedChannels(attempts: readonly Attempt[]): Pick<CallCells, 'failed_channels'> {
  const failed = attempts.filter((attempt) => attemptOutcome(attempt) === 'failure')
  if (failed.length === 0) return {}
  return { failed_channels: [...new Set(failed.map(({ channelId }) => channelId))] }
}
