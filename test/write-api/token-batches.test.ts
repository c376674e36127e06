import { describe, expect, it } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { completeKey, KEY_RANDOM_CHARACTERS } from '#domain/tokens/key-format.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { admitCall } from '../domain/accounts/facts.ts'
import { fifty, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

type Made = {
  readonly id: number
  readonly ids: number[]
  readonly names: string[]
  readonly keys: string[]
}
const make = (body: object) => fixture.user.call<Made>('POST', '/api/token/', { body })
const several = async (count: number): Promise<number[]> =>
  (await make({ name: 'several', count })).data.ids
const statusOf = async (id: number): Promise<number> =>
  (await fixture.user.call<Token>('GET', `/api/token/${id}`)).data.status
const post = (path: string, body: unknown, caller = fixture.user.call) =>
  caller('POST', `/api/token/${path}`, { body })
const switchAll = (ids: number[], status: number) => post('batch/status', { ids, status })
const remove = (ids: number[]) => post('batch', { ids })

describe('tokens created together', () => {
  it('share their terms; all names but the first have a random suffix of six', async () => {
    const terms = { remain_quota: 77, max_concurrency: 3, model_limits: 'a', allow_ips: '10.0.0.1' }
    const body = { name: 'agent', count: 30, model_limits_enabled: true, ...terms }
    const { ids, names, keys, id } = (await make(body)).data
    expect([ids.length, names.length, keys.length]).toEqual([30, 30, 30])
    expect(ids).toEqual(Array.from({ length: 30 }, (_, n) => id + n))
    expect(names[0]).toBe('agent')
    for (const name of names.slice(1)) expect(name).toMatch(/^agent-[0-9A-Za-z]{6}$/)
    expect(new Set(names).size).toBe(30)
    expect(new Set(keys).size).toBe(30)
    expect(keys.map((key) => completeKey(key.slice(0, KEY_RANDOM_CHARACTERS)))).toEqual(keys)
    for (const index of [0, 29]) {
      const { data } = await fixture.user.call<Token>('GET', `/api/token/${ids[index]}`)
      expect(data).toMatchObject({ name: names[index], key: keys[index], status: 1, ...terms })
    }
  })

  it('write three events, whatever their number: the ids, the tokens, the budgets', async () => {
    const head = await fixture.head()
    await several(100)
    const events = await fixture.core.store.readAll(head, 10)
    expect(events.map(({ type, stream }) => `${stream} ${type}`)).toEqual([
      'token-ids TokenIdsTaken',
      'tokens-3 TokensCreated',
      'account-3 TokenBudgetsOpened',
    ])
  })

  it('have names within the length limit, even if the given name is long', async () => {
    const { ids, names } = (await make({ name: '令'.repeat(100), count: 2 })).data
    expect([...(names[1] ?? '')].length).toBe(100)
    const body = (await fixture.user.call<Token>('GET', `/api/token/${ids[1]}`)).data
    expect(await fixture.user.call('PUT', '/api/token/', { body })).toMatchObject({ success: true })
  })

  it('are limited to a thousand for each user, even in concurrent requests', async () => {
    const { admin } = fixture
    const fill = (count: number) =>
      admin.call('POST', '/api/token/', { body: { name: 'full', count } })
    for (let n = 0; n < 9; n += 1) expect((await fill(100)).success).toBe(true)
    const answers = await fifty(() => fill(10))
    expect(answers.filter(({ success }) => success)).toHaveLength(10)
    const [refusal] = answers.filter(({ success }) => !success)
    expect(refusal).toMatchObject({ status: 200, code: 'TooManyTokens' })
    const { data } = await admin.call<{ total: number }>('GET', '/api/token/?p=0')
    expect(data.total).toBe(1_000)
  })
})

describe('a batch of tokens', () => {
  it('is disabled by one event and enabled by one event', async () => {
    const ids = await several(3)
    const head = await fixture.head()
    expect((await switchAll(ids, 2)).success).toBe(true)
    expect(await fixture.head()).toBe(head + 1)
    expect(await Promise.all(ids.map(statusOf))).toEqual([2, 2, 2])
    expect((await switchAll(ids.slice(1), 1)).success).toBe(true)
    expect(await Promise.all(ids.map(statusOf))).toEqual([2, 1, 1])
    expect((await switchAll(ids.slice(1), 1)).success).toBe(true)
    expect(await fixture.head()).toBe(head + 2)
  })

  it('is not enabled if one token is exhausted, and the refusal names that token', async () => {
    const [sound = 0] = (await make({ name: 'sound' })).data.ids
    const [spent = 0] = (await make({ name: 'spent', remain_quota: 0 })).data.ids
    const [free = 0] = (await make({ name: 'free', remain_quota: 0, unlimited_quota: true })).data
      .ids
    await switchAll([sound, spent, free], 2)
    const head = await fixture.head()
    expect(await switchAll([sound, spent, free], 1)).toMatchObject({
      ...{ status: 200, success: false, code: 'TokenExhausted' },
      message: '令牌可用额度已用尽，无法启用，请先修改令牌剩余额度，或者设置为无限额度：spent',
    })
    const alone = { body: { id: spent, status: 1 } }
    const put = () => fixture.user.call('PUT', '/api/token/?status_only=true', alone)
    expect(await put()).toMatchObject({ success: false, code: 'TokenExhausted' })
    expect((await put()).message).toBe(
      '令牌可用额度已用尽，无法启用，请先修改令牌剩余额度，或者设置为无限额度',
    )
    expect(await fixture.head()).toBe(head)
    expect((await switchAll([sound, free], 1)).success).toBe(true)
    await fixture.user.call('PUT', '/api/token/', { body: { id: spent, remain_quota: 9 } })
    expect((await put()).success).toBe(true)
    expect(await Promise.all([sound, spent, free].map(statusOf))).toEqual([1, 1, 1])
  })

  it('is enabled while calls hold all of its remaining quota', async () => {
    const [id = 0] = (await make({ name: 'busy', remain_quota: 10 })).data.ids
    await switchAll([id], 2)
    const { handle } = fixture.core.actors
    const at = fixture.core.now()
    const call = { userId: 3, tokenId: id, hold: 10n, leaseUntil: at + 60_000, startedAt: at }
    const grant = { type: 'GrantQuota', userId: 3, grantId: 'busy', amount: 10n } as const
    for (const command of [{ ...grant, reason: 'admin' } as const, admitCall(call)]) {
      const context = { actor: 'system:test', cause: 'test', at }
      const outcome = await handle(accountDecider, accountStream(3), command, context)
      expect(outcome).toMatchObject({ isDone: true })
    }
    expect((await switchAll([id], 1)).success).toBe(true)
    // The token is not exhausted, in its own response and in the filtered list.
    await expect.poll(() => statusOf(id)).toBe(1)
    const list = (await fixture.user.call<{ items: Token[] }>('GET', '/api/token/?status=1')).data
    expect(list.items).toContainEqual(expect.objectContaining({ id, remain_quota: 0, status: 1 }))
  })

  it('is deleted with its budgets and keys', async () => {
    const ids = await several(3)
    const answer = await remove([...ids, ...ids])
    expect(answer).toMatchObject({ success: true, data: 3 })
    for (const id of ids) {
      expect((await fixture.user.call('GET', `/api/token/${id}`)).status).toBe(404)
    }
    const { budgets } = await fixture.core.actors.stateOf(accountDecider, accountStream(3))
    expect(ids.some((id) => budgets.has(id))).toBe(false)
    const owners = ids.map((id) => `token:${id}`)
    const kept = await fixture.core.pg.query('select 1 from vault.secrets where owner = any($1)', [
      owners,
    ])
    expect(kept.rowCount).toBe(0)
  })

  it('is refused as a whole for an unknown or foreign token, and names that token', async () => {
    const ids = await several(2)
    const other = await fixture.root.call<Made>('POST', '/api/token/', { body: { name: 'root’s' } })
    const head = await fixture.head()
    for (const stranger of [999_999, other.data.id]) {
      const given = [ids[0] ?? 0, stranger, ids[1] ?? 0]
      for (const answer of [await switchAll(given, 2), await remove(given)]) {
        expect(answer).toMatchObject({ status: 404, code: 'TokenUnknown' })
        expect(answer.message).toBe(`令牌不存在：${stranger}`)
      }
    }
    expect(await fixture.head()).toBe(head)
    expect(await Promise.all(ids.map(statusOf))).toEqual([1, 1])
  })

  it('needs at least one token', async () => {
    for (const answer of [await switchAll([], 1), await remove([])]) {
      expect(answer).toMatchObject({
        status: 200,
        success: false,
        code: 'NoTokenChosen',
        message: '请至少选择一个令牌！',
      })
    }
  })

  it.each([3, 4, 0, '1'])('accepts only 1 and 2 as a status, not %j', async (status) => {
    const [id = 0] = await several(1)
    const answer = await post('batch/status', { ids: [id], status })
    expect(answer).toMatchObject({ status: 400, code: 'InvalidField' })
    expect(answer.message).toContain('status')
  })

  it('needs a logged-in user', async () => {
    const { call } = { call: fixture.anybody }
    expect((await post('batch', { ids: [1] }, call)).status).toBe(401)
    expect((await post('batch/status', { ids: [1], status: 1 }, call)).status).toBe(401)
  })

  it('is deleted as a whole or not at all when fifty batches overlap', async () => {
    const ids = await several(20)
    const head = await fixture.head()
    const answers = await fifty((n) => {
      const from = n % 10
      return remove(ids.slice(from, from + 2))
    })
    const deleted = answers.filter(({ success }) => success).length
    for (const { success, status } of answers) expect(success || status === 404).toBe(true)
    const events = await fixture.core.store.readAll(head, 500)
    const gone = events
      .filter(({ type }) => type === 'TokensDeleted')
      .map(({ data }) => (data as { tokenIds: number[] }).tokenIds)
    expect(gone).toHaveLength(deleted)
    expect(gone.every((batch) => batch.length === 2)).toBe(true)
    expect(new Set(gone.flat()).size).toBe(gone.flat().length)
    const left = await Promise.all(
      ids.map((id) => fixture.user.call('GET', `/api/token/${id}`).then(({ status }) => status)),
    )
    expect(left.filter((status) => status === 404)).toHaveLength(gone.flat().length)
  })
})
