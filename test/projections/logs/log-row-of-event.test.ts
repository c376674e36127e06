import { expect, it } from 'vitest'
import type { Attempt } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { detailsOf, type LoggedEvent, rowOf } from '#projections/logs/log-row-of-event.ts'
import { reasonTextOfLogRow } from '#read-api/logs/log-response.ts'
import { aCall, type Given, interruptedCall, NOW, releasedCall, settledCall } from '../fixture.ts'

function rowWith(given: Given, end: object, error: string) {
  const attempts: Attempt[] = [{ channelId: 1, status: 200, error, latencyMs: 5 }]
  const data = { ...(given.data as object), ...end, attempts }
  const meta = { actor: 'token:1', cause: null, at: NOW }
  const event = { ...given, data, meta } as unknown as Recorded<LoggedEvent>
  const { reason } = rowOf(event)
  const other = detailsOf(event)?.other ?? '{}'
  return { shown: { reason, end: JSON.parse(other).end }, row: { reason, other } }
}

const call = aCall({ userId: 1, tokenId: 1, model: 'm' })

it('a log row tells an answer stopped by the word check from one cut by its provider', () => {
  const stopped = { end: 'incomplete', reason: 'incomplete' }
  expect(rowWith(settledCall(call, 1, NOW), stopped, 'screened').shown).toEqual({
    reason: 'settled',
    end: 'screened',
  })
  const withheld = rowWith(releasedCall(call, NOW), stopped, 'screened')
  expect(withheld.shown).toEqual({ reason: 'released:screened', end: 'screened' })
  expect(reasonTextOfLogRow(withheld.row, 'en')).toBe('Withheld by the word filter')
  expect(reasonTextOfLogRow(withheld.row, 'zh')).toBe('回答命中屏蔽词，已被拦下')
  expect(rowWith(settledCall(call, 1, NOW), stopped, 'cut').shown.end).toBe('incomplete')
  expect(rowWith(releasedCall(call, NOW), stopped, 'cut').shown.reason).toBe('released:incomplete')
})

it.each([
  ['revoked', 'Access was revoked'],
  ['balance-spent', 'The balance was used up'],
  ['over-limit', 'The provider exceeded the output limit'],
  ['draining', 'The gateway was restarting'],
  ['store-unavailable', 'The gateway could not record the call'],
])('a log row does not blame the provider for an answer that the gateway ended: %s', (...row) => {
  const [error, text] = row
  const ended = { end: 'incomplete', reason: 'incomplete' }
  expect(rowWith(settledCall(call, 1, NOW), ended, error).shown.end).toBe(error)
  expect(reasonTextOfLogRow(rowWith(releasedCall(call, NOW), ended, error).row, 'en')).toBe(text)
})

it.each([
  ['upstream_unreachable', 'connect', 'The provider could not be reached'],
  ['upstream_status', 'status', 'The provider returned an error'],
])('the log text of a call that ended by %s says what happened', (code, error, text) => {
  const end = { reason: 'upstream-error', errorCode: code }
  expect(reasonTextOfLogRow(rowWith(releasedCall(call, NOW), end, error).row, 'en')).toBe(text)
})

it('the log text of a call that was not sent does not say that no channel is available', () => {
  const { data } = releasedCall(call, NOW) as { readonly data: object }
  const textOf = (reason: string) => {
    const end = { ...data, reason, attempts: [] }
    const meta = { actor: 'token:1', cause: null, at: NOW }
    const event = { ...releasedCall(call, NOW), data: end, meta }
    const row = rowOf(event as unknown as Recorded<LoggedEvent>)
    return reasonTextOfLogRow({ reason: row.reason, other: '{}' }, 'en')
  }
  expect(textOf('not-sent')).toBe('Not sent to a provider')
  expect(textOf('no-channel')).toBe('No available channel')
})

it('a log row of a batch without usage names the batch, and does not blame the provider', () => {
  const batch = { id: 'b', lines: 3 }
  const end = { reason: 'done', errorCode: 'batch_done', batch }
  const given = releasedCall(call, NOW)
  const attempts = [{ channelId: 1, status: 200, error: null, latencyMs: 5 }]
  const data = { ...(given.data as object), ...end, attempts }
  const meta = { actor: 'system:batches', cause: null, at: NOW }
  const event = { ...given, data, meta } as unknown as Recorded<LoggedEvent>
  const { other = '{}' } = detailsOf(event) ?? {}
  const ofBatch = { batch_id: 'b', batch_lines: 3, batch_lines_billed: 0 }
  expect(JSON.parse(other)).toMatchObject({ ...ofBatch, end: 'done', error_code: 'batch_done' })
  const { reason } = rowOf(event)
  expect(reasonTextOfLogRow({ reason, other }, 'en')).toBe('No usage')
  expect(reasonTextOfLogRow({ reason, other }, 'zh')).toBe('未产生用量')
})

it('a log row names the requested model and group if another served the call', () => {
  const requested = { model: 'm', group: 'auto' }
  const ends = [settledCall(call, 1, NOW), releasedCall(call, NOW), interruptedCall(call, 1)]
  for (const given of ends) {
    const otherOf = (more: object) => {
      const data = { ...(given.data as object), ...more }
      const event = { ...given, data, meta: { actor: 'token:1', cause: null, at: NOW } }
      return JSON.parse(detailsOf(event as unknown as Recorded<LoggedEvent>)?.other ?? '{}')
    }
    expect(otherOf({ requested }).requested).toEqual(requested)
    expect(otherOf({})).not.toHaveProperty('requested')
    const { model, group } = given.data as { readonly model: string; readonly group: string }
    expect(otherOf({ requested: { model, group } })).not.toHaveProperty('requested')
  }
})

it('a log row names the requested reasoning effort, however the call ended', () => {
  const otherOf = (given: Given, more: object) => {
    const data = { ...(given.data as object), ...more }
    const meta = { actor: 'token:1', cause: null, at: NOW }
    const event = { ...given, data, meta } as unknown as Recorded<LoggedEvent>
    return JSON.parse(detailsOf(event)?.other ?? '{}')
  }
  for (const end of [settledCall(call, 1, NOW), releasedCall(call, NOW)]) {
    expect(otherOf(end, { reasoningEffort: 'high' }).reasoning_effort).toBe('high')
    expect(otherOf(end, {})).not.toHaveProperty('reasoning_effort')
  }
})

it('a log row says how the request was changed, however the call ended', () => {
  const changes = { formats: ['chat', 'messages'], dropped: ['speed'], losses: ['seed'] }
  for (const given of [settledCall(call, 1, NOW), releasedCall(call, NOW)]) {
    const otherOf = (more: object) => {
      const data = { ...(given.data as object), ...more }
      const event = { ...given, data, meta: { actor: 'token:1', cause: null, at: NOW } }
      return JSON.parse(detailsOf(event as unknown as Recorded<LoggedEvent>)?.other ?? '{}')
    }
    expect(otherOf(changes)).toMatchObject({
      request_conversion: ['chat', 'messages'],
      dropped_members: ['speed'],
      conversion_loss: ['seed'],
    })
    for (const name of ['request_conversion', 'dropped_members', 'conversion_loss'])
      expect(otherOf({})).not.toHaveProperty(name)
  }
  const { data, ...given } = interruptedCall(call, 1)
  const meta = { actor: 'system', cause: null, at: NOW }
  const event = { ...given, data: { ...(data as object), formats: ['gemini'] }, meta }
  const { other = '{}' } = detailsOf(event as unknown as Recorded<LoggedEvent>) ?? {}
  expect(JSON.parse(other).request_conversion).toEqual(['gemini'])
})

it('a log row of a call with sound has the counts and ratios of sound and group', () => {
  const given = settledCall(call, 1, NOW)
  const { price, usage } = given.data as { price: object; usage: object }
  const heard = { inputUncached: 100, inputAudio: 200, output: 350, outputAudio: 300 }
  const data = {
    ...(given.data as object),
    price: { ...price, group: '0.6', userGroup: 'inner', audio: '8', audioCompletion: '2' },
    usage: { ...usage, cacheRead: 0, ...heard },
  }
  const meta = { actor: 'token:1', cause: null, at: NOW }
  const otherOf = (event: unknown) =>
    JSON.parse(detailsOf(event as Recorded<LoggedEvent>)?.other ?? '{}')
  expect(otherOf({ ...given, data, meta })).toMatchObject({
    ...{ group_ratio: 0.6, user_group_ratio: 0.6, audio_ratio: 8, audio_completion_ratio: 2 },
    ...{ audio: true, audio_input: 200, text_input: 100, audio_output: 300, text_output: 50 },
  })
  const plain = otherOf({ ...given, meta })
  for (const key of ['user_group_ratio', 'audio', 'audio_input'])
    expect(plain).not.toHaveProperty(key)
})

it('a log row has the price of images only for an answer with images', () => {
  const given = settledCall(call, 1, NOW)
  const { price, usage } = given.data as { price: { completion: string }; usage: object }
  const otherOf = (counts: object, change: object) => {
    const usageOfCall = { ...usage, output: 300, ...counts }
    const data = { ...(given.data as object), price: { ...price, ...change }, usage: usageOfCall }
    const event = { ...given, data, meta: { actor: 'token:1', cause: null, at: NOW } }
    return JSON.parse(detailsOf(event as unknown as Recorded<LoggedEvent>)?.other ?? '{}')
  }
  const images = { outputImage: 200 }
  expect(otherOf(images, { imageCompletion: '60' })).toMatchObject({
    price: { imageCompletion: '60' },
    usage: { output: 300, outputImage: 200 },
  })
  expect(otherOf(images, {}).price.imageCompletion).toBe(price.completion)
  expect(otherOf({}, { imageCompletion: '60' }).price).not.toHaveProperty('imageCompletion')
  const inBatch = { batch: '0.5', image: '2', imageCompletion: '60' }
  const names = ['image_ratio', 'image_completion_ratio', 'image_factor', 'price']
  expect(otherOf({ ...images, inputImage: 9 }, inBatch)).toMatchObject({
    ...{ image_ratio: 2, image_completion_ratio: 60, batch_ratio: '0.5' },
  })
  for (const name of names) expect(otherOf({}, inBatch)).not.toHaveProperty(name)
  const ofImages = { mode: 'call', price: '0.04', imageFactor: '2', batch: '0.5' }
  expect(otherOf({ images: 2 }, ofImages)).toMatchObject({ model_price: 0.04, image_factor: '2' })
})

it('a log row shows what the cache of the provider read and saved', () => {
  const given = settledCall(call, 1, NOW)
  const { price, usage } = given.data as { price: object; usage: object }
  const otherOf = (counts: object, change = {}) => {
    const data = { ...(given.data as object), usage: { ...usage, ...counts } }
    const changed = { ...data, price: { ...price, ...change } }
    const event = { ...given, data: changed, meta: { actor: 'token:1', cause: null, at: NOW } }
    return JSON.parse(detailsOf(event as unknown as Recorded<LoggedEvent>)?.other ?? '{}')
  }
  const ratios = { model: '1', cacheRead: '0.1', cacheWrite: '1.25', group: '1' }
  const third = otherOf({ inputUncached: 200, cacheRead: 100 }, ratios)
  expect(third).toMatchObject({ cache_hit_rate: 0.3333, cache_saved: 90 })
  const written = otherOf({ inputUncached: 0, cacheRead: 0, cacheWrite5m: 400 }, ratios)
  expect(written).toMatchObject({ cache_hit_rate: 0, cache_saved: -100 })
  for (const counts of [{ cacheRead: 0 }, { cacheRead: -1 }]) {
    expect(otherOf(counts)).not.toHaveProperty('cache_hit_rate')
    expect(otherOf(counts)).not.toHaveProperty('cache_saved')
  }
})
