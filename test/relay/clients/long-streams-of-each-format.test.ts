import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { KEY, relayRig } from '../support/relay-rig.ts'
import { type CallerFormat, FORMATS, MODEL, splitAtText } from './caller-formats.ts'
import { CHANNEL_TYPES, changingProvider, type GoodAnswer } from './changing-provider.ts'

const STREAMS_PER_FORMAT = 50
const SECONDS = 60
const EVENTS_PER_SECOND = 20
const EVENTS = SECONDS * EVENTS_PER_SECOND
const OUTPUT_TOKENS = 2 * EVENTS
/** Charged for 130 input tokens, with a model ratio of 1.25 and a completion ratio of 4. */
const CHARGE = Math.ceil((130 + 4 * OUTPUT_TOKENS) * 1.25)

/** Of ten streams, the caller of one reads slowly, one caller leaves, and one provider fails. */
const FAULTS = ['slow-reader', 'caller-leaves', 'provider-cuts'] as const
type Fault = (typeof FAULTS)[number] | 'none'
const faultOf = (position: number): Fault => FAULTS[position % 10] ?? 'none'

const ENDS: ReadonlySet<string> = new Set(['CallSettled', 'CallReleased'])

const provider = startedOnce(changingProvider)
const rig = startedOnce(() => relayRig())

/** A request that may have `OUTPUT_TOKENS`, with the fault as its question. */
const bodyOf = (format: CallerFormat, fault: Fault): string =>
  JSON.stringify(format.body(true))
    .replace(/How is the weather\?|Hi/, fault)
    .replace(/(max\w+":)100\b/i, `$1${OUTPUT_TOKENS}`)

/** Sends a stream that repeats its first event with text for `SECONDS`. */
async function sendSlowly(
  response: ServerResponse,
  { type, bytes }: GoodAnswer,
  isCut: boolean,
): Promise<void> {
  const output = /("(?:completion_tokens|output_tokens|candidatesTokenCount)":)12\b/g
  const stream = bytes.toString('utf8').replace(output, `$1${OUTPUT_TOKENS}`)
  const format = FORMATS.find(({ end }) => end.test(stream))
  if (format === undefined) throw new Error(`a stream of an unknown format: ${stream}`)
  const [before, text, rest] = splitAtText(Buffer.from(stream), format)
  response.writeHead(200, { 'content-type': type }).write(before)
  const startedAt = performance.now()
  for (let sent = 1; sent < EVENTS && !response.destroyed; sent += 1) {
    response.write(text)
    if (isCut && sent === EVENTS / 2) return void response.destroy()
    const nextAt = startedAt + (sent * 1_000) / EVENTS_PER_SECOND
    await wait(Math.max(0, nextAt - performance.now()))
  }
  response.end(Buffer.concat([text, rest]))
}

/** Calls, and returns the end of the stream as far as it was received. */
async function call(format: CallerFormat, fault: Fault): Promise<string> {
  const caller = new AbortController()
  let tail = ''
  try {
    const response = await fetch(`${rig.url}${format.path(true)}`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: bodyOf(format, fault),
      signal: caller.signal,
    })
    let chunks = 0
    for await (const bytes of response.body ?? []) {
      tail = (tail + Buffer.from(bytes).toString('utf8')).slice(-4_000)
      chunks += 1
      if (fault === 'slow-reader') await wait(250)
      if (fault === 'caller-leaves' && chunks > EVENTS / 4) caller.abort()
    }
  } catch {
    // The caller has left, or the stream was cut.
  }
  return tail
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Returns the memory (MiB) that is still in use after a garbage collection. */
function memoryInUse(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length

it(`${FORMATS.length * STREAMS_PER_FORMAT} streams of ${SECONDS} s end once and keep nothing`, {
  timeout: 300_000,
}, async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
  for (const [index, { name }] of FORMATS.entries()) {
    const type = CHANNEL_TYPES[name] ?? 1
    await rig.addChannel(index + 2, { type, baseUrl: provider.url, models: [MODEL] })
  }
  provider.respond = (response, good, _socket, requestBody) => {
    sendSlowly(response, good, requestBody.includes('provider-cuts')).catch(() => {})
  }
  const socketsBefore = openSockets()

  const calls = FORMATS.flatMap((format) =>
    Array.from({ length: STREAMS_PER_FORMAT }, async (_, position) => {
      const fault = faultOf(position)
      return { format, fault, tail: await call(format, fault) }
    }),
  )
  await wait(SECONDS * 150)
  const early = memoryInUse()
  await wait(SECONDS * 750)
  expect(memoryInUse() - early).toBeLessThan(100)

  for (const { format, fault, tail } of await Promise.all(calls)) {
    const isWhole = fault === 'none' || fault === 'slow-reader'
    expect([fault, format.end.test(tail)]).toEqual([fault, isWhole])
  }
  const ends = (await rig.callEvents()).filter(({ type }) => ENDS.has(type))
  const outcomes = ends.map(({ type, data }) => {
    const { end = type, charge = 0 } = data as { end?: string; charge?: number }
    return end === 'done' ? `${end} ${charge}` : end
  })
  const count = (outcome: string) => outcomes.filter((other) => other === outcome).length
  const faulty = (FORMATS.length * STREAMS_PER_FORMAT) / 10
  expect(count(`done ${CHARGE}`)).toBe(8 * faulty)
  expect(count('client-gone')).toBe(faulty)
  expect(ends.length).toBe(10 * faulty)
  expect(rig.relay.inFlight()).toBe(0)
  await expect.poll(openSockets, { timeout: 60_000 }).toBeLessThanOrEqual(socketsBefore + 4)
})
