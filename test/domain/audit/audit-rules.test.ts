import { describe, expect, it } from 'vitest'
import type { Fact } from '#domain/shared/event.ts'
import { perTokenPrice } from '#test/support/per-token-price.ts'
import {
  admitted,
  deducted,
  granted,
  interrupted,
  progressed,
  settled,
  USER,
  used,
  wire,
} from '../accounts/facts.ts'
import { audit, type InStream, placesOf, recordedHistory } from './audit-history.ts'

const fact = (type: string, data: object): Fact => ({ type, v: 1, data })
const account = (facts: readonly Fact[], userId = USER): InStream[] =>
  facts.map((one) => ({ stream: `account-${userId}`, fact: one }))
const found = (history: readonly InStream[]): string[] => placesOf(audit(recordedHistory(history)))

/** An event long after the others, so that nothing that is missing can still come. */
const muchLater: InStream = {
  ...{ stream: 'site', fact: fact('SiteInitialized', { rootUserId: 1 }) },
  at: 10_000_000,
}

describe('the audit of calls', () => {
  const settledCall = settled(40, 30)

  it('accepts a call that was held and charged by its price', () => {
    expect(found(account([granted(100), admitted(40), settledCall]))).toEqual([])
  })

  it('reports a charge above what price and usage give, and one below it', () => {
    const more = settled(40, 31)
    expect(found(account([granted(100), admitted(40), more]))).toEqual(['charges at 3'])
    const less = settled(40, 29)
    expect(found(account([granted(100), admitted(40), less]))).toEqual(['prices at 3'])
  })

  it('reports a second end, and a second admission', () => {
    const twice = account([granted(100), admitted(40), settledCall, settledCall])
    expect(found(twice)).toContain('call-ends at 4')
    const again = account([granted(100), admitted(40), settledCall, admitted(40)])
    expect(found(again)).toEqual(['call-ends at 4'])
  })

  it('reports the end of a call of another account', () => {
    const other = { stream: 'account-8', fact: settledCall }
    expect(found([...account([granted(100), admitted(40)]), other])).toContain('call-ends at 3')
  })

  it('reports a price that differs from that of the admission', () => {
    const cheap = settled(40, 20, { price: perTokenPrice({ completion: '2' }) })
    expect(found(account([granted(100), admitted(40), cheap]))).toEqual(['prices at 3'])
    const served = { requested: { model: 'n', group: 'default' } }
    const fallback = settled(40, 20, { price: cheap.data.price, ...served })
    expect(found(account([granted(100), admitted(40), fallback]))).toEqual([])
  })

  it('reports an interruption that charges more than the last progress', () => {
    const usage = used({ inputUncached: 10, output: 5 })
    const history = (inputUncached: number) =>
      account([
        granted(100),
        admitted(40),
        progressed(used({ ...usage, inputUncached })),
        interrupted(40, 30, { channelId: 5, usage }),
      ])
    expect(found(history(10))).toEqual([])
    expect(found(history(9))).toEqual(['charges at 4'])
  })

  it('reports a hold that outlives its lease, but not one that could not be returned', () => {
    const events = recordedHistory([...account([granted(100), admitted(40)]), muchLater])
    expect(placesOf(audit(events))).toEqual(['leases at 2'])
    expect(found(account([granted(100), admitted(40)]))).toEqual([])
  })
})

describe('the audit of movements', () => {
  const debit = {
    userId: USER,
    postings: [
      [`user:${USER}:main`, -30],
      ['revenue', 30],
    ],
  }

  it.each(['FeeTaken', 'TokenBudgetSet'])(
    'reports a debit in %s, which must not move quota',
    (type) => {
      const taken = fact(type, { ...debit, balanceAfter: 70, heldAfter: 0 })
      expect(found(account([granted(100), taken]))).toContain('postings at 2')
    },
  )

  it('reports postings outside of the accounts', () => {
    const postings = [
      ['revenue', -5],
      ['adjustment', 5],
    ]
    expect(found([{ stream: 'site', fact: fact('SiteRenamed', { postings }) }])).toContain(
      'postings at 1',
    )
  })

  it('reports a grant and a deduction of a negative amount', () => {
    expect(found(account([granted(100), granted(-30, 'g2')]))).toContain('postings at 2')
    expect(found(account([deducted(-30)]))).toContain('postings at 1')
  })
})

describe('the audit of grants', () => {
  it('reports a grant and a deduction that are recorded twice under one id', () => {
    const history = account([granted(100), granted(100), deducted(10), deducted(10)])
    expect(found(history)).toEqual(['grants at 2', 'grants at 4'])
  })

  it('reports postings to the account of another user', () => {
    expect(found(account([granted(100)], 8))).toContain('postings at 1')
  })

  it('reports data of another shape without failing', () => {
    const broken = { ...granted(100), data: { ...granted(100).data, postings: 'none' } }
    expect(found(account([broken as never]))).toEqual(['records at 1'])
    expect(found(account([fact('CallSettled', {})]))).toContain('postings at 1')
  })

  const SECRET = 'carol@example.com'
  it.each([
    ['postings', granted(100), { postings: SECRET }],
    ['postings', granted(100), { postings: [[`user:${USER}:main`, SECRET]] }],
    ['amount', granted(100), { amount: SECRET }],
    ['amount', granted(100), { amount: undefined }],
    ['hold', admitted(40), { hold: { [SECRET]: 1 } }],
    ['charge', settled(40, 30), { charge: SECRET }],
  ])('names the field %s of damaged data, and not its value', (field, fact, damage) => {
    const broken = { ...fact, data: { ...fact.data, ...damage } } as never
    const findings = audit(recordedHistory(account([granted(100, 'g1'), broken]))).list()
    const params = { type: fact.type, field }
    expect(findings).toContainEqual(expect.objectContaining({ code: 'FieldInvalid', params }))
    expect(JSON.stringify(findings)).not.toContain(SECRET)
  })

  it('does not repeat names of accounts and users that are damaged', () => {
    const { data, ...fact } = granted(100)
    const postings = [
      [SECRET, 100],
      [`user:${SECRET}`, -100],
    ]
    const broken = { ...fact, data: { ...data, userId: SECRET, postings } } as never
    const findings = audit(recordedHistory(account([broken]))).list()
    const codes = findings.map(({ code }) => code)
    expect(codes).toEqual(expect.arrayContaining(['PostingAccountUnknown', 'OwnerDiffers']))
    expect(JSON.stringify(findings)).not.toContain(SECRET)
  })

  it('reports a recorded balance that the movements do not give', () => {
    const grantedWith = (balanceAfter: number): Fact => {
      const { type, v, data } = granted(100)
      return { type, v, data: { ...data, balanceAfter, heldAfter: 0 } }
    }
    expect(found(account([grantedWith(100)]))).toEqual([])
    expect(found(account([grantedWith(101)]))).toEqual(['running-balances at 1'])
  })
})

const TERMS = {
  ...{ name: 'gift', quota: 50, isGift: true, maxUses: 2, validFrom: null },
  validUntil: 100,
}
const code = (type: string, data: object = {}): InStream => ({
  stream: 'redemption-abc',
  fact: fact(type, { redemptionId: 3, ...data }),
})
const redeemed = (userId: number, use: number): InStream[] => [
  code('CodeRedeemed', { userId, quota: 50, use }),
  ...account([grantOfCode(userId)], userId),
]
const grantOfCode = (userId: number): Fact =>
  fact('QuotaGranted', {
    ...{ userId, grantId: 'redemption-3', amount: 50, reason: 'redemption' },
    postings: [
      ['redemption', wire(-50)],
      [`user:${userId}:main`, wire(50)],
    ],
  })

describe('the audit of codes', () => {
  const created = code('RedemptionCreated', { terms: TERMS })

  it('accepts a gift that is redeemed within its terms', () => {
    expect(found([created, ...redeemed(7, 1), ...redeemed(8, 2)])).toEqual([])
  })

  it('reports more uses than the code has, and a second use by one user', () => {
    const thrice = [created, ...redeemed(7, 1), ...redeemed(8, 2), ...redeemed(9, 3)]
    expect(found(thrice)).toEqual(['redemptions at 6'])
    expect(found([created, ...redeemed(7, 1), ...redeemed(7, 2)])).toContain('redemptions at 4')
  })

  it('reports a code that is redeemed after it expired', () => {
    const late = redeemed(7, 1).map((one) => ({ ...one, at: 100_000 }))
    expect(found([created, ...late])).toEqual(['redemptions at 2'])
  })

  it('reports a use without a grant, and a grant without a use', () => {
    const [use, grant] = redeemed(7, 1) as [InStream, InStream]
    expect(found([created, use, muchLater])).toEqual(['redemptions at 2'])
    expect(found([created, grant, muchLater])).toEqual(['redemptions at 2'])
  })
})

const order = (type: string, data: object = {}): InStream => ({
  stream: 'top-up-5',
  fact: fact(type, { orderId: 5, userId: USER, ...data }),
})
const credit = (type: string, amount: number, more: object = {}): Fact => {
  const wired = type === 'TopUpReversed' ? -amount : amount
  return fact(type, {
    ...{ userId: USER, orderId: 5, provider: 'epay', amount, ...more },
    postings: [
      ['cash:epay', wire(-wired)],
      [`user:${USER}:main`, wire(wired)],
    ],
  })
}

describe('the audit of orders', () => {
  const ordered = order('TopUpOrdered', { quota: 100 })
  const paid = order('TopUpPaid', { paymentId: 'p', rebate: null })
  const bought = [ordered, paid, ...account([credit('TopUpCredited', 100)])]
  const refunded = (quota: number, refundNo = 1): InStream[] => [
    order('TopUpRefunded', { refundNo, money: '1.00', quota, rebateQuota: 0 }),
    ...account([credit('TopUpReversed', quota, { refundNo })]),
  ]

  it('accepts a payment and its refunds', () => {
    expect(found([...bought, ...refunded(40), ...refunded(60, 2), muchLater])).toEqual([])
  })

  it('reports a payment without a credit, and a credit without a payment', () => {
    expect(found([ordered, paid, muchLater])).toEqual(['orders at 2'])
    expect(found([ordered, ...bought.slice(2), muchLater])).toEqual(['orders at 2'])
  })

  it('reports a credit that differs from the order', () => {
    const more = account([credit('TopUpCredited', 101)])
    expect(found([ordered, paid, ...more])).toEqual(['orders at 3'])
  })

  it('reports a second payment, and refunds above the payment', () => {
    expect(found([...bought, paid])).toContain('orders at 4')
    expect(found([...bought, ...refunded(60), ...refunded(60, 2)])).toEqual(['orders at 6'])
  })
})

describe('the audit of batches', () => {
  const PRICE = { ...perTokenPrice({ completion: '4' }), batch: '0.5' }
  const [batch, CALL] = ['b', 'b']
  const inBatch = (type: string, data: object): InStream => ({
    stream: 'batch-b',
    fact: fact(type, { batch, userId: USER, ...data }),
  })
  const submitted = inBatch('BatchSubmitted', {
    ...{ lines: 2, parts: [{ call: CALL, model: 'm', price: PRICE, lines: 2, hold: 40 }] },
  })
  const admission = admitted(40, { call: CALL, price: PRICE, batch: { id: batch, lines: 2 } })
  const billed = (line: number, charge: number): InStream =>
    inBatch('BatchLinesBilled', {
      lines: [{ line, part: 0, usage: { inputUncached: 10 }, charge }],
    })
  const settlement = (charge: number, unpaid?: number): Fact =>
    settled(40, charge, {
      ...{ call: CALL, price: PRICE, batch: { id: batch, lines: 2 }, billedLines: 2 },
      ...(unpaid === undefined ? {} : { unpaid: wire(unpaid) }),
    })
  const begun = [...account([granted(100), admission]), submitted]

  it('accepts the sum of the charges of its lines, less what was not paid', () => {
    const lines = [billed(0, 5), billed(1, 5)]
    expect(found([...begun, ...lines, ...account([settlement(10)])])).toEqual([])
    expect(found([...begun, ...lines, ...account([settlement(7, 3)])])).toEqual([])
  })

  it('reports another sum, a line that is billed twice, and a wrong charge of a line', () => {
    const lines = [billed(0, 5), billed(1, 5)]
    expect(found([...begun, ...lines, ...account([settlement(11)])])).toEqual(['charges at 6'])
    expect(found([...begun, billed(0, 5), billed(0, 5)])).toEqual(['charges at 5'])
    expect(found([...begun, billed(0, 6)])).toEqual(['prices at 4'])
  })
})
