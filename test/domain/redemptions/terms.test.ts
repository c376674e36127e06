import { describe, it } from 'vitest'
import type { RedemptionEvent, RedemptionTerms } from '#domain/redemptions/events.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { change, create, created, fact, GIFT, given, redeemed, wire } from './facts.ts'

const changed = (terms: RedemptionTerms): RedemptionEvent => ({
  type: 'RedemptionTermsChanged',
  v: 1,
  data: { redemptionId: 3, terms },
})
const act = (type: 'EnableRedemption' | 'DisableRedemption' | 'DeleteRedemption', id = 3) =>
  ({ type, redemptionId: id }) as const

describe('the creation of a redemption code', () => {
  it('reserves the key until the code is deleted', () => {
    given().when(create()).then([created()])
    given(created()).when(create()).then([])
    given(created()).when(create({}, 4)).then(codedError('RedemptionKeyTaken'))
    given(created())
      .when(create({}, 3, 'key-2'))
      .then(codedError('RedemptionKeyTaken'))
    for (const late of [fact('RedemptionDeleted'), fact('RedemptionDisabled')]) {
      const others = given(created(), fact('RedemptionDeleted'), created({}, 4), late)
      others.when(create({}, 5)).then(codedError('RedemptionKeyTaken'))
      const gone = given(created(), fact('RedemptionDeleted'), late)
      gone.when(create({}, 4)).then([created({}, 4)])
    }
    given(created(), fact('RedemptionDeleted'))
      .when(create({}, 4))
      .then([created({}, 4)])
  })

  it.each<[Partial<RedemptionTerms>, ReturnType<typeof codedError>]>([
    [{ name: ' ' }, codedError('RedemptionNameLength')],
    [{ name: '名'.repeat(21) }, codedError('RedemptionNameLength')],
    [{ quota: wire(0) }, codedError('RedemptionQuotaTooSmall')],
    [{ quota: wire(-1) }, codedError('RedemptionQuotaTooSmall')],
    [{ ...GIFT, maxUses: 0 }, codedError('MaxUsesTooFew', { least: 1 })],
    [{ validFrom: 5, validUntil: 5 }, codedError('ValidityOrder')],
  ])('is refused with %j', (terms, error) => {
    given()
      .when(create(terms))
      .then(error as never)
  })

  it('accepts a name of 20 characters, whatever the number of code units', () => {
    const name = '🎁'.repeat(20)
    given()
      .when(create({ name }))
      .then([created({ name })])
  })
})

describe('a change of a redemption code', () => {
  it('records the new terms, and nothing if they are the same', () => {
    given(created())
      .when(change(GIFT))
      .then([changed(GIFT)])
    given(created()).when(change({})).then([])
  })

  it('is refused for disabled and used codes', () => {
    for (const last of [fact('RedemptionDisabled'), redeemed(7)]) {
      given(created(), last)
        .when(change({ name: 'other' }))
        .then(codedError('RedemptionNotEditable'))
    }
  })

  it('cannot reduce the maximum number of uses below the uses so far', () => {
    const used = given(created(GIFT), redeemed(7), redeemed(8, 2))
    used.when(change({ ...GIFT, maxUses: 1 })).then(codedError('MaxUsesTooFew', { least: 2 }))
    used.when(change({ ...GIFT, maxUses: 2 })).then([changed({ ...GIFT, maxUses: 2 })])
    used.when(change({})).then(codedError('GiftInUse'))
  })
})

describe('the commands to enable, disable and delete a redemption code', () => {
  it('record each change of status once', () => {
    given(created())
      .when(act('DisableRedemption'))
      .then([fact('RedemptionDisabled')])
    given(created(), fact('RedemptionDisabled')).when(act('DisableRedemption')).then([])
    given(created(), fact('RedemptionDisabled'))
      .when(act('EnableRedemption'))
      .then([fact('RedemptionEnabled')])
    given(created()).when(act('EnableRedemption')).then([])
  })

  it('cannot enable or disable a used code, but can delete it', () => {
    const used = given(created(), redeemed(7))
    used.when(act('EnableRedemption')).then(codedError('RedemptionUsed'))
    used.when(act('DisableRedemption')).then(codedError('RedemptionUsed'))
    used.when(act('DeleteRedemption')).then([fact('RedemptionDeleted')])
  })

  it('skip a code that they cannot change if they are part of a batch', () => {
    const many = { redemptionId: 3, isOneOfMany: true } as const
    const used = given(created(), redeemed(7))
    used.when({ type: 'DisableRedemption', ...many }).then([])
    given()
      .when({ type: 'DisableRedemption', ...many })
      .then([])
    given()
      .when({ type: 'DeleteRedemption', ...many })
      .then([])
    for (const facts of [[created()], [created(), redeemed(7)]]) {
      given(...facts)
        .when({ type: 'DeleteRedemption', ...many, onlyDisabled: true })
        .then([])
    }
    given(created(), fact('RedemptionDisabled'))
      .when({ type: 'DeleteRedemption', ...many, onlyDisabled: true })
      .then([fact('RedemptionDeleted')])
  })

  it('are refused for another id, even if that code had the same key', () => {
    for (const type of ['EnableRedemption', 'DisableRedemption', 'DeleteRedemption'] as const) {
      given(created()).when(act(type, 2)).then(codedError('RedemptionUnknown'))
      given(created(), fact('RedemptionDeleted'))
        .when(act(type))
        .then(codedError('RedemptionUnknown'))
    }
  })
})
