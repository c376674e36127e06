import { beforeEach, describe, expect, it, vi } from 'vitest'
import { batchStream } from '#domain/batches/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { type BatchStore, HOLDING_MS } from '#relay/batches/batch-store.ts'
import { CLAIM_MS, type ClaimedCalls } from '#relay/idempotency/idempotency-claims.ts'
import { removeExpiredClaims } from '#relay/idempotency/remove-expired-claims.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { batchesInMemory } from '../support/in-memory-batches.ts'
import { claimedCallsInMemory } from '../support/in-memory-stores.ts'
import { KEY, relayRig, USER } from '../support/relay-rig.ts'
import { type Scripted, scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'lab-model'
const MESSAGES = [{ role: 'user', content: 'Hi' }]
const ANTHROPIC = '/v1/messages/batches'
const GEMINI = `/v1beta/models/${MODEL}:batchGenerateContent`
const LINE = {
  ...{ custom_id: 'a', method: 'POST', url: '/v1/chat/completions' },
  body: { model: MODEL, max_completion_tokens: 64, messages: MESSAGES },
}
const CONTENT = 'GET /v1/files/file-own/content'
let batchStore: BatchStore
let claimedCalls: ClaimedCalls
let laterMs = 0
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => {
  batchStore = batchesInMemory()
  claimedCalls = claimedCallsInMemory()
  laterMs = 0
  const overrides = { batchPollEveryMs: 86_400_000, batchStore, claimedCalls }
  return relayRig(overrides, {}, undefined, { now })
})
const now = () => Date.now() + laterMs

async function post(path: string, body: unknown, more: Readonly<Record<string, string>> = {}) {
  const isForm = body instanceof FormData
  const json = { 'content-type': 'application/json' }
  const headers = { authorization: `Bearer sk-${KEY}`, ...(isForm ? {} : json), ...more }
  const text = isForm ? body : JSON.stringify(body)
  const response = await fetch(`${rig.url}${path}`, { method: 'POST', headers, body: text })
  return { status: response.status, text: await response.text() }
}
const answers = (request: string, answer: Scripted) => provider.answers.set(request, answer)

type Api = {
  readonly type: number
  readonly path: string
  /** The request that creates the batch at the provider, and its answer. */
  readonly created: readonly [string, object]
  /** Returns a submission; submissions with different names have different bodies. */
  readonly bodyOf: (name: string) => Promise<object>
}

let fileId: string | null = null
const openai: Api = {
  type: 1,
  path: '/v1/batches',
  created: [
    'POST /v1/batches',
    { id: 'batch_1', object: 'batch', status: 'in_progress', input_file_id: 'file-own' },
  ],
  bodyOf: async (name) => {
    if (fileId === null) {
      answers('POST /v1/files', { body: { id: 'file-own' } })
      answers(CONTENT, { body: `${JSON.stringify(LINE)}\n` })
      const form = new FormData()
      form.set('purpose', 'batch')
      form.set('file', new Blob([`${JSON.stringify(LINE)}\n`]), 'lines.jsonl')
      fileId = JSON.parse((await post('/v1/files', form)).text).id
    }
    const input = { input_file_id: fileId, endpoint: LINE.url, completion_window: '24h' }
    return { ...input, metadata: { name } }
  },
}
const anthropic: Api = {
  type: 14,
  path: ANTHROPIC,
  created: [`POST ${ANTHROPIC}`, { id: 'msgbatch_1', processing_status: 'in_progress' }],
  bodyOf: async (custom_id) => {
    const params = { model: MODEL, max_tokens: 64, messages: MESSAGES }
    return { requests: [{ custom_id, params }] }
  },
}
const gemini: Api = {
  type: 24,
  path: GEMINI,
  created: [
    `POST ${GEMINI}`,
    { name: 'batches/provider1', metadata: { state: 'BATCH_STATE_RUNNING' } },
  ],
  bodyOf: async (key) => {
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
    const request = { contents, generationConfig: { maxOutputTokens: 64 } }
    const requests = { requests: [{ request, metadata: { key } }] }
    return { batch: { display_name: 'x', input_config: { requests } } }
  },
}

/** Makes each of the first `count` calls of `add` wait until its turn in `go` is called. */
function pauseBeforeAdding(count: number) {
  const { add } = batchStore
  const go: (() => void)[] = []
  vi.spyOn(batchStore, 'add').mockImplementation(async (...batch) => {
    if (go.length < count) await new Promise<void>((resolve) => go.push(resolve))
    return add(...batch)
  })
  const arrived = (waiting: number) => expect.poll(() => go.length).toBe(waiting)
  return { go: (index: number) => go[index]?.(), arrived }
}

/** Holds back each of the first `count` reservations of quota until its turn in `go` is called. */
function pauseBeforeReserving(count: number) {
  const { actors } = rig.core
  const handleTogether = actors.handleTogether.bind(actors)
  const go: (() => void)[] = []
  vi.spyOn(actors, 'handleTogether').mockImplementation(async (steps, context) => {
    const isReservation = steps.some(({ command }) => command.type === 'SubmitBatch')
    if (isReservation && go.length < count) await new Promise<void>((resolve) => go.push(resolve))
    return handleTogether(steps, context)
  })
  const arrived = (waiting: number) => expect.poll(() => go.length).toBe(waiting)
  return { go: (index: number) => go[index]?.(), arrived }
}

/** Makes the account refuse the next admission, as if it could not pay. */
function refuseNextAdmission(): void {
  const params = { balance: '0', needed: '1' }
  const error = { code: 'InsufficientQuota', params }
  vi.spyOn(rig.core.actors, 'handleTogether').mockResolvedValueOnce({ isDone: false, error })
}

describe.each([
  ['OpenAI', openai],
  ['Anthropic', anthropic],
  ['Gemini', gemini],
])('an Idempotency-Key of a batch in the API of %s', (_name, api) => {
  const [creation, description] = api.created

  beforeEach(async () => {
    fileId = null
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { type: api.type, baseUrl: provider.url, models: [MODEL] })
    await rig.setOption('ModelRatio', { [MODEL]: 1.5 })
    await rig.setOption('CompletionRatio', { [MODEL]: 5 })
    await api.bodyOf('a')
    answers(creation, { body: description })
  })

  const submit = async (name = 'a') =>
    post(api.path, await api.bodyOf(name), { 'idempotency-key': 'once' })
  const created = () =>
    provider.requests.filter(({ method, path }) => `${method} ${path}` === creation).length
  const expectOneBatch = async () => {
    expect(created()).toBe(1)
    expect((await rig.callEvents()).map(({ type }) => type)).toEqual(['CallAdmitted'])
  }

  it('stays with a batch that is not yet held if a repeat fails early', async () => {
    const pause = pauseBeforeAdding(1)
    const first = submit()
    await pause.arrived(1)
    vi.spyOn(batchStore, 'find').mockRejectedValueOnce(new Error('away'))
    expect((await submit()).status).toBe(503)
    pause.go(0)
    expect((await first).status).toBe(200)
    expect((await submit()).status).toBe(409)
    await expectOneBatch()
  })

  it('stays with a batch that is not yet held if a repeat can’t be planned', async () => {
    const pause = pauseBeforeAdding(1)
    const first = submit()
    await pause.arrived(1)
    await rig.setOption('ModelRatio', {})
    expect((await submit()).status).toBeGreaterThanOrEqual(400)
    await rig.setOption('ModelRatio', { [MODEL]: 1.5 })
    pause.go(0)
    expect((await first).status).toBe(200)
    expect((await submit()).status).toBe(409)
    await expectOneBatch()
  })

  it('leads a repeat to the batch that is running', async () => {
    const first = JSON.parse((await submit()).text)
    const repeated = await submit()
    expect(repeated.status).toBe(409)
    expect(repeated.text).toContain(String(first.id ?? first.name).replace('batches/', ''))
    expect(repeated.text).toContain('accepted before')
    expect(repeated.text).not.toContain('has ended')
  })

  it('stays with an accepted batch if a repeat can’t look for it', async () => {
    expect((await submit()).status).toBe(200)
    vi.spyOn(batchStore, 'find').mockRejectedValueOnce(new Error('away'))
    expect((await submit()).status).toBe(503)
    expect((await submit()).status).toBe(409)
    await expectOneBatch()
  })

  it('stays with a batch that a repeat holds after the first request was refused', async () => {
    const pause = pauseBeforeAdding(2)
    const first = submit()
    await pause.arrived(1)
    const second = submit()
    await pause.arrived(2)
    refuseNextAdmission()
    pause.go(0)
    expect((await first).status).toBe(402)
    pause.go(1)
    expect((await second).status).toBe(200)
    expect((await submit()).status).toBe(409)
    await expectOneBatch()
  })

  it('does not let a repeat hold a batch again that the provider has refused', async () => {
    const pause = pauseBeforeAdding(2)
    const first = submit()
    await pause.arrived(1)
    const second = submit()
    await pause.arrived(2)
    answers(creation, { status: 400, body: {}, next: { body: description } })
    pause.go(0)
    expect((await first).status).toBe(400)
    pause.go(1)
    expect((await second).status).toBe(503)
    expect((await submit()).status).toBe(200)
    expect((await submit()).status).toBe(409)
    expect(created()).toBe(2)
    expect(await batchStore.unsettled('', 9)).toHaveLength(1)
  })

  it('is free for a repeat if the reserved batch could not be confirmed', async () => {
    vi.spyOn(batchStore, 'confirm').mockRejectedValueOnce(new Error('away'))
    expect((await submit()).status).toBe(503)
    const held = (await rig.callEvents()).map(({ type }) => type)
    expect(held).toEqual(['CallAdmitted', 'CallReleased'])
    // The repeat that finds the batch ended frees the key.
    expect((await submit()).status).toBe(503)
    expect((await submit()).status).toBe(200)
    expect((await submit()).status).toBe(409)
    expect(created()).toBe(1)
  })

  it('is answered with 409 while another request is holding the batch', async () => {
    const pause = pauseBeforeAdding(2)
    const [first, second] = [submit(), submit()]
    await pause.arrived(2)
    pause.go(0)
    pause.go(1)
    const statuses = [(await first).status, (await second).status]
    expect(statuses.sort()).toEqual([200, 409])
    await expectOneBatch()
  })

  it('restarts a batch that was never held, and refuses another body', async () => {
    refuseNextAdmission()
    expect((await submit()).status).toBe(402)
    expect((await submit('b')).status).toBe(422)
    expect((await submit()).status).toBe(200)
    await expectOneBatch()
  })

  it('is free after a refusal by the provider, although freeing it failed at first', async () => {
    vi.spyOn(claimedCalls, 'free').mockRejectedValueOnce(new Error('away'))
    answers(creation, { status: 400, body: {}, next: { body: description } })
    expect((await submit()).status).toBe(400)
    expect((await submit()).status).toBe(503)
    expect((await submit()).status).toBe(200)
    expect(created()).toBe(2)
  })

  it('is taken over after a minute from a request that has not reserved the quota', async () => {
    const pause = pauseBeforeReserving(1)
    const first = submit()
    await pause.arrived(1)
    expect((await submit()).status).toBe(409)
    laterMs = HOLDING_MS
    expect((await submit()).status).toBe(200)
    pause.go(0)
    expect((await first).status).toBe(503)
    await expectOneBatch()
    const [stored, ...others] = await batchStore.unsettled('', 9)
    expect([stored?.holder, others]).toEqual([null, []])
    expect((await submit()).status).toBe(409)
  })

  it('sends nothing if the quota is reserved after the batch was taken over', async () => {
    const pause = pauseBeforeReserving(2)
    const first = submit()
    await pause.arrived(1)
    laterMs = HOLDING_MS
    const second = submit()
    await pause.arrived(2)
    pause.go(0)
    expect((await first).status).toBe(503)
    pause.go(1)
    expect((await second).status).toBe(503)
    expect(created()).toBe(0)
    expect((await rig.callEvents()).map(({ type }) => type)).toEqual([
      ...['CallAdmitted', 'CallReleased'],
    ])
    expect(await batchStore.unsettled('', 9)).toEqual([])
    expect((await submit()).status).toBe(503)
    expect((await submit()).status).toBe(200)
    expect(created()).toBe(1)
  })

  it('belongs to a running batch for longer than a day', async () => {
    expect((await submit()).status).toBe(200)
    laterMs = CLAIM_MS + 1_000
    expect((await submit()).status).toBe(409)
    const { actors, log } = rig.core
    await removeExpiredClaims({ actors, claimedCalls, log }, now())
    expect((await submit()).status).toBe(409)
    await expectOneBatch()
  })

  it('submits one batch, however many repeats come at once and fail', async () => {
    const { find } = batchStore
    let found = 0
    vi.spyOn(batchStore, 'find').mockImplementation(async (...query) => {
      found += 1
      if (found % 3 === 0) throw new Error('away')
      return find(...query)
    })
    const statuses: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const repeats = await Promise.all(Array.from({ length: 50 }, () => submit()))
      statuses.push(...repeats.map(({ status }) => status))
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    await expectOneBatch()
    const [stored] = await batchStore.unsettled('', 9)
    expect(stored?.userId).toBe(USER)
    const events = await rig.eventsOf(batchStream(stored?.batch ?? ''))
    expect(events.map(({ type }) => type)).toEqual(['BatchSubmitted', 'BatchAccepted'])
  })
})
