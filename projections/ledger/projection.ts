import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  AffiliateTransferred,
  CallInterrupted,
  CallSettled,
  ChargeCorrected,
  CheckedIn,
  Movement,
  QuotaDeducted,
  QuotaGranted,
  RebateReversed,
  TopUpCredited,
  TopUpReversed,
} from '#domain/accounts/events.ts'
import type { Recorded, Sealed } from '#domain/shared/event.ts'
import type { MovementType } from '#read-api/contract/ledger-movement-types.ts'
import { type Handlers, projectionOf } from '../projection.ts'
import type { RowChanges } from '../runner/row-changes.ts'
import { secondsOf } from '../unix-seconds.ts'

/**
 * The events that can change an account's total: its balance plus its holds. Holds only move quota
 * within the total.
 */
type MovingEvent =
  | AffiliateTransferred
  | CallInterrupted
  | CallSettled
  | ChargeCorrected
  | CheckedIn
  | QuotaDeducted
  | QuotaGranted
  | RebateReversed
  | TopUpCredited
  | TopUpReversed

type Origin = {
  readonly type: MovementType
  /**
   * The cause of the movement: the id of a call, grant, deduction, order, transfer or correction,
   * or the day of a check-in.
   */
  readonly source: string
  readonly reason?: string
  readonly note?: Sealed | undefined
  readonly model?: string
  readonly tokenId?: number
  readonly channelId?: number | null
  /**
   * The amounts by channel. Only for corrections, because one correction can change calls of
   * several channels.
   */
  readonly channels?: ReadonlyMap<number, bigint>
}

const DAY = 86_400

/**
 * The movements of each account, each with the balance and the held quota after the movement (null
 * if the event is of an earlier version). The read model also contains the sums of each account by
 * day, and of the site by month. All rows of an account come from one stream, so the rows are in
 * the order of the stream's revisions.
 */
export const ledger = projectionOf<MovingEvent>({
  name: 'ledger',
  version: 3,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: {
    movements: { key: ['user_id', 'position'], isAppendOnly: true },
    account_days: { key: ['user_id', 'day', 'type', 'model'] },
    site_months: { key: ['month', 'type', 'reason', 'channel_id', 'model'], isShared: true },
  },
  handlers: {
    CallSettled: (event, rows) => record(event, ofCall(event), rows),
    CallInterrupted: (event, rows) => record(event, ofCall(event), rows),
    QuotaGranted: (event, rows) => {
      const { grantId: source, reason, note } = event.data
      const type = reason === 'redemption' ? 'redemption' : 'grant'
      record(event, { type, source, reason, note }, rows)
    },
    QuotaDeducted: (event, rows) => {
      const { deductionId: source, reason, note } = event.data
      record(event, { type: 'deduction', source, reason, note }, rows)
    },
    CheckedIn: (event, rows) => record(event, { type: 'check_in', source: event.data.day }, rows),
    AffiliateTransferred: (event, rows) =>
      record(event, { type: 'transfer', source: event.data.transferId }, rows),
    TopUpCredited: (event, rows) => {
      const { orderId, restoreNo, provider } = event.data
      const reason = restoreNo === undefined ? provider : `restored:${provider}`
      record(event, { type: 'order', source: String(orderId), reason }, rows)
    },
    TopUpReversed: (event, rows) => {
      const { orderId, provider: reason, note } = event.data
      record(event, { type: 'refund', source: String(orderId), reason, note }, rows)
    },
    RebateReversed: (event, rows) =>
      record(event, { type: 'rebate', source: String(event.data.orderId) }, rows),
    ChargeCorrected: (event, rows) => {
      const { correctionId: source, model } = event.data
      const channels = channelsOfCorrection(event.data)
      record(event, { type: 'correction', source, model, channels }, rows)
    },
  } satisfies Handlers<MovingEvent>,
})

const ofCall = ({ type, data }: Recorded<CallSettled | CallInterrupted>): Origin => ({
  type: 'call',
  source: data.call,
  reason: type === 'CallSettled' ? 'settled' : 'interrupted',
  model: data.model,
  tokenId: data.tokenId,
  channelId: data.channelId,
})

/**
 * Returns the amounts that a correction adds to the account's balance, by channel. The id 0 means
 * that a call has no channel.
 */
function channelsOfCorrection({ calls }: ChargeCorrected['data']): ReadonlyMap<number, bigint> {
  const amounts = new Map<number, bigint>()
  for (const { channelId, charge, corrected } of calls) {
    const id = channelId ?? 0
    amounts.set(id, (amounts.get(id) ?? 0n) + BigInt(charge) - BigInt(corrected))
  }
  return amounts
}

function record(event: Recorded<MovingEvent>, origin: Origin, rows: RowChanges): void {
  const { data, meta, position, revision } = event
  const { type, source, reason = '', note, model = '', tokenId = 0, channelId } = origin
  const { userId } = data
  const amount = changeOfTotal(data, userId)
  addToSite(event, origin, amount, rows)
  if (amount === 0n) return
  const createdAt = secondsOf(meta.at)
  const cells = { model, channel_id: channelId ?? 0 }
  rows.insert(
    'movements',
    { user_id: userId, position },
    {
      ...{ revision, created_at: createdAt, type, source, amount, reason, ...cells },
      balance: data.balanceAfter ?? null,
      held: data.heldAfter ?? null,
      actor_id: Number(/^user:(\d+)$/.exec(meta.actor)?.[1] ?? 0),
      note: note ?? null,
      token_id: tokenId,
    },
  )
  const day = createdAt - (createdAt % DAY)
  rows.add('account_days', { user_id: userId, day, type, model }, { count: 1n, amount })
}

/**
 * Adds a movement to the sums of the site. A correction changes the sums of each channel of its
 * calls, even if the correction does not change the account's total. If a movement has several
 * channels, only the sums of the first one count the movement.
 */
function addToSite(
  { meta }: Recorded<MovingEvent>,
  { type, reason = '', model = '', channelId, channels }: Origin,
  amount: bigint,
  rows: RowChanges,
): void {
  const createdAt = secondsOf(meta.at)
  const month = monthOf(createdAt - (createdAt % DAY))
  let count = amount === 0n ? 0n : 1n
  for (const [channel_id, part] of channels ?? [[channelId ?? 0, amount] as const]) {
    if (count === 0n && part === 0n) continue
    rows.add('site_months', { month, type, reason, model, channel_id }, { count, amount: part })
    count = 0n
  }
}

const latestMonth = { day: -1, start: 0 }

/**
 * Returns the start of the month of a UTC day. The last result is reused, because successive events
 * mostly have the same day.
 */
function monthOf(day: number): number {
  if (latestMonth.day !== day) {
    const date = new Date(day * 1_000)
    const start = Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1_000
    Object.assign(latestMonth, { day, start })
  }
  return latestMonth.start
}

/**
 * Returns the amount that the postings add to the user's total: the balance plus the held quota.
 */
function changeOfTotal({ postings }: Movement, userId: number): bigint {
  let change = 0n
  for (const [account, amount] of postings) {
    const isOwn = account === `user:${userId}:main` || account === `user:${userId}:held`
    if (isOwn) change += BigInt(amount)
  }
  return change
}
