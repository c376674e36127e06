import { beforeEach, describe, expect, it, vi } from 'vitest'
import { batchStream } from '#domain/batches/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import type { BatchStore } from '#relay/batches/batch-store.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { batchesInMemory } from '../support/in-memory-batches.ts'
import { KEY, relayRig, USER } from '../support/relay-rig.ts'
import { type Scripted, scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'lab-model'
const HOUR = 3_600_000
const MESSAGES = [{ role: 'user', content: 'Hi' }]
const ANTHROPIC = '/v1/messages/batches'
const GEMINI = '/v1beta/batches'
/** The provider's copy of the caller's file, which the gateway uploads for the batch. */
const COPY = '/v1/files/file-copy'
let laterMs = 0
let batchStore: BatchStore
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => {
  batchStore = batchesInMemory()
  const overrides = { batchPollEveryMs: 24 * HOUR, batchStore }
  return relayRig(overrides, {}, undefined, { now: () => Date.now() + laterMs })
})

beforeEach(() => {
  laterMs = 0
})

async function call(method: string, path: string, body?: unknown) {
  const isForm = body instanceof FormData
  const response = await fetch(`${rig.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer sk-${KEY}`,
      ...(isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, text, json: () => JSON.parse(text) }
}
const answers = (request: string, body: unknown) => provider.answers.set(request, { body })
const sent = () => provider.requests.map(({ method, path }) => `${method} ${path}`)
const batchIn = (publicId: string): string => {
  const hex = publicId.split(/[_/]/).at(-1) ?? ''
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

type Api = {
  readonly type: number
  /** `answer` replaces members of the provider's answer to the submission. */
  readonly submit: (answer?: Scripted) => ReturnType<typeof call>
  readonly cancel: string
  readonly path: string
  /** Returns the public id of a batch. */
  readonly idOf: (hex: string) => string
  /** An answer to the submission that has only the id of the batch. */
  readonly unreadable: object
  readonly description: string
  /** The description of the batch after it was canceled, before anything was processed. */
  readonly canceled: object
  /** The members of the response that the provider's description determines. */
  readonly described: object
}

const openai: Api = {
  type: 1,
  submit: async (answer = {}) => {
    const body = { model: MODEL, max_completion_tokens: 64, messages: MESSAGES }
    const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body }
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('file', new Blob([`${JSON.stringify(line)}\n`]), 'lines.jsonl')
    answers('POST /v1/files', { id: 'file-own' })
    answers('GET /v1/files/file-own/content', `${JSON.stringify(line)}\n`)
    const uploaded = await call('POST', '/v1/files', form)
    answers('POST /v1/files', { id: 'file-copy' })
    const description = { id: 'batch_1', object: 'batch', status: 'in_progress' }
    const counts = { total: 1, completed: 0, failed: 0 }
    const accepted = { ...description, input_file_id: 'file-copy', request_counts: counts }
    provider.answers.set('POST /v1/batches', { body: accepted, ...answer })
    answers('GET /v1/batches/batch_1', accepted)
    const input_file_id = uploaded.json().id
    const request = { input_file_id, endpoint: line.url, completion_window: '24h' }
    return call('POST', '/v1/batches', request)
  },
  cancel: 'POST /v1/batches/batch_1/cancel',
  path: '/v1/batches',
  idOf: (hex) => `batch_${hex}`,
  unreadable: { id: 'batch_1', status: 'unheard-of' },
  description: 'GET /v1/batches/batch_1',
  canceled: { id: 'batch_1', status: 'cancelled', input_file_id: 'file-copy' },
  described: { status: 'in_progress', endpoint: '/v1/chat/completions' },
}
const anthropic: Api = {
  type: 14,
  submit: (answer = {}) => {
    const body = { id: 'msgbatch_1', processing_status: 'in_progress' }
    provider.answers.set(`POST ${ANTHROPIC}`, { body, ...answer })
    answers(`GET ${ANTHROPIC}/msgbatch_1`, body)
    const params = { model: MODEL, max_tokens: 64, messages: MESSAGES }
    return call('POST', ANTHROPIC, { requests: [{ custom_id: 'a', params }] })
  },
  cancel: `POST ${ANTHROPIC}/msgbatch_1/cancel`,
  path: ANTHROPIC,
  idOf: (hex) => `msgbatch_${hex}`,
  unreadable: { id: 'msgbatch_1', processing_status: 'unheard-of' },
  description: `GET ${ANTHROPIC}/msgbatch_1`,
  canceled: { id: 'msgbatch_1', processing_status: 'ended' },
  described: { type: 'message_batch', processing_status: 'in_progress' },
}
const gemini: Api = {
  type: 24,
  submit: (answer = {}) => {
    const metadata = { state: 'BATCH_STATE_RUNNING', createTime: '2026-11-28T00:00:00Z' }
    const body = { name: 'batches/provider1', metadata }
    const path = `/v1beta/models/${MODEL}:batchGenerateContent`
    provider.answers.set(`POST ${path}`, { body, ...answer })
    answers(`GET ${GEMINI}/provider1`, body)
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
    const request = { contents, generationConfig: { maxOutputTokens: 64 } }
    const requests = { requests: [{ request, metadata: { key: 'a' } }] }
    return call('POST', path, { batch: { display_name: 'x', input_config: { requests } } })
  },
  cancel: `POST ${GEMINI}/provider1:cancel`,
  path: GEMINI,
  idOf: (hex) => hex,
  unreadable: { name: 'batches/provider1', metadata: { state: 'unheard-of' } },
  description: `GET ${GEMINI}/provider1`,
  canceled: { name: 'batches/provider1', metadata: { state: 'BATCH_STATE_CANCELLED' } },
  described: { metadata: { state: 'BATCH_STATE_RUNNING', displayName: 'x' } },
}

const useChannelOf = async ({ type }: Api) => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 1.5 })
  await rig.setOption('CompletionRatio', { [MODEL]: 5 })
}

/** A failed append; `isWritten` if the event is stored although the append fails. */
type Failure = { readonly isWritten: boolean }

/** Makes appends of acceptances fail, as `failureOf` says for the index of the append. */
function failAcceptances(failureOf: (index: number) => Failure | null): void {
  const { actors } = rig.core
  const { handle } = actors
  let index = -1
  vi.spyOn(actors, 'handle').mockImplementation(async (decider, stream, command, context) => {
    const isAcceptance = (command as { type?: unknown }).type === 'AcceptBatch'
    if (isAcceptance) index += 1
    const failure = isAcceptance ? failureOf(index) : null
    if (failure?.isWritten === false) throw new StoreUnavailable('away')
    const outcome = await handle(decider, stream, command, context)
    if (failure !== null) throw new StoreUnavailable('away')
    return outcome
  })
}

describe.each([
  ['OpenAI', openai],
  ['Anthropic', anthropic],
  ['Gemini', gemini],
])('a batch that the provider of %s has accepted', (_name, api) => {
  beforeEach(() => useChannelOf(api))

  it('is recorded once although the first appends fail', async () => {
    failAcceptances((index) => [{ isWritten: false }, { isWritten: true }][index] ?? null)
    const { status, text, json } = await api.submit()
    expect(status, text).toBe(200)
    const events = await rig.eventsOf(batchStream(batchIn(json().id ?? json().name)))
    expect(events.map(({ type }) => type)).toEqual(['BatchSubmitted', 'BatchAccepted'])
    expect(sent()).not.toContain(api.cancel)
  })

  it('is canceled there, and its file is deleted, if it can’t be recorded', async () => {
    failAcceptances(() => ({ isWritten: false }))
    answers(api.cancel, {})
    answers(`DELETE ${COPY}`, {})
    const { status, text } = await api.submit()
    expect(status, text).toBe(503)
    const ends = api === openai ? [api.cancel, `DELETE ${COPY}`] : [api.cancel]
    expect(sent().slice(-ends.length)).toEqual(ends)
  })

  it('answers with 503 if it can’t be recorded and the provider refuses to cancel it', async () => {
    failAcceptances(() => ({ isWritten: false }))
    provider.answers.set(api.cancel, { status: 500 })
    expect((await api.submit()).status).toBe(503)
    expect(sent()).toContain(api.cancel)
  })

  it('is canceled, and held until its end is known, if its answer can’t be read', async () => {
    answers(api.cancel, {})
    const { status } = await api.submit({ body: api.unreadable })
    expect(status).toBe(502)
    expect(sent()).toContain(api.cancel)
    const [stored] = await batchStore.unsettled('', 1)
    const types = async () =>
      (await rig.eventsOf(batchStream(stored?.batch ?? ''))).map(({ type }) => type)
    expect(await types()).toEqual(['BatchSubmitted', 'BatchAccepted'])
    answers(api.description, api.unreadable)
    laterMs += HOUR
    const path = `${api.path}/${api.idOf(stored?.batch.replaceAll('-', '') ?? '')}`
    expect((await call('GET', path)).status).toBe(200)
    expect((await rig.callEvents()).map(({ type }) => type)).toEqual(['CallAdmitted'])
    answers(api.description, api.canceled)
    answers(`GET ${ANTHROPIC}/msgbatch_1/results`, '')
    laterMs += HOUR
    expect((await call('GET', path)).status).toBe(200)
    await expect.poll(types).toContain('BatchEnded')
    const data = { reason: 'done', errorCode: 'batch_done', attempts: [{ error: null }] }
    expect((await rig.callEvents()).at(-1)).toMatchObject({ type: 'CallReleased', data })
  })

  it('is answered although its description can’t be stored, and it is stored later', async () => {
    const { find } = batchStore
    let isAway = false
    const describing = vi.spyOn(batchStore, 'describe').mockImplementation(async () => {
      isAway = true
      throw new Error('away')
    })
    vi.spyOn(batchStore, 'find').mockImplementation(async (...query) => {
      if (isAway) throw new Error('away')
      return find(...query)
    })
    const { status, text, json } = await api.submit()
    expect(status, text).toBe(200)
    expect(json()).toMatchObject(api.described)
    const id = json().id ?? json().name.split('/')[1]
    const stored = async () => (await find(USER, batchIn(id)))?.object ?? null
    expect(await stored()).toBeNull()
    isAway = false
    describing.mockRestore()
    expect((await call('GET', `${api.path}/${id}`)).json()).toMatchObject(api.described)
    expect(await stored()).not.toBeNull()
  })
})

describe('the file that the gateway uploaded for a batch', () => {
  const DELETION = `DELETE ${COPY}`
  const DESCRIPTION = 'GET /v1/batches/batch_1'
  const RESULTS = 'GET /v1/files/file-out/content'

  beforeEach(async () => {
    await useChannelOf(openai)
    answers(DELETION, {})
  })

  const submit = async (): Promise<string> => {
    const { status, text, json } = await openai.submit()
    expect(status, text).toBe(200)
    return json().id
  }
  const lookUpAfter = async (hours: number, id: string) => {
    laterMs += hours * HOUR
    const { status, text } = await call('GET', `/v1/batches/${id}`)
    expect(status, text).toBe(200)
    expect(text).not.toContain('file-copy')
  }
  const ends = async () => (await rig.callEvents()).filter(({ type }) => type !== 'CallAdmitted')
  const expectEnd = (errorCode: string) =>
    expect.poll(ends).toMatchObject([{ type: 'CallReleased', data: { errorCode } }])

  it.each([
    ['does not know the batch for three days', 404, 73, 'batch_lost'],
    ['can’t be asked for 30 days', 500, 31 * 24, 'batch_lost'],
  ])('is deleted if the provider %s', async (_name, status, hours, errorCode) => {
    const id = await submit()
    provider.answers.set(DESCRIPTION, { status })
    await lookUpAfter(1, id)
    await expect.poll(async () => (await batchStore.find(USER, batchIn(id)))?.attempts).toBe(1)
    expect(await ends()).toEqual([])
    await lookUpAfter(hours, id)
    await expectEnd(errorCode)
    await expect.poll(sent).toContain(DELETION)
  })

  it('is deleted if the provider denies access to the results', async () => {
    const id = await submit()
    const files = { input_file_id: 'file-copy', output_file_id: 'file-out' }
    const counts = { total: 1, completed: 1, failed: 0 }
    answers(DESCRIPTION, { id: 'batch_1', status: 'completed', ...files, request_counts: counts })
    provider.answers.set(RESULTS, { status: 403 })
    await lookUpAfter(1, id)
    await expect.poll(async () => (await batchStore.find(USER, batchIn(id)))?.deniedAt).not.toBe(0)
    expect(sent()).not.toContain(DELETION)
    await lookUpAfter(73, id)
    await expectEnd('batch_results_denied')
    await expect.poll(sent).toContain(DELETION)
  })

  it('is recorded before the submission, and deleted if that has no end', async () => {
    let answer = (): void => {}
    const until = new Promise<void>((resolve) => {
      answer = resolve
    })
    const submitting = openai.submit({ until })
    await expect.poll(sent).toContain('POST /v1/batches')
    const [stored] = await batchStore.unsettled('', 1)
    expect(stored?.uploaded).toMatchObject({ channelId: 2, upstreamId: 'file-copy' })
    const id = `batch_${stored?.batch.replaceAll('-', '')}`
    await lookUpAfter(1, id)
    await expectEnd('batch_lost')
    await expect.poll(sent).toContain(DELETION)
    // The provider accepts the batch when it counts as lost, so it is canceled.
    answers(openai.cancel, {})
    answer()
    expect((await submitting).status).toBe(503)
    expect(sent()).toContain(openai.cancel)
  })

  it('finds the batch of an answer without an id, and cancels it', async () => {
    const others = [{ id: 'batch_0', input_file_id: 'file-other' }, null, { input_file_id: 7 }]
    const list = { data: [...others, { id: 'batch_1', input_file_id: 'file-copy' }] }
    answers('GET /v1/batches', list)
    answers(openai.cancel, {})
    expect((await openai.submit({ body: 'no JSON' })).status).toBe(502)
    expect(sent()).toContain(openai.cancel)
    expect(sent()).not.toContain(DELETION)
  })

  it('is deleted if the batch of an answer without an id can’t be found', async () => {
    answers('GET /v1/batches', { data: [] })
    expect((await openai.submit({ body: 'no JSON' })).status).toBe(502)
    expect(sent()).toContain(DELETION)
    expect(await ends()).toEqual([])
    const [stored] = await batchStore.unsettled('', 1)
    await lookUpAfter(1, openai.idOf(stored?.batch.replaceAll('-', '') ?? ''))
    await expectEnd('batch_lost')
  })

  it('is deleted at once if its id can’t be recorded, and no batch is submitted', async () => {
    const { noteUpload } = batchStore
    vi.spyOn(batchStore, 'noteUpload').mockImplementation(async (batch, upload) => {
      if (upload.upstreamId !== null) throw new Error('away')
      await noteUpload(batch, upload)
    })
    expect((await openai.submit()).status).toBe(503)
    expect(sent()).toContain(DELETION)
    expect(sent()).not.toContain('POST /v1/batches')
    await expectEnd('batch_refused')
  })

  it('is not sent if its upload can’t be recorded', async () => {
    vi.spyOn(batchStore, 'noteUpload').mockRejectedValue(new Error('away'))
    expect((await openai.submit()).status).toBe(503)
    // The caller has uploaded the file of the batch.
    expect(sent().filter((path) => path === 'POST /v1/files')).toHaveLength(1)
    expect(sent()).not.toContain('POST /v1/batches')
    await expectEnd('batch_refused')
  })

  it('does not delay the end of a batch whose channel was deleted', async () => {
    const id = await submit()
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await lookUpAfter(1, id)
    await expectEnd('batch_channel_deleted')
    expect(sent()).not.toContain(DELETION)
  })
})
