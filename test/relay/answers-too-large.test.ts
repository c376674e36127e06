import { expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { KEY, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MIB = 1024 * 1024
const provider = startedOnce(scriptedProvider)
const rig = startedOnce(() => relayRig())

it('an answer that is too large is an error that names the limit, and costs nothing', async () => {
  await rig.addChannel(2, { type: 8, baseUrl: provider.url, models: ['pictures'] })
  await rig.setOption('ModelPrice', { pictures: 0.02 })
  const body = { created: 1, data: [{ b64_json: 'x'.repeat(33 * MIB) }] }
  provider.answers.set('POST /v1/images/generations', { body })
  const before = await rig.balance()
  const answer = await fetch(`${rig.url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'pictures', prompt: 'hats' }),
  })
  expect(answer.status).toBe(502)
  const { error } = (await answer.json()) as { error: { code: string; message: string } }
  expect(error.code).toBe('upstream_too_large')
  expect(error.message).toContain('32 MiB')
  const ends = (await rig.callEvents()).filter(({ type }) => type !== 'CallAdmitted')
  expect(ends).toMatchObject([{ type: 'CallReleased', data: { errorCode: 'upstream_too_large' } }])
  expect(await rig.balance()).toBe(before)
})
