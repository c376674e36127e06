import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectProxy } from '#test/support/connect-proxy.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { chat, errorOf, onlyEnd, type RelayRig, relayRig } from './support/relay-rig.ts'
import { tasksRig } from './tasks/tasks-rig.ts'

const proxy = startedOnce(connectProxy)
let rig: RelayRig
beforeEach(async () => {
  proxy.answer = 'carry'
  proxy.requests.length = 0
  rig = await relayRig({ deadlines: { connectMs: 300 } })
  proxy.names.set('provider.invalid', rig.provider.port)
  await rig.setOption('RetryTimes', '3')
})
afterEach(() => rig.close())

/** Channel 2, which is drawn before the rig's own. */
const addProxied = (value: unknown, baseUrl = rig.provider.url) =>
  rig.addChannel(2, { priority: 9, baseUrl, setting: JSON.stringify({ proxy: value }) })
const removeDirect = () =>
  rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
const marks = () => rig.provider.journal.entries.map(({ isStream }) => isStream)

describe('a channel with a proxy', () => {
  it('plain and streamed calls go through the proxy, which resolves the host name', async () => {
    await addProxied(proxy.urlOf('u:p'), 'http://provider.invalid')
    expect((await chat(rig)).status).toBe(200)
    const { status, text } = await chat(rig, { stream: true })
    expect([status, text.includes('[DONE]')]).toEqual([200, true])
    const login = `Basic ${btoa('u:p')}`
    expect(proxy.requests[0]).toEqual({ line: 'CONNECT provider.invalid:80', login })
    expect(marks()).toEqual([false, true])
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends.map(({ data }) => 'channelId' in data && data.channelId)).toEqual([2, 2])
  })

  it.each([
    ['refuses', 407, 'connect'],
    ['finds nobody', 502, 'connect'],
    ['says nothing', 'silence', 'connect'],
  ] as const)('the call goes to another channel if the proxy %s', async (_name, answer, error) => {
    await addProxied(proxy.url)
    proxy.answer = answer
    expect((await chat(rig)).status).toBe(200)
    const attempts = [{ channelId: 2, status: null, error }, { channelId: 1 }]
    expect(await onlyEnd(rig)).toMatchObject({ data: { channelId: 1, attempts } })
    expect([proxy.requests.length, rig.provider.journal.entries.length]).toEqual([1, 1])
  })

  it.each([
    ['refuses', () => proxy.urlOf('me:canary')],
    ['is of a kind that none can use', () => 'socks5://me:canary@127.0.0.1:1080'],
    ['is no text', () => ['canary']],
    ['has a refused address', () => 'http://me:canary@169.254.169.254:80'],
  ])(
    'a call fails without a direct attempt or a shown secret if the proxy %s',
    async (_name, value) => {
      await removeDirect()
      await addProxied(value())
      proxy.answer = 407
      const answer = await chat(rig)
      expect([answer.status, errorOf(answer).code]).toEqual([502, 'upstream_unreachable'])
      expect(JSON.stringify([answer.text, await rig.callEvents()])).not.toContain('canary')
      expect(rig.provider.journal.entries).toEqual([])
    },
  )

  it('tasks, their polls and their pictures go through the proxy', async () => {
    const tasks = await tasksRig({}, { taskMs: 50 })
    proxy.names.set('provider.invalid', tasks.provider.port)
    const setting = JSON.stringify({ proxy: proxy.urlOf('u:p') })
    const drawing = { type: 2, models: ['mj_imagine'], groups: ['default'], priority: 9 }
    await tasks.addChannel(22, { ...drawing, baseUrl: 'http://provider.invalid', setting })
    const task = await tasks.imagine()
    const status = async () => (await tasks.ask(`/mj/task/${task}/fetch`)).json.status
    await expect.poll(status).toBe('SUCCESS')
    const picture = await tasks.ask(`/mj/image/${task}`)
    expect(picture.headers.get('content-type')).toBe('image/png')
    const [accepted] = (await tasks.taskEvents(task)).filter(({ type }) => type === 'TaskAccepted')
    expect(accepted?.data).toMatchObject({ channelId: 22 })
    await tasks.close()
  })

  it.each(['', ' ', null])('a channel whose proxy is %j uses none', async (value) => {
    await addProxied(value)
    expect((await chat(rig)).status).toBe(200)
    expect([proxy.requests.length, rig.provider.journal.entries.length]).toEqual([0, 1])
  })
})
