import { beforeAll, describe, expect, it } from 'vitest'
import { userStream } from '#domain/users/events.ts'
import { createTaskProgress, type TaskProgress } from '#infra/task-progress/store-task-progress.ts'
import { countTasks, listTasks, recentTasks } from '#projections/tasks/query.ts'
import type { DrawingTask, MusicTask } from '#read-api/contract/tasks.ts'
import { pageSources } from '#read-api/register-read-api.ts'
import { channelCreated, type Given, NOW, sealed } from '#test/projections/fixture.ts'
import {
  accepted,
  aDrawing,
  aSong,
  aVideo,
  begun,
  deleted,
  failed,
  submitted,
  succeeded,
} from '#test/projections/task-facts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ADMIN, ALICE, apiFixture, BOB } from './fixture.ts'

type List<T> = { items: T[]; page: number; total: number }
type Headers = Record<string, string>

const api = startedOnce(apiFixture)
let progress: TaskProgress
let admin: Headers
let alice: Headers
let bob: Headers

const SECOND = NOW / 1_000
const DONE = aDrawing('done', ALICE)
const REFUSED = aDrawing('refused', ALICE)
const GOING = aDrawing('going', BOB)
const SONG = aSong('song', ALICE)
const LYRICS = aSong('lyrics', BOB)

const CLIP = {
  title: 'Rain',
  audio_url: 'https://songs.example/rain.mp3',
  image_url: 'javascript:alert(1)',
  metadata: { tags: 'jazz', prompt: 'It rains', duration: 121.5 },
}

beforeAll(async () => {
  progress = await createTaskProgress(api.core.pg)
  ;[admin, alice, bob] = (await Promise.all([ADMIN, ALICE, BOB].map((id) => api.logIn(id)))) as [
    Headers,
    Headers,
    Headers,
  ]
  const day: Given[] = [
    channelCreated(1, 'painter'),
    channelCreated(2, 'band'),
    ...[submitted(DONE), accepted(DONE), begun(DONE)],
    succeeded(DONE, { result: sealed('what is not shown of a drawing') }),
    submitted(REFUSED, { action: 'UPSCALE', submittedAt: NOW + 10_000 }),
    failed(REFUSED, { channelId: null, code: 24, cause: 'refused', failReason: null }),
    ...[submitted(GOING, { submittedAt: NOW + 20_000 }), accepted(GOING, { code: 22 })],
    begun(GOING),
    ...[submitted(SONG), accepted(SONG, { channelId: 2 })],
    succeeded(SONG, { channelId: 2, result: sealed(JSON.stringify({ data: [CLIP] })) }),
    submitted(LYRICS, { action: 'LYRICS' }),
  ]
  let last = 0
  for (const given of day) last = await api.append([given])
  await api.settled(last)
  await progress.put([{ id: GOING.task, text: '40%' }])
})

const drawings = async (query = '', as = admin): Promise<List<DrawingTask>> =>
  (await api.get<List<DrawingTask>>(`/api/mj/?${query}`, as)).body.data
const songs = async (path: string, as: Headers): Promise<List<MusicTask>> =>
  (await api.get<List<MusicTask>>(path, as)).body.data
const idsOf = ({ items }: List<DrawingTask>) => items.map(({ mj_id }) => mj_id)

describe('drawings', () => {
  it('are listed for admins from all users, newest first, with their channels', async () => {
    const { items, total, page } = await drawings()
    expect([total, page]).toEqual([3, 0])
    expect(items.map(({ mj_id }) => mj_id)).toEqual(['going', 'refused', 'done'])
    expect(items[2]).toEqual({
      id: expect.any(Number),
      ...{ mj_id: 'done', user_id: ALICE, username: 'alice', channel_id: 1 },
      ...{ channel_name: 'painter', action: 'IMAGINE', code: 1, status: 'SUCCESS' },
      ...{ progress: '100%', submit_time: SECOND, start_time: SECOND + 5 },
      ...{ finish_time: SECOND + 95, prompt: 'a cat on a wall', prompt_en: 'cat, wall' },
      ...{ description: 'Submit success', fail_reason: '', image_url: '/mj/image/done' },
    })
    expect(items[1]).toMatchObject({
      ...{ status: 'FAILURE', code: 24, channel_id: 0, channel_name: '', progress: '100%' },
      fail_reason: 'The provider rejected the task',
    })
    expect(items[0]).toMatchObject({ status: 'IN_PROGRESS', code: 22, progress: '40%' })
  })

  it('are listed for users only if they own them, without the channel', async () => {
    const { body } = await api.get<List<DrawingTask>>('/api/mj/self', bob)
    expect(idsOf(body.data)).toEqual(['going'])
    expect(body.data.items[0]).toMatchObject({ channel_id: 0, channel_name: '', progress: '40%' })
    // Neither by the filter that is for admins, nor by the provider's id.
    for (const query of ['channel_id=2', 'channel_id=1']) {
      const own = await api.get<List<DrawingTask>>(`/api/mj/self?${query}`, bob)
      expect(idsOf(own.body.data)).toEqual(['going'])
    }
    for (const id of ['done', 'up-going']) {
      const own = await api.get<List<DrawingTask>>(`/api/mj/self?mj_id=${id}`, bob)
      expect(own.body.data).toEqual({ items: [], page: 0, total: 0, is_total_capped: false })
    }
    const ofAdmin = await api.get<List<DrawingTask>>('/api/mj/self/', admin)
    expect(ofAdmin.body.data.total).toBe(0)
  })

  it('are found by channel, by id and by a time range that includes both ends', async () => {
    expect(idsOf(await drawings('channel_id=1'))).toEqual(['going', 'done'])
    expect(idsOf(await drawings('mj_id=done'))).toEqual(['done'])
    expect(idsOf(await drawings('mj_id=up-going'))).toEqual(['going'])
    expect(idsOf(await drawings('mj_id=song'))).toEqual([])
    const within = `start_timestamp=${SECOND}&end_timestamp=${SECOND + 10}`
    expect(idsOf(await drawings(within))).toEqual(['refused', 'done'])
    expect(idsOf(await drawings(`start_timestamp=${SECOND + 1}&mj_id=&channel_id=`))).toEqual([
      'going',
      'refused',
    ])
  })

  it('are listed for their owner with the newest or the oldest first', async () => {
    const of = { userId: ALICE, kind: 'drawing', limit: 9 } as const
    const list = (isOldestFirst: boolean, after: string | null) =>
      recentTasks(api.core.db, { ...of, isOldestFirst, after })
    expect(await list(false, null)).toEqual(['refused', 'done'])
    expect(await list(false, 'refused')).toEqual(['done'])
    expect(await list(true, null)).toEqual(['done', 'refused'])
    expect(await list(true, 'done')).toEqual(['refused'])
    const latest = { ...of, limit: 1, isOldestFirst: false, after: null }
    const page = (offset: number, action?: string) =>
      recentTasks(api.core.db, { ...latest, offset, ...(action === undefined ? {} : { action }) })
    expect([await page(0), await page(1), await page(2)]).toEqual([['refused'], ['done'], []])
    expect([await page(0, 'IMAGINE'), await page(1, 'IMAGINE')]).toEqual([['done'], []])
  })

  it('are paged, and no page shifts when new drawings arrive', async () => {
    const first = await drawings('page_size=2')
    const late = aDrawing('late', ALICE)
    await api.settled(await api.append([submitted(late)]))
    const second = await drawings('page_size=2&p=1')
    expect([...idsOf(first), ...idsOf(second)]).toEqual(['going', 'refused', 'done'])
    expect(second.total).toBe(4)
  })
})

describe('after the options of music and drawings are turned off, as they are by default', () => {
  const drawingsOnly = startedOnce(apiFixture)
  const ANY = expect.arrayContaining(['https:'])

  it('pages may load earlier songs and their covers', async () => {
    expect(await pageSources(api.core)).toMatchObject({ images: ANY, media: ANY })
  })

  it('pages may load earlier drawings that this site does not forward', async () => {
    const { core, append, settled } = drawingsOnly
    const forwards = async (value: string) => {
      const data = { key: 'MjForwardUrlEnabled', value, before: '' }
      await settled(await append([{ stream: 'options', type: 'OptionSet', v: 2, data }]))
    }
    await forwards('false')
    expect(await pageSources(core)).toMatchObject({ images: [], media: [] })
    await settled(await append([submitted(DONE)]))
    expect(await pageSources(core)).toMatchObject({ images: ANY, media: [] })
    await forwards('true')
    expect(await pageSources(core)).toMatchObject({ images: [], media: [] })
  })
})

it('a task list reads only the results that it shows, and counts up to its limit', async () => {
  const { db } = api.core
  expect(await countTasks(db, { kind: 'drawing' }, 2)).toBe(2)
  expect(await countTasks(db, { kind: 'music' }, 9)).toBe(2)
  const read = async (kind: 'drawing' | 'music', id: string) =>
    (await listTasks(db, { kind, id }, { offset: 0, limit: 1 }))[0]?.result
  expect(await read('drawing', DONE.task)).toBeNull()
  expect(await read('music', SONG.task)).toContain('Rain')
})

describe('music tasks', () => {
  it('are listed with their songs, and without links that are not web addresses', async () => {
    const all = await songs('/api/task/', admin)
    expect(all.items.map(({ task_id }) => task_id)).toEqual(['lyrics', 'song'])
    const { items } = await songs('/api/task/self', alice)
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({ task_id: 'song', platform: 'suno', channel_id: 0 })
    expect(items[0]?.songs).toEqual([
      {
        ...{ title: 'Rain', text: 'It rains', tags: 'jazz', duration: 121.5 },
        ...{ audio_url: CLIP.audio_url, image_url: '' },
      },
    ])
  })

  it('with a video have a signed link to it, and its length and resolution', async () => {
    const [made, gone] = [aVideo('video', BOB), aVideo('gone', BOB)]
    const media = { seconds: 8, resolution: '720p', size: null, options: [] }
    const facts = { action: 'TEXT_TO_VIDEO', platform: 'sora', model: 'sora-2', media }
    for (const task of [made, gone]) {
      await api.append([submitted(task, facts)])
      await api.append([accepted(task)])
      await api.append([succeeded(task)])
    }
    const last = await api.append([deleted(gone)])
    await api.settled(last)
    const { items } = await songs('/api/task/self', bob)
    const video = (id: string) => items.find(({ task_id }) => task_id === id)
    expect(video('video')).toMatchObject({
      ...{ model: 'sora-2', songs: [] },
      video: {
        url: expect.stringMatching(/^\/v1\/videos\/video\/content\?expires=\d+&signature=.+$/),
        ...{ seconds: 8, resolution: '720p' },
      },
    })
    expect(video('gone')?.video?.url).toBe('')
    const page = { userId: BOB, kind: 'video', after: null, limit: 9, isOldestFirst: true } as const
    expect(await recentTasks(api.core.db, page)).toEqual(['video'])
    const shown = async () => {
      const { items: all } = await songs('/api/task/?task_id=video', admin)
      return all[0]?.video?.url
    }
    expect(await shown()).toContain('signature=')
    const change = async (type: 'UserDisabled' | 'UserEnabled') =>
      api.settled(
        await api.append([
          { stream: userStream(BOB), type, v: 1, data: { userId: BOB, authVersion: 1 } },
        ]),
      )
    await change('UserDisabled')
    expect(await shown()).toBe('')
    await change('UserEnabled')
    expect(await shown()).toContain('signature=')
    expect(video('lyrics')?.video).toBeNull()
  })

  it('are found by channel and id', async () => {
    const found = async (query: string) =>
      (await songs(`/api/task/?${query}`, admin)).items.map(({ task_id }) => task_id)
    expect(await found('channel_id=2')).toEqual(['song'])
    expect(await found('task_id=lyrics')).toEqual(['lyrics'])
    expect(await found('task_id=done')).toEqual([])
  })
})

describe('refused requests for tasks', () => {
  const PATHS = ['/api/mj/', '/api/mj/self', '/api/task/', '/api/task/self']
  it.each(PATHS)('%s names the invalid field', async (path) => {
    const id = path.includes('mj') ? 'mj_id' : 'task_id'
    const wrong = ['p=-1', 'p=x', 'page_size=0', 'page_size=101', 'channel_id=x']
    const times = ['start_timestamp=-5', 'end_timestamp=1e9', 'end_timestamp=9999999999999999']
    for (const query of [...wrong, ...times, `${id}=${'x'.repeat(201)}`]) {
      const { status, body } = await api.get(`${path}?${query}`, admin)
      expect([query, status, body.success]).toEqual([query, 400, false])
      expect(body.message).toContain(query.split('=')[0])
    }
    const odd = [`${id}=%00`, `${id}=%F0%9F`, 'start_timestamp=999999999999999&p=999999999']
    for (const query of odd) {
      const { status } = await api.get(`${path}?${query}`, admin)
      expect([query, status < 500]).toEqual([query, true])
    }
  })

  it('tasks of all users are for admins, and own tasks for every logged-in user', async () => {
    for (const path of PATHS) {
      expect((await api.get(path)).status).toBe(401)
      const { status, body } = await api.get(path, alice)
      expect(status).toBe(path.endsWith('self') ? 200 : 403)
      if (status === 403) expect(body.data).toBeNull()
    }
  })
})
