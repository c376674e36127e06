import { describe, expect, it } from 'vitest'
import type { TestProgress, TestResults } from '#read-api/contract/channel-actions.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { actionsSite, SECRET } from '../support/channel-actions-site.ts'

const site = startedOnce(actionsSite)

const GOOD = { body: { choices: [{ message: { content: 'hi' } }], usage: {} } }
const CHAT = 'POST /v1/chat/completions'
type Tested = { model: string; time: number; reason: string }

describe('GET /api/channel/test/{id}', () => {
  it('returns its duration in seconds, at the top level and in data', async () => {
    site.scripted.answers.set(CHAT, GOOD)
    const id = await site.channel({ models: 'sim-small,other' })
    const answer = await site.ask<Tested>(`/api/channel/test/${id}`)
    expect(answer).toMatchObject({ status: 200, success: true, message: '' })
    expect(answer.time).toBe(answer.data.time)
    expect(answer.time).toBeGreaterThanOrEqual(0)
    expect(answer.time).toBeLessThan(30)
    expect(answer.data).toMatchObject({ model: 'sim-small', reason: '' })
  })

  it('succeeds and names the answered model where it differs from the requested one', async () => {
    site.scripted.answers.set(CHAT, { body: { ...GOOD.body, model: 'cheap-model' } })
    const id = await site.channel()
    const answer = await site.ask<Tested>(`/api/channel/test/${id}`)
    expect(answer).toMatchObject({ success: true, data: { reason: '' } })
    expect(answer.message).toContain('cheap-model')
  })

  it.each([
    [2, 'mj_imagine', 'drawing'],
    [50, 'kling-v1', 'video'],
  ])('refuses to test a task model of the type %i, which would cost money', async (...row) => {
    const [type, models, kind] = row
    const id = await site.channel({ type, models })
    const before = site.scripted.requests.length
    const answer = await site.ask<Tested>(`/api/channel/test/${id}`)
    expect(answer).toMatchObject({ success: false, data: { reason: 'no-request' } })
    expect(answer.message).toContain(kind)
    expect(site.scripted.requests).toHaveLength(before)
    await site.admin.must('DELETE', `/api/channel/${id}/`)
  })

  it('says why a model of tasks, files or sockets can’t be tested', async () => {
    const id = await site.channel({ type: 1, models: 'whisper-1,sora-2,gpt-realtime' })
    const zh = { ...site.admin.sessionHeaders, 'accept-language': 'zh' }
    const file = await site.ask<Tested>(`/api/channel/test/${id}`)
    expect(file).toMatchObject({ success: false, data: { reason: 'needs-file' } })
    expect(file.message).toMatch(/need a file/)
    const task = await site.ask<Tested>(`/api/channel/test/${id}?model=sora-2`, { headers: zh })
    expect(task).toMatchObject({ success: false, data: { reason: 'costs-task' } })
    expect(task.message).toMatch(/异步任务/)
    const socket = await site.ask<Tested>(`/api/channel/test/${id}?model=gpt-realtime`)
    expect(socket).toMatchObject({ success: false, data: { reason: 'needs-socket' } })
    expect(socket.message).toMatch(/websocket/)
    await site.admin.must('DELETE', `/api/channel/${id}/`)
  })

  it('asks for the model in the query, also of a disabled channel', async () => {
    site.scripted.answers.set(CHAT, GOOD)
    const id = await site.channel()
    await site.admin.must('PUT', '/api/channel/', { id, status: 2 })
    const { data } = await site.ask<Tested>(`/api/channel/test/${id}?model=sim-large`)
    expect(data.model).toBe('sim-large')
    expect(JSON.parse(site.scripted.requests.at(-1)?.body ?? '')).toMatchObject({
      model: 'sim-large',
    })
  })

  it('tests the terms that were saved just before', async () => {
    site.scripted.answers.set(CHAT, GOOD)
    const id = await site.channel()
    await site.admin.must('PUT', '/api/channel/', { id, test_model: 'new-one' })
    expect((await site.ask<Tested>(`/api/channel/test/${id}`)).data.model).toBe('new-one')
  })

  it('sends a streamed chat when the query asks for one', async () => {
    const pieces = [Buffer.from('data: {"choices":[{"delta":{"content":"hi"}}]}\n\n')]
    const headers = { 'content-type': 'text/event-stream' }
    const done = Buffer.from('data: [DONE]\n\n')
    site.scripted.answers.set(CHAT, { headers, pieces: [...pieces, done] })
    const id = await site.channel()
    expect(await site.ask(`/api/channel/test/${id}?stream=true`)).toMatchObject({ success: true })
    expect(JSON.parse(site.scripted.requests.at(-1)?.body ?? '')).toMatchObject({ stream: true })
  })

  it('shows the provider’s error message without keys and addresses', async () => {
    const message = `Wrong key ${SECRET} at https://internal.example/keys`
    site.scripted.answers.set(CHAT, { status: 401, body: { error: { message } } })
    const id = await site.channel()
    const answer = await site.ask<Tested>(`/api/channel/test/${id}`)
    expect(answer).toMatchObject({ status: 200, success: false, code: 'ChannelTestFailed' })
    expect(answer.message).toBe('401 Wrong key *** at ***')
    expect(answer.data.reason).toBe('status-401')
    expect(answer.text).not.toContain(SECRET)
  })

  it('reports an unreachable provider in both languages', async () => {
    const id = await site.channel({ base_url: 'http://127.0.0.1:1' })
    const zh = { ...site.admin.sessionHeaders, 'accept-language': 'zh' }
    expect(await site.ask(`/api/channel/test/${id}`)).toMatchObject({
      success: false,
      message: 'The provider could not be reached.',
    })
    expect(await site.ask(`/api/channel/test/${id}`, { headers: zh })).toMatchObject({
      message: '无法连接上游。',
    })
  })

  it('refuses a type that cannot be called and sends no request', async () => {
    const id = await site.bygone()
    const before = site.scripted.requests.length
    const answer = await site.ask<Tested>(`/api/channel/test/${id}`)
    expect(answer).toMatchObject({ success: false, data: { reason: 'no-address', time: 0 } })
    expect(site.scripted.requests).toHaveLength(before)
  })
})

describe('GET /api/channel/test', () => {
  const progress = async () => (await site.ask<TestProgress>('/api/channel/test/progress')).data

  it('tests all channels in the background, one run at a time, and reports progress', async () => {
    const never = await site.channel({ name: 'off' })
    await site.admin.must('PUT', '/api/channel/', { id: never, status: 2 })
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    site.scripted.answers.set(CHAT, { ...GOOD, until: held })
    const started = await site.ask<TestProgress>('/api/channel/test')
    expect(started).toMatchObject({ success: true, data: { is_running: true, ended_time: 0 } })
    const { total, run } = started.data
    expect(total).toBeGreaterThan(3)

    expect(await site.ask('/api/channel/test')).toMatchObject({
      status: 200,
      success: false,
      code: 'TestsRunning',
    })
    expect(await progress()).toMatchObject({ run, is_running: true })

    release()
    // Of those made above, one has an address where nobody is.
    const all = { run, is_running: false, total, tested: total, failed: 1 }
    const { started_time } = started.data
    await expect.poll(progress).toMatchObject({ ...all, started_time })
    await expect
      .poll(async () => (await progress()).ended_time)
      .toBeGreaterThanOrEqual(started_time)
    const { data } = await site.ask<TestResults>('/api/channel/test/results')
    expect([data.run, data.results.length]).toEqual([run, total])
    expect(data.results.map(({ reason }) => reason).slice(0, 2)).toEqual(['connect', ''])
    expect((await site.ask('/api/channel/test')).success).toBe(true)
    await expect.poll(async () => (await progress()).is_running).toBe(false)
  })
})
