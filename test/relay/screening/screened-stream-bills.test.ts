import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig, stopAnswersWith } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const MODEL = 'thinker'
const REASONING = 5_000
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => relayRig())

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 1 })
  await rig.setOption('CompletionRatio', { [MODEL]: 1 })
  await stopAnswersWith(rig, 'bomb')
})

const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`
const usage = {
  ...{ prompt_tokens: 10, completion_tokens: REASONING + 3, total_tokens: REASONING + 13 },
  completion_tokens_details: { reasoning_tokens: REASONING },
}
const USAGE = `data: ${JSON.stringify({ choices: [], usage })}\n\n`
const DONE = 'data: [DONE]\n\n'
const STOP = chunk({}, { finish_reason: 'stop' })
const BEGIN = chunk({ content: 'a harmless text and a ' })
const BOMB = chunk({ content: 'bomb' })
const THOUGHTS = 500
const THOUGHT = chunk({ reasoning_content: 'think '.repeat(THOUGHTS) })

/**
 * Streams the pieces, keeps the connection open, and returns what the caller received. Two pieces
 * may arrive as one.
 */
const streamed = (...pieces: readonly string[]) => answered(pieces, { keepsOpen: true })

async function answered(texts: readonly string[], end: { readonly keepsOpen?: true }) {
  const headers = { 'content-type': 'text/event-stream' }
  const pieces = texts.map((text) => Buffer.from(text))
  provider.answers.set('POST /v1/chat/completions', { headers, pieces, ...end })
  const answer = await fetch(`${rig.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: MODEL, stream: true, max_tokens: 6_000 },
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  })
  return { status: answer.status, text: await answer.text() }
}

/** Waits for the bill, which may be written after the caller was answered. */
async function bill() {
  const types = async () => (await rig.callEvents()).map(({ type }) => type)
  await expect.poll(types).toContain('CallSettled')
  const { data } = await onlyEnd(rig)
  return data
}

describe('the bill of a stream that a screened word ends', () => {
  it.each([
    ['in one piece with its end', [BEGIN, BOMB + STOP, USAGE, DONE]],
    [
      'in the event with its end',
      [BEGIN, chunk({ content: 'bomb' }, { finish_reason: 'stop' }), USAGE, DONE],
    ],
    ['at its beginning, in one piece with its end', [BOMB + STOP, USAGE + DONE]],
    ['in one piece with all that follows', [BEGIN, BOMB + STOP + USAGE + DONE]],
  ])('contains the hidden reasoning if the word comes %s', async (_name, pieces) => {
    const { text } = await streamed(...pieces)
    expect(text).toContain('sensitive_answer')
    expect(text).not.toContain('bomb')
    expect(text).not.toContain('[DONE]')
    expect(await bill()).toMatchObject({
      ...{ end: 'incomplete', endReason: 'sensitive_answer', usageSource: 'upstream' },
      usage: { output: REASONING + 3, reasoning: REASONING },
    })
  })

  it('contains what was delivered if the answer goes on behind the word', async () => {
    await streamed(BEGIN, BOMB)
    const data = await bill()
    expect(data).toMatchObject({ end: 'incomplete', usageSource: 'partial' })
    expect(data).toMatchObject({ attempts: [{ error: 'screened' }] })
  })

  it.each<[string, readonly string[], { keepsOpen?: true }]>([
    ['and the network cuts before the usage', [THOUGHT + BOMB + STOP], {}],
    ['and the answer goes on', [THOUGHT + BOMB], { keepsOpen: true }],
    ['behind other text', [BEGIN, THOUGHT + BOMB + STOP], {}],
  ])(
    'contains the reasoning if the word comes in one piece with it, %s',
    async (_, pieces, end) => {
      await answered(pieces, end)
      const data = await bill()
      expect(data).toMatchObject({ end: 'incomplete', usageSource: 'partial' })
      expect(data).toMatchObject({ usage: { output: expect.toSatisfy((it) => it >= THOUGHTS) } })
    },
  )

  it('contains the input if the answer begins with the word', async () => {
    const { status, text } = await streamed(BOMB)
    expect([status, JSON.parse(text).error.code]).toEqual([400, 'sensitive_answer'])
    expect(await bill()).toMatchObject({ end: 'incomplete', usage: { output: 0 } })
  })
})
