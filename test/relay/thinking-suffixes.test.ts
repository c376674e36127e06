import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM, type ChannelTerms } from '#domain/channels/events.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'
import { serviceAccountFile } from './support/service-account.ts'

const OLDER = 'claude-haiku-4-5'
const NEWER = 'claude-opus-5'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

const ANSWER = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: OLDER },
  content: [{ type: 'text', text: 'Yes.' }],
  ...{ stop_reason: 'end_turn', stop_sequence: null },
  usage: { input_tokens: 100, output_tokens: 50 },
}

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [OLDER]: 1, [NEWER]: 1 })
  await rig.setOption('CompletionRatio', { [OLDER]: 5, [NEWER]: 5 })
  provider.answers.set('POST /token', { body: { access_token: 't', expires_in: 3600 } })
  provider.answers.set('*', { body: ANSWER })
})

async function addChannel(type: number, key: string, other = ''): Promise<void> {
  const own = { type, baseUrl: provider.url, models: [OLDER, NEWER], other }
  const terms: ChannelTerms = { ...PLAIN_CHANNEL_TERMS, ...own }
  const channels = [{ channelId: 2, name: 'c', keyRefs: [`key:${key}`] }]
  const data = { terms, channels, keyMode: 'polling' as const, isEnabled: true }
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsCreated', v: 1, data })
}

const FAMILIES = [
  ['Anthropic', () => addChannel(14, 'k')],
  ['Bedrock', () => addChannel(33, 'AKIAEXAMPLE|secret|us-east-1')],
  [
    'Vertex AI',
    () => addChannel(41, serviceAccountFile({ token_uri: `${provider.url}/token` }), 'us-east5'),
  ],
] as const

const HI = [{ role: 'user', content: 'Hi' }]
const FORMATS: readonly (readonly [string, (model: string) => readonly [string, object]])[] = [
  ['messages', (model) => ['/v1/messages', { model, max_tokens: 8000, messages: HI }]],
  ['chat', (model) => ['/v1/chat/completions', { model, max_tokens: 8000, messages: HI }]],
  ['responses', (model) => ['/v1/responses', { model, max_output_tokens: 8000, input: 'Hi' }]],
  [
    'gemini',
    (model) => [
      `/v1beta/models/${model}:generateContent`,
      { contents: [{ parts: [{ text: 'Hi' }] }], generationConfig: { maxOutputTokens: 8000 } },
    ],
  ],
]

const budget = (tokens: number) => ({ type: 'enabled', budget_tokens: tokens })
const NAMES: readonly (readonly [string, string, object, string | undefined])[] = [
  [OLDER, 'thinking', budget(6400), undefined],
  [OLDER, 'thinking-2048', budget(2048), undefined],
  [OLDER, 'thinking-9000', budget(7600), undefined],
  [OLDER, 'nothinking', { type: 'disabled' }, undefined],
  [OLDER, 'low', budget(1600), undefined],
  [NEWER, 'thinking', { type: 'adaptive' }, undefined],
  [NEWER, 'nothinking', { type: 'disabled' }, undefined],
  [NEWER, 'max', { type: 'adaptive' }, 'max'],
  [NEWER, 'thinking-2048', { type: 'adaptive' }, 'low'],
]

describe.each(FAMILIES)('a name with a suffix for Claude at %s', (_family, add) => {
  describe.each(FORMATS)('in a call of the format %s', (_format, callOf) => {
    it.each(NAMES)('%s with -%s thinks as it says', async (model, suffix, thinking, effort) => {
      await add()
      const [path, body] = callOf(`${model}-${suffix}`)
      const response = await fetch(`${rig.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect({ status: response.status, text: await response.text() }).toMatchObject({
        status: 200,
      })
      const sent = JSON.parse(provider.requests.at(-1)?.body ?? '')
      expect(sent).toMatchObject({ max_tokens: 8000, thinking })
      expect(sent.output_config?.effort).toBe(effort)
      expect(provider.requests.at(-1)?.path).not.toContain(suffix)
      expect(sent.model ?? model).toBe(model)
      expect((await onlyEnd(rig)).data).toMatchObject({ charge: 350 })
      const admitted = (await rig.callEvents()).find(({ type }) => type === 'CallAdmitted')
      expect(admitted?.data).toMatchObject({ model, reasoningEffort: suffix })
    })
  })
})
