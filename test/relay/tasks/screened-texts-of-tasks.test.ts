import { beforeEach, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { stopAnswersWith } from '../support/relay-rig.ts'
import { type ScriptedProvider, scriptedProvider } from '../support/scripted-provider.ts'
import { tasksRig } from './tasks-rig.ts'

const PICTURE = `data:image/png;base64,${Buffer.from('a picture').toString('base64')}`
const NO_KEY = { 'mj-api-secret': '' }
const ADDRESS = 'https://cdn.example/bomb.mp3'
const BLOCKED = expect.stringContaining('blocks')

const vendor: ScriptedProvider = startedOnce(scriptedProvider)
const rig = startedOnce(() => tasksRig())

beforeEach(async () => {
  const at = { groups: ['default'], baseUrl: vendor.url, priority: 10 }
  await rig.addChannel(81, { type: 2, models: ['mj_imagine', 'mj_describe', 'mj_shorten'], ...at })
  await rig.addChannel(82, { type: 36, models: ['suno_music', 'suno_lyrics'], ...at })
  await rig.setOption('global.safe_check_exempt_enabled', 'false')
  await stopAnswersWith(rig, 'bomb')
})

let count = 0
const nextId = (): string => {
  count += 1
  return `up-${count}`
}

/** Submits a drawing task whose provider finishes it at once. Returns the task for its caller. */
async function drawn(action: string, body: object, result: object) {
  const id = nextId()
  const accepted = { code: 1, description: 'submitted', result: id }
  vendor.answers.set(`POST /mj/submit/${action}`, { body: accepted })
  const report = { id, status: 'SUCCESS', progress: '100%', ...result }
  vendor.answers.set('POST /mj/task/list-by-condition', { body: [report] })
  const { json, text } = await rig.ask(`/mj/submit/${action}`, body)
  expect(json, text).toMatchObject({ code: 1 })
  const shown = async () => (await rig.ask(`/mj/task/${json.result}/fetch`)).json
  await expect.poll(async () => (await shown()).progress).toBe('100%')
  return { task: json.result as string, json: await shown() }
}

/** Does the same for a task of music or lyrics. */
async function composed(action: string, data: unknown) {
  const id = nextId()
  vendor.answers.set(`POST /suno/submit/${action}`, { body: { code: 'success', data: id } })
  const report = { task_id: id, status: 'SUCCESS', progress: '100%', data }
  vendor.answers.set('POST /suno/fetch', { body: { code: 'success', data: [report] } })
  const { json, text } = await rig.ask(`/suno/submit/${action}`, { prompt: 'the sea' })
  expect(json, text).toMatchObject({ code: 'success' })
  const shown = async () => (await rig.ask(`/suno/fetch/${json.data}`)).json.data
  await expect.poll(async () => (await shown()).progress).toBe('100%')
  return { task: json.data as string, json: await shown() }
}

const PAID = ['CallAdmitted', 'CallSettled']

it.each([
  ['describe', { base64: PICTURE }, { prompt: '1️⃣ a BOMB', promptEn: 'a thing' }],
  ['describe', { base64: PICTURE }, { prompt: '一', promptEn: '1️⃣ a bomb' }],
  ['shorten', { prompt: 'a thing' }, { properties: { finalPrompt: 'a bomb' } }],
  ['shorten', { prompt: 'a thing' }, { buttons: [{ customId: 'x', label: 'a bomb' }] }],
])('the text of /mj/submit/%s with a screened word is withheld and charged', async (...args) => {
  const [action, body, result] = args
  const { task, json } = await drawn(action, body, { imageUrl: `${vendor.url}/1.png`, ...result })
  expect(json).toMatchObject({
    ...{ status: 'FAILURE', failReason: BLOCKED, promptEn: '', imageUrl: '' },
    ...{ buttons: [], properties: {} },
  })
  expect(JSON.stringify(json)).not.toMatch(/bomb/i)
  expect(await rig.money(task)).toEqual(PAID)
  expect((await rig.ask(`/mj/image/${task}`, undefined, NO_KEY)).status).toBe(404)
})

it('of a picture, only the texts beside it are withheld', async () => {
  const [imageUrl, buttons] = [`${vendor.url}/1.png`, [{ customId: 'x', label: 'U1' }]]
  const result = { imageUrl, buttons, promptEn: 'a bomb', prompt: 'a bomb' }
  const { task, json } = await drawn('imagine', { prompt: 'ein Ding' }, result)
  const shown = { status: 'SUCCESS', failReason: '', prompt: 'ein Ding', promptEn: '', buttons }
  expect(json).toMatchObject({ ...shown, imageUrl: `${rig.url}/mj/image/${task}` })
  expect(await rig.money(task)).toEqual(PAID)
})

it.each<[string, unknown]>([
  ['LYRICS', { text: '[Verse]\na bomb', title: 'A song', status: 'complete' }],
  ['LYRICS', { text: 'la la', title: 'Bomb', status: 'complete' }],
  ['MUSIC', [{ title: 'A song', audio_url: ADDRESS, metadata: { prompt: 'la la, a bomb' } }]],
])(
  'a result of /suno/submit/%s with a screened word is withheld and charged',
  async (action, data) => {
    const { task, json } = await composed(action, data)
    expect(json).toMatchObject({ status: 'FAILURE', fail_reason: BLOCKED, data: null })
    expect(await rig.money(task)).toEqual(PAID)
    const { json: list } = await rig.ask('/suno/fetch', { ids: [task] })
    expect(list.data).toEqual([json])
    const end = (await rig.taskEvents(task)).at(-1)
    expect(end?.type).toBe('TaskSucceeded')
  },
)

it('results without such a word, or of the exempt group, are shown', async () => {
  const song = { id: 'bomb', title: 'A song', audio_url: ADDRESS, metadata: { prompt: 'la' } }
  expect((await composed('MUSIC', [song])).json).toMatchObject({ status: 'SUCCESS', data: [song] })
  await rig.setOption('global.safe_check_exempt_group', 'default')
  await rig.setOption('global.safe_check_exempt_enabled', 'true')
  const lyrics = { text: 'a bomb', title: 'Bomb', status: 'complete' }
  const { json } = await composed('LYRICS', lyrics)
  expect(json).toMatchObject({ status: 'SUCCESS', fail_reason: '', data: lyrics })
})
