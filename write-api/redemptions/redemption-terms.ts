import type { RedemptionTerms } from '#domain/redemption/events.ts'
import { isName } from '#domain/shared/characters.ts'
import { toWire } from '#domain/shared/quota.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import type { CreateRedemption, UpdateRedemption } from '#write-api/contract/redemptions.ts'
import { validationWords } from '../validation-words.ts'
import { redemptionError } from './redemption-errors.ts'

export const NO_TERMS: RedemptionTerms = {
  name: '',
  quota: toWire(0n),
  isGift: false,
  maxUses: 1,
  validFrom: null,
  validUntil: null,
}

/** Returns the terms with the given fields applied. Throws when a field is invalid. */
export function termsWith(
  before: RedemptionTerms,
  fields: Omit<CreateRedemption, 'count' | 'key' | 'name' | 'quota'> & Partial<UpdateRedemption>,
): RedemptionTerms {
  const name = fields.name === undefined ? before.name : fields.name.trim()
  if (name === '') throw redemptionError('RedemptionNameRequired')
  if (!isName(name)) throw invalidField('name', validationWords({ fault: 'bad-character' }))
  const isGift = fields.is_gift ?? before.isGift
  return {
    name,
    quota: fields.quota === undefined ? before.quota : toWire(BigInt(fields.quota)),
    isGift,
    maxUses: isGift ? maxUsesOf(fields.max_uses, before) : 1,
    validFrom: timeOf(fields.valid_from, before.validFrom),
    validUntil: timeOf(fields.valid_until, before.validUntil),
  }
}

/**
 * Throws when a new expiry is in the past at `now` (unix milliseconds). An unchanged expiry can be
 * in the past. An expiry before the start of validity is left to the domain, which has a more
 * specific error.
 */
export function checkValidUntil(after: RedemptionTerms, before: RedemptionTerms, now: number) {
  const { validFrom, validUntil } = after
  if (validUntil === null || validUntil === before.validUntil || validUntil * 1_000 > now) return
  if (validFrom !== null && validFrom >= validUntil) return
  throw invalidField('valid_until', { zh: '过期时间已过', en: 'is in the past' })
}

/**
 * Returns the maximum number of redemptions. A code that becomes a gift code is unlimited, unless a
 * limit is given.
 */
function maxUsesOf(value: number | null | undefined, before: RedemptionTerms): number | null {
  if (value === undefined) return before.isGift ? before.maxUses : null
  return value === -1 ? null : value
}

const timeOf = (value: number | null | undefined, before: number | null): number | null =>
  value === undefined ? before : value || null
