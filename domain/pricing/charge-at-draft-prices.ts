import type { Quota } from '../shared/quota.ts'
import { chargeFor } from './charge.ts'
import { ratioOfCondition, withConditions } from './price-conditions.ts'
import { inBatchPrice, type PriceList, priceOf, withImageFactor, withTools } from './price-list.ts'
import type { DecimalText, PerCallPrice, PriceSnapshot } from './price-snapshot.ts'
import type { Usage } from './usage.ts'

type PastCall = {
  readonly model: string
  readonly group: string
  readonly userGroup: string
  readonly usage: Usage
  /**
   * The parameter `n` of the request. A price per call is multiplied by `n`. If `calls` is omitted,
   * `n` is 1 for a call with usage and 0 for a call without usage.
   */
  readonly calls?: number | undefined
  /** The factor of a call that generated images. Omitted for any other call. */
  readonly imageFactor?: DecimalText | undefined
  /**
   * The properties of a video that multiply a price per call or per second. Omitted for other
   * calls.
   */
  readonly video?: Pick<PerCallPrice, 'per' | 'factors'> | undefined
  /**
   * The ratio of a video's sound in the call's price per token. Null if this price does not depend
   * on the sound. Omitted if the price is not per token. The ratio can't be computed from the past
   * call: it depends on the provider's name for the model, and the past call does not contain this
   * name.
   */
  readonly soundRatio?: DecimalText | null | undefined
  /**
   * The number of charged lines, if the call paid for a batch. `usage` is then the sum over these
   * lines.
   */
  readonly batchLines?: number | undefined
}

/**
 * Returns a function that computes what a past call would cost at the prices of `list`. The result
 * is null if the list has no price for the call. The result for a batch is an approximation: the
 * charge of each line was rounded, and context tiers depend on the length of each line.
 */
export function createDraftPricer(
  list: PriceList,
): (call: PastCall, acceptsUnpriced: boolean) => Quota | null {
  return (call, acceptsUnpriced) => {
    const { model, group, userGroup, usage, calls, imageFactor, video, batchLines } = call
    const ofModel = priceOf(list, model, group, { userGroup, acceptsUnpriced })
    if ('code' in ofModel) return null
    const price = ofModel.mode === 'call' ? { ...ofModel, ...video } : ofModel
    if (batchLines !== undefined) {
      const ofLines = withImageFactor(inBatchPrice(list, price), imageFactor)
      return batchChargeAtDraft(ofLines, usage, usage.images || batchLines)
    }
    const ofConditions = withPastConditions(price, call)
    const ofTools = withTools(list, ofConditions, model, usage.tools)
    return chargeFor(withImageFactor(ofTools, imageFactor), usage, calls)
  }
}

/**
 * Returns a draft price with the ratios of the conditions of a past call. In a price per call or
 * second, the ratio of a video's sound is already one of the factors, so the sound is not added as
 * a condition.
 */
function withPastConditions(
  price: PriceSnapshot,
  { model, usage: { conditions = [] }, soundRatio }: PastCall,
): PriceSnapshot {
  const others = conditions.filter((name) => name !== 'audio')
  if (others.length === conditions.length) return withConditions(price, model, conditions)
  const ofOthers = withConditions(price, model, others)
  const audio = soundRatio === undefined ? ratioOfCondition('audio', model) : soundRatio
  if (price.mode === 'call' || audio === null || audio === undefined) return ofOthers
  return { ...ofOthers, conditions: { ...ofOthers.conditions, audio } }
}

/** `calls` is the number of times that a price per call or image is charged for all lines. */
function batchChargeAtDraft(price: PriceSnapshot, usage: Usage, calls: number): Quota {
  if (price.mode === 'call') return chargeFor(price, usage, 1) * BigInt(calls)
  const { tiers: _, ...untiered } = price
  return chargeFor(untiered, usage)
}
