import { beforeEach, describe, expect, it } from 'vitest'
import { serve } from '#test/support/start-http-server.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { onlyEnd, relayRig } from '../support/relay-rig.ts'
import { type CallerFormat, FORMATS, MODEL, sendQuestion, textIn } from './caller-formats.ts'

type Report = Readonly<Record<string, unknown>>

/** How a provider writes the stream of an answer, with a usage report in some of its events. */
type StreamWriter = {
  readonly channelType: number
  /** The name of the output count. */
  readonly output: string
  readonly report: (input: number, output: number) => Report
  readonly begin: (report: Report) => string
  readonly text: (text: string, report?: Report) => string
  readonly end: (report: Report) => string
}

const unnamed = (data: object): string => `data: ${JSON.stringify(data)}\n\n`
const named = (data: { readonly type: string; readonly [name: string]: unknown }): string =>
  `event: ${data.type}\n${unnamed(data)}`

const chunk = (choices: readonly object[], usage?: Report) =>
  unnamed({ id: 'c', object: 'chat.completion.chunk', model: MODEL, choices, usage })
const delta = (content: string, finish_reason: string | null = null) => [
  { index: 0, delta: { content }, finish_reason },
]
const CHAT: StreamWriter = {
  channelType: 8,
  output: 'completion_tokens',
  report: (prompt_tokens, completion_tokens) => ({ prompt_tokens, completion_tokens }),
  begin: (report) => chunk(delta(''), report),
  text: (text, report) => chunk(delta(text), report),
  end: (report) => `${chunk(delta('', 'stop'))}${chunk([], report)}data: [DONE]\n\n`,
}

const message = (usage: Report) => ({ id: 'm', type: 'message', role: 'assistant', usage })
const messageDelta = (usage: Report, stop_reason: string | null) =>
  named({ type: 'message_delta', delta: { stop_reason }, usage })
const MESSAGES: StreamWriter = {
  channelType: 14,
  output: 'output_tokens',
  report: (input_tokens, output_tokens) => ({ input_tokens, output_tokens }),
  begin: (report) => named({ type: 'message_start', message: message(report) }),
  text: (text, report) =>
    named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }) +
    (report === undefined ? '' : messageDelta(report, null)),
  end: (report) => messageDelta(report, 'end_turn') + named({ type: 'message_stop' }),
}

const inProgress = (usage: Report) =>
  named({ type: 'response.in_progress', response: { id: 'r', usage } })
const RESPONSES: StreamWriter = {
  channelType: 1,
  output: 'output_tokens',
  report: (input_tokens, output_tokens) => ({ input_tokens, output_tokens }),
  begin: inProgress,
  text: (delta, report) =>
    named({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta }) +
    (report === undefined ? '' : inProgress(report)),
  end: (usage) =>
    named({ type: 'response.completed', response: { id: 'r', status: 'completed', usage } }),
}

const candidate = (text: string, usageMetadata?: Report, finishReason?: string) =>
  unnamed({
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, finishReason }],
    usageMetadata,
  })
const GEMINI: StreamWriter = {
  channelType: 24,
  output: 'candidatesTokenCount',
  report: (promptTokenCount, candidatesTokenCount) => ({
    promptTokenCount,
    candidatesTokenCount,
    totalTokenCount: promptTokenCount + candidatesTokenCount,
  }),
  begin: (report) => candidate('', report),
  text: candidate,
  end: (report) => candidate('', report, 'STOP'),
}

const WRITERS: Readonly<Record<string, StreamWriter>> = {
  chat: CHAT,
  messages: MESSAGES,
  responses: RESPONSES,
  Gemini: GEMINI,
}
const writerOf = ({ name }: CallerFormat): StreamWriter => WRITERS[name] ?? CHAT

let stream = ''
const provider = startedForEach(() =>
  serve((request, response) => {
    request.resume()
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(stream)
    })
  }),
)
const rig = startedForEach(relayRig)

const INPUT = 130
const OUTPUT = 3_000
const PIECES = 60
/** The gateway counts one token for each word. */
const PIECE = ' hello'.repeat(OUTPUT / PIECES)
/** With a model ratio of 1.25 and a completion ratio of 4. */
const chargeFor = (input: number, output: number) => Math.round((input + output * 4) * 1.25)
const TRUE_CHARGE = chargeFor(INPUT, OUTPUT)

describe.each(FORMATS)('a stream of the format $name', (format) => {
  const { channelType, output, report, begin, text, end } = writerOf(format)
  const early = report(INPUT, 1)
  const { [output]: _, ...withoutOutput } = report(INPUT, OUTPUT)

  beforeEach(async () => {
    await rig.addChannel(2, { type: channelType, baseUrl: provider.url, models: [MODEL] })
    await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
    await rig.setOption('CompletionRatio', { [MODEL]: 4 })
    await rig.setOption('CacheRatio', { [MODEL]: 0.1 })
  })

  const body = (isStream: boolean): object =>
    JSON.parse(JSON.stringify(format.body(isStream)).replace(':100', ':8000'))

  /** Returns the end of a call whose answer is this stream. */
  async function settled(...events: readonly string[]) {
    stream = events.join('')
    const answer = await (await sendQuestion(rig.url, { ...format, body }, true)).text()
    const { data, type } = await onlyEnd(rig)
    expect(type).toBe('CallSettled')
    return { answer, end: data as { readonly charge: number; readonly anomaly: string | null } }
  }
  const texts = Array.from({ length: PIECES }, () => text(PIECE))

  it.each<readonly [string, Report, string]>([
    ['a negative output', { ...early, [output]: -20 }, 'negative'],
    ['an output that is no number', { ...early, [output]: 'many' }, 'not-a-number'],
    ['an output that is a list', { ...early, [output]: [1] }, 'not-a-number'],
    ['half a token', { ...early, [output]: 0.5 }, 'fraction'],
    ['no output', withoutOutput, 'missing'],
    ['null as the output', { ...withoutOutput, [output]: null }, 'missing'],
    ['no counts', {}, 'missing'],
    ['zero tokens', report(INPUT, 0), 'decreased'],
    ['a negative input', { ...report(-5, 1) }, 'negative'],
  ])('that ends with %s is charged by the gateway’s own count', async (...row) => {
    const [, last, anomaly] = row
    const { answer, end } = await settled(begin(early), ...texts, ended(last))
    expect(textIn(answer, format)).toBe(PIECE.repeat(PIECES))
    expect(end).toMatchObject({ end: 'done', usageSource: 'estimated', anomaly })
    expect(end.charge).toBeGreaterThanOrEqual(TRUE_CHARGE - 20)
    expect(end.charge).toBeLessThanOrEqual(TRUE_CHARGE + 20)
  })
  const ended = end

  it.each<readonly [string, Report, string]>([
    ['a smaller output', report(INPUT, 1), 'decreased'],
    ['zero tokens', report(0, 0), 'decreased'],
    ['a negative output', report(INPUT, -20), 'negative'],
  ])('whose second report has %s is charged the larger count', async (_name, last, anomaly) => {
    const reported = text('', report(INPUT, OUTPUT))
    const { end } = await settled(begin(early), ...texts, reported, ended(last))
    expect(end).toMatchObject({ end: 'done', anomaly })
    expect(end.charge).toBeGreaterThanOrEqual(TRUE_CHARGE)
    expect(end.charge).toBeLessThanOrEqual(TRUE_CHARGE + 20)
  })

  it('with text in the event of a report without an output is charged for this text', async () => {
    const all = text(PIECE.repeat(PIECES), withoutOutput)
    const { end } = await settled(begin(early), all, ended(withoutOutput))
    expect(end).toMatchObject({ end: 'done', usageSource: 'estimated', anomaly: 'missing' })
    expect(end.charge).toBeGreaterThanOrEqual(TRUE_CHARGE - 20)
  })

  it('whose last report repeats the one before is charged by it', async () => {
    const last = report(INPUT, OUTPUT)
    const { end } = await settled(begin(early), ...texts, text('', last), ended(last))
    expect(end).toMatchObject({ charge: TRUE_CHARGE, usageSource: 'upstream', anomaly: null })
  })

  it('with a growing usage in every event is charged by the last one', async () => {
    const growing = Array.from({ length: PIECES }, (_each, at) =>
      text(PIECE, report(INPUT, (at + 1) * (OUTPUT / PIECES) - 1)),
    )
    const { end } = await settled(...growing, ended(report(INPUT, OUTPUT)))
    expect(end).toMatchObject({ charge: TRUE_CHARGE, usageSource: 'upstream', anomaly: null })
  })

  it.each<readonly [string, Report]>([
    ['without an output', withoutOutput],
    ['that is empty', {}],
    ['with a few tokens', report(INPUT, 20)],
  ])('with an early report %s is charged by the last one', async (_name, first) => {
    const { end } = await settled(begin(first), ...texts, ended(report(INPUT, OUTPUT)))
    expect(end).toMatchObject({ charge: TRUE_CHARGE, usageSource: 'upstream', anomaly: null })
  })

  it('may count fewer tokens than its early report for a very short answer', async () => {
    const { end } = await settled(begin(report(INPUT, 8)), text('Hi'), ended(report(INPUT, 2)))
    expect(end).toMatchObject({ charge: chargeFor(INPUT, 8), anomaly: null })
  })
})
