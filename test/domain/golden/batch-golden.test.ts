import { describe, expect, it } from 'vitest'
import type { AccountCommand } from '#domain/accounts/commands.ts'
import type { AccountEvent } from '#domain/accounts/events.ts'
import { type BatchCommand, batchDecider } from '#domain/batches/decide.ts'
import type {
  BatchAccepted,
  BatchEnded,
  BatchEvent,
  BatchLinesBilled,
  BatchRouted,
  BatchSubmitted,
} from '#domain/batches/events.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { toWire } from '#domain/shared/quota.ts'
import { deciderWithoutBalances } from '../accounts/facts.ts'
import { golden, story } from './story.ts'

const BATCH = '019ab0de-2c00-7000-8000-0000000000b1'
const NOW = 1_795_248_000_000
const PRICE: PriceSnapshot = {
  mode: 'tokens',
  list: 12,
  model: '1.5',
  completion: '5',
  cacheRead: '0.1',
  cacheWrite: '1.25',
  image: '1',
  audio: '1',
  audioCompletion: '1',
  group: '0.8',
  batch: '0.5',
}
const MODEL = 'claude-sonnet-5-5'
const usage = { ...NO_USAGE, inputUncached: 100, cacheRead: 2_000, output: 50 }
const hold = 5_000n
/** (100 + 2000 · 0.1 + 50 · 5) · 1.5 · 0.8 · 0.5 */
const CHARGE = 330n

const submit: BatchCommand = {
  type: 'SubmitBatch',
  ...{ batch: BATCH, userId: 7, tokenId: 3, group: 'default', api: 'anthropic', lines: 2 },
  parts: [{ call: BATCH, model: MODEL, price: PRICE, lines: 2, hold: toWire(hold) }],
  submittedAt: NOW,
}
const accept: BatchCommand = {
  type: 'AcceptBatch',
  ...{ channelId: 5, keyRef: 'ref-5', costRatio: '0.9', upstreamId: 'msgbatch_01' },
}
const bill: BatchCommand = {
  type: 'BillLines',
  lines: [{ line: 1, part: 0, usage, calls: 1 }],
}
const end: BatchCommand = { type: 'EndBatch', cause: 'done', billedLines: 1, at: NOW + 9_000 }
const { batch: _, userId: __, ...place } = (golden('batch-accepted-v1') as BatchAccepted).data

describe('the events of batches, as first recorded', () => {
  story(
    'a batch with a line that failed',
    batchDecider,
    [
      ['batch-submitted-v1', submit],
      ['batch-accepted-v1', accept],
      ['batch-lines-billed-v1', bill],
      ['batch-ended-v1', end],
    ],
    {
      record: {
        submitted: (golden('batch-submitted-v1') as BatchSubmitted).data,
        place,
        billed: new Set([1]),
        sums: [{ lines: 1, usage, charge: CHARGE, cost: 371n }],
        end: (golden('batch-ended-v1') as BatchEnded).data,
      },
    },
  )
})

const ofOmissions = (golden('batch-accepted-omissions-v1') as BatchAccepted).data
const { batch: _o, userId: _p, ...incomplete } = ofOmissions

describe('the event of a batch whose lines were not sent completely, as first recorded', () => {
  story(
    'a batch with dropped members',
    batchDecider,
    [
      ['batch-submitted-v1', submit],
      ['batch-accepted-omissions-v1', { type: 'AcceptBatch', ...incomplete }],
    ],
    {
      record: {
        submitted: (golden('batch-submitted-v1') as BatchSubmitted).data,
        place: incomplete,
        billed: new Set(),
        sums: [{ lines: 0, usage: NO_USAGE, charge: 0n, cost: 0n }],
        end: null,
      },
    },
  )
})

const { batch: _b, userId: _u, ...routed } = (golden('batch-routed-v1') as BatchRouted).data

describe('the event of a batch that is sent to another channel, as first recorded', () => {
  story(
    'a batch that the first channel does not accept',
    batchDecider,
    [
      ['batch-submitted-v1', submit],
      ['batch-routed-v1', { type: 'RouteBatch', ...routed }],
      ['batch-accepted-v1', accept],
    ],
    {
      record: {
        submitted: (golden('batch-submitted-v1') as BatchSubmitted).data,
        failed: [routed.attempt],
        place,
        billed: new Set(),
        sums: [{ lines: 0, usage: NO_USAGE, charge: 0n, cost: 0n }],
        end: null,
      },
    },
  )

  it('is refused once a provider has accepted the batch, or the batch has ended', () => {
    const { evolve, decide, initialState } = batchDecider
    const accepted = [golden('batch-submitted-v1'), golden('batch-accepted-v1')] as BatchEvent[]
    const state = accepted.reduce(evolve, initialState())
    const route: BatchCommand = { type: 'RouteBatch', channelId: 6 }
    expect(decide(route, state)).toMatchObject({ code: 'BatchElsewhere' })
    const ended = evolve(state, golden('batch-ended-v1') as BatchEvent)
    expect(decide(route, ended)).toMatchObject({ code: 'BatchEnded' })
  })
})

const shownPlace = (golden('batch-accepted-evidence-v1') as BatchAccepted).data
const [shownLine] = (golden('batch-lines-billed-evidence-v1') as BatchLinesBilled).data.lines
const { attempt } = shownPlace

describe('the evidence of a batch, as first recorded', () => {
  const { batch: _batch, userId: _userId, ...evidencedPlace } = shownPlace
  const evidenced = {
    ...{ line: 1, part: 0, usage, calls: 1, isOtherModel: true },
    ...(shownLine?.evidence === undefined ? {} : { evidence: shownLine.evidence }),
  }
  story(
    'a batch with a line that another model answered',
    batchDecider,
    [
      ['batch-submitted-v1', submit],
      ['batch-accepted-evidence-v1', { type: 'AcceptBatch', ...evidencedPlace }],
      ['batch-lines-billed-evidence-v1', { type: 'BillLines', lines: [evidenced] }],
      ['batch-ended-v1', end],
    ],
    {
      record: {
        submitted: (golden('batch-submitted-v1') as BatchSubmitted).data,
        place: evidencedPlace,
        billed: new Set([1]),
        sums: [
          {
            ...{ lines: 1, usage, charge: CHARGE, cost: 371n },
            models: { sent: 'vendor-model', answered: 'another-model', isOther: true },
          },
        ],
        end: (golden('batch-ended-v1') as BatchEnded).data,
      },
    },
  )
})

describe('a line whose usage the gateway counted, as first recorded', () => {
  const counted = { line: 1, part: 0, usage, calls: 1, isEstimated: true, anomaly: 'missing' }
  story(
    'a batch with such a line',
    batchDecider,
    [
      ['batch-submitted-v1', submit],
      ['batch-accepted-v1', accept],
      ['batch-lines-billed-estimated-v1', { type: 'BillLines', lines: [counted] }],
      ['batch-ended-v1', end],
    ],
    {
      record: {
        submitted: (golden('batch-submitted-v1') as BatchSubmitted).data,
        place,
        billed: new Set([1]),
        sums: [
          {
            ...{ lines: 1, usage, charge: CHARGE, cost: 371n },
            ...{ estimatedLines: 1, anomaly: 'missing' },
          },
        ],
        end: (golden('batch-ended-v1') as BatchEnded).data,
      },
    },
  )
})

const ids = { userId: 7, tokenId: 3 }
const before: readonly AccountCommand[] = [
  { type: 'GrantQuota', userId: 7, grantId: 'grant-1', amount: 500_000n, reason: 'setup' },
  { type: 'SetTokenBudget', ...ids, remain: 200_000n, isUnlimited: false },
]
const admit: AccountCommand = {
  type: 'AdmitCall',
  ...{ ...ids, call: BATCH, model: MODEL, group: 'default', isStream: false, hold, price: PRICE },
  ...{ leaseUntil: NOW + 60_000, clientIp: 'sealed:ip' as Sealed, startedAt: NOW },
  batch: { id: BATCH, lines: 2, openMax: 1 },
}
const settle = (charge: bigint): AccountCommand => ({
  type: 'SettleCall',
  ...{ call: BATCH, channelId: 5, costRatio: '0.9', upstreamModel: null, usage },
  ...({ usageSource: 'upstream', anomaly: null, end: 'done', attempts: [] } as const),
  timings: { startedAt: NOW, firstByteMs: null, durationMs: 9_000 },
  billed: { lines: 1, charge, cost: 371n },
})

describe('the call that pays for a batch', () => {
  const opened = () => {
    let state = deciderWithoutBalances.initialState()
    for (const command of [...before, admit]) state = evolved(command, state)
    return state
  }
  const evolved = (
    command: AccountCommand,
    state: ReturnType<typeof deciderWithoutBalances.evolve>,
  ) => {
    const events = deciderWithoutBalances.decide(command, state)
    if ('code' in events) throw new Error(events.code)
    return events.reduce((next, event) => deciderWithoutBalances.evolve(next, event), state)
  }
  const withoutAdmission = () =>
    before.reduce((s, c) => evolved(c, s), deciderWithoutBalances.initialState())

  it('is admitted and settled as first recorded', () => {
    expect(deciderWithoutBalances.decide(admit, withoutAdmission())).toStrictEqual([
      golden('call-admitted-batch-v1') as AccountEvent,
    ])
    expect(deciderWithoutBalances.decide(settle(CHARGE), opened())).toStrictEqual([
      golden('call-settled-batch-v1') as AccountEvent,
    ])
  })

  it('repeats the evidence of the submission, with the model that answered', () => {
    if (attempt?.evidence === undefined) throw new Error('no evidence')
    const evidence = { ...attempt.evidence, model: 'another-model' }
    const shown = {
      ...settle(CHARGE),
      ...{ upstreamModel: 'vendor-model', anomaly: 'other-model' },
      attempts: [{ ...attempt, evidence }],
    } as AccountCommand
    expect(deciderWithoutBalances.decide(shown, opened())).toStrictEqual([
      golden('call-settled-batch-evidence-v1') as AccountEvent,
    ])
  })

  it('says how many lines were estimated', () => {
    const estimated = {
      ...settle(CHARGE),
      ...{ usageSource: 'estimated', anomaly: 'missing' },
      billed: { lines: 1, charge: CHARGE, cost: 371n, estimatedLines: 1 },
    } as AccountCommand
    expect(deciderWithoutBalances.decide(estimated, opened())).toStrictEqual([
      golden('call-settled-batch-estimated-v1') as AccountEvent,
    ])
  })

  it('pays what the token covers, and the rest is recorded', () => {
    const [event] = deciderWithoutBalances.decide(
      settle(250_000n),
      opened(),
    ) as readonly AccountEvent[]
    expect(event?.data).toMatchObject({ charge: 200_000, unpaid: 50_000 })
    const state = evolved(settle(250_000n), opened())
    expect(state.budgets.get(3)?.remain).toBe(0n)
    expect(state.balance).toBe(300_000n)
    expect(state.held).toBe(0n)
  })

  it('is never a repeat, and the number of open batches is limited', () => {
    expect(deciderWithoutBalances.decide(admit, opened())).toMatchObject({ code: 'CallKnown' })
    const other = { ...admit, call: BATCH.replace('b1', 'b2') } as AccountCommand
    expect(deciderWithoutBalances.decide(other, opened())).toMatchObject({ code: 'TooManyBatches' })
    const over = evolved(settle(CHARGE), opened())
    expect(deciderWithoutBalances.decide(admit, over)).toMatchObject({ code: 'CallEnded' })
    expect(deciderWithoutBalances.decide(settle(CHARGE), over)).toEqual([])
  })
})
