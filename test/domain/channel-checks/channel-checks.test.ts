import { describe, expect, it } from 'vitest'
import { channelChecksDecider, testRunsDecider } from '#domain/channel-checks/decide.ts'
import type { TestRunEvent } from '#domain/channel-checks/events.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

const test = {
  channelId: 4,
  model: 'gpt-4o',
  isSuccess: false,
  durationMs: 812,
  reason: 'status-401',
  usage: null,
  run: null,
}

describe('channel checks', () => {
  const { given } = specificationOf(channelChecksDecider)

  it('records every channel test, even if its result is the same as before', () => {
    const event = { type: 'ChannelTested', v: 1, data: test } as const
    given()
      .when({ type: 'RecordTest', ...test })
      .then([event])
    given(event)
      .when({ type: 'RecordTest', ...test })
      .then([event])
  })

  it('records every balance, even if it is the same as before', () => {
    const event = {
      type: 'ChannelBalanceRead',
      v: 1,
      data: { channelId: 4, balance: '1' },
    } as const
    given(event).when({ type: 'RecordBalance', channelId: 4, balance: '1' }).then([event])
  })
})

describe('test runs', () => {
  const { given } = specificationOf(testRunsDecider)
  const started = (run: string): TestRunEvent => ({
    type: 'ChannelTestRunStarted',
    v: 1,
    data: { run, total: 3 },
  })
  const end = { type: 'EndTestRun', run: 'a', tested: 3, failed: 1 } as const

  it('start once and end once', () => {
    given()
      .when({ type: 'StartTestRun', run: 'a', total: 3 })
      .then([started('a')])
    given(started('a')).when({ type: 'StartTestRun', run: 'a', total: 3 }).then([])
    const ended = given(started('a')).when(end)
    ended.then([{ type: 'ChannelTestRunEnded', v: 1, data: { run: 'a', tested: 3, failed: 1 } }])
    given(started('a'), ...ended.facts)
      .when(end)
      .then(codedError('TestRunOver'))
  })

  it('a run that a newer one replaced cannot end the newer one', () => {
    const overtaken = given(started('a')).when({ type: 'StartTestRun', run: 'b', total: 3 })
    overtaken.then([started('b')])
    given(started('a'), started('b')).when(end).then(codedError('TestRunOver'))
    expect(overtaken.after).toEqual({ open: 'b' })
  })
})
