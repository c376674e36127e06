import { createDraftPricer } from '#domain/pricing/charge-at-draft-prices.ts'
import { readPriceList } from '#domain/pricing/price-list.ts'
import { fromWire, toWire } from '#domain/shared/quota.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { correctionsOfCalls } from '#projections/corrected-calls/query.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Action } from '../action.ts'
import { correctionActions, type Repricing } from '../contract/repricing-and-corrections.ts'
import {
  addSums,
  figuresOf,
  largest,
  noSums,
  type Sums,
  sumsOf,
  validTexts,
} from '../options/preview-charges-at-draft-prices.ts'
import { correctionError } from './audit-errors.ts'
import { checkRange, type EndedCall, scanEndedCalls } from './scan-ended-calls.ts'

const LARGEST_MAX = 100
const FRESH_WITHIN_MS = 5_000

type Difference = Repricing['largest'][number]

/**
 * POST /api/audit/reprice: computes what ended calls would cost at a draft price list, and compares
 * the result with the calls' current charges. A current charge includes all corrections. A call
 * counts as refused if the draft has no price for the call's model.
 */
export const repriceCalls: Action = (api, deps) => {
  api.route({
    ...endpoint(correctionActions, 'POST /api/audit/reprice'),
    onRequest: onlyAuditor,
    handler: async ({ body }) => {
      checkRange(body)
      const { core, freshness, runExclusive } = deps
      const { values, revision } = await allOptions(core.db)
      const list = readPriceList(new Map([...values, ...validTexts(body.prices)]), revision)
      const draft = createDraftPricer(list)
      const tally = createTally()
      const head = await core.store.headPosition()
      const isFresh = await freshness.waitFor(['corrected-calls'], head, FRESH_WITHIN_MS)
      // The read model must include the latest corrections. Otherwise, the current charges would be
      // wrong.
      if (!isFresh) throw correctionError('CorrectedCallsBehind')
      const next_cursor = await runExclusive('audit-scan', () =>
        scanEndedCalls(core, body, async (page) => {
          const charges = await chargesInForce(core, page)
          for (const call of page) {
            tally.count(call, charges(call), draft(pastCall(call), false))
          }
        }),
      )
      return success({ ...tally.result(), next_cursor })
    },
  })
}

/** Returns a function that returns the charge of a call after its corrections. */
async function chargesInForce(
  { db }: Pick<Core, 'db'>,
  calls: readonly EndedCall[],
): Promise<(call: EndedCall) => number> {
  const ids = calls.map(({ data }) => data.call)
  const rows = ids.length === 0 ? [] : await correctionsOfCalls(db, ids)
  const corrected = new Map(rows.map((row) => [row.call, row.corrected]))
  return ({ data }) => corrected.get(data.call) ?? data.charge
}

/**
 * Returns the data on which a call's price in a draft depends: model, groups, usage and factors.
 */
function pastCall({ type, data }: EndedCall) {
  const { model, group, price, usage, calls } = data
  const past = { model, group, userGroup: price.userGroup ?? group, usage, calls }
  const batchLines = type === 'CallSettled' ? data.billedLines : undefined
  if (price.mode === 'tokens') {
    return { ...past, batchLines, soundRatio: price.conditions?.audio ?? null }
  }
  const { imageFactor, per, factors } = price
  const video = {
    ...(per === undefined ? {} : { per }),
    ...(factors === undefined ? {} : { factors }),
  }
  return { ...past, batchLines, imageFactor, video }
}

function createTally() {
  const total = noSums()
  const models = new Map<string, Sums>()
  const groups = new Map<string, Sums>()
  const users = new Map<number, Sums>()
  let differences: Difference[] = []
  const shorten = () => {
    differences.sort((one, other) => size(other) - size(one))
    differences = differences.slice(0, LARGEST_MAX)
  }
  return {
    count: ({ data, position }: EndedCall, charged: number, amount: bigint | null): void => {
      const { userId: user_id, model, group, call: request_id } = data
      const drafted = amount ?? 0n
      const refused = amount === null ? 1 : 0
      const sums = { calls: 1, charged: fromWire(charged), drafted, refused }
      addSums(total, sums)
      addSums(sumsOf(models, model), sums)
      addSums(sumsOf(groups, group), sums)
      addSums(sumsOf(users, user_id), sums)
      if (amount === null || amount === fromWire(charged)) return
      const call = { request_id, position, user_id, model }
      differences.push({ ...call, charged, drafted: toWire(amount) })
      // The list is shortened from time to time, so that its length stays bounded.
      if (differences.length > 10 * LARGEST_MAX) shorten()
    },
    result: () => {
      shorten()
      return {
        ...figuresOf(total),
        models: largest(models).map(([model, sums]) => ({ model, ...figuresOf(sums) })),
        groups: largest(groups).map(([group, sums]) => ({ group, ...figuresOf(sums) })),
        users: largest(users).map(([user_id, sums]) => ({ user_id, ...figuresOf(sums) })),
        largest: differences,
      }
    },
  }
}

const size = ({ charged, drafted }: Difference): number => Math.abs(charged - drafted)
