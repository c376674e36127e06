import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Recorded } from '#domain/shared/event.ts'
import type { TaskEvent } from '#domain/tasks/events.ts'
import { type SimulatedProvider, startSimulatedProvider } from '#infra/demo/simulated-provider.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { addChannel, setOption } from '#test/support/test-product.ts'
import { readBook } from '../support/accounts-from-events.ts'
import { type RelaySite, startRelaySite } from '../support/relay-site.ts'

const FAST_POLLS = `--import=${join(import.meta.dirname, '../../support/fast-task-polls.ts')}`
const ROOT = 1
const TASK_MS = 1_500

let site: RelaySite
let provider: SimulatedProvider
let victim: ProductProcess
let survivor: ProductProcess
let key: string

beforeAll(async () => {
  ;[site, provider] = await Promise.all([
    startRelaySite(FAST_POLLS),
    startSimulatedProvider({ taskMs: TASK_MS }),
  ])
  // The first relay holds the poller's lease and is the one to die: another has to take over.
  victim = await site.startRelay()
  survivor = await site.startRelay()
  const { root } = site
  for (const name of ['DrawingEnabled', 'MjNotifyEnabled']) await setOption(root, name, true)
  await setOption(root, 'ServerAddress', survivor.url)
  await addChannel({ root, provider }, { type: 2, models: 'mj_imagine' })
  await root.must('PUT', '/api/user/', { id: ROOT, quota: 100_000_000 })
  key = (await root.createToken({ name: 'root', unlimited_quota: true })).key
  // The relays learn of the new key from its event, on a busy machine later than the first calls.
  const headers = { authorization: `Bearer ${key}` }
  for (const { url } of [victim, survivor]) {
    while (!(await fetch(`${url}/v1/models`, { headers })).ok) await delay(20)
  }
})

afterAll(async () => {
  await site?.close()
  await provider?.close()
})

const submit = (relay: ProductProcess, prompt: string) =>
  fetch(`${relay.url}/mj/submit/imagine`, {
    method: 'POST',
    headers: { 'mj-api-secret': key, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt }),
  })

async function taskOf(answer: Response): Promise<string> {
  const text = await answer.text()
  const { result } = JSON.parse(text) as { result?: string }
  if (answer.status !== 200 || !result) throw new Error(text)
  return result
}

async function eventsOf(task: string): Promise<Recorded<TaskEvent>[]> {
  return (await site.store.readStream(`task-${task}`)) as Recorded<TaskEvent>[]
}
const ends = async (task: string) =>
  (await eventsOf(task)).map(({ type }) => type).filter((type) => /Succeeded|Failed/.test(type))

/** To both relays, several times, as soon as the task is there. */
async function callBackAtOnce(task: string): Promise<number[]> {
  const [, , accepted] = await eventsOf(task)
  const id = accepted?.type === 'TaskAccepted' ? accepted.data.upstreamId : ''
  const { notifyHook, startedAt } = provider.tasks.get(id) ?? { notifyHook: '', startedAt: 0 }
  await new Promise((over) => setTimeout(over, startedAt + TASK_MS - Date.now()))
  const body = await (await fetch(`${provider.url}/mj/task/${id}/fetch`)).text()
  const { pathname } = new URL(notifyHook ?? '')
  const headers = { 'content-type': 'application/json' }
  const calls = [victim, survivor, victim, survivor].map(({ url }) =>
    fetch(`${url}${pathname}`, { method: 'POST', headers, body }),
  )
  return (await Promise.all(calls)).map(({ status }) => status)
}

describe('two relays with one poller and callbacks to both', () => {
  it('end and settle each of ten tasks once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => submit(at % 2 ? victim : survivor, 'a boat')),
    )
    const tasks = await Promise.all(answers.map(taskOf))
    const statuses = await Promise.all(tasks.map(callBackAtOnce))
    expect(new Set(statuses.flat())).toEqual(new Set([200]))
    for (const task of tasks) {
      await expect.poll(() => ends(task)).toEqual(['TaskSucceeded'])
    }
    const book = await readBook(site.store)
    expect(tasks.map((task) => book.settled.get(task))).toEqual(Array(10).fill(1))
    expect(book.open).toEqual([])
    expect(book.endedNotOnce).toEqual([])
    expect(book.held(ROOT)).toBe(0n)
    expect(book.ledgerSum).toBe(0n)
  })
})

describe('a relay that dies between submit and answer', () => {
  it('leaves a task that a callback to another relay ends once', async () => {
    const answer = submit(victim, 'a slow boat').catch(() => null)
    const started = () => [...provider.tasks.values()].find(({ prompt }) => prompt.includes('slow'))
    await expect.poll(started).toBeDefined()
    await victim.kill()
    expect(await answer).toBeNull()
    const { open } = await readBook(site.store)
    expect(open).toHaveLength(1)
    const [task = ''] = open
    await expect.poll(() => ends(task)).toEqual(['TaskSucceeded'])
    const book = await readBook(site.store)
    expect(book.settled.get(task)).toBe(1)
    expect(book.held(ROOT)).toBe(0n)
  })

  it('is replaced as poller by another relay', async () => {
    await setOption(site.root, 'MjNotifyEnabled', false)
    await expect
      .poll(async () => {
        const task = await taskOf(await submit(survivor, 'a boat'))
        const [submitted] = await eventsOf(task)
        return submitted?.type === 'TaskSubmitted' && !submitted.data.isNotified ? task : null
      })
      .not.toBeNull()
    await expect.poll(async () => (await readBook(site.store)).open, { interval: 250 }).toEqual([])
    const book = await readBook(site.store)
    expect(book.endedNotOnce).toEqual([])
    expect(book.ledgerSum).toBe(0n)
  })
})
