import { expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { tasksRig } from './tasks-rig.ts'

const rig = startedOnce(() => tasksRig({}, { taskMs: 300 }))

const statusOf = async (task: string) => (await rig.ask(`/suno/fetch/${task}`)).json.data.status

it('music and lyrics tasks are held, completed and settled', async () => {
  const before = await rig.balance()
  const music = await rig.ask('/suno/submit/music', { gpt_description_prompt: 'a shanty' })
  expect(music.json).toMatchObject({ code: 'success', data: expect.any(String) })
  const lyrics = await rig.ask('/suno/submit/LYRICS', { prompt: 'the sea' })
  expect(await rig.balance()).toBe(before - 55_000n)
  const [song, words] = [music.json.data as string, lyrics.json.data as string]
  for (const task of [song, words]) {
    await expect.poll(() => statusOf(task)).toBe('SUCCESS')
    expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
  }
  const { json } = await rig.ask('/suno/fetch', { ids: [song, words] })
  expect(json.data).toMatchObject([
    { task_id: song, action: 'MUSIC', progress: '100%', data: [{ title: 'Simulated' }] },
    { task_id: words, action: 'LYRICS', data: { text: expect.any(String) } },
  ])
  for (const { submit_time, start_time, finish_time } of json.data) {
    expect(start_time).toBeGreaterThanOrEqual(submit_time)
    expect(finish_time).toBeGreaterThanOrEqual(start_time)
  }
  expect(await rig.balance()).toBe(before - 55_000n)
})

it('a failed or refused music task costs nothing', async () => {
  const before = await rig.balance()
  const failing = await rig.ask('/suno/submit/music', { prompt: 'failing' })
  await expect.poll(() => statusOf(failing.json.data)).toBe('FAILURE')
  const { data } = (await rig.ask(`/suno/fetch/${failing.json.data}`)).json
  expect(data).toMatchObject({ progress: '100%', finish_time: expect.any(Number) })
  const refused = await rig.ask('/suno/submit/music', { prompt: 'a banned word' })
  expect(refused).toMatchObject({
    status: 400,
    json: { code: 'task_refused', message: 'banned prompt words', data: null },
  })
  expect(await rig.balance()).toBe(before)
})

it('a song can only continue a song of the same caller', async () => {
  const first = (await rig.ask('/suno/submit/music', { prompt: 'one' })).json.data as string
  await expect.poll(() => statusOf(first)).toBe('SUCCESS')
  const more = { prompt: 'two', continue_clip_id: 'clip-1', task_id: first }
  const second = await rig.ask('/suno/submit/music', more)
  expect(second.json.code).toBe('success')
  expect((await rig.taskEvents(second.json.data))[0]?.data).toMatchObject({ origin: first })
  const alien = { ...more, task_id: '1710000000000000' }
  expect(await rig.ask('/suno/submit/music', alien)).toMatchObject({
    status: 404,
    json: { code: 'task_not_found', data: null },
  })
})

it('invalid input for music and lyrics is refused', async () => {
  const before = await rig.balance()
  const bad: [string, unknown, string][] = [
    ['/suno/submit/music', '{', 'json_incomplete'],
    ['/suno/submit/lyrics', {}, 'missing_parameter'],
    ['/suno/submit/music', {}, 'missing_parameter'],
    ['/suno/submit/music', { prompt: '', mv: 'chirp-v4' }, 'missing_parameter'],
    ['/suno/submit/music', { prompt: 1 }, 'invalid_parameter'],
    ['/suno/submit/music', { continue_clip_id: 'x' }, 'missing_parameter'],
    ['/suno/submit/dance', {}, 'not_found'],
    ['/suno/fetch', {}, 'missing_parameter'],
    ['/suno/fetch', { ids: 'x' }, 'invalid_parameter'],
    ['/suno/fetch', { ids: [5] }, 'invalid_parameter'],
    ['/suno/fetch/x/y', {}, 'not_found'],
  ]
  for (const [path, body, code] of bad) {
    const answer = await rig.ask(path, body)
    expect(answer.json, path).toMatchObject({ code, message: expect.any(String) })
    expect(answer.status).toBeLessThan(500)
  }
  const nothing = await rig.ask('/suno/submit/music', {})
  expect(nothing.status).toBe(400)
  expect(nothing.json.message).toContain('prompt / gpt_description_prompt')
  for (const ids of ['x', [5]]) {
    const { json } = await rig.ask('/suno/fetch', { ids })
    expect(json.message).toContain('Possible values: ["…"]')
  }
  expect(await rig.ask('/suno/submit/music', { prompt: ' \n ' })).toMatchObject({ status: 400 })
  expect(await rig.balance()).toBe(before)
  await rig.setOption('TaskEnabled', 'false')
  expect(await rig.ask('/suno/submit/music', { prompt: 'x' })).toMatchObject({ status: 403 })
  await rig.setOption('TaskEnabled', 'true')
})
