import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, PROVIDER_KEY, relayRig, USER } from '../support/relay-rig.ts'
import { MESSAGE, MODEL, PATH, responseOf, STREAM } from '../support/responses-provider.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)
const OTHER_KEY = 'otherotherotherotherotherotherotherotherother'

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
  await rig.addToken(4, USER, OTHER_KEY)
})

const answerWith = (text: string) =>
  provider.answers.set(PATH, {
    headers: { 'content-type': 'text/event-stream' },
    pieces: [Buffer.from(text)],
  })

async function ask(method: string, path: string, body: object | null = null, key = KEY) {
  const response = await fetch(`${rig.url}${path}`, {
    method,
    headers: { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const { status } = response
  return { status, text, error: status < 400 ? null : (JSON.parse(text) as unknown) }
}

const call = (members: object = {}, key = KEY) =>
  ask('POST', '/v1/responses', { model: MODEL, input: 'Hi', ...members }, key)

const holds = async () =>
  (await rig.callEvents()).flatMap((event) =>
    event.type === 'CallAdmitted' ? [Number(event.data.hold)] : [],
  )
/** The highest price of an input token, in quota: that of a write to the one-hour cache. */
const PER_TOKEN = 2

beforeEach(async () => {
  provider.answers.set(PATH, { body: responseOf() })
})

describe('a response that the provider stores', () => {
  it('can be continued, and the hold covers its tokens', async () => {
    await call()
    const { status } = await call({ previous_response_id: 'resp_1' })
    expect(status).toBe(200)
    expect(JSON.parse(provider.requests[1]?.body ?? '')).toMatchObject({
      previous_response_id: 'resp_1',
    })
    const [first = 0, second = 0] = await holds()
    // 1 000 tokens of input and 500 of output, and the longer body.
    const most = second - first
    expect(most).toBeGreaterThanOrEqual(1_500 * PER_TOKEN)
    expect(most).toBeLessThan(1_600 * PER_TOKEN)
  })

  it('can be continued after a stream', async () => {
    answerWith(STREAM)
    await call({ stream: true })
    provider.answers.set(PATH, { body: responseOf() })
    expect((await call({ previous_response_id: 'resp_1' })).status).toBe(200)
  })

  it('is a reference in the input, and counts once for all its items', async () => {
    await call()
    const items = ['rs_1', 'msg_1'].map((id) => ({ type: 'item_reference', id }))
    const input = [...items, { role: 'user', content: 'More' }]
    expect((await call({ input })).status).toBe(200)
    expect(JSON.parse(provider.requests[1]?.body ?? '').input).toEqual(input)
    const [first = 0, second = 0] = await holds()
    const most = second - first
    expect(most).toBeGreaterThanOrEqual(500 * PER_TOKEN)
    expect(most).toBeLessThan(700 * PER_TOKEN)
  })

  it('is billed with its tokens if the provider reports no usage', async () => {
    await call()
    provider.answers.set(PATH, { body: { ...responseOf(), id: 'resp_2', usage: null } })
    await call({ previous_response_id: 'resp_1' })
    const [, end] = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    if (end?.type !== 'CallSettled') throw new Error('not settled')
    expect(end.data.usage.inputUncached).toBeGreaterThanOrEqual(1_500)
  })

  it('goes to the key that made it', async () => {
    await call()
    for (const id of [5, 6, 7, 8]) {
      await rig.addChannel(id, { type: 1, baseUrl: 'http://127.0.0.1:9', models: [MODEL] })
    }
    for (let count = 0; count < 8; count += 1) {
      expect((await call({ previous_response_id: 'resp_1' })).status).toBe(200)
    }
  })

  it.each([
    ['another token', OTHER_KEY, 'resp_1'],
    ['an unknown id', KEY, 'resp_unknown'],
  ])('can not be continued by %s', async (_name, key, id) => {
    await call()
    const { status, error } = await call({ previous_response_id: id }, key)
    expect(status).toBe(400)
    expect(error).toMatchObject({ error: { code: 'previous_response_not_found' } })
    const input = [{ type: 'item_reference', id: key === KEY ? 'msg_unknown' : 'msg_1' }]
    const referring = await call({ input }, key)
    expect(referring.error).toMatchObject({ error: { code: 'stored_input', param: 'input[0]' } })
    expect(provider.requests).toHaveLength(1)
    expect(await holds()).toHaveLength(1)
  })

  it('can not be continued without its channel', async () => {
    await call()
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(3, { type: 1, baseUrl: provider.url, models: [MODEL] })
    const { error } = await call({ previous_response_id: 'resp_1' })
    expect(error).toMatchObject({ error: { code: 'previous_response_not_found' } })
  })

  it('is unknown if the caller does not store it', async () => {
    await call({ store: false })
    const { error } = await call({ previous_response_id: 'resp_1' })
    expect(error).toMatchObject({ error: { code: 'previous_response_not_found' } })
  })
})

describe('a stored response by its id', () => {
  const AT = '/v1/responses/resp_1'

  it('is read with the key that made it, and costs nothing', async () => {
    await call()
    provider.answers.set(`GET ${AT}`, { body: responseOf() })
    const { status, text } = await ask('GET', AT)
    expect(status).toBe(200)
    expect(text).toBe(JSON.stringify(responseOf()))
    const request = provider.requests.at(-1)
    expect(request).toMatchObject({ method: 'GET', path: AT })
    expect(request?.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`)
    expect(await holds()).toHaveLength(1)
  })

  it('may be asked for with further members, and for nothing else', async () => {
    await call()
    provider.answers.set(`GET ${AT}`, { body: responseOf() })
    const query = '?include[]=reasoning.encrypted_content&include=a%26b&stream=false&api-version=1'
    expect((await ask('GET', `${AT}${query}`)).status).toBe(200)
    expect(provider.requests.at(-1)?.path).toBe(`${AT}?include[]=reasoning.encrypted_content`)
  })

  it('is not streamed, which a client that expects events is told', async () => {
    await call()
    const { status, error } = await ask('GET', `${AT}?stream=true&starting_after=3`)
    expect([status, error]).toMatchObject([400, { error: { param: 'stream' } }])
    expect(provider.requests).toHaveLength(1)
  })

  it('tells the delay that the provider requests', async () => {
    await call()
    const headers = { 'retry-after': '7' }
    provider.answers.set(`GET ${AT}`, { status: 429, headers, body: { error: { message: 'x' } } })
    const response = await fetch(`${rig.url}${AT}`, {
      headers: { authorization: `Bearer sk-${KEY}` },
    })
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('7')
  })

  it("has errors with the status to which its channel maps the provider's", async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    const statusCodeMapping = '{"429":503}'
    const terms = { type: 1, baseUrl: provider.url, models: [MODEL], statusCodeMapping }
    await rig.addChannel(3, terms)
    await call()
    provider.answers.set(`GET ${AT}`, { status: 429, body: { error: { message: 'slow down' } } })
    const { status, error } = await ask('GET', AT)
    expect([status, error]).toMatchObject([503, { error: { message: 'slow down' } }])
  })

  it('is unknown to another token, and before it exists', async () => {
    provider.answers.set(`GET ${AT}`, { body: responseOf() })
    expect((await ask('GET', AT)).status).toBe(404)
    await call()
    for (const method of ['GET', 'DELETE']) {
      const { status, error } = await ask(method, AT, null, OTHER_KEY)
      expect(status).toBe(404)
      expect(error).toMatchObject({ error: { code: 'response_not_found' } })
    }
    // An item is not a response.
    expect((await ask('GET', `/v1/responses/${MESSAGE.id}`)).status).toBe(404)
    expect((await ask('GET', '/v1/responses/..%2fmodels')).status).toBe(404)
    expect(provider.requests).toHaveLength(1)
  })

  it('is unknown after its deletion', async () => {
    await call()
    const deleted = { id: 'resp_1', object: 'response', deleted: true }
    provider.answers.set(`DELETE ${AT}`, { body: deleted })
    expect((await ask('DELETE', AT)).text).toBe(JSON.stringify(deleted))
    expect((await ask('GET', AT)).status).toBe(404)
    expect((await call({ previous_response_id: 'resp_1' })).status).toBe(400)
  })

  it('an error of the provider is masked', async () => {
    await call()
    const message = `No response for ${PROVIDER_KEY}`
    provider.answers.set(`GET ${AT}`, { status: 404, body: { error: { message } } })
    const { status, text } = await ask('GET', AT)
    expect(status).toBe(404)
    expect(text).toContain('No response for ***')
    const ofXai = { code: 'x', error: 'Incorrect API key provided: xa***.' }
    for (const answer of [
      { status: 401, body: { error: { message } } },
      { status: 400, body: ofXai },
    ]) {
      provider.answers.set(`GET ${AT}`, answer)
      expect((await ask('GET', AT)).error).toMatchObject({ error: { code: 'upstream_account' } })
    }
  })

  it('has two methods', async () => {
    const { status } = await ask('POST', AT, {})
    expect(status).toBe(405)
  })

  it('needs a key', async () => {
    expect((await ask('GET', AT, null, 'wrongwrongwrong')).status).toBe(401)
  })
})
