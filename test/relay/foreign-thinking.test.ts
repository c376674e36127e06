import { expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'sim-small' },
  content: [{ type: 'text', text: 'Yes' }],
  ...{ stop_reason: 'end_turn', stop_sequence: null },
  usage: { input_tokens: 5, output_tokens: 1 },
}
const thinking = (signature: string) => ({ type: 'thinking', thinking: 'I think', signature })

async function claudeChannel(): Promise<void> {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 14, baseUrl: provider.url })
  provider.answers.set('POST /v1/messages', { body: MESSAGE })
}

async function send(path: string, body: string) {
  const headers = { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' }
  const response = await fetch(`${rig.url}${path}`, { method: 'POST', headers, body })
  const loss = response.headers.get('x-conversion-loss')
  await response.text()
  return { status: response.status, loss, sent: provider.requests[0]?.body ?? '' }
}

it('Anthropic does not get the thinking of OpenAI from a converted call', async () => {
  await claudeChannel()
  const summary = [{ type: 'summary_text', text: 'I think' }]
  const input = [
    { role: 'user', content: 'Go' },
    { type: 'reasoning', summary, encrypted_content: 'gAAAforeign' },
    { type: 'reasoning', summary: [], encrypted_content: 'gAAAforeign' },
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'done' },
  ]
  const answer = await send('/v1/responses', JSON.stringify({ model: 'sim-small', input }))
  expect(answer.status).toBe(200)
  expect(answer.loss).toContain('input[1] (thinking), input[2] (thinking)')
  expect(answer.sent).not.toContain('gAAAforeign')
  expect(JSON.parse(answer.sent).messages[1].content).toMatchObject([{ type: 'tool_use' }])
})

it('Anthropic gets the bytes of its own caller without the thinking of OpenAI', async () => {
  await claudeChannel()
  const bodyWith = (...signatures: readonly string[]) =>
    JSON.stringify({
      ...{ model: 'sim-small', max_tokens: 64 },
      messages: [
        { role: 'user', content: 'Go' },
        { role: 'assistant', content: [...signatures.map(thinking), { type: 'text', text: 'a' }] },
        { role: 'user', content: 'On' },
      ],
    })
  const answer = await send('/v1/messages', bodyWith('EqQB', 'openai:gAAA'))
  expect(answer).toEqual({
    ...{ status: 200, loss: 'messages[1].content[1] (thinking)' },
    sent: bodyWith('EqQB'),
  })
  const { data } = await onlyEnd(rig)
  expect(data).toMatchObject({ losses: ['messages[].content[] (thinking)'] })
})
