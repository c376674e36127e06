import { gunzipSync } from 'node:zlib'
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { type PaymentGateway, startPaymentGateway } from '#infra/demo/simulated-payment-gateway.ts'
import { type ScriptedProvider, scriptedProvider } from '#test/relay/support/scripted-provider.ts'
import { createAuthenticator } from '#test/support/authenticator.ts'
import {
  type ProviderProcess,
  type Site,
  startProviderProcess,
  startSite,
} from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { filesOfTar, tablesWith } from '#test/support/search-for-texts.ts'
import { addChannel, PASSWORD, setOption, setUpSite } from '#test/support/test-product.ts'

/** A word that every text of the person contains, and nothing else. */
const WORD = 'zirkon'
const USERNAME = `${WORD}-name`
const KEYS = { merchant: '7', key: 'key', stripeKey: 'sk_x', stripeWebhookSecret: 'whsec_x' }
const ROLES = 'write-api,read-api,projections,relay'

let site: Site
let simulated: ProviderProcess
let scripted: ScriptedProvider
let gateway: PaymentGateway
let processes: [ProductProcess, ProductProcess]
let root: ConsoleClient
let pg: Pool

beforeAll(async () => {
  ;[site, simulated, scripted, gateway] = await Promise.all([
    startSite(),
    startProviderProcess({ firstByteMs: 0, gapMs: 0, answerTokens: 10 }),
    scriptedProvider(),
    startPaymentGateway(KEYS),
  ])
  pg = new Pool({ connectionString: site.environment.DATABASE_URL, max: 2 })
  const start = () => site.start(ROLES, { LOG_LEVEL: 'debug' })
  processes = await Promise.all([start(), start()])
  root = await setUpSite(processes[0].url)
  for (const [key, value] of [
    ...[['ServerAddress', processes[0].url] as const, ['PayAddress', gateway.url] as const],
    ...[['EpayId', KEYS.merchant] as const, ['EpayKey', KEYS.key] as const],
    ...[['DrawingEnabled', 'true'] as const],
  ]) {
    await setOption(root, key, value)
  }
  await setOption(root, 'ModelRatio', { 'sim-small': 1, 'lab-model': 1 })
  await setOption(root, 'ModelPrice', { mj_imagine: 0.01 })
  await addChannel({ root, provider: simulated }, { models: 'sim-small' })
  await addChannel({ root, provider: simulated }, { type: 2, models: 'mj_imagine', name: 'two' })
  await addChannel({ root, provider: scripted }, { models: 'lab-model', name: 'three' })
})
afterAll(async () => {
  await pg?.end()
  await site?.close()
  simulated?.close()
  await scripted?.close()
  await gateway?.close()
})

/** Sends a request of the person to the relay, and returns the answer. */
async function relayed(key: string, path: string, body: object | FormData) {
  const response = await fetch(`${processes[1].url}${path}`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${key}`, 'user-agent': `${WORD}-agent` },
      ...{ 'idempotency-key': `${WORD}-${path}` },
      ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
    },
    body: body instanceof FormData ? body : JSON.stringify(body),
  })
  const text = await response.text()
  expect([path, response.status, text]).toEqual([path, 200, expect.any(String)])
  return JSON.parse(text)
}

async function call(key: string): Promise<void> {
  await relayed(key, '/v1/chat/completions', {
    ...{ model: 'sim-small', messages: [{ role: 'user', content: `${WORD} asks` }] },
    ...{ user: `${WORD}-user`, reasoning_effort: WORD, metadata: { [WORD]: WORD } },
  })
}

async function task(key: string): Promise<void> {
  const { result } = await relayed(key, '/mj/submit/imagine', { prompt: `${WORD} at dusk` })
  const headers = { authorization: `Bearer ${key}` }
  const status = async () =>
    (await (await fetch(`${processes[1].url}/mj/task/${result}/fetch`, { headers })).json()).status
  await expect.poll(status).toBe('SUCCESS')
}

async function batch(key: string): Promise<void> {
  const body = { model: 'lab-model', messages: [{ role: 'user', content: WORD }] }
  const line = { custom_id: `${WORD}-line`, method: 'POST', url: '/v1/chat/completions', body }
  const text = `${JSON.stringify({ ...line, body: { ...body, max_completion_tokens: 8 } })}\n`
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new Blob([text]), `${WORD}-lines.jsonl`)
  const described = { id: 'batch_one', object: 'batch', status: 'in_progress', created_at: 1 }
  scripted.answers.set('POST /v1/files', { body: { id: 'file-one', object: 'file' } })
  scripted.answers.set('GET /v1/files/file-one/content', { body: text })
  scripted.answers.set('POST /v1/batches', { body: { ...described, input_file_id: 'file-one' } })
  scripted.answers.set('GET /v1/batches/batch_one', { body: described })
  const { id } = await relayed(key, '/v1/files', form)
  await relayed(key, '/v1/batches', {
    ...{ input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' },
    metadata: { note: `${WORD} metadata` },
  })
}

async function order(person: ConsoleClient): Promise<void> {
  const sent = { amount: 1, payment_method: 'zfb' }
  const form = await person.must<Record<string, string>>('POST', '/api/user/pay', sent)
  await fetch(`${gateway.url}/submit.php`, { method: 'POST', body: new URLSearchParams(form) })
  const notice = gateway.noticeOf(form.out_trade_no ?? '', { buyer: `${WORD}-payer` })
  const answer = await fetch(`${processes[1].url}/api/user/epay/notify?${notice}`)
  expect(await answer.text()).toBe('success')
}

/** Adds a passkey by the address that a browser on this machine uses. */
async function passkey(): Promise<void> {
  const origin = processes[0].url.replace('127.0.0.1', 'localhost')
  const person = new ConsoleClient(origin)
  await person.logIn(USERNAME, PASSWORD)
  const headers = { ...person.sessionHeaders, origin, 'content-type': 'application/json' }
  const post = async (path: string, body: object) => {
    const sent = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await (await fetch(`${origin}${path}`, sent)).json()
    expect(answer).toMatchObject({ success: true })
    return answer.data
  }
  const { options } = await post('/api/user/passkeys/begin', { password: PASSWORD })
  const made = createAuthenticator().make(options, { origin })
  await post('/api/user/passkeys', { name: `${WORD} phone`, passkey: made })
}

/** Downloads an export of all events and returns its files as text. */
async function exported(): Promise<string> {
  const url = `${processes[1].url}/api/audit/export`
  const response = await fetch(url, { headers: root.sessionHeaders })
  expect(response.status).toBe(200)
  return filesOfTar(Buffer.from(await response.arrayBuffer()))
    .map(({ name, bytes }) => (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1'))
    .join('\n')
}

it('nothing of an erased person is left in tables, events, logs and exports', async () => {
  const body = { username: USERNAME, password: PASSWORD, display_name: `${WORD} displayed` }
  const { id } = await root.must<{ id: number }>('POST', '/api/user/', body)
  await root.must('PUT', '/api/user/', { id, quota: 100_000_000, reason: `${WORD} reason` })
  const message = { title: `About ${WORD}`, content: WORD, user_ids: [id] }
  await root.must('POST', '/api/admin/messages', message)
  const person = new ConsoleClient(processes[0].url)
  await person.logIn(USERNAME, PASSWORD)
  const { key } = await person.createToken({ name: `${WORD}-token`, unlimited_quota: true })
  await call(key)
  await Promise.all([task(key), batch(key), order(person), passkey()])
  expect(await tablesWith(pg, [WORD])).toContain('read_users.users')
  await root.must('POST', '/api/user/erase', { id, username: USERNAME })

  await expect.poll(() => tablesWith(pg, [WORD])).toEqual([])
  const text = await exported()
  expect(text).toContain('"UserErased"')
  expect(text.toLowerCase()).not.toContain(WORD)
  for (const { output } of processes) {
    const lines = output.split('\n').filter((line) => line.toLowerCase().includes(WORD))
    expect(lines).toEqual([])
  }
})
