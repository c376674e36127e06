import { expect, it } from 'vitest'
import type { Attempt } from '#domain/account/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { type LoggedEvent, rowOf } from '#projections/call-log/row-of.ts'
import { wordsOf } from '#read-api/logs/log-words.ts'
import { aCall, type Given, NOW, releasedCall, settledCall } from '../fixture.ts'

function rowWith(given: Given, end: object, error: string) {
  const attempts: Attempt[] = [{ channelId: 1, status: 200, error, latencyMs: 5 }]
  const data = { ...(given.data as object), ...end, attempts }
  const meta = { actor: 'token:1', cause: null, at: NOW }
  const { reason, call } = rowOf({ ...given, data, meta } as unknown as Recorded<LoggedEvent>)
  return { reason, end: JSON.parse(call?.other ?? '{}').end }
}

const call = aCall({ userId: 1, tokenId: 1, model: 'm' })

it('an answer that the word check stopped is not told as one that the provider broke off', () => {
  const stopped = { end: 'incomplete', reason: 'incomplete' }
  expect(rowWith(settledCall(call, 1, NOW), stopped, 'screened')).toEqual({
    reason: 'settled',
    end: 'screened',
  })
  const withheld = rowWith(releasedCall(call, NOW), stopped, 'screened')
  expect(withheld).toEqual({ reason: 'released:screened', end: 'screened' })
  expect(wordsOf(withheld.reason, 'en')).toBe('Withheld by the word check')
  expect(wordsOf(withheld.reason, 'zh')).toBe('回答命中屏蔽词，已被拦下')
  expect(rowWith(settledCall(call, 1, NOW), stopped, 'cut').end).toBe('incomplete')
  expect(rowWith(releasedCall(call, NOW), stopped, 'cut').reason).toBe('released:incomplete')
})
