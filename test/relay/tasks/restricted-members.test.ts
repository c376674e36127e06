import { beforeEach, expect, it } from 'vitest'
import { bodyText, serve } from '#test/support/start-http-server.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { tasksRig } from './tasks-rig.ts'

let sent: Record<string, unknown>[]
/** Takes every task, and keeps what it was sent. */
const provider = startedOnce(() =>
  serve(async (request, response) => {
    const body = await bodyText(request)
    const { url = '' } = request
    if (url.includes('/submit/')) sent.push(JSON.parse(body))
    const answer = url.startsWith('/suno/')
      ? { code: 'success', data: `song-${sent.length}` }
      : { code: 1, description: 'ok', properties: {}, result: `drawing-${sent.length}` }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }),
)
const rig = startedOnce(tasksRig)

beforeEach(() => {
  sent = []
})

async function channelsThatAllow(drawing: string[], music: string[]): Promise<void> {
  const baseUrl = provider.url
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

it('a channel can allow restricted members by name', async () => {
  await channelsThatAllow(['botType'], ['mv'])
  const drawn = await rig.ask('/mj/submit/imagine', DRAWING)
  expect(sent[0]).toEqual({ prompt: 'a cat', dimensions: 'SQUARE', botType: 'NIJI_JOURNEY' })
  expect(droppedOf(drawn)).toBe('mode')
  const composed = await rig.ask('/suno/submit/music', MUSIC)
  expect(sent[1]).toEqual({ prompt: 'a shanty', make_instrumental: true, mv: 'chirp-v5' })
  expect(droppedOf(composed)).toBe('model')
})

it('other spellings of restricted members are not sent either', async () => {
  await channelsThatAllow(['botType'], ['mv', 'model_name'])
  const spelled = { bot_type: 'NIJI_JOURNEY', 'bot-type': 'NIJI_JOURNEY' }
  const drawn = await rig.ask('/mj/submit/imagine', { prompt: 'a cat', ...spelled })
  expect(sent[0]).toEqual({ prompt: 'a cat' })
  expect(droppedOf(drawn)).toBe('bot_type, bot-type')
  const models = { modelName: 'chirp-v5', modelVersion: 'v5', 'model-version': 'v5' }
  const composed = await rig.ask('/suno/submit/music', { prompt: 'x', ...models })
  expect(sent[1]).toEqual({ prompt: 'x' })
  expect(droppedOf(composed)).toBe('modelName, modelVersion, model-version')
})

it('no spelling of a callback address reaches the provider', async () => {
  await channelsThatAllow([], [])
  const hook = 'https://caller.example/hook'
  const hooks = { notify_hook: hook, callBackUrl: hook, webhook: hook }
  await rig.ask('/mj/submit/imagine', { prompt: 'a cat', ...hooks, notifyHook: hook })
  await rig.ask('/suno/submit/music', { prompt: 'x', ...hooks, 'notify-url': hook })
  expect(sent).toEqual([{ prompt: 'a cat' }, { prompt: 'x' }])
})

it.each(['a cat --turbo', 'a cat —turbo', 'a cat ––turbo', 'a cat —TURBO —fast'])(
  'a speed flag is removed from the prompt %j where an option says so',
  async (prompt) => {
    await channelsThatAllow([], [])
    await rig.setOption('MjModeClearEnabled', 'true')
    const drawn = await rig.ask('/mj/submit/imagine', { prompt: `${prompt} --ar 1:1` })
    expect(sent[0]).toEqual({ prompt: 'a cat --ar 1:1' })
    expect(droppedOf(drawn)).toMatch(/^prompt --turbo(, prompt --fast)?$/)
  },
)

it('a request without dropped members has no header, and other spellings are refused', async () => {
  await channelsThatAllow([], [])
  expect(droppedOf(await rig.ask('/mj/submit/imagine', { prompt: 'a cat' }))).toBe(null)
  expect(await rig.ask('/suno/submit/music', { prompt: 'x', MV: 'chirp-v5' })).toMatchObject({
    status: 400,
    json: { code: 'ambiguous_key' },
  })
})
