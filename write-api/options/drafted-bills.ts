import { draftCharges } from '#domain/pricing/draft-charge.ts'
import type { PriceList } from '#domain/pricing/price-list.ts'
import type { Core } from '#infra/core.ts'
import { type ChargedCall, chargedCalls } from '#projections/call-log/query.ts'
import { type UserRow, usersByIds } from '#projections/users/query.ts'
import type { PricePreview } from '#write-api/contract/option.ts'
import { largest, noTally, onWire, type Tally, taken, tallied } from './draft-tally.ts'

/** Unix seconds, both ends included. */
type Range = { readonly from: number; readonly to: number }

const HOUR = 3_600
/** Computed in one go: the loop stands for some milliseconds. */
const PAGE = 2_000
const TIME_MAX_MS = 20_000

/** Sums the calls of a range at the draft, hour by hour, until it is through or time is up. */
export async function drafted(
  { db }: Pick<Core, 'db'>,
  list: PriceList,
  { from, to }: Range,
  timeMaxMs = TIME_MAX_MS,
): Promise<PricePreview> {
  const until = performance.now() + timeMaxMs
  const users = new Map<number, UserRow>()
  const reckon = reckoning(list, users)
  const tally = noTally()
  let reached = from - 1
  // By the hour, since the log is found by its time; an hour counts as a whole or not at all.
  for (let start = from; start <= to; start += HOUR) {
    const hour = { from: start, to: Math.min(to, start + HOUR - 1) }
    const summed = await hourOf(db, hour, users, reckon, until)
    if (summed === null) break
    taken(tally, summed)
    reached = hour.to
  }
  return {
    ...onWire(tally.total),
    start_timestamp: from,
    end_timestamp: reached,
    is_complete: reached === to,
    models: largest(tally.models).map(([model, sums]) => ({ model, ...onWire(sums) })),
    users: largest(tally.users).map(([userId, sums]) => ({
      user_id: userId,
      username: users.get(userId)?.username ?? '',
      ...onWire(sums),
    })),
  }
}

type Reckon = (tally: Tally, call: ChargedCall) => void

function reckoning(list: PriceList, users: ReadonlyMap<number, UserRow>): Reckon {
  const charge = draftCharges(list)
  return (tally, call) => {
    const accepts = users.get(call.userId)?.settings.acceptUnsetModelRatioModel === true
    tallied(tally, call, charge(call, accepts))
  }
}

/** null once time is up. */
async function hourOf(
  db: Core['db'],
  hour: Range,
  users: Map<number, UserRow>,
  reckon: Reckon,
  until: number,
): Promise<Tally | null> {
  const tally = noTally()
  let after = 0
  for (;;) {
    if (performance.now() > until) return null
    const calls = await chargedCalls(db, { ...hour, after, limit: PAGE })
    await learnUsers(db, users, calls)
    for (const call of calls) reckon(tally, call)
    if (calls.length < PAGE) return tally
    after = calls.at(-1)?.id ?? after
  }
}

async function learnUsers(
  db: Core['db'],
  users: Map<number, UserRow>,
  calls: readonly ChargedCall[],
): Promise<void> {
  const fresh = [...new Set(calls.map(({ userId }) => userId))].filter((id) => !users.has(id))
  if (fresh.length === 0) return
  for (const user of await usersByIds(db, fresh)) users.set(user.id, user)
}
