import { describe } from 'vitest'
import { redemptionDecider, redemptionIdsDecider } from '#domain/redemptions/decide.ts'
import type { RedemptionTerms } from '#domain/redemptions/events.ts'
import type { WireQuota } from '#domain/shared/quota.ts'
import { story } from './story.ts'

const TERMS: RedemptionTerms = {
  name: 'spring',
  quota: 500_000 as WireQuota,
  isGift: true,
  maxUses: 5,
  validFrom: 1_795_248_000,
  validUntil: null,
}
const CHANGED: RedemptionTerms = { ...TERMS, maxUses: null, validFrom: null }
const KEY = { keyLookup: 'a1b2c3', keyRef: 'key-1', keyHint: 'WXYZ' }
const ID = { redemptionId: 3 }
const REQUEST = { key: 'k1', content: 'c1' }

describe('the events of redemption codes, as first recorded', () => {
  story(
    'a gift code',
    redemptionDecider,
    [
      ['redemption-created-v1', { type: 'CreateRedemption', ...ID, ...KEY, terms: TERMS }],
      ['redemption-terms-changed-v1', { type: 'ChangeRedemption', ...ID, terms: CHANGED }],
      ['redemption-disabled-v1', { type: 'DisableRedemption', ...ID }],
      ['redemption-enabled-v1', { type: 'EnableRedemption', ...ID }],
      [
        'code-redeemed-v1',
        { type: 'RedeemCode', ...ID, userId: 7, quota: 500_000n, now: 1_795_248_000 },
      ],
    ],
    { code: { id: 3, keyRef: 'key-1', terms: CHANGED, isDisabled: false, userIds: [7] } },
  )
  story(
    'a code that is deleted',
    redemptionDecider,
    [
      ['redemption-created-v1', { type: 'CreateRedemption', ...ID, ...KEY, terms: TERMS }],
      ['redemption-deleted-v1', { type: 'DeleteRedemption', ...ID }],
    ],
    { code: null },
  )
  story(
    'the ids of codes',
    redemptionIdsDecider,
    [
      ['redemption-ids-taken-v1', { type: 'AssignRedemptionIds', first: 1, count: 4 }],
      [
        'redemption-ids-taken-requested-v1',
        { type: 'AssignRedemptionIds', first: 5, count: 2, request: REQUEST },
      ],
    ],
    { highest: 6, requests: [['k1', 'c1']] },
  )
})
