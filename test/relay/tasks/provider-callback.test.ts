import { beforeAll, describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { noProgress } from '../support/relay-rig.ts'
import { HOUR, type TasksRig, tasksRig } from './tasks-rig.ts'

const rig: TasksRig = startedOnce(() =>
  tasksRig(
    {
      tasks: {
        progress: noProgress,
        findOpenTasks: async (...page) => (isPolling ? rig.findOpenTasks(...page) : []),
        pollTimes: { everyMs: 20, staleMs: 600_000 },
      },
    },
    { taskMs: 600, now: () => Date.now() + aheadMs },
  ),
)
let isPolling = false
let aheadMs = 0

beforeAll(async () => {
  await rig.setOption('MjNotifyEnabled', 'true')
  await rig.setOption('ServerAddress', rig.url)
})

const typesOf = async (task: string) => (await rig.taskEvents(task)).map(({ type }) => type)
const ends = async (task: string) =>
  (await typesOf(task)).filter((type) => type === 'TaskSucceeded' || type === 'TaskFailed')

/** What the provider was told to call, and what it would say by now. */
async function noticeOf(task: string): Promise<{ path: string; body: Record<string, unknown> }> {
  const { data } = (await rig.taskEvents(task))[2] ?? {}
  const id = data !== undefined && 'upstreamId' in data ? data.upstreamId : ''
  const hook = rig.provider.tasks.get(id)?.notifyHook ?? ''
  return {
    path: new URL(hook).pathname,
    body: { id, status: 'SUCCESS', imageUrl: 'https://pictures.example/1.png' },
  }
}

const NO_KEY = { 'mj-api-secret': '' }

describe('a provider callback', () => {
  it('ends a task that is not polled', async () => {
    const before = await rig.balance()
    const task = await rig.imagine()
    await expect.poll(() => ends(task)).toEqual(['TaskSucceeded'])
    expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
    expect(await rig.balance()).toBe(before - 50_000n)
    expect(await typesOf(task)).toContain('TaskStatusChanged')
  })

  it('is refused at an address without a valid signature', async () => {
    const [task, other] = [await rig.imagine('stuck'), await rig.imagine('stuck')]
    const { path, body } = await noticeOf(task)
    const [mark = ''] = path.split('/').slice(-1)
    const forged = [
      path.replace(mark, 'a'.repeat(mark.length)),
      path.replace(mark, mark.slice(0, 20)),
      path.replace(task, other),
      path.replace('/21/', '/36/'),
      path.replace('/21/', '/99/'),
    ]
    for (const address of forged) {
      const answer = await rig.ask(address, body, NO_KEY)
      expect(answer.status, address).toBe(403)
    }
    const ofOther = await rig.ask(path, { ...body, id: 'another' }, NO_KEY)
    expect(ofOther.status).toBe(403)
    for (const odd of [
      '',
      '[]',
      '{"status":"SUCCESS"}',
      { ...body, status: 'DANCING' },
      { ...body, id: {} },
    ]) {
      expect((await rig.ask(path, odd, NO_KEY)).status).toBe(400)
    }
    expect(await ends(task)).toEqual([])
    await rig.setOption('MjNotifyEnabled', 'false')
    expect((await rig.ask(path, body, NO_KEY)).status).toBe(403)
    await rig.setOption('MjNotifyEnabled', 'true')
    const own = await noticeOf(other)
    for (const notice of [{ path, body }, own]) {
      expect((await rig.ask(notice.path, notice.body, NO_KEY)).status).toBe(200)
    }
    expect(await ends(task)).toEqual(['TaskSucceeded'])
  })

  it('repeated twenty times beside polling ends and settles each of ten tasks once', async () => {
    const before = await rig.balance()
    isPolling = true
    const tasks = await Promise.all(Array.from({ length: 10 }, () => rig.imagine()))
    const notices = await Promise.all(tasks.map(noticeOf))
    const again = notices.flatMap((notice) => Array<typeof notice>(20).fill(notice))
    await new Promise((resolve) => setTimeout(resolve, 500))
    const answers = await Promise.all(again.map(({ path, body }) => rig.ask(path, body, NO_KEY)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    isPolling = false
    for (const task of tasks) {
      expect(await ends(task)).toEqual(['TaskSucceeded'])
      expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
    }
    expect(await rig.balance()).toBe(before - 500_000n)
  })
})

describe('a task after one hour', () => {
  it('fails and releases its hold, and a later callback changes nothing', async () => {
    const before = await rig.balance()
    const task = await rig.imagine('stuck')
    const { path, body } = await noticeOf(task)
    aheadMs = HOUR - 60_000
    isPolling = true
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await ends(task)).toEqual([])
    expect(await rig.balance()).toBe(before - 50_000n)
    aheadMs = HOUR + 1_000
    await expect.poll(() => ends(task)).toEqual(['TaskFailed'])
    isPolling = false
    expect(await rig.balance()).toBe(before)
    expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallReleased'])
    expect((await rig.ask(path, body, NO_KEY)).status).toBe(200)
    expect(await ends(task)).toEqual(['TaskFailed'])
    expect(await rig.balance()).toBe(before)
    const { json } = await rig.ask(`/mj/task/${task}/fetch`)
    expect(json).toMatchObject({ status: 'FAILURE', failReason: expect.stringContaining('hour') })
    aheadMs = 0
  })

  it('fails through a late callback without an outcome, also without polling', async () => {
    const before = await rig.balance()
    const task = await rig.imagine('stuck')
    const { path, body } = await noticeOf(task)
    aheadMs = HOUR + 1_000
    const late = { id: body.id, status: 'IN_PROGRESS' }
    expect((await rig.ask(path, late, NO_KEY)).status).toBe(200)
    aheadMs = 0
    expect(await ends(task)).toEqual(['TaskFailed'])
    expect(await rig.balance()).toBe(before)
  })

  it('is delivered and charged if a callback reports its success while it is open', async () => {
    const before = await rig.balance()
    const task = await rig.imagine('stuck')
    const { path, body } = await noticeOf(task)
    aheadMs = 2 * HOUR
    expect((await rig.ask(path, body, NO_KEY)).status).toBe(200)
    aheadMs = 0
    expect(await ends(task)).toEqual(['TaskSucceeded'])
    expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
    expect(await rig.balance()).toBe(before - 50_000n)
  })
})
