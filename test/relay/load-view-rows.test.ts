import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Fact, Sealed } from '#domain/shared/event.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { createFreshness } from '#projections/read-model-freshness/query.ts'
import { startProjections } from '#projections/runner/start-projections.ts'
import { loadViewRows } from '#relay/views/load-view-rows.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { testCore } from '../support/test-core.ts'

let core: Core
let close: () => Promise<void>
beforeAll(async () => {
  ;({ core, close } = await testCore())
})
afterAll(() => close())

it('the rows that the relay loads from the read models equal the fold of the events', async () => {
  const meta = { actor: 'system:test', cause: null, at: Date.now() }
  const append = async (stream: string, ...facts: Fact[]): Promise<number> => {
    const events = facts.map((fact) => ({ ...fact, id: crypto.randomUUID(), meta }))
    return (await core.store.append([{ stream, expected: 'none', events }])).position
  }
  const username = await core.vault.seal(7, 'name')
  const allowIps = (await core.vault.seal(7, '10.0.0.0/8')) as Sealed
  const rateLimit = { isEnabled: true, periodSeconds: 60, count: 5, success: 1 }
  const limits = { rateLimit, tokensPerMinute: 900, maxConcurrency: 3 }
  const shared = { expiresAt: 9, group: 'g', models: ['m'], allowIps, ...limits }
  const user = { userId: 7, role: 10, group: 'default', passwordRef: 'p', inviterId: null }
  await append(
    'user-7',
    { type: 'UserCreated', v: 1, data: { ...user, username, displayName: username } },
    { type: 'UserDisabled', v: 1, data: { userId: 7, authVersion: 2 } },
  )
  const token = { tokenId: 3, name: 't', keyLookup: 'look', keyRef: 'ref', keyHint: 'hint' }
  const others = [4, 5, 6].map((tokenId) => ({ ...token, tokenId, keyLookup: `look-${tokenId}` }))
  const open = { ...shared, expiresAt: null, models: null, allowIps: null }
  await append(
    'tokens-7',
    ...[
      { terms: shared, tokens: [token, ...others.slice(0, 2)] },
      { terms: { ...shared, expiresAt: 10 }, tokens: [{ ...token, tokenId: 7, keyLookup: '7' }] },
      { terms: open, tokens: others.slice(2) },
    ].map((data) => ({ type: 'TokensCreated', v: 1, data: { userId: 7, ...data } })),
    { type: 'TokensDisabled', v: 1, data: { userId: 7, tokenIds: [4] } },
    { type: 'TokensDeleted', v: 1, data: { userId: 7, tokenIds: [5] } },
  )
  await append(
    'channels',
    {
      type: 'ChannelsCreated',
      v: 1,
      data: {
        terms: PLAIN_CHANNEL_TERMS,
        channels: [{ channelId: 4, name: 'c', keyRefs: ['one', 'two'] }],
        keyMode: 'polling',
        isEnabled: true,
      },
    },
    {
      type: 'ChannelKeySetAside',
      v: 1,
      data: { channelId: 4, keyRef: 'two', reason: 'status-401' },
    },
    { type: 'ChannelAutoDisabled', v: 1, data: { channelId: 4, reason: 'status-401' } },
  )
  const data = { key: 'RetryTimes', value: '2' }
  const position = await append('options', { type: 'OptionSet', v: 1, data })

  const runner = await startProjections(core)
  const freshness = createFreshness(core)
  await freshness.waitFor(['users', 'tokens', 'channels', 'options'], position, 10_000)
  const rows = await loadViewRows(core)
  await freshness.stop()
  await runner.stop()

  expect(rows.users.rows).toMatchObject([
    { userId: 7, role: 10, group: 'default', isEnabled: false },
  ])
  const tokens = rows.tokens.rows.toSorted((one, other) => one.tokenId - other.tokenId)
  const owned = { userId: 7, isEnabled: true, terms: shared }
  expect(tokens).toEqual([
    { ...owned, tokenId: 3, keyLookup: 'look' },
    { ...owned, tokenId: 4, keyLookup: 'look-4', isEnabled: false },
    { ...owned, tokenId: 6, keyLookup: 'look-6', terms: open },
    { ...owned, tokenId: 7, keyLookup: '7', terms: { ...shared, expiresAt: 10 } },
  ])
  // Otherwise, the terms of a hundred thousand tokens would take more memory than all else of them.
  expect(tokens[1]?.terms).toBe(tokens[0]?.terms)
  expect(rows.channels.rows).toEqual([
    {
      channelId: 4,
      terms: { ...PLAIN_CHANNEL_TERMS, name: 'c' },
      keyRefs: ['one', 'two'],
      keyMode: 'polling',
      setAside: ['two'],
      status: 'auto-disabled',
    },
  ])
  expect([rows.options.revision, [...rows.options.values]]).toEqual([0, [['RetryTimes', '2']]])
  for (const view of Object.values(rows)) expect(view.position).toBe(position)
})
