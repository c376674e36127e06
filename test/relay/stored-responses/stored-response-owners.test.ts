import { describe, expect, it } from 'vitest'
import { createPools } from '#infra/postgres/pools.ts'
import {
  createResponseContents,
  type ResponseContent,
} from '#relay/stored-responses/response-content-store.ts'
import {
  createStoredResponses,
  type StoredResponse,
  type StoredResponses,
} from '#relay/stored-responses/stored-response-owners.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { storedResponsesInMemory } from '../support/in-memory-stores.ts'

const postgres = startedOnce(async () => {
  const database = await testDatabase()
  const pools = await createPools(database.url)
  const store = await createStoredResponses(pools.pg)
  return {
    store,
    pg: pools.pg,
    close: async () => {
      await pools.close()
      await database.drop()
    },
  }
})

const AT = Date.UTC(2026, 10, 27)
const response = (tokenId: number, responseId: string, itemIds: string[] = []): StoredResponse => ({
  ...{ tokenId, responseId, itemIds, channelId: 7, keyRef: 'key-1', model: 'gpt-6' },
  ...{ tokens: 1_500, outputTokens: 500, at: AT },
})

const STORES: readonly (readonly [string, () => StoredResponses])[] = [
  ['Postgres', () => postgres.store],
  ['the memory of a test', storedResponsesInMemory],
]

describe.each(STORES)('the stored responses in %s', (_name, createStore) => {
  it('are found by the ids of the response and its items, for the token that made it', async () => {
    const store = createStore()
    await store.add(response(1, 'resp_1', ['msg_1', 'fc_1', 'fc_1']))
    const place = { responseId: 'resp_1', channelId: 7, keyRef: 'key-1', model: 'gpt-6' }
    const found = await store.find(ownerOf(1), ['resp_1', 'msg_1', 'unknown'])
    expect(found.toSorted((one, other) => (one.id < other.id ? 1 : -1))).toMatchObject([
      { ...place, id: 'resp_1', tokens: 1_500 },
      { ...place, id: 'msg_1', tokens: 500 },
    ])
    expect(await store.find(ownerOf(2), ['resp_1', 'msg_1'])).toEqual([])
  })

  it('are gone with all their items after a removal by the same token', async () => {
    const store = createStore()
    await store.add(response(3, 'resp_1', ['msg_1']))
    await store.remove(4, 'resp_1')
    expect(await store.find(ownerOf(3), ['resp_1'])).toHaveLength(1)
    await store.remove(3, 'resp_1')
    expect(await store.find(ownerOf(3), ['resp_1', 'msg_1'])).toEqual([])
  })

  it('may be added many at once, and again', async () => {
    const store = createStore()
    const ids = Array.from({ length: 300 }, (_, index) => `resp_${index}`)
    await Promise.all([...ids, ...ids].map((id) => store.add(response(5, id, [`msg_${id}`]))))
    expect(await store.find(ownerOf(5), ids)).toHaveLength(300)
  })
})

const ownerOf = (tokenId: number) => ({ tokenId, userId: 7 })
const contentOf = (responseId: string, at = AT, tokenId = 1): ResponseContent => ({
  ...{ tokenId, userId: 7, responseId, outputBytes: 30, inputBytes: 40, at },
  ...{ response: Buffer.alloc(100, 'r'), output: Buffer.from('o'), input: Buffer.from('i') },
})

describe.each(STORES)('the contents of converted responses in %s', (_name, createStore) => {
  it('are found and removed only by the token that made them', async () => {
    const { contents } = createStore()
    await contents.add(contentOf('resp_a'))
    await contents.add({ ...contentOf('resp_b'), input: null })
    const ids = ['resp_a', 'resp_b', 'resp_c']
    const sizes = await contents.sizes(ownerOf(1), ids)
    expect(sizes.toSorted((one, other) => (one.responseId < other.responseId ? -1 : 1))).toEqual([
      { responseId: 'resp_a', outputBytes: 30, inputBytes: 40 },
      { responseId: 'resp_b', outputBytes: 30, inputBytes: null },
    ])
    const owner = { tokenId: 1, userId: 7 }
    const output = Buffer.from('o')
    expect(await contents.load(owner, ['resp_a'], null)).toEqual([
      { responseId: 'resp_a', output, input: null },
    ])
    expect(await contents.load(owner, ['resp_a'], 'resp_a')).toEqual([
      { responseId: 'resp_a', output, input: Buffer.from('i') },
    ])
    const { response } = contentOf('resp_a')
    expect(await contents.loadResponse(owner, 'resp_a')).toEqual({ response, output })
    expect(await contents.sizes(ownerOf(2), ids)).toEqual([])
    const other = { tokenId: 2, userId: 7 }
    expect(await contents.load(other, ids, 'resp_a')).toEqual([])
    expect(await contents.loadResponse(other, 'resp_a')).toBeNull()
    expect(await contents.remove(2, 'resp_a')).toBe(false)
    expect(await contents.remove(1, 'resp_a')).toBe(true)
    expect(await contents.remove(1, 'resp_a')).toBe(false)
  })

  it('of tokens are listed and removed together', async () => {
    const { contents } = createStore()
    for (const tokenId of [21, 22, 23]) {
      await contents.add(contentOf('resp_a', AT, tokenId))
      await contents.add(contentOf('resp_b', AT, tokenId))
    }
    const owners = async () => (await contents.owners()).filter(({ tokenId }) => tokenId > 20)
    expect(await owners()).toEqual([21, 22, 23].map(ownerOf))
    await contents.removeOfTokens([21, 23])
    expect(await owners()).toEqual([ownerOf(22)])
    expect(await contents.sizes(ownerOf(22), ['resp_a', 'resp_b'])).toHaveLength(2)
  })
})

it('the oldest contents of a user are deleted beyond the maximum of bytes', async () => {
  const limits = { userBytesMax: 3_000, deletedEveryBytes: 1 }
  const contents = await createResponseContents(postgres.pg, null, limits)
  const ids = Array.from({ length: 10 }, (_, at) => `resp_${at}`)
  const add = (id: string, at: number) => contents.add({ ...contentOf(id, AT + at, 5), userId: 8 })
  for (const [at, id] of ids.entries()) await add(id, at)
  const left = (await contents.sizes(ownerOf(5), ids))
    .map(({ responseId }) => responseId)
    .toSorted()
  // Each has 614 bytes with its row.
  expect(left).toEqual(['resp_6', 'resp_7', 'resp_8', 'resp_9'])
})

it('the inputs of older contents are deleted first, so that references to items last', async () => {
  const limits = { userBytesMax: 6_000, deletedEveryBytes: 1 }
  const contents = await createResponseContents(postgres.pg, null, limits)
  const ids = Array.from({ length: 10 }, (_, at) => `resp_${at}`)
  const input = Buffer.alloc(1_000, 'i')
  for (const [at, id] of ids.entries()) {
    await contents.add({ ...contentOf(id, AT + at, 11), userId: 9, input })
  }
  const left = (await contents.sizes(ownerOf(11), ids)).map(({ responseId, inputBytes }) => ({
    ...{ responseId, hasInput: inputBytes !== null },
  }))
  // Each has 613 bytes with its row and without its input.
  const inOrder = left.toSorted((one, other) => (one.responseId < other.responseId ? -1 : 1))
  expect(inOrder).toEqual(ids.slice(2).map((id) => ({ responseId: id, hasInput: id === 'resp_9' })))
})

it('no content is stored beyond the maximum of the site, until others were deleted', async () => {
  const before = await createResponseContents(postgres.pg)
  await before.add({ ...contentOf('resp_a', AT, 12), userId: 10 })
  const full = await createResponseContents(postgres.pg, null, { siteBytesMax: 700 })
  await expect(full.add({ ...contentOf('resp_b', AT, 12), userId: 11 })).rejects.toThrow('maximum')
  expect(await full.sizes(ownerOf(12), ['resp_b'])).toEqual([])
  await full.sweep(AT + 30 * 86_400_000)
  await full.add({ ...contentOf('resp_b', AT, 12), userId: 11 })
  expect(await full.sizes(ownerOf(12), ['resp_b'])).toHaveLength(1)
})

it('contents that are deleted make room for others before the next count', async () => {
  const owner = { userId: 12, tokenId: 13 }
  const limits = { userBytesMax: 3_000, deletedEveryBytes: 1 }
  const before = await postgres.pg.query<{ readonly bytes: number }>(
    'select coalesce(sum(stored_bytes), 0)::int4 as bytes from relay.response_contents',
  )
  const siteBytesMax = (before.rows[0]?.bytes ?? 0) + 5_000
  const contents = await createResponseContents(postgres.pg, null, { ...limits, siteBytesMax })
  for (let at = 0; at < 30; at += 1) {
    await contents.add({ ...contentOf(`resp_${at}`, AT + at), ...owner })
  }
  expect(await contents.sizes(ownerOf(13), ['resp_29'])).toHaveLength(1)
})

it('fifty contents of a user at once are all stored, although others are deleted', async () => {
  const limits = { userBytesMax: 3_000, deletedEveryBytes: 1 }
  const [one, other] = await Promise.all([
    createResponseContents(postgres.pg, null, limits),
    createResponseContents(postgres.pg, null, limits),
  ])
  const adding = Array.from({ length: 50 }, (_, at) =>
    (at % 2 === 0 ? one : other).add({ ...contentOf(`resp_${at}`, AT + at, 14), userId: 13 }),
  )
  const outcomes = await Promise.allSettled(adding)
  expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([])
  await one.add({ ...contentOf('resp_last', AT + 50, 14), userId: 13 })
  const left = await postgres.pg.query('select from relay.response_contents where user_id = 13')
  expect(left.rowCount).toBeLessThanOrEqual(4)
})

it('a content counts as stored although older ones could not be deleted', async () => {
  const contents = await createResponseContents(postgres.pg, null, { deletedEveryBytes: 1 })
  const { pg } = postgres
  await pg.query(`
    create function relay.refuse() returns trigger language plpgsql
      as $$ begin raise exception 'refused'; end $$;
    create trigger refused before update or delete on relay.response_contents
      for each statement execute function relay.refuse()`)
  try {
    await contents.add({ ...contentOf('resp_kept', AT, 15), userId: 14 })
  } finally {
    await pg.query('drop function relay.refuse cascade')
  }
  expect(await contents.sizes(ownerOf(15), ['resp_kept'])).toHaveLength(1)
})

it('contents are deleted after seven days', async () => {
  const { contents, sweep } = postgres.store
  await contents.add(contentOf('resp_old', AT, 6))
  await sweep(AT + 6 * 86_400_000)
  expect(await contents.sizes(ownerOf(6), ['resp_old'])).toHaveLength(1)
  await sweep(AT + 8 * 86_400_000)
  expect(await contents.sizes(ownerOf(6), ['resp_old'])).toEqual([])
})

it('contents of a build before the first release are dropped, as they are texts', async () => {
  const { pg } = postgres
  await pg.query(`
    alter table relay.response_contents alter column output type text using encode(output, 'hex')`)
  const contents = await createResponseContents(pg)
  const ids = ['resp_a']
  await contents.add(contentOf('resp_a', AT, 16))
  const owner = { tokenId: 16, userId: 7 }
  expect(await contents.load(owner, ids, null)).toMatchObject([{ output: Buffer.from('o') }])
  const again = await createResponseContents(pg)
  expect(await again.sizes(ownerOf(16), ids)).toHaveLength(1)
})

it('are deleted after thirty days', async () => {
  const { store } = postgres
  await store.add(response(9, 'resp_1', ['msg_1']))
  await store.sweep(AT + 29 * 86_400_000)
  expect(await store.find(ownerOf(9), ['resp_1'])).toHaveLength(1)
  await store.sweep(AT + 31 * 86_400_000)
  expect(await store.find(ownerOf(9), ['resp_1', 'msg_1'])).toEqual([])
})
