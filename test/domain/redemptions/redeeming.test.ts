import { describe, expect, it } from 'vitest'
import { redemptionDecider } from '#domain/redemptions/decide.ts'
import type { RedemptionEvent } from '#domain/redemptions/events.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { created, fact, GIFT, given, NOW, redeem, redeemed } from './facts.ts'

describe('a redemption code', () => {
  it('can be redeemed only once, by the first user', () => {
    given(created())
      .when(redeem(7))
      .then([redeemed(7)])
    for (const userId of [7, 8]) {
      given(created(), redeemed(7)).when(redeem(userId)).then(codedError('CodeInvalid'))
    }
  })

  it('is refused like a used one if it is unknown, disabled or deleted', () => {
    const gone: RedemptionEvent[][] = [
      [],
      [created(), fact('RedemptionDisabled')],
      [created(), fact('RedemptionDeleted')],
    ]
    for (const facts of gone) {
      given(...facts)
        .when(redeem(7))
        .then(codedError('CodeInvalid'))
    }
  })

  it('can be redeemed after it is enabled again', () => {
    given(created(), fact('RedemptionDisabled'), fact('RedemptionEnabled'))
      .when(redeem(7))
      .then([redeemed(7)])
  })

  it('is refused if its quota or id differs from what was read before', () => {
    given(created())
      .when(redeem(7, { quota: 1n }))
      .then(codedError('CodeChanged'))
    given(created())
      .when(redeem(7, { id: 2 }))
      .then(codedError('CodeChanged'))
  })

  it('is valid from its first second until just before its end', () => {
    const limited = given(created({ validFrom: NOW, validUntil: NOW + 60 }))
    limited.when(redeem(7, { now: NOW - 1 })).then(codedError('CodeNotYetValid'))
    limited.when(redeem(7, { now: NOW })).then([redeemed(7)])
    limited.when(redeem(7, { now: NOW + 59 })).then([redeemed(7)])
    limited.when(redeem(7, { now: NOW + 60 })).then(codedError('CodeExpired'))
  })
})

describe('a gift code', () => {
  it('can be redeemed once per user, up to its maximum number of users', () => {
    const facts = [created(GIFT), ...[1, 2, 3, 4].map((userId) => redeemed(userId, userId))]
    given(...facts)
      .when(redeem(2))
      .then(codedError('CodeRedeemedAlready'))
    given(...facts)
      .when(redeem(7))
      .then([redeemed(7, 5)])
    given(...facts, redeemed(7, 5))
      .when(redeem(8))
      .then(codedError('CodeUsedUp'))
  })

  it('without a limit is still open after 40 uses, and its snapshot keeps the uses', () => {
    const uses = Array.from({ length: 40 }, (_, at) => redeemed(at + 1, at + 1))
    const { state } = given(created({ ...GIFT, maxUses: null }), ...uses)
    const { snapshot } = redemptionDecider
    const stored: unknown = JSON.parse(JSON.stringify(snapshot?.encode(state)))
    const kept = snapshot?.decode(stored)
    expect(kept).toEqual(state)
    if (kept === undefined) throw new Error('no snapshot')
    expect(redemptionDecider.decide(redeem(40), kept)).toEqual(codedError('CodeRedeemedAlready'))
    expect(redemptionDecider.decide(redeem(41), kept)).toEqual([redeemed(41, 41)])
  })
})
