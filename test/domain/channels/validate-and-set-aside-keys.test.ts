import { describe, expect, it } from 'vitest'
import type { ChannelCommand } from '#domain/channels/commands.ts'
import type { ChannelEvent, KeyMode } from '#domain/channels/events.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { created, createdWithKeys, given, KEY, TERMS } from './facts.ts'

const setAside = (keyRef: string): ChannelCommand => ({
  type: 'SetKeyAside',
  channelId: 4,
  keyRef,
  reason: '401',
  substitutes: [],
})
const isAside = (keyRef: string): ChannelEvent => ({
  type: 'ChannelKeySetAside',
  v: 1,
  data: { channelId: 4, keyRef, reason: '401' },
})
const takeBack = (...keyRefs: string[]): ChannelCommand => ({
  type: 'TakeBackKeys',
  channelId: 4,
  keyRefs,
})
const changeKeys = (
  refs: readonly string[],
  isAppended: boolean,
  keyMode: KeyMode | null = null,
  change: object = {},
): ChannelCommand => ({
  type: 'ChangeTerms',
  channelId: 4,
  change,
  keys: { refs, isAppended },
  keyMode,
})
const three = createdWithKeys(['a', 'b', 'c'], 'polling')

describe('several keys of one channel', () => {
  it('need a key mode and number at most 1,000; one key needs no mode', () => {
    const create = (keyRefs: readonly string[], keyMode: KeyMode): ChannelCommand => ({
      type: 'CreateChannels',
      terms: TERMS,
      channels: [{ channelId: 4, name: 'c', keyRefs }],
      keyMode,
      isEnabled: true,
    })
    given()
      .when(create(['a', 'b'], ''))
      .then(codedError('OneKeyOnly'))
    given().when(create([], 'random')).then(codedError('KeyRequired'))
    expect(given().when(create(['a', 'b'], 'random')).facts).toHaveLength(1)
    expect(given().when(create(['a'], 'random')).facts).toHaveLength(1)
    const many = Array.from({ length: 1_001 }, (_, n) => `k${n}`)
    given()
      .when(create(many, 'random'))
      .then(codedError('TooManyKeys', { limit: 1_000 }))
  })

  it('are replaced by new keys, and the event lists the dropped ones', () => {
    const { facts, after } = given(three).when(changeKeys(['d'], false))
    expect(facts).toMatchObject([{ data: { keyRefs: ['d'], droppedKeyRefs: ['a', 'b', 'c'] } }])
    expect(after.channels.get(4)).toMatchObject({ keyRefs: ['d'], keyMode: 'polling' })
  })

  it('are kept once each, also if a key is given twice', () => {
    const { after } = given(three).when(changeKeys(['d', 'b', 'd', 'b'], false))
    expect(after.channels.get(4)?.keyRefs).toEqual(['d', 'b'])
  })

  it('are not changed if they are no longer those that the request has seen', () => {
    const change = (basedOn: readonly string[]): ChannelCommand => ({
      ...{ type: 'ChangeTerms', channelId: 4, change: {}, keyMode: null },
      keys: { refs: ['b', 'd'], isAppended: false, basedOn },
    })
    given(three)
      .when(change(['a', 'b']))
      .then(codedError('KeysChanged'))
    expect(given(three).when(change(['a', 'b', 'c'])).facts).toHaveLength(1)
  })

  it('can be extended, and a channel with one key can become one with several', () => {
    const { after } = given(three).when(changeKeys(['d', 'a'], true))
    expect(after.channels.get(4)?.keyRefs).toEqual(['a', 'b', 'c', 'd'])
    const grown = given(created()).when(changeKeys(['d'], true, ''))
    expect(grown.after.channels.get(4)).toMatchObject({ keyRefs: [KEY, 'd'], keyMode: 'random' })
    given(created())
      .when(changeKeys(['d', 'e'], false))
      .then(codedError('OneKeyOnly'))
  })

  it('must all be entered again for a new address; an added key is not enough', () => {
    const elsewhere = { baseUrl: 'https://thief.example.com' }
    given(three)
      .when(changeKeys(['d'], true, null, elsewhere))
      .then(codedError('KeyRequired'))
    given(three)
      .when(changeKeys(['d', 'a'], false, null, elsewhere))
      .then(codedError('KeyRequired'))
    expect(given(three).when(changeKeys(['d'], false, null, elsewhere)).facts).toHaveLength(1)
  })
})

describe('a failing key', () => {
  it('is set aside once, and can be put back into use', () => {
    given(three)
      .when(setAside('b'))
      .then([isAside('b')])
    given(three, isAside('b')).when(setAside('b')).then([])
    given(three, isAside('b'))
      .when(takeBack('b', 'c', 'x'))
      .then([{ type: 'ChannelKeysTakenBack', v: 1, data: { channelId: 4, keyRefs: ['b'] } }])
    given(three).when(takeBack('b')).then([])
    given(three).when(setAside('x')).then([])
  })

  it('turns the channel off if it is the only key left, and is not set aside', () => {
    const off: ChannelEvent = {
      type: 'ChannelAutoDisabled',
      v: 1,
      data: { channelId: 4, reason: '401' },
    }
    const before = given(three, isAside('a'), isAside('c'))
    before.when(setAside('b')).then([off])
    given(created()).when(setAside(KEY)).then([off])
    given(three, isAside('a'), isAside('c'), off).when(setAside('b')).then([])
  })

  it('stays in use if it is the only key left of a channel without a substitute', () => {
    const nobodyElse = { ...setAside('b'), substitutes: [[]] } as ChannelCommand
    given(three)
      .when(nobodyElse)
      .then([isAside('b')])
    given(three, isAside('a'), isAside('c')).when(nobodyElse).then([])
  })

  it('is not set aside if the admin forbade that', () => {
    given(createdWithKeys(['a', 'b'], 'random', { isAutoBan: false }))
      .when(setAside('a'))
      .then([])
  })

  it('is forgotten when keys are replaced, and stays set aside when keys are added', () => {
    const before = given(three, isAside('b'))
    expect(before.when(changeKeys(['d'], false)).after.channels.get(4)?.setAside).toEqual([])
    expect(before.when(changeKeys(['d'], true)).after.channels.get(4)?.setAside).toEqual(['b'])
  })
})
