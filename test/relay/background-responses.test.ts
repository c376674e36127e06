import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig, stopAnswersWith } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'gpt-6-astra'
const ID = 'resp_1'
const CANCEL = `/v1/responses/${ID}/cancel`
const WORDS_PER_EVENT = 200
/** They are longer than one chunk of a connection, so that the end waits for a larger hold. */
const EVENTS = 120
const OUTPUT = WORDS_PER_EVENT * EVENTS
/** The tokens that a stream without a limit holds at first. */
const FIRST_HOLD_TOKENS = 2_048
const OUTPUT_PRICE = 4
/** The first hold, with a generous bound for the input. */
const FIRST_HOLD = FIRST_HOLD_TOKENS * OUTPUT_PRICE + 1_000
const PROGRESS_STEP = 1_024 * OUTPUT_PRICE
const ONE_AT_A_TIME = 'O'.repeat(48)
const USER = { id: 21, token: 22, key: 'P'.repeat(48) }

/** Cancellations that are not answered last longer than any test. */
const deadlines = { writeStallMs: 500, readOnPlainMs: 60_000, cancelMs: 600_000 }
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => relayRig({ deadlines }))

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await addChannel(rig)
  await rig.setOption('DefaultMaxOutputTokens', String(FIRST_HOLD_TOKENS))
  await rig.setOption('PreConsumedQuota', '0')
  await rig.setOption('MaxOutputTokens', {})
  await rig.addUser(USER.id)
  await rig.addToken(USER.token, USER.id, USER.key)
})

async function addChannel(target: typeof rig, more: object = {}): Promise<void> {
  await target.addChannel(2, {
    ...{ type: 1, baseUrl: provider.url, models: [MODEL] },
    setting: JSON.stringify({ allowed_members: ['background'] }),
    ...more,
  })
  await target.setOption('ModelRatio', { [MODEL]: 1 })
  await target.setOption('CompletionRatio', { [MODEL]: OUTPUT_PRICE })
}

const screenBombs = (target = rig): Promise<void> => stopAnswersWith(target, 'bomb')

const event = (type: string, more: object) =>
  Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)
const output = [
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'yes' }] },
]
const response = { id: ID, object: 'response', model: MODEL, output }
const BEGUN = event('response.created', {
  response: { ...response, output: [], status: 'queued', usage: null, error: null },
})
const delta = (text: string) =>
  event('response.output_text.delta', { delta: text, item_id: 'i', output_index: 0 })
const WORDS = delta('word '.repeat(WORDS_PER_EVENT))
/** The screened word, in one piece with the end of the text. */
const END_WITH_WORD = Buffer.concat([
  delta('mb'),
  event('response.output_text.done', { text: 'a bomb', item_id: 'i', output_index: 0 }),
])
const ALL_WORDS = Array.from({ length: EVENTS }, () => WORDS)
const completed = (output_tokens: number) => {
  const usage = { input_tokens: 100, output_tokens, total_tokens: 100 + output_tokens }
  return event('response.completed', { response: { ...response, status: 'completed', usage } })
}

/** Lets the provider stream the pieces, all but the first after the returned function is called. */
function streamPieces(...pieces: readonly Buffer[]): () => void {
  let goOn = () => {}
  const pause = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const headers = { 'content-type': 'text/event-stream' }
  provider.answers.set('POST /v1/responses', { headers, pieces, pause, keepsOpen: true })
  provider.answers.set(`POST ${CANCEL}`, { body: { ...response, status: 'cancelled' } })
  provider.answers.set(`GET /v1/responses/${ID}`, { body: { ...response, status: 'completed' } })
  return goOn
}

const headersWith = (key: string) => ({
  ...{ authorization: `Bearer sk-${key}`, 'content-type': 'application/json' },
})
const BODY = JSON.stringify({ model: MODEL, input: 'Hi', background: true, stream: true })

/** Makes a call whose caller leaves after the first event. */
async function callAndLeave(url: string, key = KEY): Promise<void> {
  const call = httpRequest(`${url}/v1/responses`, { method: 'POST', headers: headersWith(key) })
  call.on('error', () => {})
  const begun = new Promise((resolve) => {
    call.on('response', (answer) => {
      answer.on('error', () => {})
      answer.once('data', resolve)
    })
  })
  call.end(BODY)
  await begun
  const closed = new Promise((resolve) => call.once('close', resolve))
  call.destroy()
  await closed
}

const fetchAnswer = async (url: string, key = KEY): Promise<number> => {
  const answer = await fetch(`${url}/v1/responses/${ID}`, { headers: headersWith(key) })
  return answer.status
}

const cancellations = () => provider.requests.filter(({ path }) => path === CANCEL)

/** Waits for the bill of the only call. */
async function billOf(target: typeof rig, userId?: number) {
  const ends = async () => {
    const events = await target.callEvents(userId)
    return events.flatMap((one) => (one.type === 'CallSettled' ? [one.data] : []))
  }
  await expect.poll(async () => (await ends()).length, { timeout: 30_000 }).toBe(1)
  const [bill] = await ends()
  if (bill === undefined) throw new Error('no bill')
  return bill
}

describe('a response in the background whose caller has left', () => {
  it('is held for while it is read on, billed whole, and can be fetched', async () => {
    const goOn = streamPieces(BEGUN, ...ALL_WORDS, completed(OUTPUT))
    await callAndLeave(rig.url)
    goOn()
    const bill = await billOf(rig)
    expect(bill).toMatchObject({ end: 'client-gone', usageSource: 'upstream' })
    expect(bill.charge).toBe(100 + OUTPUT * OUTPUT_PRICE)
    expect(bill.hold).toBeGreaterThanOrEqual(bill.charge)
    expect(cancellations()).toEqual([])
    expect(await fetchAnswer(rig.url)).toBe(200)
  })

  it('is cancelled, and can not be fetched, once its hold can not grow', async () => {
    const funds = 2 * FIRST_HOLD
    await rig.grant(USER.id, BigInt(funds))
    const goOn = streamPieces(BEGUN, ...ALL_WORDS)
    await callAndLeave(rig.url, USER.key)
    goOn()
    const bill = await billOf(rig, USER.id)
    expect(bill.charge).toBeGreaterThan(FIRST_HOLD_TOKENS * OUTPUT_PRICE)
    expect(bill.charge).toBeLessThanOrEqual(funds + PROGRESS_STEP)
    await expect.poll(cancellations).toHaveLength(1)
    expect(await fetchAnswer(rig.url, USER.key)).toBe(404)
  })

  it('is cancelled when a screened word follows', async () => {
    await screenBombs()
    const goOn = streamPieces(BEGUN, delta('a bo'), delta('mb'), completed(10))
    await callAndLeave(rig.url)
    goOn()
    expect((await billOf(rig)).end).toBe('client-gone')
    await expect.poll(cancellations).toHaveLength(1)
    expect(await fetchAnswer(rig.url)).toBe(404)
  })

  it('is read on for its usage, and can not be fetched, if a screened word ends it', async () => {
    await screenBombs()
    const goOn = streamPieces(BEGUN, delta('a bo'), END_WITH_WORD, completed(OUTPUT))
    await callAndLeave(rig.url)
    goOn()
    const bill = await billOf(rig)
    expect(bill).toMatchObject({ end: 'client-gone', usageSource: 'upstream' })
    expect(bill.charge).toBe(100 + OUTPUT * OUTPUT_PRICE)
    expect(cancellations()).toEqual([])
    expect(await fetchAnswer(rig.url)).toBe(404)
  })

  it('is cancelled if its usage does not follow the screened word that ends it', async () => {
    const brief = await relayRig({ deadlines: { readOnStreamMs: 500, readOnPlainMs: 600_000 } })
    onTestFinished(() => brief.close())
    await brief.append(CHANNELS_STREAM, {
      ...{ type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } },
    })
    await addChannel(brief)
    await screenBombs(brief)
    const goOn = streamPieces(BEGUN, WORDS, delta('a bo'), END_WITH_WORD)
    await callAndLeave(brief.url)
    goOn()
    const bill = await billOf(brief)
    expect(bill).toMatchObject({ end: 'client-gone', usageSource: 'partial' })
    expect(bill.usage.output).toBeGreaterThanOrEqual(WORDS_PER_EVENT)
    await expect.poll(cancellations).toHaveLength(1)
  })

  it('is billed for what was generated if it ends too late, and is cancelled', async () => {
    const brief = await relayRig({ deadlines: { readOnPlainMs: 1_000 } })
    onTestFinished(() => brief.close())
    await brief.append(CHANNELS_STREAM, {
      ...{ type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } },
    })
    await addChannel(brief)
    // The words arrive before the caller leaves, so that they arrive in time on a busy machine.
    streamPieces(Buffer.concat([BEGUN, WORDS]), completed(10))
    await callAndLeave(brief.url)
    const bill = await billOf(brief)
    expect(bill).toMatchObject({ end: 'client-gone', usageSource: 'partial' })
    expect(bill.usage.output).toBeGreaterThanOrEqual(WORDS_PER_EVENT)
    await expect.poll(cancellations).toHaveLength(1)
    expect(cancellations()[0]?.headers.authorization).toMatch(/^Bearer sk-provider/)
  })

  it('is read on as well if its caller stays, but reads nothing', async () => {
    const silent = event('response.in_progress', { padding: 'x'.repeat(40_000) })
    const many = Array.from({ length: 600 }, () => silent)
    const goOn = streamPieces(BEGUN, ...many, completed(10))
    goOn()
    const socket = connect(Number(new URL(rig.url).port), '127.0.0.1')
    onTestFinished(() => {
      socket.destroy()
    })
    socket.on('error', () => {})
    socket.pause()
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-${KEY}\r\n` +
        `content-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`,
    )
    const bill = await billOf(rig)
    expect(bill).toMatchObject({ end: 'client-gone', usageSource: 'upstream' })
    expect(bill.charge).toBe(100 + 10 * OUTPUT_PRICE)
    expect(await fetchAnswer(rig.url)).toBe(200)
  })
})

describe('a response in the background whose caller stays', () => {
  it('is read on for its usage, and can not be fetched, if a screened word ends it', async () => {
    await screenBombs()
    const goOn = streamPieces(BEGUN, delta('a bo'), END_WITH_WORD, completed(OUTPUT))
    goOn()
    const answer = await fetch(`${rig.url}/v1/responses`, {
      ...{ method: 'POST', headers: headersWith(KEY), body: BODY },
    })
    expect(await answer.text()).toContain('sensitive_answer')
    const bill = await billOf(rig)
    expect(bill).toMatchObject({ endReason: 'sensitive_answer', usageSource: 'upstream' })
    expect(bill.charge).toBe(100 + OUTPUT * OUTPUT_PRICE)
    expect(cancellations()).toEqual([])
    expect(await fetchAnswer(rig.url)).toBe(404)
  })

  it('is billed before the end of a shutdown, though the provider does not cancel it', async () => {
    streamPieces(Buffer.concat([BEGUN, WORDS]), completed(10))
    provider.answers.set(`POST ${CANCEL}`, { hangs: true })
    const answer = await fetch(`${rig.url}/v1/responses`, {
      ...{ method: 'POST', headers: headersWith(KEY), body: BODY },
    })
    const reader = answer.body?.getReader()
    await reader?.read()
    await rig.relay.drain(0)
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'incomplete', usageSource: 'partial' })
    expect(cancellations()).toHaveLength(1)
    await expect.poll(() => rig.relay.inFlight()).toBe(0)
  })

  it('keeps no permit and no memory while the provider does not cancel it', async () => {
    await rig.grant(USER.id, 1_000_000n)
    await rig.addToken(23, USER.id, ONE_AT_A_TIME, { maxConcurrency: 1 })
    const send = () =>
      fetch(`${rig.url}/v1/responses`, {
        ...{ method: 'POST', headers: headersWith(ONE_AT_A_TIME), body: BODY },
      })
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set('POST /v1/responses', { headers, pieces: [BEGUN, WORDS] })
    provider.answers.set(`POST ${CANCEL}`, { hangs: true })
    for (let calls = 1; calls <= 3; calls += 1) {
      // The permit of the call before is released right after its end was sent.
      const text = async () => (await send()).text()
      await expect.poll(text).toContain('response.failed')
      await expect.poll(cancellations).toHaveLength(calls)
    }
    await rig.relay.drain(0)
  })

  it('is waited for by a shutdown while it is cancelled', async () => {
    streamPieces(BEGUN)
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set('POST /v1/responses', { headers, pieces: [BEGUN, WORDS] })
    let cancel = () => {}
    const until = new Promise<void>((resolve) => {
      cancel = resolve
    })
    provider.answers.set(`POST ${CANCEL}`, { body: {}, until })
    await fetch(`${rig.url}/v1/responses`, {
      ...{ method: 'POST', headers: headersWith(KEY), body: BODY },
    }).then((answer) => answer.text())
    await expect.poll(cancellations).toHaveLength(1)
    let isDrained = false
    const drained = rig.relay.drain(600_000).then(() => {
      isDrained = true
    })
    await onlyEnd(rig)
    expect([isDrained, rig.relay.inFlight()]).toEqual([false, 1])
    cancel()
    await drained
    expect(rig.relay.inFlight()).toBe(0)
  })

  const refusal = (status: number, more: object = {}) => ({ status, body: {}, ...more })
  it.each([
    ['as often as needed after failures', refusal(503, { next: refusal(429, { next: {} }) }), 3],
    ['four times if all fail', refusal(500), 4],
    ['once if the provider refuses', refusal(404), 1],
  ])('is asked to be cancelled %s', async (_name, answer, times) => {
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set('POST /v1/responses', { headers, pieces: [BEGUN, WORDS] })
    provider.answers.set(`POST ${CANCEL}`, answer)
    await fetch(`${rig.url}/v1/responses`, {
      ...{ method: 'POST', headers: headersWith(KEY), body: BODY },
    }).then((streamed) => streamed.text())
    await expect.poll(cancellations).toHaveLength(times)
    await expect.poll(() => rig.relay.inFlight()).toBe(0)
    expect(cancellations()).toHaveLength(times)
  })

  it('is cancelled if the provider’s connection breaks', async () => {
    const headers = { 'content-type': 'text/event-stream' }
    streamPieces(BEGUN)
    provider.answers.set('POST /v1/responses', { headers, pieces: [BEGUN, WORDS] })
    const answer = await fetch(`${rig.url}/v1/responses`, {
      ...{ method: 'POST', headers: headersWith(KEY), body: BODY },
    })
    expect(await answer.text()).toContain('response.failed')
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'incomplete' })
    await expect.poll(cancellations).toHaveLength(1)
  })

  it.each([
    ['a comment', [Buffer.concat([Buffer.from(': welcome\n\n'), BEGUN])]],
    ['many comments', [...Array.from({ length: 20 }, () => Buffer.from(': wait\n\n')), BEGUN]],
  ])('is cancelled if %s comes before the event with its id', async (_name, begin) => {
    const headers = { 'content-type': 'text/event-stream' }
    streamPieces(BEGUN)
    provider.answers.set('POST /v1/responses', { headers, pieces: [...begin, WORDS] })
    const answer = await fetch(`${rig.url}/v1/responses`, {
      ...{ method: 'POST', headers: headersWith(KEY), body: BODY },
    })
    expect(await answer.text()).toContain('response.failed')
    await expect.poll(cancellations).toHaveLength(1)
  })

  it('is cancelled if its first event is too large', async () => {
    const headers = { 'content-type': 'text/event-stream' }
    streamPieces(BEGUN)
    const data = `{"type":"response.created","response":{"id":"${ID}","instructions":"`
    const pieces = ['event: response.created\ndata: ', data, 'x'.repeat(33 * 1024 * 1024)].map(
      (text) => Buffer.from(text),
    )
    provider.answers.set('POST /v1/responses', { headers, pieces, keepsOpen: true })
    const answer = await fetch(`${rig.url}/v1/responses`, {
      ...{ method: 'POST', headers: headersWith(KEY), body: BODY },
    })
    expect(answer.status).toBe(502)
    await expect.poll(cancellations).toHaveLength(1)
  })

  it.each([
    ['queued', { ...response, output: [], status: 'queued', usage: null, error: null }],
    ['in_progress', { id: ID, status: 'in_progress', usage: null, error: null }],
  ])('is cancelled and not billed if it is answered as %s, not as a stream', async (_, body) => {
    streamPieces(BEGUN)
    provider.answers.set('POST /v1/responses', { body })
    const answer = await fetch(`${rig.url}/v1/responses`, {
      ...{ method: 'POST', headers: headersWith(KEY), body: BODY },
    })
    expect(answer.status).toBe(502)
    await expect.poll(cancellations).toHaveLength(1)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
    expect(await fetchAnswer(rig.url)).toBe(404)
  })

  it('is an ordinary response if only an override asks for the background', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await addChannel(rig, { paramOverride: JSON.stringify({ background: true }) })
    const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 }
    const body = { ...response, status: 'completed', usage }
    provider.answers.set('POST /v1/responses', { body })
    const answer = await fetch(`${rig.url}/v1/responses`, {
      ...{ method: 'POST', headers: headersWith(KEY) },
      body: JSON.stringify({ model: MODEL, input: 'Hi' }),
    })
    expect(answer.status).toBe(200)
    expect(JSON.parse(provider.requests[0]?.body ?? '')).not.toHaveProperty('background')
  })
})
