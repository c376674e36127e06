import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type TasksRig, tasksRig } from './tasks-rig.ts'

let rig: TasksRig
let sent: Record<string, unknown>[]
/** Takes every task, and keeps what it was sent. */
const provider = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const isSubmit = request.url?.includes('/submit/') ?? false
    if (isSubmit) sent.push(JSON.parse(Buffer.concat(parts).toString()))
    const taken = request.url?.startsWith('/suno/')
      ? { code: 'success', data: `song-${sent.length}` }
      : { code: 1, description: 'ok', properties: {}, result: `drawing-${sent.length}` }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(taken))
  })
})

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  rig = await tasksRig()
})
beforeEach(() => {
  sent = []
})
afterAll(async () => {
  await rig.close()
  provider.closeAllConnections()
  await new Promise((resolve) => provider.close(resolve))
})

async function channelsThatAllow(drawing: string[], music: string[]): Promise<void> {
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const setting = (names: string[]) => JSON.stringify({ allowed_members: names })
  await rig.addChannel(21, { type: 2, baseUrl, models: ['mj_imagine'], setting: setting(drawing) })
  await rig.addChannel(36, { type: 36, baseUrl, models: ['suno_music'], setting: setting(music) })
}

const DRAWING = { prompt: 'a cat', botType: 'NIJI_JOURNEY', mode: 'TURBO', dimensions: 'SQUARE' }
const MUSIC = { prompt: 'a shanty', mv: 'chirp-v5', model: 'chirp-v5', make_instrumental: true }
const droppedOf = ({ headers }: { readonly headers: Headers }) => headers.get('x-dropped-members')

it('members that choose a model or a speed are not sent, and the answer names them', async () => {
  await channelsThatAllow([], [])
  const drawn = await rig.ask('/mj/submit/imagine', DRAWING)
  expect(sent[0]).toEqual({ prompt: 'a cat', dimensions: 'SQUARE' })
  expect([drawn.json.code, droppedOf(drawn)]).toEqual([1, 'botType, mode'])
  const composed = await rig.ask('/suno/submit/music', MUSIC)
  expect(sent[1]).toEqual({ prompt: 'a shanty', make_instrumental: true })
  expect([composed.json.code, droppedOf(composed)]).toEqual(['success', 'mv, model'])
})

it('a channel allows them by name', async () => {
  await channelsThatAllow(['botType'], ['mv'])
  const drawn = await rig.ask('/mj/submit/imagine', DRAWING)
  expect(sent[0]).toEqual({ prompt: 'a cat', dimensions: 'SQUARE', botType: 'NIJI_JOURNEY' })
  expect(droppedOf(drawn)).toBe('mode')
  const composed = await rig.ask('/suno/submit/music', MUSIC)
  expect(sent[1]).toEqual({ prompt: 'a shanty', make_instrumental: true, mv: 'chirp-v5' })
  expect(droppedOf(composed)).toBe('model')
})

it('a request that loses nothing says nothing, and no other spelling passes', async () => {
  await channelsThatAllow([], [])
  expect(droppedOf(await rig.ask('/mj/submit/imagine', { prompt: 'a cat' }))).toBe(null)
  expect(await rig.ask('/suno/submit/music', { prompt: 'x', MV: 'chirp-v5' })).toMatchObject({
    status: 400,
    json: { code: 'ambiguous_key' },
  })
})
