import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ClaimedCalls } from '#relay/idempotency/idempotency-claims.ts'
import { claimedCallsInMemory } from '../support/in-memory-stores.ts'
import { KEY } from '../support/relay-rig.ts'
import { type TasksRig, tasksRig } from './tasks-rig.ts'

const CHAT = '/v1/chat/completions'
const TASKS = ['/mj/submit/imagine', '/fast/mj/submit/imagine', '/suno/submit/music']
const MANY_KEY = 'zyxwvutsrqponmlkjihgfedcba9876543210ABCDEFGHIJKL'

/** Names a key's call whatever is asked for: then the account alone stands between the two. */
function claimsOfAnything(): ClaimedCalls {
  const claims = claimedCallsInMemory()
  return {
    ...claims,
    claim: async (claim) => ({ ...(await claims.claim(claim)), bodyHash: claim.bodyHash }),
  }
}

/** A chat as well as a task. */
const bodyOf = (prompt: string) => ({
  model: 'sim-small',
  messages: [{ role: 'user', content: 'hello' }],
  stream: true,
  max_tokens: 20,
  prompt,
})

describe.each([
  ['whose request is compared', claimedCallsInMemory, 422],
  ['whose request is not compared', claimsOfAnything, 409],
])('an idempotency key %s', (_title, claims, status) => {
  let rig: TasksRig
  let keys = 0
  beforeAll(async () => {
    rig = await tasksRig({ claimedCalls: claims() }, { taskMs: 200 })
  })
  afterAll(() => rig.close())

  const newKey = () => {
    keys += 1
    return { 'idempotency-key': `key ${keys}` }
  }
  const ask = (path: string, prompt: string, headers = {}) =>
    rig.ask(path, bodyOf(prompt), { authorization: `Bearer sk-${KEY}`, ...headers })
  const sent = () => [rig.provider.journal.count, rig.provider.tasks.size]
  const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type)
  const idOf = ({ json }: { json: { result?: string; data?: string } }) =>
    json.result ?? json.data ?? ''

  it.each(TASKS)('of a chat is refused for %s', async (path) => {
    const key = newKey()
    const chat = await ask(CHAT, 'a boat', key)
    expect(chat.status).toBe(200)
    const [balance, before, tasks] = [await rig.balance(), sent(), await rig.taskEvents()]
    expect((await ask(path, 'a boat', key)).status).toBe(status)
    expect(sent()).toEqual(before)
    expect(await rig.taskEvents()).toEqual(tasks)
    expect(await rig.balance()).toBe(balance)
    const call = chat.headers.get('x-request-id') ?? ''
    expect(await rig.money(call)).toEqual(['CallAdmitted', 'CallSettled'])
  })

  it.each(TASKS)('of a running chat is refused for %s, and the chat continues', async (path) => {
    const key = newKey()
    const [before, balance] = [sent()[0] ?? 0, await rig.balance()]
    rig.provider.script.push({ kind: 'slow', msPerChunk: 30 })
    const running = ask(CHAT, 'a banned boat', key)
    await expect.poll(() => sent()[0]).toBe(before + 1)
    const [tasks, events] = [sent()[1], await rig.taskEvents()]
    for (let time = 0; time < 2; time += 1) {
      expect((await ask(path, 'a banned boat', key)).status).toBe(status)
    }
    const chat = await running
    expect(chat.text).toContain('[DONE]')
    expect(sent()[1]).toBe(tasks)
    expect(await rig.taskEvents()).toEqual(events)
    const call = chat.headers.get('x-request-id') ?? ''
    expect(await rig.money(call)).toEqual(['CallAdmitted', 'CallSettled'])
    expect(await rig.balance()).toBeLessThan(balance)
    expect((await ask(CHAT, 'a banned boat', key)).status).toBe(409)
  })

  it.each(TASKS)('of %s is refused for a chat and for other tasks', async (path) => {
    const key = newKey()
    const first = await ask(path, 'a boat', key)
    expect(first.status).toBe(200)
    const [before, balance] = [sent(), await rig.balance()]
    for (const other of [CHAT, ...TASKS.filter((each) => each !== path)]) {
      expect((await ask(other, 'a boat', key)).status, other).toBe(status)
    }
    const again = await ask(path, 'a boat', key)
    expect(again).toMatchObject({ status: 409, json: { error: { code: 'idempotency_replayed' } } })
    expect(again.json.error.message).toContain(`Look up '${idOf(first)}'`)
    const task = idOf(first)
    await expect.poll(() => rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
    expect((await ask(CHAT, 'a boat', key)).status).toBe(status)
    expect(sent()).toEqual(before)
    expect(await rig.balance()).toBe(balance)
    expect(typesOf(await rig.taskEvents(task)).at(-1)).toBe('TaskSucceeded')
  })

  it('makes one call of fifty requests at once, whatever they ask for', async () => {
    const key = newKey()
    const [before, calls] = [sent(), (await rig.callEvents()).length]
    const paths = Array.from({ length: 50 }, (_, at) => [CHAT, ...TASKS][at % 4] ?? CHAT)
    const answers = await Promise.all(paths.map((path) => ask(path, 'a fleet', key)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const [chats = 0, tasks = 0] = sent()
    expect(chats + tasks).toBe((before[0] ?? 0) + (before[1] ?? 0) + 1)
    const made = (await rig.callEvents()).slice(calls)
    expect(typesOf(made).filter((type) => type === 'CallAdmitted')).toHaveLength(1)
  })

  it('is not needed for a chat and tasks with the same body', async () => {
    for (const path of [CHAT, ...TASKS, CHAT]) {
      expect((await ask(path, 'a raft')).status, path).toBe(200)
    }
  })
})

describe('open tasks', () => {
  it('are limited to 100 per user, however many come at once', async () => {
    const rig = await tasksRig({ tasks: { findOpenTasks: async () => [] } })
    try {
      await rig.addUser(8)
      await rig.addToken(4, 8, MANY_KEY)
      await rig.grant(8, 1_000_000_000n)
      const imagine = () =>
        rig.ask('/mj/submit/imagine', { prompt: 'stuck' }, { 'mj-api-secret': MANY_KEY })
      const ninety = await Promise.all(Array.from({ length: 90 }, imagine))
      const fifty = await Promise.all(Array.from({ length: 50 }, imagine))
      const taken = [...ninety, ...fifty].filter(({ status }) => status === 200)
      const refused = fifty.filter(({ status }) => status !== 200)
      expect([taken.length, refused.length, rig.provider.tasks.size]).toEqual([100, 40, 100])
      expect(refused[0]).toMatchObject({ status: 429, json: { code: 4 } })
      expect(refused[0]?.json.description).toContain('100 tasks')
      expect(refused[0]?.headers.get('retry-after')).toBe('10')
      expect(await rig.imagine()).toBeTruthy()
      await rig.setOption('OpenTasksMax', '102')
      const more = await Promise.all(Array.from({ length: 50 }, imagine))
      expect(more.filter(({ status }) => status === 200)).toHaveLength(2)
    } finally {
      await rig.close()
    }
  })
})
