import type { RedemptionTerms } from '#domain/redemptions/events.ts'
import { toWire } from '#domain/shared/quota.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { REDEMPTION_TERMS } from '#read-api/contract/redemption-fields.ts'
import { initialValues } from '#read-api/contract/resource-field-definition.ts'
import type { UpdateRedemption } from '#write-api/contract/redemptions.ts'
import { applyFields } from '../apply-request-fields.ts'
import { redemptionError } from './redemption-errors.ts'

export const INITIAL_TERMS: RedemptionTerms = {
  ...initialValues(REDEMPTION_TERMS),
  quota: toWire(0n),
}

/**
 * Returns the terms (settings) of a code with the fields of a request applied. Throws if a field is
 * invalid.
 */
export async function applyRedemptionFields(
  before: RedemptionTerms,
  fields: Partial<Omit<UpdateRedemption, 'id'>>,
): Promise<RedemptionTerms> {
  const terms = await applyFields(REDEMPTION_TERMS, before, fields)
  if (terms.name === '') throw redemptionError('RedemptionNameRequired')
  // If a code becomes a gift, any number of users can redeem it by default.
  const isNewGift = terms.isGift && !before.isGift && fields.max_uses === undefined
  if (terms.isGift && !isNewGift) return terms
  return { ...terms, maxUses: isNewGift ? null : 1 }
}

/**
 * Throws if the expiry time was changed to a time before `now` (Unix milliseconds). This function
 * does not reject an expiry before the start of validity, because the domain returns a more
 * specific error for it.
 */
export function checkValidUntil(after: RedemptionTerms, before: RedemptionTerms, now: number) {
  const { validFrom, validUntil } = after
  if (validUntil === null || validUntil === before.validUntil || validUntil * 1_000 > now) return
  if (validFrom !== null && validFrom >= validUntil) return
  throw invalidField('valid_until', { zh: '过期时间已过', en: 'is in the past' })
}
