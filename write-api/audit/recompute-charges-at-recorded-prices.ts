import { chargeFor } from '#domain/pricing/charge.ts'
import { fromWire, toWire } from '#domain/shared/quota.ts'
import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import type { Action } from '../action.ts'
import { correctionActions, type Recomputation } from '../contract/repricing-and-corrections.ts'
import { checkRange, scanEndedCalls } from './scan-ended-calls.ts'

const DIFFERENCES_MAX = 100

/**
 * POST /api/audit/recompute: computes the charges of ended calls again from the usage and the price
 * in their events, and returns the differences. Batches are counted, but not computed again. Each
 * process runs only one scan of ended calls at a time.
 */
export const recomputeCalls: Action = (api, deps) => {
  api.route({
    ...endpoint(correctionActions, 'POST /api/audit/recompute'),
    onRequest: onlyAuditor,
    handler: async ({ body }) => {
      checkRange(body)
      let [calls, skipped, different, charged, recomputed] = [0, 0, 0, 0n, 0n]
      const differences: Recomputation['differences'] = []
      const next_cursor = await deps.runExclusive('audit-scan', () =>
        scanEndedCalls(deps.core, body, (page) => {
          for (const { data, position, type } of page) {
            calls += 1
            const charge = fromWire(data.charge)
            charged += charge
            if (type === 'CallSettled' && data.billedLines !== undefined) {
              skipped += 1
              recomputed += charge
              continue
            }
            const amount = chargeFor(data.price, data.usage, data.calls)
            recomputed += amount
            if (amount === charge) continue
            different += 1
            if (differences.length === DIFFERENCES_MAX) continue
            const { call: request_id, userId: user_id, model } = data
            const sums = { charged: data.charge, recomputed: toWire(amount) }
            differences.push({ request_id, position, user_id, model, ...sums })
          }
        }),
      )
      const sums = { charged: toWire(charged), recomputed: toWire(recomputed) }
      return success({ calls, skipped, different, ...sums, differences, next_cursor })
    },
  })
}
