import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { sendChat } from '#test/support/send-chat.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, KEY, onlyEnd, relayRig, TOKEN, USER } from './support/relay-rig.ts'

const rig = startedForEach(() => relayRig({ deadlines: { readOnPlainMs: 300 } }))

const eventsOf = (text: string): string[] => text.split('\n\n').filter((event) => event !== '')

describe('a plain call', () => {
  it('the caller gets the provider’s answer and is billed by its usage', async () => {
    const before = await rig.balance()
    const { status, text, headers } = await chat(rig, { max_tokens: 4 })
    expect(status).toBe(200)
    const answer = JSON.parse(text) as { usage: object; choices: { message: object }[] }
    expect(answer.usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 4 })
    const end = await onlyEnd(rig)
    expect(end).toMatchObject({
      type: 'CallSettled',
      data: {
        call: headers.get('x-request-id'),
        userId: USER,
        tokenId: TOKEN,
        channelId: 1,
        model: 'sim-small',
        isStream: false,
        upstreamModel: null,
        usage: { inputUncached: 5, output: 4 },
        usageSource: 'upstream',
        anomaly: null,
        end: 'done',
        charge: Math.round((5 + 4 * 4) * 1.25),
        attempts: [{ channelId: 1, status: 200, error: null }],
      },
    })
    expect(before - (await rig.balance())).toBe(26n)
  })

  it('each event of the call keeps the requested reasoning effort', async () => {
    await chat(rig, { reasoning_effort: 'low' })
    const kept = (await rig.callEvents()).map(
      ({ data }) => 'reasoningEffort' in data && data.reasoningEffort,
    )
    expect(kept).toEqual(['low', 'low'])
  })

  it('the hold is stored before the provider receives the call', async () => {
    rig.provider.script.push({ kind: 'stall', at: 'before-headers' })
    const stop = new AbortController()
    const call = fetch(`${rig.url}/v1/chat/completions`, {
      method: 'POST',
      signal: stop.signal,
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'x' }] }),
    })
    await expect.poll(() => rig.provider.journal.count).toBe(1)
    expect((await rig.callEvents()).map(({ type }) => type)).toEqual(['CallAdmitted'])
    stop.abort()
    await expect(call).rejects.toThrow()
    await expect.poll(async () => (await rig.callEvents()).length).toBe(2)
  })

  it('the provider sees its own key and nothing of the caller’s', async () => {
    await chat(rig, {}, { cookie: 'session=secret', 'user-id': '7', 'x-odd': 'odd' })
    const [entry] = rig.provider.journal.entries
    expect(entry?.authorization).toBe('Bearer sk-provider-secret-0123456789')
  })

  it('answer, ledger and provider use one id, whatever id the caller sent', async () => {
    const { headers } = await chat(rig, {}, { 'x-request-id': 'of-the-caller' })
    const id = headers.get('x-request-id')
    expect(rig.provider.journal.entries.map(({ requestId }) => requestId)).toEqual([id])
    expect((await rig.callEvents()).map(({ data }) => 'call' in data && data.call)).toEqual([
      id,
      id,
    ])
  })
})

describe('a streamed call', () => {
  it('the stream ends with [DONE], hides unrequested usage and is billed by it', async () => {
    const { status, text, headers } = await chat(rig, { stream: true, max_tokens: 6 })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toContain('text/event-stream')
    const events = eventsOf(text)
    expect(events.at(-1)).toBe('data: [DONE]')
    expect(text).not.toContain('"usage"')
    expect(events).toHaveLength(6 + 1 + 1)
    expect(await onlyEnd(rig)).toMatchObject({
      type: 'CallSettled',
      data: { isStream: true, usage: { output: 6 }, usageSource: 'upstream', end: 'done' },
    })
  })

  it('a caller who requests usage gets the usage chunk as the provider sent it', async () => {
    const { text } = await chat(rig, {
      stream: true,
      max_tokens: 2,
      stream_options: { include_usage: true },
    })
    const usage = JSON.parse(eventsOf(text).at(-2)?.slice(6) ?? '') as object
    expect(usage).toMatchObject({ choices: [], usage: { completion_tokens: 2 } })
  })

  it('the bill is stored before the relay sends [DONE]', async () => {
    const response = await sendChat(rig.url, `sk-${KEY}`, { stream: true })
    let types: string[] = []
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      if (text.includes('[DONE]')) types = (await rig.callEvents()).map(({ type }) => type)
    }
    expect(types).toEqual(['CallAdmitted', 'CallSettled'])
  })
})

describe('the official OpenAI client', () => {
  const client = () => new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: `sk-${KEY}`, maxRetries: 0 })

  it('the client reads plain and streamed answers, models and errors', async () => {
    const messages = [{ role: 'user' as const, content: 'hello' }]
    const plain = await client().chat.completions.create({ model: 'sim-small', messages })
    expect(plain.choices[0]?.message.content).toMatch(/^a ledger/)
    let text = ''
    const create = { model: 'sim-small', messages, stream: true } as const
    for await (const chunk of await client().chat.completions.create(create)) {
      text += chunk.choices[0]?.delta.content ?? ''
    }
    expect(text).toMatch(/^a ledger/)
    const models = await client().models.list()
    expect(models.data.map(({ id }) => id)).toEqual(['sim-small'])
    expect((await client().models.retrieve('sim-small')).id).toBe('sim-small')
    await expect(client().models.retrieve('nope')).rejects.toMatchObject({ status: 404 })
    const unknown = client().chat.completions.create({ model: 'nope', messages })
    await expect(unknown).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
  })
})

describe('what a caller can rely on around a call', () => {
  it('an unknown path gets a 404 in the same format, with a request id', async () => {
    const response = await fetch(`${rig.url}/v1/nothing`)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: 'not_found' } })
    expect(response.headers.get('x-request-id')).toMatch(/^[\da-f]{8}-[\da-f]{4}-7/)
  })

  it('a browser can call from any page, without credentials', async () => {
    const preflight = await fetch(`${rig.url}/v1/chat/completions`, {
      method: 'OPTIONS',
      headers: { origin: 'https://page.example', 'access-control-request-headers': 'x-a' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
  })

  it('a draining relay refuses new calls and lets streams finish', async () => {
    rig.provider.script.push({ kind: 'slow', msPerChunk: 10 })
    const running = chat(rig, { stream: true, max_tokens: 10 })
    await expect.poll(() => rig.relay.inFlight()).toBe(1)
    const drained = rig.relay.drain(5_000)
    const late = await chat(rig)
    expect(late.status).toBe(503)
    expect(late.headers.get('retry-after')).not.toBeNull()
    expect((await running).text).toContain('[DONE]')
    await drained
    expect(rig.relay.inFlight()).toBe(0)
  })
})
