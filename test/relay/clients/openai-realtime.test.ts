import { connect } from 'node:net'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { beforeEach, expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { CHARGE, realtimeProvider } from '../support/realtime-provider.ts'
import { addRealtimeChannel, bills, MODEL } from '../support/realtime-site.ts'
import { KEY, relayRig } from '../support/relay-rig.ts'

const provider = startedForEach(realtimeProvider)
const rig = startedForEach(relayRig)

beforeEach(() => addRealtimeChannel(rig, provider))

/** The client speaks only TLS, so that its connections are redirected to the relay. */
const options = () => ({
  createConnection: () => connect(Number(new URL(rig.url).port), '127.0.0.1'),
})

it('the official client holds a conversation with its key and with a temporary key', async () => {
  const client = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1` })
  const secret = await client.realtime.clientSecrets.create({
    session: { type: 'realtime', model: MODEL, instructions: 'Be brief.' },
  })
  expect(secret.session).toMatchObject({ model: MODEL, instructions: 'Be brief.' })
  for (const apiKey of [`sk-${KEY}`, secret.value]) {
    const caller = new OpenAI({ apiKey, baseURL: `${rig.url}/v1` })
    const session = new OpenAIRealtimeWS({ model: MODEL, options: options() as never }, caller)
    const errors: unknown[] = []
    session.on('error', (error) => errors.push(error))
    const done = new Promise((resolve) => session.on('response.done', resolve))
    session.on('session.created', () => {
      session.send({
        type: 'session.update',
        session: { type: 'realtime', audio: { input: { turn_detection: null } } },
      })
      session.send({
        type: 'conversation.item.create',
        item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
      })
      session.send({ type: 'response.create', response: { output_modalities: ['text'] } })
    })
    expect(await done).toMatchObject({ response: { status: 'completed' } })
    expect(errors).toEqual([])
    session.close()
  }
  expect((await bills(rig)).map(({ charge }) => charge)).toEqual([CHARGE, CHARGE])
})
