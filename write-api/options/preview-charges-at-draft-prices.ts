import { checkOption } from '#domain/options/option-registry.ts'
import { createDraftPricer } from '#domain/pricing/charge-at-draft-prices.ts'
import { isPriceOption } from '#domain/pricing/compare-price-options.ts'
import { type PriceList, readPriceList } from '#domain/pricing/price-list.ts'
import { toWire } from '#domain/shared/quota.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type ChargedCall, chargedCalls } from '#projections/logs/query.ts'
import { allOptions } from '#projections/options/query.ts'
import { type UserRow, usersByIds } from '#projections/users/query.ts'
import type { Action } from '../action.ts'
import { optionActions, type PreviewPrices, type PricePreview } from '../contract/options.ts'
import { toHttpError } from '../domain-error-catalogue.ts'
import { optionError } from './option-errors.ts'

export type Sums = { calls: number; charged: bigint; drafted: bigint; refused: number }

/** The sums of all calls, of each model and of each user. */
type Tally = {
  readonly total: Sums
  readonly models: Map<string, Sums>
  readonly users: Map<number, Sums>
}

const ROWS_MAX = 100

export const noSums = (): Sums => ({ calls: 0, charged: 0n, drafted: 0n, refused: 0 })

const noTally = (): Tally => ({ total: noSums(), models: new Map(), users: new Map() })

/**
 * Adds a call to the sums. `amount` is the charge at the draft prices. If the draft has no price
 * for the call, `amount` is null and the call counts as refused.
 */
function addCall(
  tally: Tally,
  call: { readonly model: string; readonly userId: number; readonly quota: bigint },
  amount: bigint | null,
): void {
  const sums = {
    calls: 1,
    charged: call.quota,
    drafted: amount ?? 0n,
    refused: amount === null ? 1 : 0,
  }
  addSums(tally.total, sums)
  addSums(sumsOf(tally.models, call.model), sums)
  addSums(sumsOf(tally.users, call.userId), sums)
}

function addTally(tally: Tally, other: Tally): void {
  addSums(tally.total, other.total)
  for (const [model, sums] of other.models) addSums(sumsOf(tally.models, model), sums)
  for (const [userId, sums] of other.users) addSums(sumsOf(tally.users, userId), sums)
}

/**
 * Returns up to a hundred entries with the largest differences between the actual charge and the
 * charge at the draft prices.
 */
export const largest = <Key>(sums: ReadonlyMap<Key, Sums>): [Key, Sums][] =>
  [...sums]
    .sort(([, one], [, other]) => {
      const [a, b] = [difference(one), difference(other)]
      return a === b ? other.calls - one.calls : a > b ? -1 : 1
    })
    .slice(0, ROWS_MAX)

export const figuresOf = ({ calls, charged, drafted, refused }: Sums) => ({
  calls,
  charged: toWire(charged),
  drafted: toWire(drafted),
  refused,
})

const difference = ({ charged, drafted }: Sums): bigint =>
  drafted > charged ? drafted - charged : charged - drafted

export function sumsOf<Key>(map: Map<Key, Sums>, key: Key): Sums {
  const sums = map.get(key) ?? noSums()
  map.set(key, sums)
  return sums
}

export function addSums(sums: Sums, { calls, charged, drafted, refused }: Sums): void {
  sums.calls += calls
  sums.charged += charged
  sums.drafted += drafted
  sums.refused += refused
}

/** A time range in Unix seconds. Both `from` and `to` belong to the range. */
type Range = { readonly from: number; readonly to: number }

const HOUR = 3_600
/**
 * The number of log rows that are read at once. Processing these rows blocks the event loop for a
 * few milliseconds.
 */
const BATCH_ROWS = 2_000
const TIME_MAX_MS = 20_000

/**
 * Sums the charges of the calls in a range, and what the same calls would cost at the draft prices.
 * Stops early if the time limit is reached.
 */
export async function previewDraft(
  { db }: Pick<Core, 'db'>,
  list: PriceList,
  { from, to }: Range,
  timeMaxMs = TIME_MAX_MS,
): Promise<PricePreview> {
  const until = performance.now() + timeMaxMs
  const users = new Map<number, UserRow>()
  const countCall = createCounter(list, users)
  const tally = noTally()
  let reached = from - 1
  // The log is read hour by hour, in the order of its index. If the time limit is reached within an
  // hour, this hour is left out.
  for (let start = from; start <= to; start += HOUR) {
    const hour = { from: start, to: Math.min(to, start + HOUR - 1) }
    const hourTally = await tallyHour(db, hour, users, countCall, until)
    if (hourTally === null) break
    addTally(tally, hourTally)
    reached = hour.to
  }
  return {
    ...figuresOf(tally.total),
    start_timestamp: from,
    end_timestamp: reached,
    is_complete: reached === to,
    models: largest(tally.models).map(([model, sums]) => ({ model, ...figuresOf(sums) })),
    users: largest(tally.users).map(([userId, sums]) => ({
      user_id: userId,
      username: users.get(userId)?.username ?? '',
      ...figuresOf(sums),
    })),
  }
}

type CountCall = (tally: Tally, call: ChargedCall) => void

function createCounter(list: PriceList, users: ReadonlyMap<number, UserRow>): CountCall {
  const charge = createDraftPricer(list)
  return (tally, call) => {
    const accepts = users.get(call.userId)?.settings.acceptUnsetModelRatioModel === true
    addCall(tally, call, charge(call, accepts))
  }
}

/** Sums the calls of one hour. Returns null if the time limit is reached first. */
async function tallyHour(
  db: Core['db'],
  hour: Range,
  users: Map<number, UserRow>,
  countCall: CountCall,
  until: number,
): Promise<Tally | null> {
  const tally = noTally()
  let after = 0
  for (;;) {
    if (performance.now() > until) return null
    const calls = await chargedCalls(db, { ...hour, after, limit: BATCH_ROWS })
    await loadUsers(db, users, calls)
    for (const call of calls) countCall(tally, call)
    if (calls.length < BATCH_ROWS) return tally
    after = calls.at(-1)?.id ?? after
  }
}

async function loadUsers(
  db: Core['db'],
  users: Map<number, UserRow>,
  calls: readonly ChargedCall[],
): Promise<void> {
  const missing = [...new Set(calls.map(({ userId }) => userId))].filter((id) => !users.has(id))
  if (missing.length === 0) return
  for (const user of await usersByIds(db, missing)) users.set(user.id, user)
}

const DAY = 86_400
const DEFAULT_SPAN = 7 * DAY
const SPAN_MAX = 31 * DAY

/**
 * POST /api/option/price_preview: returns the charges of past calls, and their charges at draft
 * prices. Each process computes one preview at a time, within a time limit.
 */
export const previewPrices: Action = (api, deps) => {
  api.route({
    ...endpoint(optionActions, 'POST /api/option/price_preview'),
    onRequest: onlyAdmin,
    handler: async ({ body }) => {
      const { core, runExclusive } = deps
      const to = body.end_timestamp ?? Math.floor(core.now() / 1_000)
      const from = body.start_timestamp ?? Math.max(0, to - DEFAULT_SPAN)
      if (to < from || to - from > SPAN_MAX) {
        throw invalidField('start_timestamp', {
          zh: '必须早于 end_timestamp，且不超过 31 天',
          en: 'must be before end_timestamp, by at most 31 days',
        })
      }
      const draft = validTexts(body.prices)
      const { values, revision } = await allOptions(core.db)
      const list = readPriceList(new Map([...values, ...draft]), revision)
      return success(
        await runExclusive('price-preview', () => previewDraft(core, list, { from, to })),
      )
    },
  })
}

export function validTexts(prices: PreviewPrices['prices']): [key: string, text: string][] {
  return Object.entries(prices).map(([key, text]) => {
    if (!isPriceOption(key)) throw optionError('UnknownOption', { key: key.slice(0, 200) })
    const checked = checkOption(key, text)
    if ('code' in checked) throw toHttpError(checked)
    return [key, checked.value]
  })
}
