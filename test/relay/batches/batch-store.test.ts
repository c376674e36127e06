import { describe, expect, it } from 'vitest'
import type { Sealed } from '#domain/shared/event.ts'
import { createPools } from '#infra/postgres/pools.ts'
import { type BatchStore, createBatchStore, HOLDING_MS } from '#relay/batches/batch-store.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { batchesInMemory } from '../support/in-memory-batches.ts'

/** The table of batches as an earlier version created it, with a batch whose results are denied. */
const EARLIER_TABLE = `
  create schema if not exists relay;
  create table relay.batches (
    batch text primary key,
    user_id int8 not null,
    submitted_at int8 not null,
    is_settled boolean not null default false,
    object text,
    api text not null default 'anthropic',
    request text,
    attempts int4 not null default 0,
    retry_at int8 not null default 0,
    denied_at int8 not null default 0
  );
  insert into relay.batches (batch, user_id, submitted_at, denied_at) values ('earlier', 8, 1, 2);
`
const postgres = startedOnce(async () => {
  const database = await testDatabase()
  const pools = await createPools(database.url)
  await pools.pg.query(EARLIER_TABLE)
  const store = await createBatchStore(pools.pg)
  return {
    store,
    close: async () => {
      await pools.close()
      await database.drop()
    },
  }
})

const AT = Date.UTC(2026, 10, 28)
const STORES: readonly (readonly [string, () => BatchStore])[] = [
  ['Postgres', () => postgres.store],
  ['the memory of a test', batchesInMemory],
]

async function added(store: BatchStore, batch: string): Promise<() => Promise<unknown>> {
  const request = 'sealed' as Sealed
  const row = { batch, userId: 7, api: 'anthropic', submittedAt: AT, request } as const
  await store.add({ ...row, holder: 'one', holderSince: AT }, new Map())
  return () => store.find(7, batch)
}

describe.each(STORES)('the batches in %s', (_name, createStore) => {
  it('keep the data of lines for the channel to which the batch is sent last', async () => {
    const store = createStore()
    const line = { line: 0, part: 0, bounds: { inputTokens: 1, outputTokens: 1, choices: 1 } }
    const first = { ...line, inputCeiling: 1, calls: 1, bytes: 2, hasHourCache: false }
    const rest = { api: 'anthropic', submittedAt: AT, request: null, holder: 'one' } as const
    for (const batch of ['routed', 'unchanged']) {
      const row = { batch, userId: 7, ...rest, holderSince: AT }
      await store.add(row, new Map([['a', first] as const, ['b', { ...first, line: 1 }] as const]))
    }
    const second = { ...first, sentModel: 'other', bytes: 3 }
    const lines = new Map([['a', second] as const, ['b', { ...second, line: 1 }] as const])
    await store.replaceLines('routed', lines)
    expect(await store.linesOf('routed')).toEqual(lines)
    expect((await store.linesOf('unchanged')).get('a')).toEqual(first)
  })

  it('keep the first batch of several with one id', async () => {
    const store = createStore()
    const facts = { line: 0, part: 0, bounds: { inputTokens: 1, outputTokens: 1, choices: 1 } }
    const rest = { inputCeiling: 1, calls: 1, bytes: 2, hasHourCache: false }
    const add = (submittedAt: number, id: string) => {
      const row = {
        batch: 'once',
        userId: 7,
        api: 'anthropic',
        submittedAt,
        request: null,
        holder: `request ${submittedAt}`,
        holderSince: AT,
      } as const
      return store.add(row, new Map([[id, { ...facts, ...rest }]]))
    }
    const isAdded = await Promise.all(Array.from({ length: 50 }, (_, at) => add(at, `line ${at}`)))
    const first = isAdded.indexOf(true)
    expect(isAdded.filter((one) => one)).toHaveLength(1)
    expect(await store.find(7, 'once')).toMatchObject({ submittedAt: first })
    expect([...(await store.linesOf('once')).keys()]).toEqual([`line ${first}`])
  })

  it('let another request replace a batch whose quota was not reserved for a minute', async () => {
    const store = createStore()
    const find = await added(store, 'abandoned')
    const facts = { line: 0, part: 0, bounds: { inputTokens: 1, outputTokens: 1, choices: 1 } }
    const line = { ...facts, inputCeiling: 1, calls: 1, bytes: 2, hasHourCache: false }
    const add = (holder: string, holderSince: number, part: number) => {
      const row = { batch: 'abandoned', userId: 7, api: 'anthropic', request: null } as const
      const lines = new Map([['a', { ...line, part }]])
      return store.add({ ...row, submittedAt: holderSince, holder, holderSince }, lines)
    }
    expect(await add('two', AT + HOLDING_MS - 1, 1)).toBe(false)
    const at = AT + HOLDING_MS
    const several = Array.from({ length: 50 }, (_, part) => add(`later ${part}`, at, part))
    const isAdded = await Promise.all(several)
    const part = isAdded.indexOf(true)
    expect(isAdded.filter((one) => one)).toHaveLength(1)
    expect(await find()).toMatchObject({ holder: `later ${part}`, submittedAt: at })
    expect((await store.linesOf('abandoned')).get('a')).toMatchObject({ part })
    expect(await store.confirm('abandoned', 'one')).toBe(false)
    await store.remove('abandoned', 'one')
    expect(await store.confirm('abandoned', `later ${part}`)).toBe(true)
    expect(await add('last', at + HOLDING_MS, 0)).toBe(false)
    await store.remove('abandoned', `later ${part}`)
    expect(await find()).toMatchObject({ holder: null })
    await store.remove('abandoned', null)
    expect([await find(), (await store.linesOf('abandoned')).size]).toEqual([undefined, 0])
  })

  it('keep the first denial, and the first other failure since the last denial', async () => {
    const store = createStore()
    const find = await added(store, 'denied')
    expect(await find()).toMatchObject({ deniedAt: 0, failingSince: 0 })
    await store.deny('denied', AT)
    await store.noteFailure('denied', AT + 1)
    await store.noteFailure('denied', AT + 2)
    expect(await find()).toMatchObject({ deniedAt: AT, failingSince: AT + 1 })
    await store.deny('denied', AT + 3)
    expect(await find()).toMatchObject({ deniedAt: AT, failingSince: 0 })
    await store.noteFailure('denied', AT + 4)
    await store.clearDenied('denied')
    expect(await find()).toMatchObject({ deniedAt: 0, failingSince: 0 })
  })

  it('forget denials when the provider reports a batch as running', async () => {
    const store = createStore()
    const find = await added(store, 'running')
    await store.deny('running', AT)
    await store.noteFailure('running', AT + 1)
    await store.postpone('running', 0, AT + 2)
    await store.resume('running')
    const reset = { attempts: 0, retryAt: 0, deniedAt: 0, failingSince: 0 }
    expect(await find()).toMatchObject(reset)
  })

  it('keep the time at which the end of a batch was first seen', async () => {
    const store = createStore()
    const find = await added(store, 'ended')
    expect(await find()).toMatchObject({ endSeenAt: 0 })
    await store.noteEnd('ended', AT)
    await store.noteEnd('ended', AT + 1)
    expect(await find()).toMatchObject({ endSeenAt: AT })
  })

  it('keep the file that was uploaded for a batch', async () => {
    const store = createStore()
    const find = await added(store, 'uploaded')
    expect(await find()).toMatchObject({ uploaded: null })
    const file = { channelId: 3, keyRef: 'key:a', upstreamId: null }
    await store.noteUpload('uploaded', file)
    expect(await find()).toMatchObject({ uploaded: file })
    await store.noteUpload('uploaded', { ...file, upstreamId: 'file-1' })
    expect(await find()).toMatchObject({ uploaded: { ...file, upstreamId: 'file-1' } })
  })
})

it('batches that an earlier version stored in Postgres are kept', async () => {
  const kept = { batch: 'earlier', deniedAt: 2, failingSince: 0, endSeenAt: 0, uploaded: null }
  const held = { holder: null, holderSince: 0 }
  expect(await postgres.store.find(8, 'earlier')).toMatchObject({ ...kept, ...held })
})
