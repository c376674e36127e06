import { redemptionDecider } from '#domain/redemptions/decide.ts'
import type { RedemptionEvent, RedemptionTerms } from '#domain/redemptions/events.ts'
import type { WireQuota } from '#domain/shared/quota.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

export const { given } = specificationOf(redemptionDecider)

export const NOW = 1_795_248_000
export const wire = (quota: number): WireQuota => quota as WireQuota

export const TERMS: RedemptionTerms = {
  name: 'spring',
  quota: wire(500_000),
  isGift: false,
  maxUses: 1,
  validFrom: null,
  validUntil: null,
}
export const GIFT: RedemptionTerms = { ...TERMS, name: 'gift', isGift: true, maxUses: 5 }

const KEY = { keyLookup: 'a1b2c3', keyRef: 'key-1', keyHint: 'WXYZ' }

export const created = (terms: Partial<RedemptionTerms> = {}, id = 3): RedemptionEvent => ({
  type: 'RedemptionCreated',
  v: 1,
  data: { redemptionId: id, ...KEY, terms: { ...TERMS, ...terms } },
})

export const redeemed = (userId: number, use = 1, quota = 500_000): RedemptionEvent => ({
  type: 'CodeRedeemed',
  v: 1,
  data: { redemptionId: 3, userId, quota: wire(quota), use },
})

type Plain = 'RedemptionDisabled' | 'RedemptionEnabled' | 'RedemptionDeleted'
export const fact = (type: Plain): RedemptionEvent => ({ type, v: 1, data: { redemptionId: 3 } })

export const create = (
  terms: Partial<RedemptionTerms> = {},
  redemptionId = 3,
  keyRef = 'key-1',
) => {
  const given = { ...TERMS, ...terms }
  return { type: 'CreateRedemption', redemptionId, ...KEY, keyRef, terms: given } as const
}

export const change = (terms: Partial<RedemptionTerms>) =>
  ({ type: 'ChangeRedemption', redemptionId: 3, terms: { ...TERMS, ...terms } }) as const

export const redeem = (
  userId: number,
  more: { quota?: bigint; now?: number; id?: number } = {},
) => {
  const { quota = 500_000n, now = NOW, id: redemptionId = 3 } = more
  return { type: 'RedeemCode', redemptionId, userId, quota, now } as const
}
