import { describe, expect, it } from 'vitest'
import { type BatchCommand, batchDecider } from '#domain/batches/decide.ts'
import type { BatchEvent } from '#domain/batches/events.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import { toWire } from '#domain/shared/quota.ts'
import { ratiosOf } from '#test/support/per-token-price.ts'

const BATCH = '019ab0de-2c00-7000-8000-0000000000a1'
const price = {
  ...{ mode: 'tokens', list: 1, ...ratiosOf('1') },
  batch: '0.5',
} as PriceSnapshot
const submit: BatchCommand = {
  type: 'SubmitBatch',
  ...{ batch: BATCH, userId: 7, tokenId: 3, group: 'default', api: 'anthropic', lines: 3 },
  parts: [{ call: BATCH, model: 'm', price, lines: 3, hold: toWire(300n) }],
  submittedAt: 1,
}
const accept: BatchCommand = {
  type: 'AcceptBatch',
  ...{ channelId: 2, keyRef: 'k', upstreamId: 'msgbatch_x' },
}
const usage = { ...NO_USAGE, inputUncached: 3, output: 2 }
const bill = (...lines: number[]): BatchCommand => ({
  type: 'BillLines',
  lines: lines.map((line) => ({ line, part: 0, usage, calls: 1 })),
})
const end = (billedLines: number): BatchCommand => ({
  type: 'EndBatch',
  ...{ cause: 'done', billedLines, at: 9 },
})

function stateAfter(commands: readonly BatchCommand[]) {
  let state = batchDecider.initialState()
  for (const command of commands) {
    const events = batchDecider.decide(command, state)
    if ('code' in events) throw new Error(events.code)
    for (const event of events) state = batchDecider.evolve(state, event)
  }
  return state
}

describe('a batch', () => {
  it('ends with the number of results that could not be read, if there are any', () => {
    const state = stateAfter([submit, accept, bill(0)])
    const endOf = (unreadableLines: number) =>
      batchDecider.decide(
        { type: 'EndBatch', cause: 'done', billedLines: 1, unreadableLines, at: 9 },
        state,
      )
    expect(endOf(2)).toMatchObject([{ type: 'BatchEnded', data: { unreadableLines: 2 } }])
    expect(endOf(0)).not.toMatchObject([{ data: { unreadableLines: 0 } }])
  })

  it('bills each line once, however often its result is read', () => {
    const state = stateAfter([submit, accept, bill(0, 0, 1), bill(1, 0), bill(2, 1)])
    // Each line costs 2.5, which is rounded for each line.
    expect(state.record?.sums).toEqual([
      { lines: 3, usage: { ...NO_USAGE, inputUncached: 9, output: 6 }, charge: 9n, cost: 0n },
    ])
    expect(batchDecider.decide(bill(0, 1, 2), state)).toEqual([])
  })

  it('remembers the model of a line that another model answered', () => {
    const line = (index: number, model: string, isOtherModel = false) => ({
      ...{ line: index, part: 0, usage, calls: 1, isOtherModel, evidence: { model } },
    })
    const lines = [line(0, 'm'), line(1, 'n', true), line(2, 'o', true)]
    const state = stateAfter([submit, accept, { type: 'BillLines', lines }])
    expect(state.record?.sums[0]?.models).toEqual({ sent: null, answered: 'n', isOther: true })
  })

  it('names the number of answers that a price per call was multiplied by', () => {
    const perCall = { mode: 'call', list: 1, price: '0.01', group: '1', batch: '0.5' } as const
    const parts = [{ call: BATCH, model: 'm', price: perCall, lines: 3, hold: toWire(30_000n) }]
    const state = stateAfter([{ ...submit, parts } as BatchCommand, accept])
    const command = { type: 'BillLines', lines: [{ line: 0, part: 0, usage, calls: 3 }] } as const
    const [event] = batchDecider.decide(command, state) as readonly BatchEvent[]
    expect(event?.data).toMatchObject({ lines: [{ calls: 3, charge: 7_500 }] })
  })

  it('ends only with the sum of all its lines, and once', () => {
    const state = stateAfter([submit, accept, bill(0, 1)])
    expect(batchDecider.decide(end(1), state)).toMatchObject({ code: 'BatchMoved' })
    const over = stateAfter([submit, accept, bill(0, 1), end(2)])
    expect(batchDecider.decide(end(2), over)).toMatchObject({ code: 'BatchEnded' })
    expect(batchDecider.decide(bill(2), over)).toMatchObject({ code: 'BatchEnded' })
  })

  it('bills no line before a provider has accepted it', () => {
    expect(batchDecider.decide(bill(0), stateAfter([submit]))).toMatchObject({
      code: 'BatchNotAccepted',
    })
  })

  it('is at one provider', () => {
    const state = stateAfter([submit, accept])
    expect(batchDecider.decide(accept, state)).toEqual([])
    const elsewhere = { ...accept, upstreamId: 'msgbatch_y' } as BatchCommand
    expect(batchDecider.decide(elsewhere, state)).toMatchObject({ code: 'BatchElsewhere' })
  })
})
