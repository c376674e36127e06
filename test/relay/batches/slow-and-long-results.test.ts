import { beforeEach, expect, it, vi } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { LINE_BYTES_MAX } from '#relay/batches/download-batch-results-from-provider.ts'
import { RESULT_RULES } from '#relay/batches/gemini-batches.ts'
import { FILE_LINES_MAX } from '#relay/batches/plan-batch-file.ts'
import { LINES_MAX } from '#relay/batches/read-anthropic-batch-request.ts'
import {
  atLeastRate,
  DownloadTooSlow,
  ResultsMemory,
  SETTLEMENTS_BYTES_MAX,
  settlementOwnerOf,
} from '#relay/batches/result-memory-and-rate.ts'
import { BODIES_BYTES_MAX, BodyMemory } from '#relay/limits/body-memory.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { batchesInMemory } from '../support/in-memory-batches.ts'
import { KEY, relayRig, USER } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'claude-sonnet-5-5'
const BATCHES = '/v1/messages/batches'
const MIB = 1024 * 1024
let bodies: BodyMemory
let settlementMemory: BodyMemory
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => {
  bodies = new BodyMemory()
  settlementMemory = new BodyMemory(SETTLEMENTS_BYTES_MAX)
  const batchStore = batchesInMemory()
  const times = { batchPollEveryMs: 100, batchSlowMs: 300 }
  return relayRig({ ...times, batchStore, bodies, settlementMemory })
})

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 2 })
  await rig.setOption('CompletionRatio', { [MODEL]: 1 })
})

const headersOf = (key: string) => ({
  authorization: `Bearer sk-${key}`,
  'content-type': 'application/json',
})
const resultsOf = (upstream: string) => `${BATCHES}/${upstream}/results`

/** Submits a batch of one line, which the provider has processed at once. Returns its id. */
async function submit(upstream: string, key = KEY): Promise<string> {
  const description = {
    ...{
      id: upstream,
      processing_status: 'ended',
      results_url: 'https://provider.example/results',
    },
    request_counts: { processing: 0, succeeded: 1, errored: 0, canceled: 0, expired: 0 },
    ...{ created_at: '2026-11-28T00:00:00Z', ended_at: '2026-11-28T01:00:00Z' },
  }
  provider.answers.set(`POST ${BATCHES}`, { body: description })
  provider.answers.set(`GET ${BATCHES}/${upstream}`, { body: description })
  const params = { model: MODEL, max_tokens: 64, messages: [{ role: 'user', content: 'Hi' }] }
  const body = JSON.stringify({ requests: [{ custom_id: 'a', params }] })
  const response = await fetch(`${rig.url}${BATCHES}`, {
    ...{ method: 'POST', headers: headersOf(key), body },
  })
  expect(response.status).toBe(200)
  return ((await response.json()) as { id: string }).id
}

/** A result that costs 15: (10 + 5) · 2 / 2. */
const result = (text = 'Hello.') => {
  const content = [{ type: 'text', text }]
  const usage = { input_tokens: 10, output_tokens: 5 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: MODEL, content, usage }
  return Buffer.from(
    `${JSON.stringify({ custom_id: 'a', result: { type: 'succeeded', message } })}\n`,
  )
}
const charges = async (userId = USER) =>
  (await rig.callEvents(userId)).flatMap(({ type, data }) =>
    type === 'CallSettled' ? [data.charge] : [],
  )
const downloads = (upstream: string) =>
  provider.requests.filter(({ path }) => path === resultsOf(upstream)).length

it('downloads that do not end hold up no other batch', async () => {
  const slow = Array.from({ length: 5 }, (_, n) => `msgbatch_slow${n}`)
  for (const upstream of slow) {
    provider.answers.set(`GET ${resultsOf(upstream)}`, { pieces: [result()], keepsOpen: true })
    await submit(upstream)
  }
  await expect.poll(() => slow.filter((one) => downloads(one) > 0).length).toBeGreaterThanOrEqual(4)
  provider.answers.set(`GET ${resultsOf('msgbatch_quick')}`, { pieces: [result()] })
  await submit('msgbatch_quick')
  await expect.poll(() => charges()).toEqual([15])
  await expect.poll(() => slow.map(downloads)).toEqual(slow.map(() => 1))
})

it('a user whose batches are looked up in vain holds up no other user', async () => {
  const key = await addOtherUser()
  for (let n = 0; n < 20; n += 1) {
    const id = await submit(`msgbatch_${n}`, key)
    provider.answers.set(`GET ${BATCHES}/msgbatch_${n}`, { hangs: true })
    fetch(`${rig.url}${BATCHES}/${id}`, { headers: headersOf(key) }).catch(() => {})
  }
  const lookUps = () => provider.requests.filter(({ method }) => method === 'GET').length
  await expect.poll(lookUps).toBeGreaterThanOrEqual(12)
  provider.answers.set(`GET ${resultsOf('msgbatch_mine')}`, { pieces: [result()] })
  await submit('msgbatch_mine')
  await expect.poll(() => charges()).toEqual([15])
  expect(lookUps()).toBeLessThanOrEqual(2 * 6 + 2)
})

/** Adds a second user with quota. Returns the key of the user's token. */
async function addOtherUser(): Promise<string> {
  const [user, key] = [8, KEY.toUpperCase()]
  await rig.addUser(user)
  await rig.addToken(4, user, key)
  await rig.grant(user, 1_000_000n)
  return key
}

const asked = (upstream: string) =>
  provider.requests.filter(({ path }) => path === `${BATCHES}/${upstream}`).length

it('a batch is settled only when memory for its results is left', async () => {
  provider.answers.set(`GET ${resultsOf('msgbatch_1')}`, { pieces: [result()] })
  expect(settlementMemory.take(SETTLEMENTS_BYTES_MAX - MIB)).toBe(true)
  await submit('msgbatch_1')
  await expect.poll(() => asked('msgbatch_1')).toBeGreaterThanOrEqual(3)
  expect(downloads('msgbatch_1')).toBe(0)
  settlementMemory.giveBack(SETTLEMENTS_BYTES_MAX - MIB)
  await expect.poll(() => charges()).toEqual([15])
  expect(downloads('msgbatch_1')).toBe(1)
})

it('sending results needs memory of request bodies, and settling needs none', async () => {
  expect(bodies.take(BODIES_BYTES_MAX - MIB)).toBe(true)
  provider.answers.set(`GET ${resultsOf('msgbatch_1')}`, { pieces: [result()] })
  const id = await submit('msgbatch_1')
  const sent = async () => {
    const response = await fetch(`${rig.url}${BATCHES}/${id}/results`, { headers: headersOf(KEY) })
    await response.text()
    return response.status
  }
  await expect.poll(() => charges()).toEqual([15])
  await expect.poll(sent).toBe(503)
  bodies.giveBack(BODIES_BYTES_MAX - MIB)
  expect(await sent()).toBe(200)
})

it('a user who uses up the memory of one user delays no other user', async () => {
  const other = await addOtherUser()
  const owner = settlementOwnerOf(USER)
  const taken = owner.bytesMax - MIB
  expect(settlementMemory.take(taken) && settlementMemory.reserve(owner, taken)).toBe(true)
  await rig.addChannel(3, { type: 14, baseUrl: provider.url, models: [MODEL] })
  for (const upstream of ['msgbatch_1', 'msgbatch_2', 'msgbatch_3', 'msgbatch_4']) {
    provider.answers.set(`GET ${resultsOf(upstream)}`, { pieces: [result()] })
    await submit(upstream)
  }
  provider.answers.set(`GET ${resultsOf('msgbatch_other')}`, { pieces: [result()] })
  await submit('msgbatch_other', other)
  await expect.poll(() => charges(8)).toEqual([15])
  await expect.poll(() => asked('msgbatch_4')).toBeGreaterThanOrEqual(3)
  expect([1, 2, 3, 4].map((n) => downloads(`msgbatch_${n}`))).toEqual([0, 0, 0, 0])
  settlementMemory.giveBack(taken)
  settlementMemory.release(owner, taken)
  await expect.poll(() => charges()).toEqual([15, 15, 15, 15])
})

it.each([
  ['in a file', FILE_LINES_MAX, LINE_BYTES_MAX],
  ['in a description of Gemini', LINES_MAX, RESULT_RULES.elementBytesMax],
])('the longest result %s of the largest batch fits into the memory of one user', (...bounds) => {
  const [, lines, bytes] = bounds
  const owner = settlementOwnerOf(USER)
  const memory = ResultsMemory.reserve(settlementMemory, owner, lines)
  memory?.cover(bytes + MIB)
  expect(settlementMemory.taken.bodies).toBeGreaterThan(bytes * 3)
  expect(SETTLEMENTS_BYTES_MAX - owner.bytesMax).toBeGreaterThan(FILE_LINES_MAX * 1_000)
  memory?.close()
  expect(settlementMemory.taken.bodies).toBe(0)
})

it('a long result is counted as memory while it is read, but not as that of calls', async () => {
  const long = result('x'.repeat(10 * MIB))
  let resume = (): void => {}
  const pause = new Promise<void>((resolve) => {
    resume = resolve
  })
  const pieces = [long.subarray(0, 8 * MIB), long.subarray(8 * MIB)]
  provider.answers.set(`GET ${resultsOf('msgbatch_1')}`, { pieces, pause })
  await submit('msgbatch_1')
  await expect.poll(() => settlementMemory.taken.bodies).toBeGreaterThanOrEqual(3 * 8 * MIB)
  await expect.poll(() => bodies.taken.bodies).toBe(0)
  resume()
  await expect.poll(() => charges()).toEqual([15])
  await expect.poll(() => settlementMemory.taken.bodies).toBe(0)
})

it('a result that is too long for memory gives its memory back while it arrives', async () => {
  const long = result('x'.repeat(100 * MIB))
  const [resume, pieces] = [Promise.withResolvers<void>(), [long.subarray(0, 60 * MIB)]]
  pieces.push(long.subarray(60 * MIB))
  provider.answers.set(`GET ${resultsOf('msgbatch_1')}`, { pieces, pause: resume.promise })
  const givenBack = vi.spyOn(settlementMemory, 'giveBackOf')
  await submit('msgbatch_1')
  await expect.poll(() => givenBack.mock.calls.some(([, bytes]) => bytes > 3 * 30 * MIB)).toBe(true)
  expect(settlementMemory.taken.bodies).toBeLessThan(3 * 2 * MIB)
  expect(settlementMemory.taken.bodies).toBeGreaterThan(0)
  resume.resolve()
  await expect.poll(() => charges()).toEqual([15])
  await expect.poll(() => settlementMemory.taken.bodies).toBe(0)
})

it('a download may last as long as its size allows, without pauses of the reader', async () => {
  let now = 0
  const rate = { graceMs: 1_000, bytesPerSecond: 10 }
  const download = async (waitMs: number, readMs: number) => {
    async function* chunks() {
      for (let chunk = 0; chunk < 100; chunk += 1) {
        now += waitMs
        yield Buffer.alloc(10)
      }
    }
    let bytes = 0
    for await (const chunk of atLeastRate(chunks(), rate, () => now)) {
      bytes += chunk.length
      now += readMs
    }
    return bytes
  }
  expect(await download(1_000, 60_000)).toBe(1_000)
  await expect(download(1_100, 0)).rejects.toThrow(DownloadTooSlow)
})
