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

/** The terms with the given fields applied; the others stay. Throws for a field at fault. */
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
 * Refuses a new end of validity that is over at `now` (ms); one kept may be. One that is not after
 * its beginning is another fault, with words of its own.
 */
export function checkValidUntil(after: RedemptionTerms, before: RedemptionTerms, now: number) {
  const { validFrom, validUntil } = after
  if (validUntil === null || validUntil === before.validUntil || validUntil * 1_000 > now) return
  if (validFrom !== null && validFrom >= validUntil) return
  throw invalidField('valid_until', { zh: '过期时间已过', en: 'is in the past already' })
}

/** A code that becomes a gift has no limit unless one is given. */
function maxUsesOf(given: number | null | undefined, before: RedemptionTerms): number | null {
  if (given === undefined) return before.isGift ? before.maxUses : null
  return given === -1 ? null : given
}

const timeOf = (given: number | null | undefined, before: number | null): number | null =>
  given === undefined ? before : given || null
