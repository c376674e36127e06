import { describe, expect, it } from 'vitest'
import {
  changedChannel,
  channelFaults,
  endsInVersion,
  listOf,
  newChannel,
  termsOfChannel,
  withType,
} from '#console/features/channels/channel-draft.ts'
import { responseSpeed, statusCause } from '#console/features/channels/channel-status.ts'
import { relayAddress, typeName, typesToOffer } from '#console/features/channels/channel-types.ts'

const draft = { ...newChannel, name: 'main', key: 'sk-up', models: ['gpt-4o'] }

describe('the channel form', () => {
  it('starts with the defaults: type 1, auto-ban, group default, priority and weight 0', () => {
    expect(channelFaults(draft, null)).toEqual({})
    expect(termsOfChannel({ ...draft, baseUrl: 'https://a.example/x//' })).toMatchObject({
      type: 1,
      auto_ban: 1,
      group: 'default',
      priority: 0,
      weight: 0,
      base_url: 'https://a.example/x',
    })
  })

  it('names each fault at its field', () => {
    const wrong = {
      ...newChannel,
      baseUrl: 'ftp://x',
      groups: [],
      modelMapping: '{a',
      paramOverride: '[]',
      priority: '1.5',
      weight: '-1',
    }
    expect(channelFaults(wrong, null)).toEqual({
      name: 'nameAndKeyMissing',
      key: 'nameAndKeyMissing',
      baseUrl: 'baseUrlWrong',
      models: 'modelsMissing',
      groups: 'groupsMissing',
      modelMapping: 'notJson',
      paramOverride: 'notObject',
      priority: 'notInteger',
      weight: 'notNatural',
    })
  })

  it('another address or type asks for the key again, a slash at the end does not', () => {
    const before = { ...draft, key: '' }
    expect(channelFaults(before, before)).toEqual({})
    const moved = { ...before, baseUrl: 'https://elsewhere.example' }
    expect(channelFaults(moved, before)).toEqual({ key: 'keyAgain' })
    expect(channelFaults({ ...before, type: 8 }, before)).toEqual({ key: 'keyAgain' })
    expect(channelFaults({ ...before, baseUrl: `${before.baseUrl}/` }, before)).toEqual({})
  })

  it('an empty key is never sent, and an edit sends only what changed', () => {
    const before = { ...draft, key: '' }
    expect(changedChannel(before, { ...before, weight: '5' })).toEqual({ weight: 5 })
    expect(changedChannel(before, { ...before, key: 'sk-new' })).toEqual({ key: 'sk-new' })
  })

  it('an address that ends in /v1 is worth a question', () => {
    expect(endsInVersion('https://api.example/v1/')).toBe(true)
    expect(endsInVersion('https://api.example/v10')).toBe(false)
  })

  it('shows where calls go, without a second /v1', () => {
    expect(relayAddress(1, 'https://a.example/')).toBe('https://a.example/v1/chat/completions')
    expect(relayAddress(8, 'https://a.example/v1')).toBe('https://a.example/v1/chat/completions')
    expect(relayAddress(45, 'https://a.example')).toBe('https://a.example/api/v3/chat/completions')
  })

  it('a type brings its address, unless another was typed', () => {
    expect(withType(draft, 43).baseUrl).toBe('https://api.deepseek.com')
    expect(withType({ ...draft, baseUrl: 'http://own' }, 43).baseUrl).toBe('http://own')
    expect(withType(draft, 8).baseUrl).toBe('')
  })

  it('names come once each, from commas or lines', () => {
    expect(listOf(' a, b\na,,c ')).toEqual(['a', 'b', 'c'])
  })
})

describe('what a row says', () => {
  it('why a channel was switched off, if it is told', () => {
    expect(statusCause('{"status_reason":"401","status_time":5}')).toEqual({
      reason: '401',
      time: 5,
    })
    for (const text of ['', 'x', 'null', '{}', '{"status_reason":5}']) {
      expect(statusCause(text), text).toBeNull()
    }
  })

  it('speed by the steps 1, 3 and 5 seconds', () => {
    const steps = [0, 1000, 1001, 3000, 5000, 5001].map(responseSpeed)
    expect(steps).toEqual(['untested', 'fast', 'fair', 'fair', 'slow', 'verySlow'])
  })

  it('a type that cannot be added keeps its name and stays choosable while editing', () => {
    expect(typeName(14)).toBe('Anthropic')
    expect(typeName(999)).toBe('#999')
    expect(typesToOffer(14).at(-1)?.name).toBe('Anthropic')
    expect(typesToOffer(1).some(({ id }) => id === 14)).toBe(false)
  })
})
