import { describe, expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { USER } from '../support/relay-rig.ts'
import { videosRig } from './videos-rig.ts'

const rig = startedForEach(() => videosRig())
const MODEL = 'sora-2'

const submit = (model = MODEL) => {
  rig.vendor.answers.set('POST /v1/videos', { body: { id: 'video_1', status: 'queued' } })
  return rig.post('/v1/videos', { model, prompt: 'the sea' })
}

const AUTO_KEY = 'auto0123456789abcdefghijklmnopqrstuvwxyzABCDEFGH'

async function addAutoToken(groups: readonly string[]): Promise<void> {
  await rig.setOption('GroupRatio', { default: 1, cheap: 0.5, dear: 2 })
  await rig.setOption('UserUsableGroups', { default: '', auto: '', cheap: '', dear: '' })
  await rig.setOption('AutoGroups', groups)
  await rig.addToken(9, USER, AUTO_KEY, { group: 'auto' })
  for (const [channelId, group] of [
    [601, 'cheap'],
    [602, 'dear'],
  ] as const) {
    const terms = { type: 55, models: [MODEL], groups: [group], baseUrl: rig.vendor.url }
    await rig.addChannel(channelId, terms)
  }
  rig.vendor.answers.set('POST /v1/videos', { body: { id: 'video_1', status: 'queued' } })
}

const submitToAuto = () => {
  const headers = { authorization: `Bearer sk-${AUTO_KEY}`, 'mj-api-secret': '' }
  return rig.ask('/v1/videos', { model: MODEL, prompt: 'the sea' }, headers)
}

const admittedGroups = async () =>
  (await rig.callEvents()).flatMap((event) =>
    event.type === 'CallAdmitted' ? [event.data.group] : [],
  )

describe('the groups of auto at tasks', () => {
  it('leave out a dear group that the caller can not pay', async () => {
    await addAutoToken(['dear', 'cheap'])
    expect((await submitToAuto()).status).toBe(200)
    const [first] = await rig.callEvents()
    if (first?.type !== 'CallAdmitted') throw new Error('not admitted')
    expect(first.data.group).toBe('dear')
    await rig.setBudget(USER, 9, BigInt(first.data.hold) / 4n)
    expect((await submitToAuto()).status).toBe(200)
    expect((await submitToAuto()).status).toBe(402)
    expect(await admittedGroups()).toEqual(['dear', 'cheap'])
  })
})

describe('a limit of a group at tasks', () => {
  it('applies to each group of auto, and a limited group is left out', async () => {
    await addAutoToken(['cheap', 'dear'])
    await rig.setOption('RateLimitsByGroup', { cheap: { calls: 2 }, dear: { calls: 1 } })
    const submitAll = Array.from({ length: 20 }, submitToAuto)
    const statuses = (await Promise.all(submitAll)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(3)
    expect(statuses.filter((status) => status === 429)).toHaveLength(17)
    expect((await admittedGroups()).toSorted()).toEqual(['cheap', 'cheap', 'dear'])
  })
})

describe('a limit of a model at tasks', () => {
  it('counts videos as calls of their model, fifty at once', async () => {
    await rig.setOption('OpenTasksMax', '100')
    await rig.setOption('RateLimitsByModel', { [MODEL]: { calls: 7 } })
    const all = await Promise.all(Array.from({ length: 50 }, () => submit()))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(7)
    const limited = all.filter(({ status }) => status === 429)
    expect(limited).toHaveLength(43)
    expect(Number(limited[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(rig.vendor.requests.filter(({ method }) => method === 'POST')).toHaveLength(7)
    expect((await submit('sora-2-pro')).status).toBe(200)
  })
})
