import { beforeAll, describe, expect, it } from 'vitest'
import { usageOfToken } from '#projections/tokens/query.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import {
  aCall,
  admitted,
  budgetSet,
  NOW,
  settledCall,
  tokenCreated,
} from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ADMIN, ALICE, apiFixture, BOB } from './fixture.ts'

type List = { items: Token[]; page: number; total: number }

const api = startedOnce(apiFixture)
let alice: Record<string, string>
let admin: Record<string, string>

const off = (...tokenIds: number[]) => ({
  stream: `tokens-${ALICE}`,
  type: 'TokensDisabled',
  v: 1,
  data: { userId: ALICE, tokenIds },
})
const ending = (tokenId: number, name: string, expiresAt: number) => {
  const created = tokenCreated(tokenId, ALICE, name)
  const data = created.data as { terms: object }
  return { ...created, data: { ...data, terms: { ...data.terms, expiresAt } } }
}

beforeAll(async () => {
  const seconds = Math.floor(NOW / 1_000)
  const call = aCall({ userId: ALICE, tokenId: 2 })
  await api.settled(
    await api.append([
      tokenCreated(1, ALICE, 'Delta'),
      tokenCreated(2, ALICE, 'alpha'),
      ending(3, 'charlie', seconds - 1),
      tokenCreated(4, ALICE, 'bravo'),
      ending(5, 'Echo', seconds + 60),
      tokenCreated(6, BOB, 'foxtrot'),
      ...[1, 2, 3, 5].map((id) => budgetSet(id, ALICE, id * 100_000)),
      budgetSet(4, ALICE, 0),
      admitted(call),
      settledCall(call, 7),
      off(1),
    ]),
  )
  alice = await api.logIn(ALICE)
  admin = await api.logIn(ADMIN)
})

const list = async (query: string, path = '/api/token/'): Promise<List> =>
  (await api.get<List>(`${path}?${query}`, alice)).body.data
const ids = async (query: string): Promise<number[]> =>
  (await list(query, '/api/token/search')).items.map(({ id }) => id)

describe('the list of tokens', () => {
  it('shows each token’s current status', async () => {
    const { items } = await list('p=0&size=100')
    expect(items.map(({ id, status }) => [id, status])).toEqual([
      [5, 1],
      [4, 4],
      [3, 3],
      [2, 1],
      [1, 2],
    ])
  })

  it.each([
    ['1', [5, 2]],
    ['2', [1]],
    ['3', [3]],
    ['4', [4]],
    ['', [5, 4, 3, 2, 1]],
  ])('is filtered by the displayed status %s', async (status, expected) => {
    expect(await ids(`status=${status}`)).toEqual(expected)
  })

  it.each([
    ['sort=name&order=asc', [2, 4, 3, 1, 5]],
    ['sort=name&order=desc', [5, 1, 3, 4, 2]],
    ['sort=name', [5, 1, 3, 4, 2]],
    ['sort=id&order=asc', [1, 2, 3, 4, 5]],
    ['sort=status&order=asc', [5, 2, 1, 3, 4]],
    ['sort=remain_quota&order=asc', [4, 1, 2, 3, 5]],
    ['sort=used_quota&order=desc', [2, 5, 4, 3, 1]],
    ['sort=expired_time&order=asc', [3, 5, 4, 2, 1]],
    ['sort=accessed_time&order=desc', [2, 5, 4, 3, 1]],
    ['sort=created_time&order=asc', [5, 4, 3, 2, 1]],
    ['sort=&order=', [5, 4, 3, 2, 1]],
  ])('is sorted by ?%s across pages', async (query, expected) => {
    expect(await ids(query)).toEqual(expected)
    const pages = await Promise.all([0, 1, 2].map((p) => ids(`${query}&p=${p}&size=2`)))
    expect(pages.flat()).toEqual(expected)
  })

  it('finds tokens by a part of the name in any case, and counts them', async () => {
    expect(await list('keyword=A', '/api/token/search')).toMatchObject({ total: 4 })
    expect(await ids('keyword=LPH')).toEqual([2])
    expect(await ids('keyword=foxtrot')).toEqual([])
    expect(await ids('keyword=%25')).toEqual([])
  })

  it('finds tokens by a whole key or a part of one, with and without sk-', async () => {
    expect(await ids('token=sk-2')).toEqual([2])
    expect(await ids(`token=${encodeURIComponent('secret of token:4')}`)).toEqual([4])
    expect(await ids(`token=${encodeURIComponent('sk-of token:5')}`)).toEqual([5])
    expect(await ids('token=6')).toEqual([])
    expect(await ids('token=4&keyword=bravo')).toEqual([4])
    expect(await ids('token=4&keyword=alpha')).toEqual([])
  })

  it.each([
    ['sort=key_ref', 'sort'],
    ['sort=id;drop', 'sort'],
    ['order=up', 'order'],
    ['status=5', 'status'],
    ['status=-1', 'status'],
    ['size=101', 'size'],
    ['p=-1', 'p'],
    [`keyword=${'x'.repeat(201)}`, 'keyword'],
  ])('refuses ?%s and names the field', async (query, field) => {
    const { status, body } = await api.get(`/api/token/search?${query}`, alice)
    expect([status, body.code]).toEqual([400, 'InvalidField'])
    expect(body.message).toContain(field)
  })

  it('contains only the caller’s own tokens, even for admins', async () => {
    expect((await api.get<List>('/api/token/?size=100', admin)).body.data.total).toBe(0)
    expect((await api.get('/api/token/2', admin)).status).toBe(404)
    expect((await api.get('/api/token/')).status).toBe(401)
    expect((await api.get('/api/token/search?keyword=a')).status).toBe(401)
  })
})

describe('the quota of a token, which its key looks up', () => {
  it('has what is left, what is used, and the quota of its user', async () => {
    const usage = await usageOfToken(api.core.db, ALICE, 2)
    expect(usage).toMatchObject({ name: 'alpha', held: 0n, used: 7n, isUnlimited: false })
    expect(usage?.userUsed).toBe(7n)
    const sum = (usage?.remain ?? 0n) + (usage?.used ?? 0n)
    expect(sum).toBe(200_000n)
  })

  it('is unknown for the token of another user', async () => {
    expect(await usageOfToken(api.core.db, BOB, 2)).toBeNull()
  })
})
