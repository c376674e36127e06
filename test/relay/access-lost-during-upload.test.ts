import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Sealed } from '#domain/shared/event.ts'
import { UNRESTRICTED_TERMS } from '#domain/tokens/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, type RelayRig, relayRig, TOKEN, USER } from './support/relay-rig.ts'

const MODEL = 'sim-small'
const MESSAGES = [{ role: 'user', content: 'Hello' }]
const rig = startedForEach(() => relayRig())

type Upload = { readonly type: string; readonly body: string }
const json = (body: object): Upload => ({ type: 'application/json', body: JSON.stringify(body) })

function form(fields: Readonly<Record<string, string>>, file: string): Upload {
  const lines = Object.entries(fields).flatMap(([name, value]) => [
    ...['--x', `Content-Disposition: form-data; name="${name}"`, '', value],
  ])
  const head = 'Content-Disposition: form-data; name="file"; filename="a.jsonl"'
  const body = [...lines, '--x', head, '', file, '--x--', ''].join('\r\n')
  return { type: 'multipart/form-data; boundary=x', body }
}

const LINE = {
  ...{ custom_id: 'a', method: 'POST', url: '/v1/chat/completions' },
  body: { model: MODEL, max_tokens: 9, messages: MESSAGES },
}

const UPLOADS: Readonly<Record<string, Upload>> = {
  '/v1/chat/completions': json({ model: MODEL, messages: MESSAGES }),
  '/v1/messages': json({ model: MODEL, max_tokens: 9, messages: MESSAGES }),
  '/v1/messages/count_tokens': json({ model: MODEL, messages: MESSAGES }),
  '/v1/messages/batches': json({
    requests: [{ custom_id: 'a', params: { model: MODEL, max_tokens: 9, messages: MESSAGES } }],
  }),
  '/v1/batches': json({
    ...{ input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' },
  }),
  '/v1/files': form({ purpose: 'batch' }, JSON.stringify(LINE)),
  '/v1/audio/transcriptions': form({ model: MODEL }, 'no audio'),
  '/v1/videos': json({ model: MODEL, prompt: 'a cat' }),
  '/v1/realtime/client_secrets': json({ session: { type: 'realtime', model: MODEL } }),
}

/** Sends a request, and calls `change` between the check of its key and the end of its body. */
async function answerAfter(path: string, { type, body }: Upload, change: () => Promise<void>) {
  const { handle } = rig.relay
  const arrived = new Promise<void>((resolve) => {
    const watched: typeof handle = (request, response) => {
      handle(request, response)
      resolve()
    }
    Object.assign(rig.relay, { handle: watched })
  })
  const request = httpRequest(`${rig.url}${path}`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer sk-${KEY}`, 'content-type': type },
      'content-length': Buffer.byteLength(body),
    },
  })
  const answered = once(request, 'response') as Promise<[IncomingMessage]>
  request.write(body.slice(0, body.length >> 1))
  await arrived
  for (let turns = 0; turns < 20; turns += 1) await turn()
  await change()
  request.end(body.slice(body.length >> 1))
  const [response] = await answered
  const { error } = JSON.parse(await text(response)) as { error?: object }
  return { status: response.statusCode, error }
}

const ofUser = (type: string) => () =>
  rig.append(`user-${USER}`, { type, v: 1, data: { userId: USER, authVersion: 2 } } as never)
const terms = (change: object) => () =>
  rig.append(`tokens-${USER}`, {
    ...{ type: 'TokenTermsChanged', v: 1 },
    data: { userId: USER, tokenId: TOKEN, terms: { name: 'a', ...UNRESTRICTED_TERMS, ...change } },
  } as Parameters<RelayRig['append']>[1])
const ofToken = (type: string) => () =>
  rig.append(`tokens-${USER}`, { type, v: 1, data: { userId: USER, tokenIds: [TOKEN] } } as never)

const CHANGES: readonly [string, number, () => Promise<void>][] = [
  ['its user is disabled', 403, ofUser('UserDisabled')],
  ['its user is deleted', 403, ofUser('UserDeleted')],
  ['its token is disabled', 401, ofToken('TokensDisabled')],
  ['its token is deleted', 401, ofToken('TokensDeleted')],
  ['its token expires', 401, terms({ expiresAt: 1 })],
  ['its token may no longer be used from there', 403, terms({ allowIps: '10.0.0.1' as Sealed })],
]

it.each(
  Object.entries(UPLOADS).flatMap(([path, upload]) =>
    CHANGES.map(([name, status, change]) => [path, name, status, upload, change] as const),
  ),
)('a request to %s is refused if %s during its upload', async (...of) => {
  const [path, , status, upload, change] = of
  expect((await answerAfter(path, upload, change)).status).toBe(status)
  expect(await rig.callEvents()).toEqual([])
})

it.each([
  '/v1/chat/completions',
  '/v1/messages/count_tokens',
  '/v1/messages/batches',
  '/v1/videos',
])('a request to %s may not use a model that its token loses during the upload', async (path) => {
  const upload = UPLOADS[path] ?? json({})
  const narrowed = terms({ models: ['another-model'] })
  const { status, error } = await answerAfter(path, upload, narrowed)
  expect([status, JSON.stringify(error)]).toEqual([403, expect.stringContaining(MODEL)])
  expect(await rig.callEvents()).toEqual([])
})

it('a request is charged in the group into which its user is moved during the upload', async () => {
  await rig.setOption('GroupRatio', { default: 1, dear: 3 })
  await rig.addChannel(2, { groups: ['dear'] })
  const moved = () =>
    rig.append(`user-${USER}`, {
      ...{ type: 'UserGroupChanged', v: 1 },
      data: { userId: USER, group: 'dear' },
    } as never)
  const path = '/v1/chat/completions'
  expect((await answerAfter(path, UPLOADS[path] ?? json({}), moved)).status).toBe(200)
  const [admitted] = await rig.callEvents()
  expect(admitted?.data).toMatchObject({ group: 'dear' })
})
